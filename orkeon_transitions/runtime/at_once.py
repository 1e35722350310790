"""Makes a move of the plan at once: guards, callbacks, the record and the fact, in the order of the law.

What is odd, be it an objection, a trip at the wall or an error, goes to the law, which finds the words for it.
The common row is written out in one function: each trigger comes here, and every call, loop and look at an
attribute that it spares is measurable beside the guard that it asks.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from inspect import isawaitable
from time import time
from typing import TYPE_CHECKING, Any

from orkeon_transitions.breaker import judge_entry
from orkeon_transitions.facts import TransitionResult, result_of
from orkeon_transitions.runtime import law, refusals
from orkeon_transitions.runtime.callbacks import (
    Objection,
    action_of,
    guard_of,
    objection_of,
    objection_to,
    refuse_awaitable,
)
from orkeon_transitions.runtime.event import TriggerEvent
from orkeon_transitions.runtime.plan import Move, Plan
from orkeon_transitions.runtime.steps import run, run_async

if TYPE_CHECKING:
    from orkeon_transitions.runtime.base import MachineBase
    from orkeon_transitions.runtime.record import Record
    from orkeon_transitions.runtime.steps import Steps

    Machine = MachineBase[Any, Any]
    # Machine, its record, context, payload, and whether a refusal is raised. None: the law must be asked.
    Making = Callable[[Machine, Record, Any, dict[str, Any], bool], TransitionResult | None]

# Written out where it counts: a constructor would cost twice as much.
_new: Any = object.__new__


class MoveEvent(TriggerEvent):
    """What guards and actions see of a move, and what the machine is firing while it is made."""

    __slots__ = ("move", "result")

    passes_limits = False
    move: Move
    result: TransitionResult | None

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


def making(plan: Plan, move: Move) -> Making:
    """The function that makes a move of a plain machine."""
    is_short = max(len(move.guards), len(move.before), len(move.after)) <= 1 and move.otherwise is None
    is_usual = move.dest is not None and move.repeatable and all(wanted for _, wanted in move.guards)
    is_plain = not (plan.has_fields or plan.has_clocks or plan.hears)
    return _common(move, plan.has_given) if is_short and is_usual and is_plain else _any(move)


def _common(move: Move, has_given: bool) -> Making:
    """A row that enters a state, with at most one guard, one action before and one after."""
    guard, before, after = (
        _only(tuple(name for name, _ in move.guards)),
        _only(move.before),
        _only(move.after),
    )
    outcome, to_state, dest, place = move.outcome, move.outcome.to_state, move.dest, move.place
    there, timeout = move.there, move.timeout
    # A machine to which none are given has nothing but methods.
    find_guard, find_action = (guard_of, action_of) if has_given else (getattr, getattr)

    def make(
        machine: Machine, record: Record, context: Any, payload: dict[str, Any], raises: bool
    ) -> TransitionResult | None:
        if (
            record.firing is not None
            or record.asked
            or record.transitions >= record.allowed
            or record.clock() >= record.deadline
        ):
            return None
        record.firing = event = _new(MoveEvent)
        record.depth = 1
        event.move = move
        event.context = context
        event.payload = payload
        event.to_state = event.result = None
        try:
            if guard is not None:
                try:
                    answer = find_guard(machine, guard)(event)
                except Exception as error:  # noqa: BLE001 (a guard that raises means no)
                    return _refused(machine, event, [objection_of(machine.definition, guard, error)], raises)
                if answer is not True and (objection := _objection(machine, guard, True, answer)):
                    return _refused(machine, event, [objection], raises)
            visits = record.visits[place] + 1
            if visits > record.most_visits:
                return _tripped(machine, move, raises)
            event.to_state = to_state
            if before is not None:
                if (answer := find_action(machine, before)(event)) is not None:
                    refuse_awaitable(answer, f"the action '{before}'")
            event.result = result = _new(TransitionResult)
            result._outcome = outcome
            result._ordinal = ordinal = record.ordinal + 1
            result._transition_count = count = record.transitions + 1
            result._at = time()
            result._error = None
            now = record.clock()
            deadline = now + (record.patience if timeout is None else timeout)
            # Plain stores from here to `settled`: no signal and no thread comes in between.
            record.ordinal = ordinal
            record.visits[place] = visits
            record.state = dest
            record.moves = there
            record.entered_at = now
            record.deadline = min(record.run_ends, deadline)
            record.transitions = count
            record.visit = ordinal
            record.settled = ordinal
            if record.listeners is not None:
                record.listeners.put("transition", event.told)
            if after is not None:
                if (answer := find_action(machine, after)(event)) is not None:
                    refuse_awaitable(answer, f"the action '{after}'")
        except BaseException as error:
            _take_note(event, error)
            raise
        else:
            return result
        finally:
            record.firing = None
            record.depth = 0

    return make


def _only(names: tuple[str, ...]) -> str | None:
    return names[0] if names else None


def _any(move: Move) -> Making:
    """Every other row, and those that it gives way to."""

    def make(
        machine: Machine, record: Record, context: Any, payload: dict[str, Any], raises: bool
    ) -> TransitionResult | None:
        if not is_open(machine, record, move):
            return None
        event = begin(record, move, context, payload)
        try:
            choice = _choose(machine, event)
            if not isinstance(choice, Move):
                return _refused(machine, event, choice, raises)
            if may_not_enter(record, choice):
                return _tripped(machine, choice, raises)
            event.to_state = choice.outcome.to_state
            _perform(machine, choice.before, event)
            result = settle(machine, record, choice, event)
            _perform(machine, choice.after, event)
        except BaseException as error:
            _take_note(event, error)
            raise
        else:
            return result
        finally:
            end(record)

    return make


# ------------------------------------------------------------------------------------------ awaited machines
async def make_awaited(
    machine: Machine, record: Record, move: Move, context: Any, payload: dict[str, Any], raises: bool
) -> TransitionResult:
    """Makes a move of an async machine, which is held; `is_open` has been asked."""
    event = begin(record, move, context, payload)
    try:
        choice = await _choose_awaited(machine, event)
        if isinstance(choice, Move) and not may_not_enter(record, choice):
            event.to_state = choice.outcome.to_state
            for name in choice.before:
                if (answer := action_of(machine, name)(event)) is not None and isawaitable(answer):
                    await answer
            result = settle(machine, record, choice, event)
            for name in choice.after:
                if (answer := action_of(machine, name)(event)) is not None and isawaitable(answer):
                    await answer
            return result
    except BaseException as error:
        _take_note(event, error)
        raise
    finally:
        end(record)
    if isinstance(choice, Move):
        result = await run_async(_trip_at_wall(machine, choice))
    else:
        result = _refusal(machine, event, choice)
    return law.demanded(machine, result) if raises else result


async def _choose_awaited(machine: Machine, event: MoveEvent) -> Move | list[Objection]:
    """The first row whose guards pass, or what they have against each; one is asked after another."""
    objections: list[Objection] = []
    move: Move | None = event.move
    while move is not None:
        objection = None
        for name, wanted in move.guards:
            try:
                answer = guard_of(machine, name)(event)
                if answer is not wanted and isawaitable(answer):
                    answer = await answer
                objection = (
                    None if answer is wanted else objection_to(machine.definition, name, wanted, answer)
                )
            except Exception as error:  # noqa: BLE001 (a guard that raises means no)
                objection = objection_of(machine.definition, name, error)
            if objection is not None:
                break
        if objection is None:
            return move
        objections.append(objection)
        move = move.otherwise if objection.error is None else None
    return objections


# ------------------------------------------------------------------------------------- what all moves share
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
    record.firing = event = _new(MoveEvent)
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


def _choose(machine: Machine, event: MoveEvent) -> Move | list[Objection]:
    """The first row whose guards pass, or what they have against each."""
    objections: list[Objection] = []
    move: Move | None = event.move
    while move is not None:
        objection = None
        for name, wanted in move.guards:
            try:
                answer = guard_of(machine, name)(event)
            except Exception as error:  # noqa: BLE001 (a guard that raises means no)
                objection = objection_of(machine.definition, name, error)
            else:
                objection = None if answer is wanted else _objection(machine, name, wanted, answer)
            if objection is not None:
                break
        if objection is None:
            return move
        objections.append(objection)
        move = move.otherwise if objection.error is None else None
    return objections


def _objection(machine: Machine, name: str, wanted: bool, answer: Any) -> Objection | None:
    """What an answer that is no plain yes has against a row."""
    try:
        return objection_to(machine.definition, name, wanted, refuse_awaitable(answer, f"the guard '{name}'"))
    except Exception as error:  # noqa: BLE001 (an answer may raise when it is asked for yes or no)
        return objection_of(machine.definition, name, error)


def may_not_enter(record: Record, move: Move) -> bool:
    """Whether the breaker must judge limit 3."""
    return move.dest is not None and record.visits[move.place] >= record.most_visits


def settle(machine: Machine, record: Record, move: Move, event: MoveEvent) -> TransitionResult:
    """Writes the state, and puts the fact down."""
    plan = machine._plan
    result = result_of(move.outcome, record.ordinal + 1, time(), record.transitions + 1)
    if plan.has_fields:
        fields = machine._fields_after(event)
        with machine._writing:
            for name, value in fields.items():
                setattr(machine, name, value)
            event.result = result
            _write(machine, record, move)
    else:
        event.result = result
        _write(machine, record, move)
    record.put_down("transition", event.told)
    if plan.hears:
        machine._written(event, result)
    if move.dest is not None:
        machine._visit_ended()
    machine._clocks_changed()
    return result


def _write(machine: Machine, record: Record, move: Move) -> None:
    ordinal = record.ordinal + 1
    if move.dest is None:
        record.ordinal = ordinal
        record.transitions += 1
        record.settled = ordinal
        return
    patience = record.patience if move.timeout is None else move.timeout
    if machine._plan.has_clocks:
        patience = machine._state_clock(move.dest).timeout_under(machine.policy) or math.inf
    now = record.clock()
    deadline = min(now + patience, record.run_ends)
    # Plain stores from here to `settled`, as in `_common`.
    record.ordinal = ordinal
    record.visits[move.place] += 1
    record.state = move.dest
    record.moves = move.there
    record.entered_at = now
    record.deadline = deadline
    record.transitions += 1
    record.visit = ordinal
    record.settled = ordinal


def _take_note(event: MoveEvent, error: BaseException) -> None:
    """Puts down what was raised after the state had been written."""
    if event.result is not None:
        event.result = replace(event.result, error=error)


def _perform(machine: Machine, names: tuple[str, ...], event: MoveEvent) -> None:
    for name in names:
        if (answer := action_of(machine, name)(event)) is not None:
            refuse_awaitable(answer, f"the action '{name}'")


def _refusal(machine: Machine, event: MoveEvent, objections: list[Objection]) -> TransitionResult:
    refusal = refusals.guarded(machine, event.what, objections)
    return law.refused(machine, refusal, objections[-1].error)


def _refused(
    machine: Machine, event: MoveEvent, objections: list[Objection], raises: bool
) -> TransitionResult:
    machine._record.firing = None
    result = _refusal(machine, event, objections)
    return law.demanded(machine, result) if raises else result


def _trip_at_wall(machine: Machine, move: Move) -> Steps[TransitionResult]:
    """The state may not be entered once more: the breaker trips, as it does for the law."""
    trip = judge_entry(machine.policy, machine._counts, move.dest)
    if trip is None:
        raise AssertionError("the record and the rule disagree about a visit")
    return law.tripped(machine, trip, move.trigger)


def _tripped(machine: Machine, move: Move, raises: bool) -> TransitionResult:
    machine._record.firing = None
    result = run(_trip_at_wall(machine, move))
    return law.demanded(machine, result) if raises else result
