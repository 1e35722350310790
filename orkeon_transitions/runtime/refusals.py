"""Refusals and the errors made of them: what was tried, where, why not, what would be possible."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orkeon_transitions.breaker import Trip
from orkeon_transitions.definition import nearest
from orkeon_transitions.errors import (
    CircuitBrokenError,
    GuardRejectedError,
    InvalidTransitionError,
    OrkeonError,
)
from orkeon_transitions.facts import Refusal

if TYPE_CHECKING:
    from orkeon_transitions.runtime.base import MachineBase
    from orkeon_transitions.runtime.callbacks import Objection

    Machine = MachineBase[Any, Any]


def ended(machine: Machine, trigger: str) -> Refusal:
    """The machine is in a final state."""
    message = f"{_tried(machine, trigger)}: the machine has ended"
    return Refusal("terminal", machine._trigger_member(trigger), machine.state, None, None, message)


def no_such_row(machine: Machine, trigger: str) -> Refusal:
    """The state has no row for the trigger."""
    known = machine.definition.triggers
    hint = None if trigger in known else nearest(trigger, known)
    why = f"there is no trigger '{trigger}'" if trigger not in known else "there is no such transition here"
    meant = f", did you mean '{hint}'?" if hint else ""
    message = f"{_tried(machine, trigger)}: {why}{meant}; {_possible(machine)}"
    return Refusal(
        "invalid", machine._trigger_member(trigger), machine.state, None, None, message, _here(machine)
    )


def guarded(machine: Machine, trigger: str, objections: list[Objection]) -> Refusal:
    """Guards said no to every row, or one raised. The last row's objection is the one that is named."""
    last = objections[-1]
    told = "; ".join(dict.fromkeys(map(str, objections)))
    message = f"{_tried(machine, trigger)}: refused by guard {told}; {_possible(machine, trigger)}"
    return Refusal(
        "error" if last.error else "guard",
        machine._trigger_member(trigger),
        machine.state,
        last.guard,
        last.description,
        message,
        _here(machine),
    )


def broken(machine: Machine, trigger: str | None, trip: Trip) -> Refusal:
    """The breaker stopped it."""
    where = f"machine '{machine.definition.name}' in state '{machine._counts.state}'"
    what = f"{where} did not make '{trigger}'" if trigger is not None else where
    member = None if trigger is None else machine._trigger_member(trigger)
    message = f"{trip.reason}; {what}"
    return Refusal("circuit", member, machine.state, None, None, message, _here(machine))


def error_of(machine: Machine, refusal: Refusal) -> OrkeonError:
    """The error that `fire` raises for a refusal."""
    if refusal.kind == "circuit":
        advice = "reset_circuit_breaker() gives it a fresh budget"
        return CircuitBrokenError(f"{refusal.message}; {advice}", machine.circuit_status)
    kind = GuardRejectedError if refusal.kind in ("guard", "error") else InvalidTransitionError
    return kind(refusal, machine=machine.definition.name)


def _tried(machine: Machine, trigger: str) -> str:
    return f"'{trigger}' cannot be made from '{machine._counts.state}' of machine '{machine.definition.name}'"


def _here(machine: Machine) -> tuple[Any, ...]:
    names = machine.definition.triggers_from(machine._counts.state)
    return tuple(machine._trigger_member(name) for name in names)


def _possible(machine: Machine, refused: str | None = None) -> str:
    """What has a row here that may be taken; the trigger that a guard has just refused is left out."""
    is_broken = machine.is_circuit_broken
    names = [
        name
        for name in machine.definition.triggers_from(machine._counts.state)
        if name != refused and (not is_broken or any(row.always for row in machine._rows(name)))
    ]
    what = "possible here" if refused is None else "also possible here"
    if names:
        return f"{what}: {', '.join(names)}"
    return "nothing is possible here" if refused is None else "nothing else is possible here"
