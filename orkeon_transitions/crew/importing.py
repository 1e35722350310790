"""A pair of files `agents.yaml` and `tasks.yaml`, as CrewAI has them, as one crew file.

The pair runs as it is; one file is what people keep when they stay. What has no effect is switched off in
it, so that it is read without a finding, and what it gives is compared with what the pair gives before
anybody sees it. Comments stay where the files are written in the usual way, one key on a line.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from orkeon_transitions.crew.config import CrewConfig
from orkeon_transitions.crew.crew import Crew, load_crew
from orkeon_transitions.crew.keys import AGENT, TASK, KeyTable, says_something
from orkeon_transitions.crew.layouts import MAIN_NAMES, SUFFIXES, pair_in, read_files
from orkeon_transitions.crew.tool import Tool
from orkeon_transitions.crew.tool_aliases import meant
from orkeon_transitions.crew.transplanting import NotSimpleError, Transplant
from orkeon_transitions.definition.files import read_text
from orkeon_transitions.definition.names import snake_case
from orkeon_transitions.definition.places import Path as DataPath
from orkeon_transitions.definition.places import Source
from orkeon_transitions.definition.writing import write_data
from orkeon_transitions.errors import CrewDefinitionError, OrkeonError, Problem

PARTS: Mapping[str, KeyTable] = {"agents": AGENT, "tasks": TASK}
_PROGRAM = "crew.py"
_THERE = ": where the pair writes it, too."
_HERE = " beside this file; the pair writes it beside itself."


@dataclass(frozen=True, slots=True)
class ImportedCrew:
    """A pair of files as one.

    Attributes:
        text: The crew file.
        files: The files that it was made of.
        notes: What whoever reads it should know.
    """

    text: str
    files: tuple[Path, ...]
    notes: tuple[str, ...]


def import_crewai(
    folder: str | os.PathLike[str],
    *,
    tools: Iterable[Tool | Callable[..., Any]] = (),
    beside: str | os.PathLike[str] | None = None,
) -> ImportedCrew:
    """Makes one crew file of a CrewAI pair.

    Args:
        folder: Where `agents.yaml` and `tasks.yaml` are, or the project with them in `config/` or
            `src/<name>/config/`.
        tools: The program's own tools, which agents may name besides the built-in ones.
        beside: The folder that the text is to lie in, if that is known: files that its tasks write come to
            the same place as from the pair.

    Raises:
        CrewDefinitionError: There is no such pair, or it is no crew.
        OrkeonError: It cannot be written as one file.
    """
    found = _pair_in(Path(folder))
    own = list(tools)
    crew = load_crew(found, tools=own)
    source = read_files(found).source
    idle = _idle_keys(source.data)
    files = tuple(Path(str(source.file_of((part,)))) for part in PARTS)
    notes = [*_notes(crew, idle), *_said_of_program(found)]
    try:
        text = _head(crew.config, idle, beside) + _transplanted(source, idle)
        if not _is_same(text, crew, own):
            raise NotSimpleError
    except NotSimpleError:
        text = _head(crew.config, idle, beside, are_gone=True) + write_data(_data(source, idle))
        if not _is_same(text, crew, own):
            raise OrkeonError(f"{os.fspath(folder)}: cannot be written as one file") from None
        if any("#" in read_text(Source(), path) for path in files):
            notes.append("comments are left out: the files are not written one key on a line")
    return ImportedCrew(text, files, tuple(notes))


def _pair_in(folder: Path) -> Path:
    """The folder with the pair.

    Raises:
        CrewDefinitionError: There is none, or more than one, or it has a crew file already.
    """
    found = pair_in(folder)
    if found is None:
        raise _refused(folder, "has no 'agents.yaml' and 'tasks.yaml'")
    if mains := [name for stem in MAIN_NAMES for name in _named(found, stem)]:
        raise _refused(found, f"has a '{mains[0]}': it is a crew of ours already")
    return found


def _named(folder: Path, stem: str) -> list[str]:
    return [f"{stem}{suffix}" for suffix in SUFFIXES if (folder / f"{stem}{suffix}").is_file()]


def _refused(folder: Path, message: str) -> CrewDefinitionError:
    return CrewDefinitionError([Problem(os.fspath(folder), None, None, "", message)])


def _members(data: Mapping[str, Any]) -> Iterator[tuple[str, str, dict[str, Any], KeyTable]]:
    for part, table in PARTS.items():
        for name, member in data[part].items():
            yield part, name, member, table


def _idle_keys(data: Mapping[str, Any]) -> list[DataPath]:
    """The keys that have no effect."""
    return [
        (part, name, key)
        for part, name, member, table in _members(data)
        for key, value in member.items()
        if _is_idle(snake_case(key), value, table)
    ]


def _is_idle(key: str, value: Any, table: KeyTable) -> bool:
    if key in table.carried:
        return says_something(value)
    return key not in table.all_names


def _data(source: Source, idle: Iterable[DataPath]) -> dict[str, Any]:
    """The agents and the tasks without what has no effect, tools by their own names."""
    left_out = set(idle)
    data: dict[str, Any] = {part: {} for part in PARTS}
    for part, name, member, _ in _members(source.data):
        kept = {key: value for key, value in member.items() if (part, name, key) not in left_out}
        data[part][name] = {key: _with_own_names(key, value) for key, value in kept.items()}
    return data


def _with_own_names(key: str, value: Any) -> Any:
    if key != "tools" or not isinstance(value, list):
        return meant(value, ()) if key == "tools" and isinstance(value, str) else value
    return [meant(one, ()) if isinstance(one, str) else one for one in value]


def _transplanted(source: Source, idle: Iterable[DataPath]) -> str:
    """Both files below the keys of their parts, as they are written.

    Raises:
        NotSimpleError: They are not written in the usual way.
    """
    texts = []
    for part in PARTS:
        transplant = Transplant.of(read_text(Source(), str(source.file_of((part,)))))
        transplant.switch_off(source.key_place(path) for path in idle if path[0] == part)
        # From the back: what stands before a name on its line stays where it is.
        for path, name in reversed(list(_other_names(source, part))):
            transplant.rename(source.place(path), name, meant(name, ()))
        is_wrapped = _is_wrapped(transplant, part)
        head = "" if is_wrapped else f"{part}:\n"
        texts.append(f"{head}{transplant.text(indented=not is_wrapped)}")
    return "\n".join(texts)


def _is_wrapped(transplant: Transplant, part: str) -> bool:
    """Whether the file has `agents:` around its agents, as some write it."""
    return any(line.split("#")[0].rstrip() == f"{part}:" for line in transplant.lines)


def _other_names(source: Source, part: str) -> Iterator[tuple[DataPath, str]]:
    """The tools that are called by another framework's names, with their places."""
    for name, member in source.data[part].items():
        tools = member.get("tools")
        listed = tools if isinstance(tools, list) else [tools]
        for index, tool in enumerate(listed):
            if isinstance(tool, str) and meant(tool, ()) != tool:
                at: DataPath = (part, name, "tools")
                yield ((*at, index) if isinstance(tools, list) else at), tool


