"""States and triggers by text and by Enum member: either may be given, the member is given back."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from orkeon_transitions.definition.names import enum_text


def text_of(name: Any) -> str:
    """The text by which definitions, status and journals know a state or trigger.

    Raises:
        TypeError: It is neither a text nor an Enum member.
    """
    if isinstance(name, Enum):
        return enum_text(name)
    if isinstance(name, str):
        return name
    raise TypeError(f"a state or trigger is a text or an Enum member, not {type(name).__name__}: {name!r}")


@lru_cache(maxsize=256)
def members_of(names: type[Enum] | None) -> Mapping[str, Any]:
    """An Enum's members by text; empty for None."""
    return MappingProxyType({} if names is None else {text_of(member): member for member in names})
