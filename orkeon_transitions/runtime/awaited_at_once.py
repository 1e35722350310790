"""Makes a move of an async machine at once; guards and actions are awaited one after another."""

from __future__ import annotations

from inspect import isawaitable
from types import CoroutineType
from typing import TYPE_CHECKING, Any

from orkeon_transitions.facts import TransitionResult
from orkeon_transitions.runtime import law
from orkeon_transitions.runtime.callbacks import Objection, action_of, guard_of, objection_of, objection_to
from orkeon_transitions.runtime.moving import (
    MoveEvent,
    begin,
    choose,
    end,
    has_changed,
    may_not_enter,
    refusal_for,
    settle,
    take_note,
    trip_at_wall,
)
from orkeon_transitions.runtime.plan import Move
from orkeon_transitions.runtime.steps import run_async

if TYPE_CHECKING:
    from orkeon_transitions.runtime.base import MachineBase

    Machine = MachineBase[Any, Any]


async def make_awaited(
    machine: Machine, move: Move, context: Any, payload: dict[str, Any], raises: bool
) -> TransitionResult:
    """Makes a move of an async machine, which is held; `is_open` has been asked."""
    record = machine._record
    event = begin(record, move, context, payload)
    try:
        choice = await _choose_awaited(machine, event)
        if isinstance(choice, Move) and not may_not_enter(record, choice):
            choose(event, choice)
            for name in choice.before:
                answer = action_of(machine, name)(event)
                if type(answer) is CoroutineType or (answer is not None and isawaitable(answer)):
                    await answer
            if has_changed(record, choice):
                result = await _changed(machine, choice, event)
            else:
                result = settle(machine, record, choice, event)
            for name in choice.after:
                answer = action_of(machine, name)(event)
                if type(answer) is CoroutineType or (answer is not None and isawaitable(answer)):
                    await answer
            return result
    except BaseException as error:
        await run_async(take_note(machine, event, error))
        raise
    finally:
        end(record)
    if isinstance(choice, Move):
        result = await run_async(trip_at_wall(machine, choice, event))
    else:
        result = refusal_for(machine, event, choice)
    return law.demanded(machine, result) if raises else result


async def _changed(machine: Any, move: Move, event: MoveEvent) -> TransitionResult:
    """Lets the law write, and commit, what was chosen before something else came to hold."""
    stopped = await machine._settle(event, move.dest)
    if stopped is not None:
        raise stopped
    result: TransitionResult = event.told()
    return result


async def _choose_awaited(machine: Machine, event: MoveEvent) -> Move | list[Objection]:
    """The first row whose guards pass, or what they have against each; one is asked after another."""
    objections: list[Objection] = []
    move: Move | None = event.move
    while move is not None:
        objection = None
        for name, wanted in move.guards:
            try:
                answer = guard_of(machine, name)(event)
                if type(answer) is CoroutineType or (answer is not wanted and isawaitable(answer)):
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
