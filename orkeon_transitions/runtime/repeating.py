"""The same again: whether a marked row is taken once more with an equal payload (limit 6)."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Mapping, Set
from typing import Any

from orkeon_transitions.breaker import (
    BreakerCounts,
    CircuitBreakerPolicy,
    Repetition,
    Trip,
    judge_repetition,
)

SHOWN_PAYLOAD = 80


def repeat(
    policy: CircuitBreakerPolicy, counts: BreakerCounts, trigger: str, payload: Mapping[str, Any]
) -> tuple[Repetition, Trip | None]:
    """How the repetition would stand if the row were taken, and the trip if that is once too often."""
    repetition = counts.repeated(_digest(trigger, payload))
    return repetition, judge_repetition(policy, repetition, trigger, _shown(trigger, payload))


def _digest(trigger: str, payload: Mapping[str, Any]) -> str:
    """A short hash of trigger and payload: equal for equal payloads, and never the payload itself.

    A payload that cannot be put into text is equal to no other.
    """
    try:
        text = _canonical([trigger, payload])
    except Exception:  # noqa: BLE001 (a stranger's `repr`, or one that is nested too deeply)
        return uuid.uuid4().hex
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _canonical(value: Any, inside: tuple[int, ...] = ()) -> str:
    """A text that equal values have in common, whatever the order of their mappings and sets."""
    kind: Any = type(value)
    if kind.__repr__ is object.__repr__:
        # It tells its address and no content, and an address is used again: it is like nothing else.
        return uuid.uuid4().hex
    if not isinstance(value, Mapping | Set | list | tuple):
        return repr(value)
    if id(value) in inside:
        return "..."
    inside = (*inside, id(value))
    if isinstance(value, Mapping):
        pairs = (f"{_canonical(key, inside)}: {_canonical(each, inside)}" for key, each in value.items())
        return f"{{{', '.join(sorted(pairs))}}}"
    parts = [_canonical(each, inside) for each in value]
    return f"<{', '.join(sorted(parts))}>" if isinstance(value, Set) else f"[{', '.join(parts)}]"


def _shown(trigger: str, payload: Mapping[str, Any]) -> str:
    """Trigger and payload for a message, shortened."""
    try:
        arguments = ", ".join(f"{name}={value!r}" for name, value in payload.items())
    except Exception:  # noqa: BLE001 (as above)
        return f"'{trigger}' with a payload that has no text"
    if len(arguments) > SHOWN_PAYLOAD:
        arguments = arguments[: SHOWN_PAYLOAD - 1] + "…"
    return f"'{trigger}' with ({arguments})" if arguments else f"'{trigger}' without a payload"
