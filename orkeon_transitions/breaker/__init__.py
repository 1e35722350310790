"""How often and how long: the circuit breaker's policy, running record, status and rule.

Everything here is pure: no I/O, no clock, no `transitions`. What belongs here is a limit, the number that is
held against it, and the sentence that says it was passed. What never belongs here: who moves the machine,
who hears of a trip. `orkeon docs breaker` shows it in practice: which preset, what to do on a trip.
"""

from orkeon_transitions.breaker.counts import BreakerCounts, Repetition, StateClock
from orkeon_transitions.breaker.policy import CircuitBreakerPolicy
from orkeon_transitions.breaker.rule import (
    NESTING_LIMIT,
    Trip,
    judge_clocks,
    judge_departure,
    judge_entry,
    judge_meters,
    judge_nesting,
    judge_repetition,
)
from orkeon_transitions.breaker.status import BreakerLimit, CircuitBreakerStatus

__all__ = [
    "NESTING_LIMIT",
    "BreakerCounts",
    "BreakerLimit",
    "CircuitBreakerPolicy",
    "CircuitBreakerStatus",
    "Repetition",
    "StateClock",
    "Trip",
    "judge_clocks",
    "judge_departure",
    "judge_entry",
    "judge_meters",
    "judge_nesting",
    "judge_repetition",
]
