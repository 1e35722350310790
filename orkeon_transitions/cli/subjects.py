"""What a command's argument names: a machine that ships, a machine file, or a journal."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import TYPE_CHECKING

from orkeon_transitions.cli.screen import Mistake

if TYPE_CHECKING:
    from orkeon_transitions.definition import MachineDefinition


def find_machine(name: str) -> MachineDefinition:
    """The definition that a name of the catalog or a path names.

    Raises:
        Mistake: There is neither a machine nor a file of that name.
        DefinitionError: The file is no machine definition.
    """
    from orkeon_transitions.definition import load_definition
    from orkeon_transitions.machines import machine_definition, machine_names

    if name in machine_names():
        return machine_definition(name)
    path = Path(name)
    if not path.exists():
        raise Mistake(
            f"{name}: no such file, and no machine of that name ships{_hint(name, machine_names())}"
        )
    return load_definition(path)


def existing_file(name: str, kind: str) -> Path:
    """The path, once it is sure that a file stands there.

    Raises:
        Mistake: There is nothing, or a folder.
    """
    path = Path(name)
    if not path.exists():
        raise Mistake(f"{name}: no such {kind}")
    if path.is_dir():
        raise Mistake(f"{name}: is a folder, not a {kind}")
    return path


def is_journal(path: Path) -> bool:
    """Whether a file looks like a journal: its first line is a JSON object with a transition or a fact."""
    with path.open("rb") as file:
        head = file.read(200).lstrip()
    return head.startswith(b"{") and any(key in head for key in (b'"timestamp"', b'"fact"', b'"from_state"'))


def _hint(name: str, names: tuple[str, ...] | list[str]) -> str:
    near = difflib.get_close_matches(name, names, n=1)
    return f" (did you mean '{near[0]}'?)" if near else ". `orkeon machines` lists those that do"
