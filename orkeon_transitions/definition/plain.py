"""A program's mapping as plain data: Enums and state objects become text and mappings."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

from orkeon_transitions.definition.building import DEEPEST
from orkeon_transitions.definition.models import StateDefinition, TransitionDefinition
from orkeon_transitions.definition.names import enum_text
from orkeon_transitions.definition.places import Path, Source
from orkeon_transitions.errors import DefinitionError

_STATE_LISTS = ("on_enter", "on_exit", "tags")


def plain_source(data: Mapping[Any, Any], *, error: type[DefinitionError] = DefinitionError) -> Source:
    """Makes a source of a mapping that a program gives; it has no places.

    Args:
        data: What is in it may be an Enum member, an Enum class, a state object of `transitions`, or a state
            or transition of another definition.
        error: The class of the error to raise, for this and for later problems of the source.

    Raises:
        DefinitionError: It has keys that are no text, or contains itself.
    """
    source = Source(error=error)
    source.data = _plain(source, data, ())
    source.raise_problems()
    return source


def _plain(source: Source, value: Any, path: Path) -> Any:
    if isinstance(value, Enum):
        return enum_text(value)
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, type) and issubclass(value, Enum):
        return [enum_text(member) for member in value]
    if len(path) > DEEPEST:
        # What contains itself would come here again and again: this one problem ends it.
        source.problem(path[:1], f"nested more than {DEEPEST} deep (does it contain itself?)")
        source.raise_problems()
    if isinstance(value, Mapping):
        return _plain_mapping(source, value, path)
    if isinstance(value, list | tuple):
        return [_plain(source, item, (*path, index)) for index, item in enumerate(value)]
    if isinstance(value, StateDefinition | TransitionDefinition):
        return _plain_mapping(source, value.model_dump(), path)
    if _is_state(value):
        return _plain_mapping(source, _state_mapping(value), path)
    return value


def _plain_mapping(source: Source, value: Mapping[Any, Any], path: Path) -> dict[str, Any]:
    plain: dict[str, Any] = {}
    for key, content in value.items():
        name = enum_text(key) if isinstance(key, Enum) else key
        if not isinstance(name, str):
            source.problem(path, f"a key must be text, not {key!r}")
            continue
        plain[str.__str__(name)] = _plain(source, content, (*path, name))
    return plain


def _is_state(value: Any) -> bool:
    """Whether a value looks like one of `transitions`' state objects, which are not imported here."""
    return not isinstance(value, type) and all(
        hasattr(value, name) for name in ("name", "on_enter", "on_exit")
    )


def _state_mapping(state: Any) -> dict[str, Any]:
    mapping: dict[str, Any] = {"name": getattr(state, "value", state.name)}
    if getattr(state, "final", False):
        mapping["final"] = True
    for name in _STATE_LISTS:
        if getattr(state, name, None):
            mapping[name] = list(getattr(state, name))
    if getattr(state, "timeout", 0):
        mapping["timeout"] = state.timeout
        mapping["on_timeout"] = next(iter(getattr(state, "on_timeout", None) or ()), None)
    if getattr(state, "states", None):
        mapping["children"] = list(state.states)
    return mapping
