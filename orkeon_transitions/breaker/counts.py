"""The running record of one machine's breaker.

It is immutable and swapped whole, so that a reader never needs a lock and never sees half of a transition:
the state's name is part of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from orkeon_transitions.breaker.policy import CircuitBreakerPolicy
from orkeon_transitions.breaker.status import CircuitBreakerStatus

if TYPE_CHECKING:
    from orkeon_transitions.breaker.rule import Trip


# Most machines spend and repeat nothing: they share that.
_NONE: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True)
class StateClock:
    """How time counts in one state.

    Attributes:
        timeout: Seconds that replace the policy's `state_timeout`; None: the policy's; 0: patient.
    """

    timeout: float | None = None

    @property
    def is_patient(self) -> bool:
        """A patient state waits for others: both clocks stand still in it."""
        return self.timeout == 0

    def timeout_under(self, policy: CircuitBreakerPolicy) -> float:
        """The seconds allowed in the state; 0: any."""
        return policy.state_timeout.total_seconds() if self.timeout is None else self.timeout


RUNNING = StateClock()


@dataclass(frozen=True, slots=True)
class Repetition:
    """How often in a row one marked row was taken from a state with an equal payload."""

    digest: str
    times: int


@dataclass(frozen=True, slots=True)
class BreakerCounts:
    """Where a machine is, and what its breaker has counted.

    Attributes:
        state: The state's name.
        entered_at: Monotonic seconds at which the state was entered.
        transitions: Transitions made since the start or the last reset.
        ordinal: Transitions made in the machine's life; survives resets.
        visits: Entries by state name.
        active: Running seconds before `running_since`.
        running_since: Monotonic seconds since which the total clock runs; None: it stands.
        spent: What was reported, by meter.
        repeats: By state, the repetition of the marked row last taken from it.
        trip: What broke the circuit, or None.
        visit: Numbers the visits of states in the machine's life; work is bound to it.
    """

    state: str
    entered_at: float
    transitions: int = 0
    ordinal: int = 0
    visits: Mapping[str, int] = field(default_factory=dict)
    active: float = 0.0
    running_since: float | None = None
    spent: Mapping[str, float] = field(default_factory=lambda: _NONE)
    repeats: Mapping[str, Repetition] = field(default_factory=lambda: _NONE)
    trip: Trip | None = None
    visit: int = 0

    @classmethod
    def fresh(cls, state: str, now: float) -> BreakerCounts:
        """The record of a machine that has not moved: one visit of its state."""
        return cls(state=state, entered_at=now, visits={state: 1})

    def reset(self, now: float) -> BreakerCounts:
        """Everything cleared but the state and what numbers the machine's life."""
        return replace(BreakerCounts.fresh(self.state, now), ordinal=self.ordinal, visit=self.visit)

    def time_in_state(self, now: float) -> float:
        """Seconds since the state was entered."""
        return max(0.0, now - self.entered_at)

    def elapsed(self, now: float) -> float:
        """Seconds of running since the first transition."""
        return self.active + (0.0 if self.running_since is None else max(0.0, now - self.running_since))

    def moved(self, dest: str | None, now: float, clock: StateClock = RUNNING) -> BreakerCounts:
        """The record after a transition.

        Args:
            dest: The state that is entered (also the same one again), or None for an internal transition.
            now: Monotonic seconds.
            clock: How time counts in the state in which the machine then is.
        """
        is_entry = dest is not None
        active, since = self.active, self.running_since
        if clock.is_patient:
            active, since = self.elapsed(now), None
        elif since is None:
            since = now
        # Written out: `replace` would cost more than the rest of the breaker.
        return BreakerCounts(
            state=self.state if dest is None else dest,
            entered_at=now if is_entry else self.entered_at,
            transitions=self.transitions + 1,
            ordinal=self.ordinal + 1,
            visits=self.visits if dest is None else {**self.visits, dest: self.visits.get(dest, 0) + 1},
            active=active,
            running_since=since,
            spent=self.spent,
            repeats=self.repeats,
            trip=self.trip,
            visit=self.visit + is_entry,
        )

    def spending(self, amounts: Mapping[str, float]) -> BreakerCounts:
        """The record with more spent."""
        return replace(
            self, spent={**self.spent, **{m: self.spent.get(m, 0) + n for m, n in amounts.items()}}
        )

    def repeated(self, digest: str) -> Repetition:
        """How the repetition would stand if a marked row were taken from here with this payload."""
        last = self.repeats.get(self.state)
        return Repetition(digest, last.times + 1 if last and last.digest == digest else 1)

    def remaining(
        self, policy: CircuitBreakerPolicy, now: float, clock: StateClock = RUNNING
    ) -> float | None:
        """Seconds until a clock passes its limit, at least 0; None if neither runs."""
        rests = []
        if allowed := clock.timeout_under(policy):
            rests.append(allowed - self.time_in_state(now))
        if policy.max_total_duration and self.running_since is not None:
            rests.append(policy.max_total_duration.total_seconds() - self.elapsed(now))
        return max(min(rests), 0.0) if rests else None

    def status(
        self, policy: CircuitBreakerPolicy, now: float, clock: StateClock = RUNNING
    ) -> CircuitBreakerStatus:
        """The look that users get."""
        remaining = self.remaining(policy, now, clock)
        return CircuitBreakerStatus(
            is_broken=self.trip is not None,
            broken_reason=self.trip.reason if self.trip else None,
            limit=self.trip.limit if self.trip else None,
            policy=policy,
            total_transitions=self.transitions,
            time_in_current_state=_duration(self.time_in_state(now)),
            current_state_visit_count=self.visits.get(self.state, 0),
            total_elapsed=_duration(self.elapsed(now)),
            remaining=None if remaining is None else _duration(remaining),
            state_visit_histogram=dict(self.visits),
            spent=dict(self.spent),
        )


def _duration(seconds: float) -> timedelta:
    """Seconds as a duration; a clock gone mad must not keep the breaker from saying what it knows."""
    try:
        return timedelta(seconds=seconds)
    except OverflowError:
        return timedelta.max
