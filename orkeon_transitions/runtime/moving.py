"""What all moves that are made at once have in common, on plain and on async machines."""

from __future__ import annotations

import math
from dataclasses import replace
from time import time
from typing import TYPE_CHECKING, Any

from orkeon_transitions.breaker import judge_entry
from orkeon_transitions.facts import TransitionResult, result_of
from orkeon_transitions.runtime import law, refusals
from orkeon_transitions.runtime.callbacks import Objection, objection_of, objection_to, refuse_awaitable
from orkeon_transitions.runtime.event import TriggerEvent
from orkeon_transitions.runtime.steps import nothing

if TYPE_CHECKING:
    from orkeon_transitions.runtime.base import MachineBase
    from orkeon_transitions.runtime.plan import Move, Moves
    from orkeon_transitions.runtime.record import Record
    from orkeon_transitions.runtime.steps import Steps

    Machine = MachineBase[Any, Any]

NO_MOVES: Moves = {}
# Written out where it counts: a constructor would cost twice as much.
new: Any = object.__new__


class MoveEvent(TriggerEvent):
    """What guards and actions see of a move, and what the machine is firing while it is made."""

    __slots__ = ("move", "result")

    move: Move
    result: TransitionResult | None

    # Where the law has to write after all, it takes the event for a `Firing` that has only been chosen.
    base = repetition = degrading = None

    @property
    def event(self) -> MoveEvent:
        """What guards and actions see."""
        return self

    @property
    def trigger(self) -> Any:
        """What was fired."""
        return self.move.outcome.trigger

    @property
    def from_state(self) -> Any:
        """The state in which it was fired."""
        return self.move.outcome.from_state

    @property
    def what(self) -> str:
        """The trigger's text."""
        return self.move.trigger

    @property
    def passes_limits(self) -> bool:
        """Whether the row that was chosen, or may yet be, is an `always` row."""
        return self.move.may_pass if self.to_state is None else self.move.always

    def told(self) -> Any:
        """The fact as it stands when the listeners hear it."""
        return self.result


def is_open(machine: Machine, record: Record, move: Move) -> bool:
    """Whether only guards and a state's visits can still stop a move."""
    if record.firing is not None or record.asked or record.transitions >= record.allowed:
        return False
    if record.clock() >= record.deadline or not (move.repeatable or not machine.policy.max_repeats):
        return False
    return not machine._plan.has_clocks or not _may_stand_still(machine, record, move)


def _may_stand_still(machine: Machine, record: Record, move: Move | None) -> bool:
    """Whether a row leads to where the clocks stand, in a class that says so itself."""
    while move is not None:
        if machine._state_clock(move.dest or record.state).is_patient:
            return True
        move = move.otherwise
    return False


def begin(record: Record, move: Move, context: Any, payload: dict[str, Any]) -> MoveEvent:
    """Makes the event of a move, and tells the machine what it is firing."""
    event: MoveEvent = new(MoveEvent)
    record.firing = event
    record.depth = 1
    event.move = move
    event.context = context
    event.payload = payload
    event.to_state = event.result = None
    return event


def end(record: Record) -> None:
    """The trigger is not under way any more."""
    record.firing = None
    record.depth = 0


def choose(event: MoveEvent, move: Move) -> None:
    """The guards of a row have passed."""
    event.move = move
    event.to_state = move.outcome.to_state


def objection_in(machine: Machine, name: str, wanted: bool, answer: Any) -> Objection | None:
    """What an answer that is no plain yes has against a row."""
    try:
        return objection_to(machine.definition, name, wanted, refuse_awaitable(answer, f"the guard '{name}'"))
    except Exception as error:  # noqa: BLE001 (an answer may raise when it is asked for yes or no)
        return objection_of(machine.definition, name, error)


def may_not_enter(record: Record, move: Move) -> bool:
    """Whether the breaker must judge limit 3."""
    return move.dest is not None and not move.always and record.visits[move.place] >= record.most_visits


def settle(machine: Machine, record: Record, move: Move, event: MoveEvent) -> TransitionResult:
    """Writes the state, and puts the fact down."""
    plan = machine._plan
    result = result_of(move.outcome, record.ordinal + 1, time(), record.transitions + 1)
    if plan.has_fields:
        fields = machine._fields_after(event)
        with machine._writing:
            for name, value in fields.items():
                setattr(machine, name, value)
            _write(machine, record, move, event, result)
    else:
        _write(machine, record, move, event, result)
    if (listeners := record.listeners) is not None:
        listeners.put("transition", event.told)
    if plan.hears:
        machine._written(event, result)
    if move.dest is not None:
        machine._visit_ended()
    machine._clocks_changed()
    return result


def _write(machine: Machine, record: Record, move: Move, event: MoveEvent, result: TransitionResult) -> None:
    ordinal = record.ordinal + 1
    if move.dest is None:
        event.result = result
        record.ordinal = ordinal
        record.transitions += 1
        record.settled = ordinal
        return
    if move.stands_still:
        clock = machine._state_clock(move.dest)
        counts = machine._counts.moved(move.dest, record.clock(), clock)
        event.result = result
        record.put(machine, counts)
        return
    patience = record.patience if move.timeout is None else move.timeout
    if machine._plan.has_clocks:
        patience = machine._state_clock(move.dest).timeout_under(machine.policy) or math.inf
    now = record.clock()
    deadline = now + patience
    if deadline > record.run_ends:  # noqa: PLR1730 (`min` costs more than an action)
        deadline = record.run_ends
    # Plain stores from here to `settled`, as in `_common`.
    event.result = result
    record.ordinal = ordinal
    record.visits[move.place] += 1
    record.state = move.dest
    # Another thread may have left what follows to the law.
    record.moves = move.there if record.moves is move.here else NO_MOVES
    record.entered_at = now
    record.deadline = deadline
    record.transitions += 1
    record.visit = ordinal
    record.settled = ordinal


def has_changed(record: Record, move: Move) -> bool:
    """Whether the law must write a row that was chosen: a callback has changed what holds."""
    return record.moves is not move.here


def take_note(machine: Machine, event: MoveEvent, error: BaseException) -> Steps[None]:
    """Puts down what was raised after the state had been written."""
    if machine._commit_hook is not None:
        return law.failed(machine, event, error)
    if event.result is not None:
        event.result = replace(event.result, error=error)
    return nothing()


def refusal_for(machine: Machine, event: MoveEvent, objections: list[Objection]) -> TransitionResult:
    """What guards have against a trigger, as a result."""
    refusal = refusals.guarded(machine, event.what, objections)
    return law.refused(machine, refusal, objections[-1].error)


def trip_at_wall(machine: Machine, move: Move, event: MoveEvent) -> Steps[TransitionResult]:
    """The state may not be entered once more: the breaker trips, as it does for the law."""
    trip = judge_entry(machine.policy, machine._counts, move.dest)
    if trip is None:
        # Another thread has just given it another policy: the law begins anew.
        return law.attempt(machine, machine._request(move.trigger, event.context, event.payload))
    return law.tripped(machine, trip, move.trigger)
