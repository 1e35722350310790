"""One trigger on its way: what was asked, and what has become of it so far."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from orkeon_transitions.breaker import BreakerCounts, Repetition, Trip
    from orkeon_transitions.facts import Refusal, TransitionResult
    from orkeon_transitions.runtime.callbacks import Objection
    from orkeon_transitions.runtime.event import TriggerEvent


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

    @property
    def what(self) -> str:
        """The trigger's text."""
        return self.trigger

    def told(self) -> TransitionResult | None:
        """The fact as it stands when the listeners hear it."""
        return self.result
