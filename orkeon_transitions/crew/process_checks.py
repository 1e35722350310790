"""What a process asks of a crew: who leads it, how many there must be to do it."""

from __future__ import annotations

from collections.abc import Callable

from orkeon_transitions.crew.config import CrewConfig
from orkeon_transitions.definition.names import camel_case
from orkeon_transitions.definition.places import Path, Source

Warn = Callable[[Path, str, str], None]


def check_process(config: CrewConfig, source: Source, warn: Warn) -> None:
    """Checks that a crew has whom its process needs.

    Args:
        config: What was read.
        source: Where problems go.
        warn: Told what is probably a mistake.
    """
    if config.process == "hierarchical":
        _check_hierarchical(config, source, warn)


def _check_hierarchical(config: CrewConfig, source: Source, warn: Warn) -> None:
    manager = config.manager_agent
    if manager is None:
        source.problem(_at(source, "process"), "process 'hierarchical' needs a 'managerAgent'")
        return
    if set(config.agents) == {manager}:
        message = f"'{manager}' leads and does no task: there must be another agent"
        source.problem(_at(source, "manager_agent"), message)
    for task in config.tasks.values():
        if task.agent == manager:
            words = f"'{manager}' leads and does no task: it will assign this one to another agent"
            warn(("tasks", task.id, "agent"), "manager-task", words)


def _at(source: Source, key: str) -> Path:
    """Where a key of the crew is written, in whichever spelling."""
    return next(((name,) for name in (key, camel_case(key)) if (name,) in source.places), (key,))
