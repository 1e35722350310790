"""Makes a move of the plan at once: guards, callbacks and the record, without asking the law step by step.

The order is the law's. What is odd, be it a trip at the wall, an objection or an error, is handed back to the
law, which finds the words for it.
"""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from orkeon_transitions.breaker import judge_entry
from orkeon_transitions.facts import TransitionResult, result_of
from orkeon_transitions.runtime import law, refusals
from orkeon_transitions.runtime.callbacks import (
    Objection,
    action_of,
    objection_of,
    objection_to,
    refuse_awaitable,
)
from orkeon_transitions.runtime.event import TriggerEvent
from orkeon_transitions.runtime.plan import Move
from orkeon_transitions.runtime.steps import run

if TYPE_CHECKING:
    from orkeon_transitions.runtime.base import MachineBase
    from orkeon_transitions.runtime.record import Record

    Machine = MachineBase[Any, Any]


class MoveEvent(TriggerEvent):
    """What guards and actions see of a move, and what the machine is firing while it is made."""

    __slots__ = ("move", "result")

    passes_limits = False

    def __init__(self, move: Move, context: Any, payload: dict[str, Any]) -> None:
        self.move = move
        self.context = context
        self.payload = payload
        self.to_state: Any = None
        self.result: TransitionResult | None = None

    @property
    def trigger(self) -> Any:  # type: ignore[override]  # read only, as it is made of the row
        """What was fired."""
        return self.move.outcome.trigger

    @property
    def from_state(self) -> Any:  # type: ignore[override]  # read only, as it is made of the row
        """The state in which it was fired."""
        return self.move.outcome.from_state

    @property
    def what(self) -> str:
        """The trigger's text."""
        return self.move.trigger

    def told(self) -> TransitionResult | None:
        """The fact as it stands when the listeners hear it."""
        return self.result


def first_move(machine: Machine, trigger: Any) -> Move | None:
    """The first row of a trigger, if nothing but its guards and a state's visits can stop it.

    None: the law must be asked.
    """
    record = machine._record
    try:
        move = record.moves.get(trigger)
    except TypeError:  # it has no hash, so it is no trigger either; the law says so
        return None
    if move is None or machine._firing is not None or machine._later:
        return None
    if record.transitions >= record.allowed or machine._clock() >= record.deadline:
        return None
    if not move.repeatable and machine._policy.max_repeats:
        return None
    return None if machine._plan.has_clocks and _may_stand_still(machine, move) else move


def _may_stand_still(machine: Machine, move: Move | None) -> bool:
    """Whether a row leads to where the clocks stand, in a class that has its own clocks."""
    while move is not None:
        if machine._state_clock(move.dest or machine._record.state).is_patient:
            return True
        move = move.otherwise
    return False


def make(machine: Machine, move: Move, context: Any, payload: dict[str, Any]) -> TransitionResult:
    """Makes a move of a plain machine, which is held.

    Returns:
        The result; a refused one says why.
    """
    event = MoveEvent(move, context, payload)
    machine._firing = event
    machine._depth = 1
    try:
        if move.guards:
            choice = _choose(machine, event)
            if not isinstance(choice, Move):
                return _refused(machine, event, choice)
            move = choice
        if machine._record.visits.get(move.dest, 0) >= machine._record.most_visits:
            return _tripped(machine, move)
        event.to_state = move.outcome.to_state
        for name in move.before:
            if (answer := action_of(machine, name)(event)) is not None:
                refuse_awaitable(answer, f"the action '{name}'")
        result = settle(machine, move, event)
        for name in move.after:
            if (answer := action_of(machine, name)(event)) is not None:
                refuse_awaitable(answer, f"the action '{name}'")
    except BaseException as error:
        if event.result is not None:
            event.result = replace(event.result, error=error)
        raise
    else:
        return result
    finally:
        machine._firing = None
        machine._depth = 0


def _choose(machine: Machine, event: MoveEvent) -> Move | list[Objection]:
    """The first row whose guards pass, or what they have against each."""
    objections: list[Objection] = []
    move: Move | None = event.move
    while move is not None:
        objection = None
        for name, wanted in move.guards:
            try:
                if machine._guards:
                    answer = machine._answer(name, event)
                else:
                    answer = getattr(machine, name)(event)
                if answer is wanted:
                    continue
                answer = refuse_awaitable(answer, f"the guard '{name}'")
                objection = objection_to(machine.definition, name, wanted, answer)
            except Exception as error:  # noqa: BLE001 (a guard that raises means no)
                objection = objection_of(machine.definition, name, error)
            if objection is not None:
                break
        if objection is None:
            return move
        objections.append(objection)
        move = move.otherwise if objection.error is None else None
    return objections


def _refused(machine: Machine, event: MoveEvent, objections: list[Objection]) -> TransitionResult:
    machine._firing = None
    refusal = refusals.guarded(machine, event.what, objections)
    return law.refused(machine, refusal, objections[-1].error)


def _tripped(machine: Machine, move: Move) -> TransitionResult:
    """The state may not be entered once more: the breaker trips, as it does for the law."""
    machine._firing = None
    trip = judge_entry(machine.policy, machine._counts, move.dest)
    return run(law.tripped(machine, trip, move.trigger))


def settle(machine: Machine, move: Move, event: MoveEvent) -> TransitionResult:
    """Writes the state, and gives the fact."""
    record, plan = machine._record, machine._plan
    result = result_of(move.outcome, record.ordinal + 1, time.time(), record.transitions + 1)
    if plan.has_fields:
        with machine._writing:
            fields = machine._fields_after(event)
            for name, value in fields.items():
                setattr(machine, name, value)
            _write(machine, record, move)
    else:
        _write(machine, record, move)
    event.result = result
    if machine._listeners is not None:
        machine._listeners.put("transition", event.told)
    if plan.hears:
        machine._written(event, result)
    return result


def _write(machine: Machine, record: Record, move: Move) -> None:
    if move.dest is None:
        record.stay()
        return
    now = machine._clock()
    patience = record.patience if move.timeout is None else move.timeout
    if machine._plan.has_clocks:
        patience = machine._state_clock(move.dest).timeout_under(machine.policy) or math.inf
    record.enter(move, now, min(now + patience, record.run_ends))
