"""A task that an agent has failed at, as the next one is given it."""

from __future__ import annotations

from dataclasses import replace

from orkeon_transitions.crew.config import TaskConfig
from orkeon_transitions.crew.quotations import quoted
from orkeon_transitions.crew.results import TaskResult


def handed_on(task: TaskConfig, failed: TaskResult) -> TaskConfig:
    """The task, with what the agent before has come to."""
    error = quoted(failed.error or "nobody knows")
    parts = [
        task.description,
        f"Another agent has tried this and failed. What went wrong:\n{error}",
        f"What it had by then:\n{quoted(failed.output)}" if failed.output else "",
    ]
    return replace(task, description="\n\n".join(filter(None, parts)))
