"""Whether a task's file can have the name that it is given: told before anything is begun, and paid for."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from orkeon_transitions.crew.config import CrewConfig
from orkeon_transitions.crew.placeholders import place_of
from orkeon_transitions.definition.places import Source
from orkeon_transitions.errors import CrewDefinitionError, Problem

# What the file systems in use take for one name.
MOST_BYTES = 255
_UNFIT = frozenset({"Cc", "Cs", "Zl", "Zp"})


def check_file_names(config: CrewConfig, source: Source) -> None:
    """Looks at the deliverables of a crew whose placeholders are filled.

    Args:
        config: The crew.
        source: The places of the texts.

    Raises:
        CrewDefinitionError: A file cannot have its name; each is named with its place.
    """
    problems = []
    for key, task in config.tasks.items():
        why = None if task.deliverable is None else next(_wrong_with(task.deliverable), None)
        if why is not None:
            at, where = place_of(("tasks", key, "deliverable"), source)
            line, column = source.place(at)
            problems.append(Problem(source.file_of(at), line, column, where, why))
    if problems:
        raise CrewDefinitionError(problems)


def _wrong_with(path: str) -> Iterator[str]:
    """What no file system would take. An input may name folders below the one that is mounted, too."""
    names = path.split("/")
    if ".." in names:
        yield f"the file would be {_short(path)}, and '..' may not be used"
    if names[-1] in {"", "."}:
        yield f"the file would be {_short(path)}, which is a folder"
    for name in names:
        unfit = next((char for char in name if unicodedata.category(char) in _UNFIT), None)
        if unfit is not None:
            yield f"the name of the file would have the character U+{ord(unfit):04X} in it: {_short(name)}"
            return
        size = len(name.encode())
        if size > MOST_BYTES:
            yield f"the name of the file has {size:,} bytes, and may have {MOST_BYTES}: {_short(name)}"


def _short(name: str) -> str:
    return ascii(name if len(name) <= 40 else f"{name[:40]}…")
