"""The files of a crew: one, or a folder of them, read as if all stood in one.

A folder has `crew.yaml` or `config.yaml`, and the agents and the tasks either there, in `agents.yaml` and
`tasks.yaml`, or in the folders `agents/` and `tasks/`. A file in such a folder is one agent, called as the
file is; or several, if it maps ids to agents. A folder with `agents.yaml` and `tasks.yaml` alone is a crew as
well, and so is a project in whose `config/` or `src/<name>/config/` they lie, as CrewAI's template has it. A
`crew.yaml` that lacks agents or tasks is read with what lies beside it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from orkeon_transitions.crew.keys import AGENT, TASK
from orkeon_transitions.definition.names import snake_case
from orkeon_transitions.definition.places import NOWHERE, Source
from orkeon_transitions.definition.places import Path as DataPath
from orkeon_transitions.definition.source import is_text, read_source
from orkeon_transitions.errors import CrewDefinitionError, Problem

MAIN_NAMES = ("crew", "config")
SUFFIXES = (".yaml", ".yml")
PARTS = {"agents": AGENT, "tasks": TASK}
_NESTED = ("config", "src/*/config")


@dataclass(slots=True)
class CrewFiles:
    """What was read of a crew's files.

    Attributes:
        source: All of it, with the file of each part.
        name: What the crew is called if it does not say.
        folder: Where its relative folders are looked for.
        unread: Parts (`agents`, `tasks`, `crew`) of which a file could not be read: what is missing there may
            well be in that file.
    """

    source: Source
    name: str
    folder: Path
    unread: set[str] = field(default_factory=set)


def read_files(what: str | os.PathLike[str]) -> CrewFiles:
    """Reads a crew's text, its file, or its folder.

    Raises:
        CrewDefinitionError: It cannot be read at all. A file among several that cannot be read is a problem
            of the source.
    """
    if isinstance(what, str) and is_text(what):
        return CrewFiles(read_source(what, error=CrewDefinitionError), "crew", Path.cwd())
    path = Path(what)
    if _is_folder(path):
        return _read_folder(path)
    source = read_source(what, error=CrewDefinitionError)
    folder = path.resolve().parent
    lacking = isinstance(source.data, dict) and any(not source.data.get(part) for part in PARTS)
    if lacking and path.stem in MAIN_NAMES and any(_part_files(path.parent, part) for part in PARTS):
        files = CrewFiles(source, folder.name, folder)
        _add_parts(files, path.parent)
        return files
    return CrewFiles(source, path.stem, folder)


def pair_in(folder: Path) -> Path | None:
    """The folder with `agents.yaml` and `tasks.yaml`: this one, or the one of a project that has them.

    Raises:
        CrewDefinitionError: The project has several.
    """
    nested = (inner for pattern in _NESTED for inner in sorted(folder.glob(pattern)))
    found = [one for one in (folder, *nested) if all(_named_files(one, (part,)) for part in PARTS)]
    if len(found) > 1 and found[0] != folder:
        message = f"has several pairs: name one of {', '.join(map(str, found))}"
        raise CrewDefinitionError([Problem(os.fspath(folder), None, None, "", message)])
    return found[0] if found else None


def _read_folder(folder: Path) -> CrewFiles:
    files = CrewFiles(Source({}, file=os.fspath(folder), error=CrewDefinitionError), "", folder.resolve())
    _check_may_enter(files, folder)
    mains = _named_files(folder, MAIN_NAMES)
    files.name = _name_of(files.folder)
    if mains:
        _add_main(files, mains[0])
        _check_alone(files, folder, mains)
    elif (pair := pair_in(folder)) is None:
        files.source.problem_at(NOWHERE, _missing_files(folder))
        files.source.raise_problems()
    elif pair != folder:
        return _read_folder(pair)
    _add_parts(files, folder)
    return files


def _name_of(folder: Path) -> str:
    """What a crew is called after its folder; in a project, `config/` is only where its files are."""
    named = folder.parent if folder.name == "config" and folder.parent.name else folder
    return named.name or "crew"


def _check_may_enter(files: CrewFiles, folder: Path) -> None:
    """Of a folder that may not be entered nobody can tell what is in it.

    Raises:
        CrewDefinitionError: This is one.
    """
    try:
        # Its own entry in it, which `Path` would leave out.
        os.stat(os.path.join(folder, os.curdir))  # noqa: PTH116, PTH118 - Path would leave the dot out
    except OSError as error:
        files.source.problem_at(NOWHERE, f"cannot be read: {error.strerror}")
        files.source.raise_problems()


def _missing_files(folder: Path) -> str:
    lacking = [part for part in PARTS if not _part_files(folder, part)]
    also = "".join(f", no '{part}.yaml' or '{part}/'" for part in lacking)
    return f"is a folder without a crew: there is no 'crew.yaml' or 'config.yaml'{also}"


def _add_main(files: CrewFiles, path: Path) -> None:
    try:
        files.source = _read(path)
    except CrewDefinitionError as error:
        files.source = Source({}, file=os.fspath(path), error=CrewDefinitionError)
        files.source.problems += error.problems
        files.unread.add("crew")


def _add_parts(files: CrewFiles, folder: Path) -> None:
    """Puts what stands in further files where it would stand in one."""
    if not isinstance(files.source.data, dict):
        return
    for part in PARTS:
        found = _part_files(folder, part)
        if not found:
            continue
        _check_alone(files, folder, found)
        if files.source.data.get(part) is not None:
            message = f"'{part}' stands here and in '{_shown(found[0])}': a crew has one of them"
            files.source.problem((part,), message, at_key=True)
        elif found[0].is_dir():
            _add_folder(files, found[0], part)
        else:
            _add_file(files, found[0], part)


def _add_file(files: CrewFiles, path: Path, part: str) -> None:
    """One file with all agents, or all tasks; their ids may stand below `agents:` there as well."""
    source = _read_part(files, path, part)
    if source is None:
        return
    data, below = _unwrapped(source, part)
    files.source.data[part] = data
    files.source.graft(source, (part,), below=below)
    files.source.problems += source.problems


def _add_folder(files: CrewFiles, folder: Path, part: str) -> None:
    """A file for each agent, or each task; by name, so that the order is the same everywhere."""
    members: dict[str, Any] = {}
    files.source.data[part] = members
    files.source.files[(part,)] = os.fspath(folder)
    # A folder has no lines.
    files.source.places[(part,)] = files.source.key_places[(part,)] = NOWHERE
    for path in _listed(files, folder, part):
        source = _read_part(files, path, part)
        if source is None:
            continue
        for name, content, below in _members_of(source, path.stem, part):
            if name in members:
                other = Path(files.source.file_of((part, name)) or "").name
                message = f"'{name}' stands in '{other}' already"
                source.problem_at(source.key_place(below), message, path=(part, name))
            else:
                members[name] = content
                files.source.graft(source, (part, name), below=below)
        files.source.problems += source.problems


def _listed(files: CrewFiles, folder: Path, part: str) -> list[Path]:
    try:
        entries = sorted(folder.iterdir())
    except OSError as error:
        files.source.problem((part,), f"cannot be read: {error.strerror}")
        files.unread.add(part)
        return []
    for entry in entries:
        if _is_folder(entry) and not entry.name.startswith((".", "_")):
            message = f"the folder '{entry.name}' is not read: '{part}/' has files only"
            files.source.notes.append(files.source.finding("warning", (part,), "not-read", message))
    return [
        entry
        for entry in entries
        # What editors and file managers leave beside a file is hidden.
        if entry.suffix.lower() in SUFFIXES and not entry.name.startswith(".") and not _is_folder(entry)
    ]


def _read_part(files: CrewFiles, path: Path, part: str) -> Source | None:
    try:
        return _read(path)
    except CrewDefinitionError as error:
        files.source.problems += error.problems
        files.unread.add(part)
        return None


def _read(path: Path) -> Source:
    """Reads a file that was found by its name; what only looks like one is not waited for, nor left out.

    Raises:
        CrewDefinitionError: It cannot be read.
    """
    unfit = None
    if not os.path.exists(path):  # noqa: PTH110 (Path.exists raises where a folder may not be entered)
        unfit = "is a link that leads nowhere" if os.path.islink(path) else None  # noqa: PTH114 (likewise)
    elif not path.is_file():
        unfit = "is no plain file"
    if unfit is not None:
        raise CrewDefinitionError([Problem(os.fspath(path), None, None, "", unfit)])
    return read_source(path, error=CrewDefinitionError)


def _unwrapped(source: Source, part: str) -> tuple[Any, DataPath]:
    """What stands in a file, without the `agents:` that some write around it again."""
    if not isinstance(source.data, dict) or part not in source.data:
        return source.data, ()
    for other in source.data:
        if other != part:
            message = f"'{other}' stands beside '{part}': the ids stand all below it, or all at the top"
            source.problem((other,), message, at_key=True)
    return source.data[part], (part,)


def _members_of(source: Source, stem: str, part: str) -> Iterator[tuple[str, Any, DataPath]]:
    """Each agent or task of a file, with its id and where in the file it is."""
    data, below = _unwrapped(source, part)
    if not _is_several(data, part):
        yield stem, data, below
        return
    for name, content in data.items():
        yield name, content, (*below, name)


def _is_several(data: Any, part: str) -> bool:
    """Whether a file maps ids to agents rather than the keys of one agent to their values."""
    if not (isinstance(data, dict) and data):
        return False
    known = PARTS[part].all_names
    return not any(isinstance(value, str) or snake_case(key) in known for key, value in data.items())


def _part_files(folder: Path, part: str) -> list[Path]:
    """All files and folders that have a part: more than one is a mistake."""
    inside = folder / part
    return [*_named_files(folder, (part,)), *([inside] if _is_folder(inside) else [])]


def _named_files(folder: Path, stems: tuple[str, ...]) -> list[Path]:
    named = (folder / f"{stem}{suffix}" for stem in stems for suffix in SUFFIXES)
    return [path for path in named if os.path.lexists(path) and not _is_folder(path)]


def _check_alone(files: CrewFiles, folder: Path, found: list[Path]) -> None:
    if len(found) > 1:
        names = " and ".join(f"'{_shown(path)}'" for path in found)
        message = f"both {names} are here: a crew has one of them"
        files.source.problems.append(Problem(os.fspath(folder), None, None, "", message))


def _shown(path: Path) -> str:
    return f"{path.name}/" if path.is_dir() else path.name


def _is_folder(path: Path) -> bool:
    """Whether it is a folder, as far as one may look; whoever reads it says what else is wrong."""
    return os.path.isdir(path)  # noqa: PTH112 (Path.is_dir raises for a long name, or a closed folder)
