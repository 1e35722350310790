"""What a program may report as spent."""

from __future__ import annotations

import math
from collections.abc import Mapping

from orkeon_transitions.breaker import CircuitBreakerPolicy
from orkeon_transitions.definition import nearest


def check_spending(policy: CircuitBreakerPolicy, amounts: Mapping[str, float]) -> None:
    """Checks amounts, by meter, before any of them is counted.

    Raises:
        TypeError: One is no number.
        ValueError: One is negative or infinite, or its meter is nearly one of the policy's.
    """
    for meter, amount in amounts.items():
        if isinstance(amount, bool) or not isinstance(amount, int | float):
            raise TypeError(f"spend: {meter} must be a number, not {type(amount).__name__}")
        if not amount >= 0:
            raise ValueError(f"spend: {meter}={amount} must not be negative")
        if amount == math.inf:
            raise ValueError(f"spend: {meter}={amount} must be finite")
        # Other meters may be kept for the record; one that is nearly a limit's name is a slip.
        limits = policy.meters
        if meter not in limits and (hint := nearest(meter, limits)):
            raise ValueError(f"spend: the policy has no meter '{meter}', did you mean '{hint}'?")
