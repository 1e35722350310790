"""A look at a circuit breaker: frozen, complete, for programs and people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from orkeon_transitions.breaker.policy import CircuitBreakerPolicy


class BreakerLimit(StrEnum):
    """The limits that can trip, by the name of the policy's field where there is one."""

    MAX_TRANSITIONS = "max_transitions"
    STATE_TIMEOUT = "state_timeout"
    MAX_STATE_VISITS = "max_state_visits"
    MAX_TOTAL_DURATION = "max_total_duration"
    METERS = "meters"
    MAX_REPEATS = "max_repeats"
    NESTING = "nesting"


@dataclass(frozen=True, slots=True)
class CircuitBreakerStatus:
    """Everything that a circuit breaker knows at one moment (seed 000).

    Attributes:
        is_broken: Whether the breaker has tripped.
        broken_reason: The sentence that says which limit was passed and by how much, or None.
        limit: The limit that tripped, or None.
        policy: The limits in force.
        total_transitions: What the budget has used.
        time_in_current_state: Since the current state was entered.
        current_state_visit_count: How often the current state has been entered.
        total_elapsed: Running time since the first transition, patient states not counted.
        remaining: The smaller of both clocks' rest, never negative; None if neither runs.
        state_visit_histogram: Visits by state name.
        spent: What was reported with `spend`, by meter.
    """

    is_broken: bool
    broken_reason: str | None
    limit: BreakerLimit | None
    policy: CircuitBreakerPolicy
    total_transitions: int
    time_in_current_state: timedelta
    current_state_visit_count: int
    total_elapsed: timedelta
    remaining: timedelta | None
    state_visit_histogram: Mapping[str, int]
    spent: Mapping[str, float]
