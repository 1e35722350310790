"""What a command's argument names: a machine that ships, a machine file, or a journal."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from orkeon_transitions.cli.screen import Mistake
from orkeon_transitions.errors import DefinitionError

MACHINE_KEYS = frozenset({"states", "transitions", "initial"})
SQLITE = b"SQLite format 3\0"
CREW_KEYS = frozenset({"agents", "tasks", "crew", "process"})

if TYPE_CHECKING:
    from orkeon_transitions.definition import MachineDefinition


def find_machine(name: str) -> MachineDefinition:
    """The definition that a name of the catalog or a path names.

    Raises:
        Mistake: There is neither a machine nor a file of that name, or it is a crew file.
        DefinitionError: The file is no machine definition.
    """
    from orkeon_transitions.definition import load_definition, nearest
    from orkeon_transitions.machines import machine_definition, machine_names

    if name in machine_names():
        return machine_definition(name)
    path = Path(name)
    if not path.exists():
        near = nearest(name, machine_names())
        hint = f" (did you mean '{near}'?)" if near else ". `orkeon machines` lists those that do"
        raise Mistake(f"{name}: no such file, and no machine of that name ships{hint}")
    refuse_database(path)
    try:
        return load_definition(path)
    except DefinitionError as error:
        if looks_like(path) == "crew":
            raise Mistake(f"{name}: is a crew file, not a machine") from error
        raise


def kind_of(data: object) -> Literal["machine", "crew"] | None:
    """What a file is meant to be, by the keys at its top."""
    keys = set(data) if isinstance(data, Mapping) else set()
    if keys & CREW_KEYS and not keys & {"states", "transitions"}:
        return "crew"
    return "machine" if keys & MACHINE_KEYS else None


def looks_like(path: Path) -> Literal["machine", "crew"] | None:
    """What the file of a path is meant to be; None also if it cannot be read."""
    from orkeon_transitions.definition import read_source

    try:
        return kind_of(read_source(path).data)
    except DefinitionError:
        return None


def existing_file(name: str, kind: str) -> Path:
    """The path, once it is sure that a file stands there that can be read more than once.

    Raises:
        Mistake: There is nothing, a folder, a database, or a pipe or device: reading that may never end.
    """
    path = Path(name)
    if not name:
        raise Mistake(f"an empty name is no {kind}")
    if not path.exists():
        raise Mistake(f"{name}: no such {kind}")
    if path.is_dir():
        raise Mistake(f"{name}: is a folder, not a {kind}")
    if not path.is_file():
        raise Mistake(f"{name}: is a pipe or a device: save what it gives as a {kind} first")
    refuse_database(path)
    return path


def refuse_database(path: Path) -> None:
    """A store that is named by its file is told its name.

    Raises:
        Mistake: The file is a database.
    """
    try:
        if not path.is_file():  # a pipe would be waited for
            return
        with path.open("rb") as file:
            is_database = file.read(len(SQLITE)) == SQLITE
    except OSError:  # whoever reads it says so
        return
    if is_database:
        raise Mistake(f"{path}: is a SQLite database; as a store it is named {store_url(path)}")


def store_url(path: str | Path) -> str:
    """The URL of a SQLite store in a file."""
    return f"sqlite:///{path}"


def is_journal(path: Path) -> bool:
    """Whether a file looks like a journal: its first line is a JSON object with a transition or a fact."""
    with path.open("rb") as file:
        head = file.read(200).lstrip()
    return head.startswith(b"{") and any(key in head for key in (b'"timestamp"', b'"fact"', b'"from_state"'))


def is_store_url(name: str) -> bool:
    """Whether a name is a store's URL rather than a file's path."""
    return "://" in name
