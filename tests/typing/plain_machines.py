"""Checked by mypy, never run: what a plain machine's types are."""

from enum import Enum
from typing import assert_type

from orkeon_transitions import (
    AsyncStateMachine,
    CircuitBreakerPolicy,
    CircuitBreakerStatus,
    MachineDefinition,
    Refusal,
    StateMachine,
    StateMachineBuilder,
    TransitionResult,
    load_definition,
)
from orkeon_transitions.facts import CircuitBroken, Fact, Snapshot
from orkeon_transitions.runtime import Trigger, TriggerEvent


class State(Enum):
    IDLE = "idle"
    DONE = "done"


class Event(Enum):
    START = "start"


class Context:
    is_ready: bool = True


definition = load_definition("initial: idle\nstates: [idle, done]\ntransitions: [[start, idle, done]]\n")
assert_type(definition, MachineDefinition)


class Door(StateMachine[State, Event]):
    STATES = State
    TRIGGERS = Event

    start: Trigger

    def may(self, event: TriggerEvent) -> bool:
        return bool(event.context)


def plain(machine: Door) -> None:
    assert_type(machine.state, State)
    assert_type(machine.is_terminal, bool)
    assert_type(machine.transition_count, int)
    assert_type(machine.circuit_status, CircuitBreakerStatus)
    assert_type(machine.definition, MachineDefinition)
    result = machine.fire(Event.START, Context(), n=1)
    assert_type(result, TransitionResult)
    assert_type(machine.try_fire("start"), TransitionResult)
    assert_type(machine.start(n=1), TransitionResult)
    assert_type(machine.can_fire(Event.START), bool)
    assert_type(machine.why_not(Event.START), Refusal | None)
    assert_type(machine.permitted_triggers(), list[Event])
    assert_type(result.refusal, Refusal | None)
    assert_type(result.ordinal, int)
    assert_type(machine.snapshot(), Snapshot)
    assert_type(machine.check_circuit(), CircuitBreakerStatus)
    assert_type(Door.restore(definition, machine.snapshot()), Door)
    forget = machine.on_transition(heard_transition)
    forget()
    machine.on_refused(heard_refusal)
    machine.on_circuit_broken(heard_trip)
    machine.attach_commit(commit)


def heard_transition(result: TransitionResult) -> None: ...


def heard_refusal(refusal: Refusal) -> None: ...


def heard_trip(broken: CircuitBroken) -> None: ...


def commit(fact: Fact, snapshot: Snapshot) -> None: ...


def untyped() -> None:
    """Without an Enum a state is whatever it is."""
    machine = StateMachine(definition, policy=CircuitBreakerPolicy.strict())
    machine.fire("start")
    text: str = machine.state
    print(text)
    named: StateMachine[str, str] = StateMachine(definition)
    assert_type(named.state, str)
    assert_type(named.permitted_triggers(), list[str])


def built() -> None:
    builder = (
        StateMachineBuilder[State, Event]()
        .initial(State.IDLE)
        .terminal(State.DONE)
        .when(State.IDLE, Event.START)
        .to(State.DONE)
        .guard(lambda context: context.is_ready, "Must be ready", context=Context)
        .action(lambda before, after: print(before, after))
    )
    assert_type(builder, StateMachineBuilder[State, Event])
    assert_type(builder.build(), StateMachine[State, Event])
    assert_type(builder.build().state, State)
    assert_type(builder.build_async(), AsyncStateMachine[State, Event])
    assert_type(builder.definition(), MachineDefinition)
