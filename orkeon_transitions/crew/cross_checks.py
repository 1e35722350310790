"""What one part of a crew file says of another: agents, dependencies, tools, folders."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import PurePosixPath

from orkeon_transitions.crew.config import CrewConfig, TaskConfig
from orkeon_transitions.crew.ordering import find_cycles
from orkeon_transitions.definition.places import Path, Source

MOST_LISTED = 12

Warn = Callable[[Path, str, str], None]
OWN_TOOLS = "load_crew(..., tools=[...]) takes your own, the command line knows the built-in ones only"


def check_references(config: CrewConfig, source: Source, *, tools: Collection[str], warn: Warn) -> None:
    """Checks that everything that is named exists, and that no task waits for itself.

    Args:
        config: What was read.
        source: Where problems go.
        tools: The names of all tools that there are.
        warn: Told what is probably a mistake.
    """
    known_tools = _Known("tool", tools, f"; {OWN_TOOLS}")
    known_agents, known_tasks = _Known("agent", config.agents), _Known("task", config.tasks)
    for agent in config.agents.values():
        known_tools.check(source, ("agents", agent.id, "tools"), agent.tools)
    for task in config.tasks.values():
        at: Path = ("tasks", task.id)
        if task.agent:
            known_agents.check(source, (*at, "agent"), (task.agent,))
        known_tools.check(source, (*at, "tools"), task.tools or ())
        known_tasks.check(source, _written(source, at, "dependencies"), task.dependencies)
        _check_deliverable(source, task, config, warn)
    for cycle in find_cycles({task.id: task.dependencies for task in config.tasks.values()}):
        source.problem(
            _written(source, ("tasks", cycle[0]), "dependencies"),
            f"tasks wait for each other: {' -> '.join(cycle)}",
        )
    _check_folders(config, warn)


class _Known:
    """The names of one kind that may be used."""

    def __init__(self, kind: str, names: Collection[str], more: str = "") -> None:
        self._kind = kind
        self._names = frozenset(names)
        are = "is" if len(names) == 1 else "are"
        self._listed = f": there {are} {', '.join(names)}" if 0 < len(names) <= MOST_LISTED else ""
        self._more = more

    def check(self, source: Source, path: Path, used: Collection[str]) -> None:
        for name in used:
            if name not in self._names:
                at = _place_in_list(source, path, name)
                message = f"unknown {self._kind} '{name}'{self._listed}{self._more}"
                source.problem(at, message, source.hint(name, self._names))


def _place_in_list(source: Source, path: Path, name: str) -> Path:
    """Where a name stands: what was read has lost the names that came twice."""
    written = source.data
    for part in path:
        written = written[part]
    return (*path, written.index(name)) if isinstance(written, list) else path


def _written(source: Source, path: Path, key: str) -> Path:
    """Where a task's dependencies are written, under whichever name."""
    names = (key, "context")
    return next(((*path, name) for name in names if (*path, name) in source.places), (*path, key))


def _check_deliverable(source: Source, task: TaskConfig, config: CrewConfig, warn: Warn) -> None:
    if task.deliverable is None:
        return
    at = ("tasks", task.id, "deliverable")
    path = PurePosixPath(task.deliverable)
    writable = [mount.virtual for mount in config.mounts if mount.mode == "rw"]
    roomy = any(path != PurePosixPath(root) and path.is_relative_to(root) for root in writable)
    if not roomy or ".." in path.parts:
        where = ", ".join(writable) or "there is no mount with ':rw'"
        source.problem(at, f"'{task.deliverable}' must be a file below a folder that may be written: {where}")
    elif "file_write" not in config.tools_of(task):
        warn(at, "unwritten-deliverable", "the task has no 'file_write': nothing here writes the deliverable")


def _check_folders(config: CrewConfig, warn: Warn) -> None:
    for index, mount in enumerate(config.mounts):
        if mount.mode == "ro" and not mount.placed(config.folder).is_there:
            warn(("mounts", index), "missing-folder", f"there is no folder '{mount.host}' here")
