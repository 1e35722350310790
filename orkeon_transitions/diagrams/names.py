"""Safe names for states: what a picture's format can carry without quoting."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import Enum
from typing import Any

from orkeon_transitions.definition.names import enum_text

# A name may hold any text; of these characters none can stand in XML, and most cannot be seen.
_UNPRINTABLE = re.compile(r"[\x00-\x09\x0b-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


def plain_name(name: Any) -> str:
    """The text of a state or a trigger that may be an Enum member."""
    return enum_text(name) if isinstance(name, Enum) else str(name)


def printable(text: str) -> str:
    """The text with every character that a picture cannot carry made visible; line breaks stay."""
    return _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", re.sub(r"\r\n?", "\n", text))


def safe_names(names: Iterable[str], *, ascii_only: bool = False) -> dict[str, str]:
    """A distinct word of letters, digits, `_` and `-` for each name, the same in every run.

    A name that is such a word keeps it, so an odd name never takes the word of a plain one.

    Args:
        names: The names, in a fixed order.
        ascii_only: Whether letters of other scripts, and `-`, are replaced as well.
    """
    odd = re.compile(r"[^A-Za-z0-9_]+" if ascii_only else r"[^\w-]+")
    names = list(dict.fromkeys(names))
    plain = [name for name in names if name and not odd.search(name)]
    others = [name for name in names if not name or odd.search(name)]
    words = [*plain, *(odd.sub("_", name).strip("_") or "state" for name in others)]
    return dict(zip([*plain, *others], distinct(words), strict=True))


def distinct(words: Iterable[str]) -> list[str]:
    """The words in their order, a number added to each one that was there before."""
    taken: set[str] = set()
    numbered = []
    for stem in words:
        word, number = stem, 2
        while word in taken:
            word, number = f"{stem}_{number}", number + 1
        taken.add(word)
        numbered.append(word)
    return numbered
