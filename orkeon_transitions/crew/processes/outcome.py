"""What the results of tasks come to for those that need them, and for the whole run: pure functions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from orkeon_transitions.crew.results import CrewRunStatus, TaskResult, TaskRunStatus

GAVE_SOMETHING = frozenset({TaskRunStatus.COMPLETED, TaskRunStatus.DEGRADED})
# What makes a run end so, the gravest first.
_GRAVEST = (
    (TaskRunStatus.FAILED, CrewRunStatus.FAILED),
    (TaskRunStatus.CANCELLED, CrewRunStatus.CANCELLED),
    (TaskRunStatus.SKIPPED, CrewRunStatus.FAILED),
    (TaskRunStatus.DEGRADED, CrewRunStatus.DEGRADED),
)


def run_status(results: Iterable[TaskResult], *, cancelled: bool, stopped: bool) -> CrewRunStatus:
    """How a run ends whose tasks ended so.

    Args:
        results: The tasks.
        cancelled: Whether the run was cancelled.
        stopped: Whether the process has stopped it.
    """
    if cancelled:
        return CrewRunStatus.CANCELLED
    if stopped:
        return CrewRunStatus.FAILED
    ended = {result.status for result in results}
    return next((status for worst, status in _GRAVEST if worst in ended), CrewRunStatus.COMPLETED)


def last_output(results: Iterable[TaskResult]) -> str:
    """The output of the last task that gave one."""
    outputs = [result.output for result in results]
    return next(filter(None, reversed(outputs)), "")


def what_went_wrong(stopped: str | None, results: Iterable[TaskResult]) -> str | None:
    """What went wrong: with the run, and task by task."""
    reasons = [
        f"task '{result.id}' {result.status}: {result.error}"
        for result in results
        if result.status is not TaskRunStatus.COMPLETED
    ]
    return "; ".join([*([stopped] if stopped else []), *reasons]) or None


def in_vain(missing: Sequence[str]) -> str:
    """Why a task is skipped."""
    names = ", ".join(f"'{name}'" for name in missing)
    return f"it needs {names}, which came to no good end"
