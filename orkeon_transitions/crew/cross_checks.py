"""What one part of a crew file says of another: agents, dependencies, tools, folders."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import PurePosixPath
from typing import Any

from orkeon_transitions.crew.config import CrewConfig, TaskConfig
from orkeon_transitions.crew.ordering import find_cycles
from orkeon_transitions.crew.spawning import SPAWN
from orkeon_transitions.crew.tool_aliases import meant, near
from orkeon_transitions.crew.web import WEB_NAMES
from orkeon_transitions.definition.names import camel_case
from orkeon_transitions.definition.places import Path, Source

MOST_LISTED = 12

Warn = Callable[[Path, str, str], None]
OWN_TOOLS = "load_crew(..., tools=[...]) takes your own, and so does --tools MODULE on the command line"


def check_references(
    config: CrewConfig, source: Source, *, tools: Collection[str], unread: Collection[str], warn: Warn
) -> None:
    """Checks that everything that is named exists, and that no task waits for itself.

    Args:
        config: What was read.
        source: Where problems go.
        tools: The names of all tools that there are.
        unread: Parts (`agents`, `tasks`, `crew`) of which something could not be read: what is not there may
            well be in what could not.
        warn: Told what is probably a mistake.
    """
    known_tools = _KnownTools(tools, config)
    known_agents, known_tasks = (
        _Known(part.removesuffix("s"), _ids(source, part), is_whole=not {part, "crew"} & set(unread))
        for part in ("agents", "tasks")
    )
    for agent in config.agents.values():
        known_tools.check(source, ("agents", agent.id, "tools"), agent.tools)
    for task in config.tasks.values():
        at: Path = ("tasks", task.id)
        if task.agent:
            known_agents.check(source, (*at, "agent"), (task.agent,))
        known_tools.check(source, (*at, "tools"), task.tools or ())
        for key in ("dependencies", "context"):
            path = _written(source, at, key)
            known_tasks.check(source, path, _names_at(source, path))
        if "crew" not in unread:
            _check_deliverable(source, task, config)
    if config.manager_agent is not None:
        known_agents.check(source, _written(source, (), "manager_agent"), (config.manager_agent,))
    _check_cycles(config, source)
    for kind in ("agents", "tasks"):
        _check_lookalikes(getattr(config, kind), kind, warn)
    _check_folders(config, warn)


def _check_cycles(config: CrewConfig, source: Source) -> None:
    for cycle in find_cycles({task.id: task.dependencies for task in config.tasks.values()}):
        at: Path = ("tasks", cycle[0])
        paths = [_written(source, at, key) for key in ("dependencies", "context")]
        # Where the next one of the cycle is named.
        named = (path for path in paths if cycle[1] in _names_at(source, path))
        message = f"tasks wait for each other: {' -> '.join(cycle)}"
        source.problem(next(named, paths[0]), message)


def _check_lookalikes(names: Collection[str], kind: str, warn: Warn) -> None:
    """Two ids that people take for one."""
    seen: dict[str, str] = {}
    for name in names:
        other = seen.setdefault("".join(name.casefold().split()), name)
        if other != name:
            warn((kind, name), "lookalike", f"'{name}' and '{other}' differ only in case or blanks")


class _Known:
    """The names of one kind that may be used."""

    def __init__(self, kind: str, names: Collection[str], *, is_whole: bool = True, more: str = "") -> None:
        self._kind = kind
        self._is_whole = is_whole
        self._names = frozenset(names)
        are = "is" if len(names) == 1 else "are"
        self._listed = f": there {are} {', '.join(names)}" if 0 < len(names) <= MOST_LISTED else ""
        self._more = more

    def check(self, source: Source, path: Path, used: Collection[str]) -> None:
        for name in used:
            if self._is_whole and name not in self._names:
                at = _place_in_list(source, path, name)
                message = f"unknown {self._kind} '{name}'{self._listed}{self._more}"
                source.problem(at, message, source.hint(" ".join(name.split()), self._names))


class _KnownTools:
    """The tools that may be named; those of a server are known by what the file says of it, if anything."""

    def __init__(self, names: Collection[str], config: CrewConfig) -> None:
        self._names = names
        self._web = () if config.web is None else WEB_NAMES
        self._servers = config.mcp_servers

    def check(self, source: Source, path: Path, used: Collection[str]) -> None:
        for name in used:
            at = _place_in_list(source, path, name)
            if name in self._web or name in self._names:
                continue
            if self._is_of_server(name):
                self._check_remote(source, at, name)
            elif name in WEB_NAMES:
                advice = "`web: {allow: [api.example.org]}` lists the hosts that it may reach"
                source.problem(at, f"the tool '{name}' is off: {advice}")
            elif name == SPAWN:
                source.problem(
                    at, f"the tool '{name}' comes with `process: autonomous`, to every agent, unnamed"
                )
            elif (words := near(name)) is not None:
                source.problem(at, f"there is no tool '{name}' here: {words}")
            else:
                known = _Known("tool", [*self._names, *self._web], more=f"; {OWN_TOOLS}")
                known.check(source, path, (name,))

    def _is_of_server(self, name: str) -> bool:
        return "." in name and name.partition(".")[0] in self._servers

    def _check_remote(self, source: Source, at: Path, name: str) -> None:
        server_name, _, own = name.partition(".")
        offered = self._servers[server_name].tools
        if not own:
            source.problem(at, f"'{name}' names no tool: one of a server is called '{server_name}.tool'")
        elif offered is not None and own not in offered:
            hint = source.hint(own, offered)
            meant = hint and f"{server_name}.{hint}"
            source.problem(at, f"the server '{server_name}' may not offer a tool '{own}'", meant)


def _ids(source: Source, part: str) -> list[str]:
    """The ids of all agents or tasks, those that could not be read among them."""
    written = source.data.get(part)
    return list(written) if isinstance(written, dict) else []


def _place_in_list(source: Source, path: Path, name: str) -> Path:
    """Where a name stands: what was read has lost the names that came twice."""
    written = source.data
    for part in path:
        written = written[part]
    if not isinstance(written, list):
        return path
    # A tool may be written under another framework's name.
    same = (index for index, one in enumerate(written) if name in {one, meant(str(one), ())})
    return (*path, written.index(name) if name in written else next(same))


def _written(source: Source, path: Path, key: str) -> Path:
    """Where a key is written, in whichever spelling."""
    spellings = (key, camel_case(key))
    return next(((*path, name) for name in spellings if (*path, name) in source.places), (*path, key))


def _names_at(source: Source, path: Path) -> list[str]:
    """The names that are written somewhere: one, a list of them, or none."""
    written: Any = source.data
    for part in path:
        written = written.get(part) if isinstance(written, dict) else None
    names = written if isinstance(written, list) else [written]
    return list(dict.fromkeys(name for name in names if isinstance(name, str)))


def _check_deliverable(source: Source, task: TaskConfig, config: CrewConfig) -> None:
    if task.deliverable is None:
        return
    keys = (_written(source, ("tasks", task.id), key) for key in ("deliverable", "output_file"))
    at = next((key for key in keys if key in source.places), ("tasks", task.id))
    path = PurePosixPath(task.deliverable)
    writable = [mount.virtual for mount in config.mounts if mount.mode == "rw"]
    roomy = any(path != PurePosixPath(root) and path.is_relative_to(root) for root in writable)
    if not roomy or ".." in path.parts:
        where = ", ".join(writable) or "there is no mount with ':rw'"
        source.problem(at, f"'{task.deliverable}' must be a file below a folder that may be written: {where}")


def _check_folders(config: CrewConfig, warn: Warn) -> None:
    for index, mount in enumerate(config.mounts):
        if mount.mode == "ro" and not mount.placed(config.folder).is_there:
            warn(("mounts", index), "missing-folder", f"there is no folder '{mount.host}' here")
