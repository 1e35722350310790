"""The text of a file, or what keeps it from being read."""

from __future__ import annotations

import os
import re
from pathlib import Path

from orkeon_transitions.definition.places import NOWHERE, Place, Source

LARGEST = 1_000_000
_BOM = "\ufeff"
# What YAML allows in a text: no control character, no lone surrogate, no byte order mark further in.
_UNREADABLE = re.compile(r"[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_TOO_LARGE = f"larger than 1 MB ({LARGEST:,} bytes)"


def read_text(source: Source, path: str | os.PathLike[str]) -> str:
    """Reads a file as UTF-8; what is wrong with it becomes a problem of the source.

    Returns:
        The text, empty if there is a problem.
    """
    try:
        if Path(path).is_dir():
            source.problem_at(NOWHERE, "is a directory, not a file")
            return ""
        with Path(path).open("rb") as file:
            content = file.read(LARGEST + 1)
    except (OSError, ValueError) as error:
        source.problem_at(NOWHERE, f"cannot be read: {_reason(error, os.fsdecode(path))}")
        return ""
    if len(content) > LARGEST:
        source.problem_at(NOWHERE, _TOO_LARGE)
        return ""
    return _decode(source, content)


def tidy_text(source: Source, text: str) -> str:
    """Gives a text without a byte order mark, once it is known to be readable."""
    if len(text) > LARGEST or len(text.encode(errors="replace")) > LARGEST:
        source.problem_at(NOWHERE, _TOO_LARGE)
        return ""
    text = text.removeprefix(_BOM)
    unreadable = _UNREADABLE.search(text)
    if unreadable:
        code = f"U+{ord(unreadable[0]):04X}"
        message = f"is no YAML text: the character {code} (is this a binary file?)"
        source.problem_at(_place_in(text, unreadable.start()), message)
    return text


def _decode(source: Source, content: bytes) -> str:
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        source.problem_at((1, 1), "is UTF-16: save it as UTF-8")
        return ""
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        place = _place_in(content[: error.start].decode(), error.start)
        message = f"is not UTF-8: the byte 0x{content[error.start]:02X} (is this a binary file?)"
        source.problem_at(place, message)
        return ""
    return tidy_text(source, text)


def _place_in(text: str, index: int) -> Place:
    before = text[:index]
    return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1


def _reason(error: Exception, path: str) -> str:
    if isinstance(error, FileNotFoundError):
        # A name without a suffix may be meant for a machine that ships, which a room above this one knows.
        way = f"; machine_definition('{path}') of orkeon_transitions.machines loads one that ships"
        return f"there is no such file{way if path.isidentifier() else ''}"
    return getattr(error, "strerror", None) or str(error)
