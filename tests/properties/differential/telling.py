"""Plain data of what a program could notice, without what differs by nature: wall time, identity."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from datetime import timedelta
from enum import Enum
from typing import Any

from pydantic import BaseModel

from orkeon_transitions.breaker import CircuitBreakerPolicy
from orkeon_transitions.facts import TransitionResult
from orkeon_transitions.runtime import AsyncStateMachine, StateMachine, TriggerEvent

_AS_THEY_ARE = (str, int, float, bool, bytes, timedelta, type(None), CircuitBreakerPolicy)
_OF_EVENTS = ("trigger", "from_state", "to_state", "context", "payload")
_OF_RESULTS = (
    *("from_state", "to_state", "trigger", "ordinal", "accepted", "state_changed", "degraded", "refusal"),
    *("error", "internal", "transition_count"),
)
# By type, since this is what most of a run's time goes to.
_ways: dict[type, Callable[[Any, int], Any]] = {}


def plain(value: Any, depth: int = 0) -> Any:
    """Data that compares by what it says."""
    kind = type(value)
    way = _ways.get(kind)
    if way is None:
        way = _ways[kind] = _way(kind)
    return way(value, depth)


def _way(kind: type) -> Callable[[Any, int], Any]:
    """How values of a type are told."""
    # An event of a kind of its own is an event.
    name = "TriggerEvent" if issubclass(kind, TriggerEvent) else kind.__name__
    if issubclass(kind, Enum):
        return lambda value, depth: (name, value.name)
    if issubclass(kind, _AS_THEY_ARE):
        return lambda value, depth: value
    if issubclass(kind, BaseException):
        return _error
    if issubclass(kind, Mapping):
        return lambda value, depth: {str(key): plain(each, depth + 1) for key, each in value.items()}
    if issubclass(kind, list | tuple):
        return lambda value, depth: [plain(each, depth + 1) for each in value]
    told = _told(kind)
    if told is None:
        return lambda value, depth: name
    return lambda value, depth: (
        name,
        *(plain(getattr(value, each), depth + 1) for each in told if depth <= 6),
    )


def _told(kind: type) -> tuple[str, ...] | None:
    """Which attributes tell all, or None: the type's name does."""
    if issubclass(kind, TriggerEvent):
        return _OF_EVENTS
    if issubclass(kind, TransitionResult):
        return _OF_RESULTS
    if issubclass(kind, BaseModel):
        return tuple(name for name in kind.model_fields if name != "taken_at")
    if is_dataclass(kind):
        return tuple(each.name for each in fields(kind) if each.name != "timestamp")
    return None


def _error(error: BaseException, depth: int) -> Any:
    """An error with what it carries, and where it comes from."""
    carried = {
        name: plain(each, depth + 2)
        for name, each in sorted(vars(error).items())
        if name != "__notes__" and not isinstance(each, StateMachine | AsyncStateMachine)
    }
    notes = tuple(getattr(error, "__notes__", ()))
    cause = None if error.__cause__ is None else plain(error.__cause__, depth + 2)
    return (type(error).__name__, str(error), notes, carried, cause)


def look(machine: Any) -> Any:
    """Everything that a machine shows of itself."""
    return (
        plain(machine.state),
        machine.is_terminal,
        machine.transition_count,
        machine.is_circuit_broken,
        plain(machine.circuit_status),
        plain(machine.snapshot()),
        repr(machine),
    )
