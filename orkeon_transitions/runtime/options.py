"""What a machine's constructor may be given."""

from __future__ import annotations

from typing import Any

from orkeon_transitions.breaker import CircuitBreakerPolicy

ENGINES = ("auto", "stock")


def check_options(engine: str, policy: Any, lock_timeout: float | None, machine_id: Any) -> None:
    """Refuses what type checkers would have found, before it does harm far from here.

    Raises:
        TypeError: An option is of another type.
        ValueError: There is no such engine, or a time is negative.
    """
    if engine not in ENGINES:
        raise ValueError(f"unknown engine '{engine}': valid are {', '.join(ENGINES)}")
    if policy is not None and not isinstance(policy, CircuitBreakerPolicy):
        raise TypeError(
            f"policy must be a CircuitBreakerPolicy, not {type(policy).__name__}: "
            "CircuitBreakerPolicy.preset('strict') gives one by its name"
        )
    if lock_timeout is not None and not lock_timeout >= 0:
        raise ValueError("lock_timeout must not be negative (None waits without a limit)")
    if machine_id is not None and not isinstance(machine_id, str):
        raise TypeError(f"machine_id must be a text, not {type(machine_id).__name__}")
