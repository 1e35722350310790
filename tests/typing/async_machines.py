"""Checked by mypy, never run: what an async machine's types are."""

from collections.abc import Awaitable
from enum import StrEnum
from typing import assert_type

from orkeon_transitions import AsyncStateMachine, CircuitBreakerStatus, Refusal, TransitionResult
from orkeon_transitions.runtime import AsyncTrigger, TriggerEvent


class State(StrEnum):
    IDLE = "idle"
    DONE = "done"


class Event(StrEnum):
    START = "start"


class Door(AsyncStateMachine[State, Event]):
    STATES = State
    TRIGGERS = Event

    start: AsyncTrigger

    async def may(self, event: TriggerEvent) -> bool:
        return bool(event.payload)


async def number() -> int:
    return 42


async def used(machine: Door) -> None:
    assert_type(machine.state, State)
    assert_type(await machine.fire(Event.START, None, n=1), TransitionResult)
    assert_type(await machine.try_fire("start"), TransitionResult)
    assert_type(await machine.start(n=1), TransitionResult)
    assert_type(await machine.can_fire(Event.START), bool)
    assert_type(await machine.why_not(Event.START), Refusal | None)
    assert_type(await machine.permitted_triggers(), list[Event])
    assert_type(await machine.check_circuit(), CircuitBreakerStatus)
    assert_type(await machine.during(number(), done=Event.START, failed="fail"), int)
    machine.spend(tokens=812)
    machine.reset_circuit_breaker()
    machine.fire_later(Event.START)
    later: Awaitable[TransitionResult] = machine.fire("start")
    print(later)
