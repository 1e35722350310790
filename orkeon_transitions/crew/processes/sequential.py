"""One task after another; each sees the outputs before it."""

from __future__ import annotations

from orkeon_transitions.crew.processes.process import CrewRun


async def run_sequential(run: CrewRun) -> None:
    """Runs the tasks in the order of their dependencies, otherwise in file order."""
    for task_id in run.order:
        if (job := run.prepare(task_id)) is not None:
            await run.perform(job)
