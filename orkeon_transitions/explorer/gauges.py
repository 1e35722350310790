"""The limits of a circuit breaker as gauges: how much is used of what is allowed."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from orkeon_transitions.breaker import BreakerLimit

if TYPE_CHECKING:
    from orkeon_transitions.breaker import CircuitBreakerStatus
    from orkeon_transitions.runtime.base import MachineBase

Gauge = dict[str, Any]


def gauges_of(machine: MachineBase[Any, Any]) -> list[Gauge]:
    """The gauges of a machine as it is now."""
    status, snapshot = machine.circuit_status, machine.snapshot()
    policy, state = status.policy, snapshot.state
    clock = machine._state_clock(state)
    visits = status.state_visit_histogram
    most_visited = max(visits, key=lambda name: (visits[name], name == state), default=state)
    gauges = [
        _gauge(BreakerLimit.MAX_TRANSITIONS, "Transitions", status.total_transitions, policy.max_transitions),
        _gauge(
            BreakerLimit.STATE_TIMEOUT,
            f"Time in {state}",
            seconds(status.time_in_current_state),
            clock.timeout_under(policy),
            unit="s",
            running=not clock.is_patient,
        ),
        _gauge(
            BreakerLimit.MAX_STATE_VISITS,
            f"Visits of {most_visited}",
            visits.get(most_visited, 0),
            policy.max_state_visits,
        ),
        _gauge(
            BreakerLimit.MAX_TOTAL_DURATION,
            "Time in all",
            seconds(status.total_elapsed),
            seconds(policy.max_total_duration),
            unit="s",
            running=snapshot.clock_running,
        ),
        *(
            _gauge(f"{BreakerLimit.METERS}:{meter}", meter, status.spent.get(meter, 0), most, unit=meter)
            for meter, most in policy.meters.items()
        ),
    ]
    if policy.max_repeats:
        times = max((record.times for record in snapshot.repeats.values()), default=0)
        gauges.append(_gauge(BreakerLimit.MAX_REPEATS, "The same call in a row", times, policy.max_repeats))
    return [gauge | {"broken": _is_broken(gauge, status)} for gauge in gauges]


def _is_broken(gauge: Gauge, status: CircuitBreakerStatus) -> bool:
    if not status.is_broken or status.limit is None:
        return False
    name, _, meter = gauge["limit"].partition(":")
    return name == status.limit and (not meter or gauge["used"] > gauge["allowed"])


def _gauge(
    limit: str, label: str, used: float, allowed: float, *, unit: str = "", running: bool = False
) -> Gauge:
    told = f" {unit}" if unit else ""
    words = f"{_figure(used)} of {_figure(allowed)}{told}" if allowed else f"{_figure(used)}{told}, no limit"
    return {
        "limit": str(limit),
        "label": label,
        "used": used,
        "allowed": allowed or None,
        "unit": unit,
        "broken": False,
        "running": running,
        "words": words,
    }


def _figure(number: float) -> str:
    return f"{number:,.1f}".removesuffix(".0")


def seconds(duration: timedelta) -> float:
    """A duration in seconds, to a thousandth."""
    return round(duration.total_seconds(), 3)
