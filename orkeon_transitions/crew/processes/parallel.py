"""Waves of tasks that wait for nothing: the tasks of a wave run at the same time, one wave after another."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from orkeon_transitions.crew.processes.process import CrewRun, Job


async def run_parallel(run: CrewRun) -> None:
    """Runs each wave at once, as far as the run's `concurrency` allows.

    Every task of a wave sees the outputs of the waves before it, whichever of its siblings is done first, and
    the agents of a wave are chosen before it begins. A task that fails does not stop its siblings.
    """
    for wave in run.waves:
        jobs = [run.prepare(task_id) for task_id in wave]
        await _all_at_once(run, filter(None, jobs))


async def _all_at_once(run: CrewRun, jobs: Iterable[Job]) -> None:
    """Runs the jobs of a wave; what breaks one of them off, such as a journal, ends all of them."""
    room = asyncio.Semaphore(run.options.concurrency)

    async def in_its_turn(job: Job) -> None:
        async with room:
            await run.perform(job)

    try:
        async with asyncio.TaskGroup() as group:
            for job in jobs:
                group.create_task(in_its_turn(job))
    except BaseExceptionGroup as errors:
        # Whoever runs the crew waits for what the journal raises, not for a group of it.
        raise errors.exceptions[0] from None
