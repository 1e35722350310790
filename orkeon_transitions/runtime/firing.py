"""One trigger on its way: what was asked, and what has become of it so far."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Mapping, Set
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from orkeon_transitions.breaker import BreakerCounts, Repetition, Trip
    from orkeon_transitions.facts import Refusal, TransitionResult
    from orkeon_transitions.runtime.callbacks import Objection
    from orkeon_transitions.runtime.event import TriggerEvent

SHOWN_PAYLOAD = 80


class Firing:
    """The record of one attempt, from the gate to its result. It lives only while the machine works on it.

    Attributes:
        event: What guards and actions see.
        trigger: The trigger's text.
        objections: What guards had against the rows tried so far.
        trip: The limit that stopped it, or None.
        waived: The limit that only an `always` row may pass, or None.
        passes_limits: Whether the row that was chosen, or may yet be, is an `always` row.
        base: The record that replaces the machine's own, where the trigger begins a new budget.
        repetition: How the repetition stands once it is made, or None.
        degrading: Why the breaker makes this move itself, or None for everything that a program fires.
        raised: What a callback raised, where the engine keeps it, or None.
        result: The fact, from the moment the state is written.
    """

    __slots__ = (
        "base",
        "degrading",
        "event",
        "objections",
        "passes_limits",
        "raised",
        "repetition",
        "result",
        "trigger",
        "trip",
        "waived",
    )

    def __init__(self, event: TriggerEvent, trigger: str, degrading: Refusal | None = None) -> None:
        self.event = event
        self.trigger = trigger
        self.degrading = degrading
        self.objections: list[Objection] = []
        self.trip: Trip | None = None
        self.waived: Trip | None = None
        self.passes_limits = False
        self.base: BreakerCounts | None = None
        self.repetition: Repetition | None = None
        self.raised: BaseException | None = None
        self.result: TransitionResult | None = None

    @property
    def guard_raised(self) -> bool:
        """Whether a guard raised: then no further row is tried."""
        return bool(self.objections) and self.objections[-1].error is not None

    def told(self) -> TransitionResult | None:
        """The fact as it stands when the listeners hear it."""
        return self.result


def payload_digest(trigger: str, payload: Mapping[str, Any]) -> str:
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


def payload_shown(trigger: str, payload: Mapping[str, Any]) -> str:
    """Trigger and payload for a message, shortened."""
    try:
        arguments = ", ".join(f"{name}={value!r}" for name, value in payload.items())
    except Exception:  # noqa: BLE001 (as above)
        return f"'{trigger}' with a payload that has no text"
    if len(arguments) > SHOWN_PAYLOAD:
        arguments = arguments[: SHOWN_PAYLOAD - 1] + "…"
    return f"'{trigger}' with ({arguments})" if arguments else f"'{trigger}' without a payload"
