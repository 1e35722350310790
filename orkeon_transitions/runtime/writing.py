"""How the law writes a transition: what will be, for the commit hook, and then the state itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from orkeon_transitions.breaker import BreakerCounts
from orkeon_transitions.facts import TransitionResult

if TYPE_CHECKING:
    from orkeon_transitions.runtime.base import MachineBase
    from orkeon_transitions.runtime.firing import Firing
    from orkeon_transitions.runtime.moving import MoveEvent

    Machine = MachineBase[Any, Any]


def prepared(
    machine: Machine, firing: Firing | MoveEvent, dest: str | None
) -> tuple[BreakerCounts, TransitionResult, Mapping[str, Any]]:
    """The record, the fact and the fields as they will be."""
    base, event = firing.base or machine._counts, firing.event
    counts = base.moved(dest, machine._clock(), machine._state_clock(base.state if dest is None else dest))
    if firing.repetition is not None:
        counts = replace(counts, repeats={**counts.repeats, base.state: firing.repetition})
    result = TransitionResult(
        from_state=event.from_state,
        to_state=event.to_state,
        trigger=event.trigger,
        ordinal=counts.ordinal,
        timestamp=machine._now(),
        accepted=firing.degrading is None,
        state_changed=event.from_state != event.to_state,
        degraded=firing.degrading is not None,
        refusal=firing.degrading,
        internal=dest is None,
        transition_count=counts.transitions,
    )
    return counts, result, {} if firing.degrading is not None else machine._fields_after(event)


def write(
    machine: Machine,
    firing: Firing | MoveEvent,
    counts: BreakerCounts,
    result: TransitionResult,
    fields: Mapping[str, Any],
) -> None:
    """Makes a committed transition visible. The record is swapped whole, last."""
    with machine._writing:
        for name, value in fields.items():
            setattr(machine, name, value)
        if firing.base is None and counts.spent is not machine._counts.spent:
            # Spending has gone on while a commit was awaited.
            counts = replace(counts, spent=machine._counts.spent)
        firing.result = result
        machine._counts = counts
    machine._record.put_down("transition", firing.told)
    machine._written(firing.event, result)
    if not result.internal:
        machine._visit_ended()
    machine._clocks_changed()
