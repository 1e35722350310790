"""The limits of a circuit breaker as gauges: how much is used of what is allowed."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from orkeon_transitions.breaker import BreakerLimit, CircuitBreakerStatus, StateClock

if TYPE_CHECKING:
    from orkeon_transitions.runtime.base import MachineBase

Gauge = dict[str, Any]


def gauges_of(machine: MachineBase[Any, Any]) -> list[Gauge]:
    """The gauges of a machine as it is now."""
    snapshot = machine.snapshot()
    return gauges(
        machine.circuit_status,
        snapshot.state,
        machine._state_clock(snapshot.state),
        running=snapshot.clock_running,
        ended=machine.is_terminal,
        repeats={state: record.times for state, record in snapshot.repeats.items()},
    )


def gauges(
    status: CircuitBreakerStatus,
    state: str,
    clock: StateClock,
    *,
    running: bool = False,
    standing: bool = False,
    ended: bool = False,
    repeats: Mapping[str, int] | None = None,
) -> list[Gauge]:
    """The gauges of what a circuit breaker knows.

    Args:
        status: What it knows.
        state: The machine's state.
        clock: How time counts in it.
        running: Whether the clock of the whole run runs.
        standing: Whether this is a look back, where no clock runs.
        ended: Whether the machine has ended: then nobody waits in its state.
        repeats: How often in a row a marked row was taken, by state.
    """
    policy, visits = status.policy, status.state_visit_histogram
    most_visited = max(visits, key=lambda name: (visits[name], name == state), default=state)
    shown = [
        plain_gauge(
            BreakerLimit.MAX_TRANSITIONS, "Transitions", status.total_transitions, policy.max_transitions
        ),
        plain_gauge(
            BreakerLimit.STATE_TIMEOUT,
            f"Time in {state}",
            seconds(status.time_in_current_state),
            clock.timeout_under(policy),
            unit="s",
            running=not clock.is_patient and not standing,
        ),
        plain_gauge(
            BreakerLimit.MAX_STATE_VISITS,
            f"Visits of {most_visited}",
            visits.get(most_visited, 0),
            policy.max_state_visits,
        ),
        plain_gauge(
            BreakerLimit.MAX_TOTAL_DURATION,
            "Time in all",
            seconds(status.total_elapsed),
            seconds(policy.max_total_duration),
            unit="s",
            running=running and not standing,
        ),
        *(
            plain_gauge(f"{BreakerLimit.METERS}:{meter}", meter, status.spent.get(meter, 0), most, unit=meter)
            for meter, most in policy.meters.items()
        ),
    ]
    if policy.max_repeats:
        times = (repeats or {}).get(state, 0)
        shown.append(
            plain_gauge(BreakerLimit.MAX_REPEATS, "The same call in a row", times, policy.max_repeats)
        )
    if ended:
        shown = [gauge for gauge in shown if gauge["limit"] != BreakerLimit.STATE_TIMEOUT]
    return [gauge | {"broken": _is_broken(gauge, status)} for gauge in shown]


def fullest(shown: list[Gauge]) -> Gauge | None:
    """The gauge of which most is used; None if nothing is limited."""
    limited = [gauge for gauge in shown if gauge["allowed"]]
    return max(limited, key=lambda gauge: (gauge["broken"], gauge["used"] / gauge["allowed"]), default=None)


def _is_broken(gauge: Gauge, status: CircuitBreakerStatus) -> bool:
    if not status.is_broken or status.limit is None:
        return False
    name, _, meter = gauge["limit"].partition(":")
    return name == status.limit and (not meter or gauge["used"] > gauge["allowed"])


def plain_gauge(
    limit: str,
    label: str,
    used: float,
    allowed: float | None = None,
    *,
    unit: str = "",
    running: bool = False,
) -> Gauge:
    """One gauge. 0 is allowed: there is no limit; None: nobody knows."""
    told = f" {unit}" if unit else ""
    words = f"{_figure(used)} of {_figure(allowed)}{told}" if allowed else f"{_figure(used)}{told}"
    if allowed == 0:
        words += ", no limit"
    return {
        "limit": str(limit),
        "label": label,
        "used": used,
        "allowed": allowed or None,
        "unit": unit,
        "broken": False,
        "running": running,
        "words": words,
        "unknown": allowed is None,
    }


def _figure(number: float) -> str:
    return f"{number:,.1f}".removesuffix(".0")


def seconds(duration: timedelta) -> float:
    """A duration in seconds, to a thousandth."""
    return round(duration.total_seconds(), 3)
