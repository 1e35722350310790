"""Reading one mapping: its keys in both spellings, and values of the few kinds that there are.

Each reader gives the value, or None after it has noted what is wrong, so that one pass finds everything.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping
from datetime import timedelta
from typing import Any, TypeVar

from orkeon_transitions.definition.names import is_callback_name, snake_case, spelled_like, unfit_character
from orkeon_transitions.definition.places import Path, Source

_Read = TypeVar("_Read")
_FIT_IN_PROSE = "\n\r\t"


class Block:
    """One mapping of a source, its keys folded to snake_case and held against the known ones.

    Attributes:
        source: Where problems go.
        path: Where the mapping is.
        values: By known key.
    """

    def __init__(self, source: Source, path: Path) -> None:
        self.source = source
        self.path = path
        self.values: dict[str, Any] = {}
        self.written: dict[str, Path] = {}

    def at(self, key: str) -> Path:
        """The path of a known key as it was written."""
        return self.written.get(key, (*self.path, key))

    def __contains__(self, key: str) -> bool:
        return key in self.values

    def get(self, key: str) -> Any:
        """The value of a known key, None if it is not there."""
        return self.values.get(key)

    def problem(self, key: str, message: str, hint: str | None = None) -> None:
        """Adds a problem with the value of a known key."""
        self.source.problem(self.at(key), message, hint)

    def require(self, key: str, advice: str = "") -> bool:
        """Whether a key is there; if not, that is a problem of the whole mapping."""
        if key in self.values:
            return True
        self.source.problem(self.path, f"'{key}' is missing{advice}")
        return False

    def text(self, key: str) -> str | None:
        """A text for people, with line ends if need be."""
        return self._read(key, read_prose)

    def name(self, key: str) -> str | None:
        """A name."""
        return self._read(key, read_name)

    def flag(self, key: str, default: bool) -> bool:
        """A boolean."""
        value = self._read(key, read_flag)
        return default if value is None else value

    def seconds(self, key: str) -> float | None:
        """A number of seconds."""
        return self._read(key, read_seconds)

    def names(self, key: str) -> tuple[str, ...]:
        """A name, or a list of names."""
        return read_names(self.source, self.get(key), self.at(key), read_name)

    def callbacks(self, key: str) -> tuple[str, ...]:
        """The name of a guard or an action, or a list of such names."""
        return read_names(self.source, self.get(key), self.at(key), read_callback)

    def _read(self, key: str, read: Callable[[Source, Any, Path], _Read | None]) -> _Read | None:
        value = self.get(key)
        return None if value is None else read(self.source, value, self.at(key))


def read_block(
    source: Source,
    value: Any,
    path: Path,
    known: Collection[str],
    *,
    aliases: Mapping[str, str] | None = None,
    unused: Collection[str] = (),
    refused: Mapping[str, str] | None = None,
) -> Block:
    """Reads the keys of a mapping.

    Args:
        source: Where problems and notes go.
        value: The mapping.
        path: Where it is.
        known: The keys that are read, in snake_case.
        aliases: Other names of known keys, in snake_case.
        unused: Keys that are accepted with a note.
        refused: Keys that are refused by name, with the sentence that says why.

    Returns:
        The values by known key.
    """
    block = Block(source, path)
    for key, content in value.items():
        at = (*path, key)
        folded = snake_case(key)
        folded = (aliases or {}).get(folded, folded)
        if refused and folded in refused:
            source.problem(at, refused[folded], at_key=True)
        elif folded in known:
            _keep(block, folded, content, at)
        elif folded in unused:
            source.note(at, "unused-key", f"'{key}' has no effect here")
        else:
            hint = spelled_like(key, source.hint(folded, frozenset(known)))
            source.problem(at, f"unknown key '{key}'", hint, at_key=True)
    return block


def _keep(block: Block, key: str, content: Any, at: Path) -> None:
    if key in block.values:
        if block.values[key] != content:
            first, second = block.written[key][-1], at[-1]
            message = f"'{first}' and '{second}' are the same key, and their values differ"
            block.source.problem(at, message, at_key=True)
        return
    block.values[key] = content
    block.written[key] = at


def read_prose(source: Source, value: Any, path: Path) -> str | None:
    """Reads a text for people."""
    if not isinstance(value, str):
        source.problem(path, f"must be text, not {shown(value)}")
        return None
    unfit = unfit_character("".join(char for char in value if char not in _FIT_IN_PROSE))
    if unfit is not None:
        source.problem(path, f"must not contain the control character U+{ord(unfit):04X}")
        return None
    return value


def read_name(source: Source, value: Any, path: Path) -> str | None:
    """Reads a name: any text that is not empty and has no control character."""
    if not isinstance(value, str):
        source.problem(path, f"must be a name, not {shown(value)}{_quotes(value)}")
        return None
    if not value.strip():
        source.problem(path, "must be a name, not an empty text")
        return None
    unfit = unfit_character(value)
    if unfit is not None:
        source.problem(path, f"a name must not contain the control character U+{ord(unfit):04X}")
        return None
    return value


def read_callback(source: Source, value: Any, path: Path) -> str | None:
    """Reads the name of a guard or an action."""
    if callable(value):
        source.problem(path, "must be a name: the function itself is given with guards= or actions=")
        return None
    name = read_name(source, value, path)
    if name is not None and not is_callback_name(name):
        source.problem(path, f"'{name}' is not a Python identifier: nothing is imported or evaluated")
        return None
    return name


def read_names(
    source: Source, value: Any, path: Path, read: Callable[[Source, Any, Path], str | None]
) -> tuple[str, ...]:
    """Reads one name or a list of them."""
    if value is None:
        return ()
    if isinstance(value, dict):
        source.problem(path, "must be a name or a list of names, not a mapping")
        return ()
    items = [((*path, index), item) for index, item in enumerate(value)] if isinstance(value, list) else None
    names = [read(source, item, at) for at, item in ([(path, value)] if items is None else items)]
    return tuple(name for name in names if name is not None)


def read_flag(source: Source, value: Any, path: Path) -> bool | None:
    """Reads a boolean: true or false, never a text that looks like one."""
    if isinstance(value, bool):
        return value
    source.problem(path, f"must be true or false, not {shown(value)}")
    return None


def read_seconds(source: Source, value: Any, path: Path) -> float | None:
    """Reads a duration: a number of seconds, or a `timedelta` from a program."""
    if isinstance(value, timedelta):
        value = value.total_seconds()
    number = read_number(source, value, path, "a number of seconds")
    if number is not None and number > timedelta.max.total_seconds():
        source.problem(path, "is longer than any duration can be")
        return None
    return number


def read_number(source: Source, value: Any, path: Path, kind: str = "a number") -> float | None:
    """Reads a number that is not negative."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        source.problem(path, f"must be {kind}, not {shown(value)}")
        return None
    if not 0 <= value <= sys.float_info.max:
        source.problem(path, f"must be {kind}, 0 or more, not {_digits(value)}")
        return None
    return value + 0  # -0.0 is the same number, but neither the same text nor the same hash


def read_count(source: Source, value: Any, path: Path) -> int | None:
    """Reads a whole number that is not negative."""
    if isinstance(value, bool) or not isinstance(value, int):
        source.problem(path, f"must be a whole number, not {shown(value)}")
        return None
    if value < 0:
        source.problem(path, f"must be a whole number, 0 or more, not {_digits(value)}")
        return None
    return value


def shown(value: Any) -> str:
    """Says in a few words what a value is."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return f"the number {_digits(value)}"
    if isinstance(value, str):
        return f"the text '{value}'" if len(value) <= 40 else "a text"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, dict):
        return "a mapping"
    return f"an object of type {type(value).__name__}"


def _digits(value: float) -> str:
    """A number as it was written; Python itself refuses to write out an endless one."""
    is_endless = isinstance(value, int) and abs(value) > sys.float_info.max
    return "one too long to show" if is_endless else str(value)


def _quotes(value: Any) -> str:
    return ": put quotes around it" if value is None or isinstance(value, bool | int | float) else ""
