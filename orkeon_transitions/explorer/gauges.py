"""The limits of a circuit breaker as gauges: how much is used of what is allowed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from orkeon_transitions.breaker import BreakerLimit, CircuitBreakerStatus, StateClock
from orkeon_transitions.definition.models import SAME_STATE

if TYPE_CHECKING:
    from orkeon_transitions.definition import MachineDefinition
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
        leads_to=entered_from(machine.definition, snapshot.state),
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
    leads_to: Collection[str] = (),
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
        leads_to: The states that can be entered from here, unless a limit refuses it.
    """
    policy = status.policy
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
        *_visits(status, state, leads_to),
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


def entered_from(definition: MachineDefinition, state: str) -> frozenset[str]:
    """The states that rows which keep to the limits lead to from a state."""
    rows = (row for row in definition.rows_by_state[state] if not row.always and row.dest is not None)
    return frozenset(state if row.dest == SAME_STATE else str(row.dest) for row in rows)


def _visits(status: CircuitBreakerStatus, state: str, leads_to: Collection[str]) -> list[Gauge]:
    """The visits of the state that is nearest to its limit, and of others that are closed from here by it."""
    visits, most = status.state_visit_histogram, status.policy.max_state_visits
    reason = status.broken_reason if status.limit == BreakerLimit.MAX_STATE_VISITS else None

    def nearness(name: str) -> tuple[bool, int, bool]:
        # Several may be at their limit: the reason says which of them tripped.
        return f"state '{name}'" in (reason or ""), visits[name], name == state

    nearest = max(visits, key=nearness, default=state)
    closed = [
        name
        for name, times in visits.items()
        if name != nearest and name in leads_to and most and times >= most and not status.is_broken
    ]
    return [
        plain_gauge(limit, f"Visits of {name}", visits.get(name, 0), most)
        for limit, name in (
            (str(BreakerLimit.MAX_STATE_VISITS), nearest),
            *((f"{BreakerLimit.MAX_STATE_VISITS}:{name}", name) for name in closed),
        )
    ]


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
