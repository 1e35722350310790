"""The rule: which limit, if any, has been passed.

The order is that of the seed (000), and the first violated limit trips. `judge_departure` looks at limits 1,
2, 4 and 5 before anything is known of the transition; `judge_entry` (3) and `judge_repetition` (6) look at
the row that was chosen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isclose

from orkeon_transitions.breaker.counts import BreakerCounts, Repetition, StateClock
from orkeon_transitions.breaker.policy import CircuitBreakerPolicy
from orkeon_transitions.breaker.status import BreakerLimit

NESTING_LIMIT = 50


@dataclass(frozen=True, slots=True)
class Trip:
    """A limit that has been passed, and the sentence that says so.

    Attributes:
        limit: Which limit.
        reason: The sentence, for whoever fired.
        without_payload: The sentence as it may be written down, where `reason` shows a payload; else None.
    """

    limit: BreakerLimit
    reason: str
    without_payload: str | None = None

    def recorded(self) -> Trip:
        """The trip as facts, journals and snapshots have it: it shows no payload."""
        return self if self.without_payload is None else Trip(self.limit, self.without_payload)


def judge_departure(
    policy: CircuitBreakerPolicy, counts: BreakerCounts, now: float, clock: StateClock
) -> Trip | None:
    """Judges whether another transition may be made at all (limits 1, 2, 4, 5).

    Args:
        policy: The limits.
        counts: The machine's running record.
        now: The monotonic time in seconds.
        clock: How time counts in the current state.

    Returns:
        The first limit passed, or None.
    """
    if policy.max_transitions and counts.transitions >= policy.max_transitions:
        return Trip(
            BreakerLimit.MAX_TRANSITIONS,
            f"Max transitions exceeded ({counts.transitions}/{policy.max_transitions})",
        )
    if trip := judge_clocks(policy, counts, now, clock):
        return trip
    return judge_meters(policy, counts.spent)


def judge_meters(policy: CircuitBreakerPolicy, amounts: Mapping[str, float]) -> Trip | None:
    """Judges what was spent, by meter (limit 5)."""
    for meter, most in policy.meters.items():
        spent = amounts.get(meter, 0)
        if spent > most and not isclose(spent, most, rel_tol=1e-12):  # 0.1 + 0.2 is not more than 0.3
            return Trip(
                BreakerLimit.METERS,
                f"Budget exhausted: {_amount(spent)} {meter} spent (allowed {_amount(most)})",
            )
    return None


def judge_clocks(
    policy: CircuitBreakerPolicy, counts: BreakerCounts, now: float, clock: StateClock
) -> Trip | None:
    """Judges the two clocks alone (limits 2 and 4), for whoever watches the time."""
    here, allowed = counts.time_in_state(now), clock.timeout_under(policy)
    if allowed and here > allowed:
        return Trip(
            BreakerLimit.STATE_TIMEOUT,
            f"State timeout exceeded: {_amount(here)}s in state '{counts.state}' "
            f"(allowed {_amount(allowed)}s)",
        )
    total, allowed = counts.elapsed(now), policy.max_total_duration.total_seconds()
    if allowed and total > allowed:
        return Trip(
            BreakerLimit.MAX_TOTAL_DURATION,
            f"Max total duration exceeded: {_amount(total)}s running (allowed {_amount(allowed)}s)",
        )
    return None


def _amount(amount: float) -> str:
    """A figure for people: to a thousandth, never in powers of ten."""
    return f"{amount:.3f}".rstrip("0").rstrip(".")


def judge_entry(policy: CircuitBreakerPolicy, counts: BreakerCounts, entered: str | None) -> Trip | None:
    """Judges whether a state may be entered once more (limit 3). None as the state: an internal row."""
    if entered is None or not policy.max_state_visits:
        return None
    visits = counts.visits.get(entered, 0)
    if visits < policy.max_state_visits:
        return None
    return Trip(
        BreakerLimit.MAX_STATE_VISITS,
        f"Cycle detected: state '{entered}' would be entered {visits + 1} times "
        f"(allowed {policy.max_state_visits})",
    )


def judge_repetition(
    policy: CircuitBreakerPolicy, repetition: Repetition, trigger: str, shown: str
) -> Trip | None:
    """Judges whether a row may be taken again with the same payload (limit 6).

    Args:
        policy: The limits.
        repetition: How it would stand after this transition.
        trigger: What is fired.
        shown: Trigger and payload, for the reason.
    """
    if not policy.max_repeats or repetition.times <= policy.max_repeats:
        return None
    often = f"{repetition.times} times in a row (allowed {policy.max_repeats})"
    return Trip(
        BreakerLimit.MAX_REPEATS,
        f"Repetition: {shown}, {often}",
        without_payload=f"Repetition: '{trigger}' with an equal payload, {often}",
    )


def judge_nesting(depth: int) -> Trip | None:
    """Judges how deep callbacks have fired triggers inside of each other. Cannot be switched off."""
    if depth <= NESTING_LIMIT:
        return None
    return Trip(BreakerLimit.NESTING, f"Nesting: callbacks fired triggers {NESTING_LIMIT} deep")
