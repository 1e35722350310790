"""Names: which texts can be one, and which one was probably meant."""

from __future__ import annotations

import difflib
import keyword
import re
import unicodedata
from collections.abc import Container, Iterable
from enum import Enum

# Control characters, lone surrogates, and the two separators that some readers take for line ends.
_UNFIT_CATEGORIES = frozenset({"Cc", "Cs", "Zl", "Zp"})
_HUMP = re.compile(r"(?<=[a-z0-9])([A-Z])")
_LEAST_LIKENESS = 0.6


def nearest(name: str, names: Iterable[str]) -> str | None:
    """Finds the name that was probably meant.

    Args:
        name: What was written.
        names: What would have been valid.

    Returns:
        The nearest valid name, or None if none is near.
    """
    by_folded = {valid.casefold(): valid for valid in sorted(names)}
    close = difflib.get_close_matches(name.casefold(), by_folded, n=1, cutoff=_LEAST_LIKENESS)
    return by_folded[close[0]] if close else None


def unused(name: str, taken: Container[str]) -> str:
    """The name, or the name with a number from 2 where it is taken."""
    number, free = 2, name
    while free in taken:
        free, number = f"{name}_{number}", number + 1
    return free


def enum_text(member: Enum) -> str:
    """The text by which an Enum member is known: its value if that is text, else its name."""
    return str.__str__(member.value) if isinstance(member.value, str) else member.name


def snake_case(key: str) -> str:
    """Folds `maxStateVisits` to `max_state_visits`; other texts stay as they are."""
    return _HUMP.sub(lambda hump: "_" + hump[1].lower(), key)


def spelled_like(key: str, hint: str | None) -> str | None:
    """A key that is meant, in the spelling of the one that was written."""
    is_camel = hint is not None and key != key.lower() and "_" not in key
    return camel_case(hint) if hint is not None and is_camel else hint


def camel_case(key: str) -> str:
    """Folds `max_state_visits` to `maxStateVisits`."""
    first, *rest = key.split("_")
    return first + "".join(part.capitalize() for part in rest)


def unfit_character(text: str) -> str | None:
    """Finds the first character that no name may have, such as a line end or an escape."""
    return next((char for char in text if unicodedata.category(char) in _UNFIT_CATEGORIES), None)


def is_callback_name(text: str) -> bool:
    """Whether a text can be the name of a guard or an action: an identifier, so nothing to import."""
    return text.isidentifier() and not keyword.iskeyword(text)