def _head(
    config: CrewConfig,
    idle: Iterable[DataPath],
    beside: str | os.PathLike[str] | None,
    *,
    are_gone: bool = False,
) -> str:
    """What stands above the agents."""
    names = ", ".join(dict.fromkeys(str(path[-1]) for path in idle))
    lines = ["# From CrewAI's agents.yaml and tasks.yaml."]
    if names and not are_gone:
        lines.append(f"# Without effect here, and so switched off: {names}.")
    data: dict[str, Any] = {"name": config.name, "process": config.process}
    if config.mounts:
        lines.append(f"# Each output_file lies below the folder that is mounted{_THERE if beside else _HERE}")
        data["mounts"] = [
            f"{_seen_from(beside, config.folder, mount.host)}:{mount.virtual}:{mount.mode}"
            for mount in config.mounts
        ]
    return "\n".join(lines) + "\n" + write_data(data) + "\n"


def _seen_from(beside: str | os.PathLike[str] | None, folder: Path, host: str) -> str:
    """A folder of the pair as the new file names it, if it is known where that one lies."""
    if beside is None:
        return host
    place = folder / host
    try:
        path = Path(os.path.relpath(place, Path(beside).resolve())).as_posix()
    except ValueError:  # on another drive
        return str(place)
    return path if path.startswith("..") else f"./{path}"


def _is_same(text: str, crew: Crew, tools: Iterable[Tool | Callable[..., Any]]) -> bool:
    """Whether a text gives what the pair gives, but for what has no effect."""
    try:
        written = load_crew(text, tools=tools)
    except CrewDefinitionError:
        return False
    return _in_effect(written.config) == _in_effect(crew.config)


def _in_effect(config: CrewConfig) -> CrewConfig:
    """A crew without what has no effect; where its files lie has none on what it is."""
    return replace(
        config,
        folder=Path(),
        mounts=tuple(replace(mount, host="") for mount in config.mounts),
        carried={},
        agents={name: replace(agent, carried={}) for name, agent in config.agents.items()},
        tasks={name: replace(task, carried={}) for name, task in config.tasks.items()},
    )


def _notes(crew: Crew, idle: Iterable[DataPath]) -> Iterator[str]:
    names = ", ".join(dict.fromkeys(str(path[-1]) for path in idle))
    if names:
        yield f"without effect here: {names}"
    for found in crew.findings:
        # What the new file does not have any more needs no word.
        if found.code not in {"carried", "unknown-key", "tool-alias"}:
            yield f"{found.path}: {found.message}"


def _said_of_program(folder: Path) -> Iterator[str]:
    if any((place / _PROGRAM).is_file() for place in (folder, folder.parent)):
        yield f"'{_PROGRAM}' is not read: the process, tools and callbacks that it names are not in the pair"
