"""Makes a move of the plan at once: guards, callbacks, the record and the fact, in the order of the law.

What is odd, be it an objection, a trip at the wall or an error, goes to the law, which finds the words for
it. The common row is written out in one function: each trigger comes here, and every call, loop and look at
an attribute that it spares is measurable beside the guard that it asks.
"""

from __future__ import annotations

from collections.abc import Callable
from time import time
from typing import TYPE_CHECKING, Any

from orkeon_transitions.facts import TransitionResult
from orkeon_transitions.runtime import law
from orkeon_transitions.runtime.callbacks import (
    Objection,
    action_of,
    guard_of,
    objection_of,
    refuse_awaitable,
)
from orkeon_transitions.runtime.moving import (
    MoveEvent,
    begin,
    choose,
    end,
    has_changed,
    is_open,
    may_not_enter,
    new,
    objection_in,
    refusal_for,
    settle,
    take_note,
    trip_at_wall,
)
from orkeon_transitions.runtime.plan import Move, Plan
from orkeon_transitions.runtime.steps import run

if TYPE_CHECKING:
    from orkeon_transitions.runtime.base import MachineBase
    from orkeon_transitions.runtime.record import Record

    Machine = MachineBase[Any, Any]
    # Machine, its record, context, payload, and whether a refusal is raised. None: the law must be asked.
    Making = Callable[[Machine, Record, Any, dict[str, Any], bool], TransitionResult | None]


def making(plan: Plan, move: Move) -> Making:
    """The function that makes a move of a plain machine."""
    is_short = max(len(move.guards), len(move.before), len(move.after)) <= 1 and move.otherwise is None
    is_usual = move.dest is not None and move.repeatable and all(wanted for _, wanted in move.guards)
    is_usual = is_usual and not (move.always or move.stands_still)
    is_plain = not (plan.has_fields or plan.has_clocks or plan.hears)
    return _common(move, plan.has_given) if is_short and is_usual and is_plain else _any(move)


def _common(move: Move, has_given: bool) -> Making:  # noqa: PLR0915 (written out, as said above)
    """A row that enters a state, with at most one guard, one action before and one after."""
    guard, before, after = (
        _only(tuple(name for name, _ in move.guards)),
        _only(move.before),
        _only(move.after),
    )
    dest: Any = move.dest
    outcome, to_state, place = move.outcome, move.outcome.to_state, move.place
    here, there, timeout = move.here, move.there, move.timeout
    # A machine to which none are given has nothing but methods.
    find_guard, find_action = (guard_of, action_of) if has_given else (getattr, getattr)

    def make(  # noqa: PLR0912 (written out, as said above)
        machine: Machine, record: Record, context: Any, payload: dict[str, Any], raises: bool
    ) -> TransitionResult | None:
        if (
            record.firing is not None
            or record.asked
            or record.transitions >= record.allowed
            or record.clock() >= record.deadline
        ):
            return None
        record.firing = event = new(MoveEvent)
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
                if answer is not True and (objection := objection_in(machine, guard, True, answer)):
                    return _refused(machine, event, [objection], raises)
            visits = record.visits[place] + 1
            if visits > record.most_visits:
                return _tripped(machine, move, event, raises)
            event.to_state = to_state
            if before is not None and (answer := find_action(machine, before)(event)) is not None:
                refuse_awaitable(answer, f"the action '{before}'")
            result: TransitionResult = new(TransitionResult)
            result._outcome = outcome
            result._ordinal = ordinal = record.ordinal + 1
            result._transition_count = count = record.transitions + 1
            result._at = time()
            result._error = None
            now = record.clock()
            deadline = now + (record.patience if timeout is None else timeout)
            if deadline > record.run_ends:  # noqa: PLR1730 (`min` costs more than an action)
                deadline = record.run_ends
            # Plain stores from here to `settled`: no signal and no thread comes in between.
            if record.moves is not here:
                return _changed(machine, move, event)
            event.result = result
            record.deadline = deadline
            record.ordinal = ordinal
            record.visits[place] = visits
            record.state = dest
            record.moves = there
            record.entered_at = now
            record.transitions = count
            record.visit = ordinal
            record.settled = ordinal
            if record.listeners is not None:
                record.listeners.put("transition", event.told)
            if after is not None and (answer := find_action(machine, after)(event)) is not None:
                refuse_awaitable(answer, f"the action '{after}'")
        except BaseException as error:
            run(take_note(machine, event, error))
            raise
        else:
            return result
        finally:
            record.firing = None

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
                return _tripped(machine, choice, event, raises)
            choose(event, choice)
            _perform(machine, choice.before, event)
            if has_changed(record, choice):
                return _changed(machine, choice, event)
            result = settle(machine, record, choice, event)
            _perform(machine, choice.after, event)
        except BaseException as error:
            run(take_note(machine, event, error))
            raise
        else:
            return result
        finally:
            end(record)

    return make


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
                objection = None if answer is wanted else objection_in(machine, name, wanted, answer)
            if objection is not None:
                break
        if objection is None:
            return move
        objections.append(objection)
        move = move.otherwise if objection.error is None else None
    return objections


def _perform(machine: Machine, names: tuple[str, ...], event: MoveEvent) -> None:
    for name in names:
        if (answer := action_of(machine, name)(event)) is not None:
            refuse_awaitable(answer, f"the action '{name}'")


def _changed(machine: Any, move: Move, event: MoveEvent) -> TransitionResult | None:
    """Lets the law write, and commit, what was chosen before something else came to hold."""
    machine._settle(event, move.dest)
    _perform(machine, move.after, event)
    return event.result


def _refused(
    machine: Machine, event: MoveEvent, objections: list[Objection], raises: bool
) -> TransitionResult:
    machine._record.firing = None
    result = refusal_for(machine, event, objections)
    return law.demanded(machine, result) if raises else result


def _tripped(machine: Machine, move: Move, event: MoveEvent, raises: bool) -> TransitionResult:
    machine._record.firing = None
    result = run(trip_at_wall(machine, move, event))
    return law.demanded(machine, result) if raises else result
