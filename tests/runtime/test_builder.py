"""Machines made in Python: the same definition that a file gives."""

from dataclasses import dataclass
from enum import Enum

import pytest

from orkeon_transitions.breaker import CircuitBreakerPolicy
from orkeon_transitions.definition import load_definition
from orkeon_transitions.errors import CircuitBrokenError, DefinitionError, GuardRejectedError
from orkeon_transitions.runtime import AsyncStateMachine, StateMachine, StateMachineBuilder
from tests.runtime.samples import Clock, Kind, limits


class MyState(Enum):
    IDLE = "idle"
    PROCESSING = "processing"
    DONE = "done"
    ERROR = "error"


class MyEvent(Enum):
    START = "start"
    COMPLETE = "complete"


@dataclass
class MyContext:
    is_ready: bool


def built(kind: Kind, builder, **options):
    return builder.build_async(**options) if kind.is_async else builder.build(**options)


def example(log=None):
    """A machine with all that a builder can say."""
    return (
        StateMachineBuilder[MyState, MyEvent]()
        .initial(MyState.IDLE)
        .terminal(MyState.DONE, MyState.ERROR)
        .degraded(MyState.ERROR)
        .circuit_breaker(
            CircuitBreakerPolicy(
                max_transitions=50, state_timeout=120, max_state_visits=5, use_degraded_mode=True
            )
        )
        .when(MyState.IDLE, MyEvent.START)
        .to(MyState.PROCESSING)
        .guard(lambda ctx: ctx.is_ready, "Must be ready", context=MyContext)
        .action(lambda from_state, to_state: (log if log is not None else []).append((from_state, to_state)))
        .when(MyState.PROCESSING, MyEvent.COMPLETE)
        .to(MyState.DONE)
    )


def test_the_whole_example(kind):
    log = []
    machine = built(kind, example(log))
    assert isinstance(machine, AsyncStateMachine if kind.is_async else StateMachine)
    assert machine.state is MyState.IDLE
    result = kind.fire(machine, MyEvent.START, MyContext(is_ready=True))
    assert (result.from_state, result.to_state, result.trigger) == (
        MyState.IDLE,
        MyState.PROCESSING,
        MyEvent.START,
    )
    assert log == [(MyState.IDLE, MyState.PROCESSING)]
    assert kind.fire(machine, MyEvent.COMPLETE).to_state is MyState.DONE
    assert machine.is_terminal


def test_the_example_as_data():
    definition = example().definition()
    assert definition.initial == "idle"
    assert definition.degraded == "error"
    assert [state.name for state in definition.states] == ["idle", "done", "error", "processing"]
    assert definition.final_states == {"done", "error"}
    assert definition.circuit_breaker.max_transitions == 50
    assert definition.circuit_breaker.use_degraded_mode
    assert definition.guards == {"must_be_ready": "Must be ready"}
    first, second = definition.transitions
    assert (first.trigger, first.source, first.dest) == ("start", ("idle",), "processing")
    assert first.conditions == ("must_be_ready",)
    assert len(first.after) == 1
    assert (second.trigger, second.source, second.dest, second.conditions) == (
        "complete",
        ("processing",),
        "done",
        (),
    )
    assert load_definition(definition.to_yaml()) == definition


def test_the_examples_breaker_degrades(kind):
    clock = Clock()
    machine = built(kind, example(), clock=clock)
    clock.advance(121)
    assert kind.fire(machine, MyEvent.START).degraded
    assert machine.state is MyState.ERROR


def test_a_guard_that_says_no_names_its_text(kind):
    machine = built(kind, example())
    with pytest.raises(
        GuardRejectedError, match=r"refused by guard 'must_be_ready' \(needed: Must be ready\);"
    ) as raised:
        kind.fire(machine, MyEvent.START, MyContext(is_ready=False))
    assert raised.value.refusal.description == "Must be ready"


@pytest.mark.parametrize(
    ("context", "told"), [(None, "none was given"), ("text", "not str"), (MyContext, "not type")]
)
def test_a_typed_guard_says_which_type_it_needs(kind, context, told):
    machine = built(kind, example())
    arguments = [] if context is None else [context]
    refusal = kind.try_fire(machine, MyEvent.START, *arguments).refusal
    assert refusal.kind == "guard"
    assert (
        f"'must_be_ready' (needed: Must be ready): it needs a context of type MyContext, {told}"
        in refusal.message
    )
    assert not kind.wait(machine.can_fire(MyEvent.START, *arguments))


def test_a_guard_without_a_type_gets_whatever_context_there_is(kind):
    seen = []
    builder = (
        StateMachineBuilder().initial("a").when("a", "go").to("b").guard(lambda ctx: seen.append(ctx) or True)
    )
    machine = built(kind, builder)
    assert kind.fire(machine, "go")
    assert seen == [None]


def test_guards_and_actions_have_names_of_their_own():
    def ready(context):
        return True

    def tell(before, after):
        return None

    definition = (
        StateMachineBuilder()
        .initial("a")
        .when("a", "go")
        .to("b")
        .guard(ready)
        .guard(ready, "Ready!")
        .guard(lambda ctx: True)
        .guard(lambda ctx: True, "3 of them")
        .action(tell)
        .action(tell)
        .action(lambda before, after: None)
        .definition()
    )
    [row] = definition.transitions
    assert row.conditions == ("ready", "ready_2", "guard_3", "guard_4")
    assert row.after == ("tell", "tell_2", "action_3")
    assert definition.guards == {"ready_2": "Ready!", "guard_4": "3 of them"}


def test_texts_will_do_without_enums(kind):
    builder = (
        StateMachineBuilder("door")
        .initial("shut")
        .when("shut", "open")
        .to("open")
        .when("open", "shut")
        .to("shut")
    )
    machine = built(kind, builder)
    assert machine.definition.name == "door"
    assert kind.fire(machine, "open").to_state == "open"


def test_several_sources_and_every_state(kind):
    builder = (
        StateMachineBuilder()
        .initial("a")
        .when(["a", "b"], "go")
        .to("c")
        .when("*", "stop")
        .to("z")
        .when(("c",), "back")
        .to("b")
        .terminal("z")
    )
    rows = builder.definition().transitions
    assert [row.source for row in rows] == [("a", "b"), ("*",), ("c",)]
    machine = built(kind, builder)
    for trigger in ("go", "back", "go", "stop"):
        kind.fire(machine, trigger)
    assert machine.state == "z"


def test_internal_reflexive_and_marked_rows(kind):
    builder = (
        StateMachineBuilder()
        .initial("a")
        .when("a", "tick")
        .to(None)
        .when("a", "again")
        .to("=")
        .when("a", "call")
        .to(None, repeatable=False)
        .when("a", "stop")
        .to("z", always=True)
    )
    rows = {row.trigger: row for row in builder.definition().transitions}
    assert rows["tick"].dest is None
    assert rows["again"].dest == "="
    assert (rows["call"].repeatable, rows["call"].always) == (False, False)
    assert (rows["stop"].repeatable, rows["stop"].always) == (True, True)
    machine = built(kind, builder, policy=limits(max_transitions=1))
    assert kind.fire(machine, "tick").internal
    assert not kind.try_fire(machine, "tick")
    assert kind.fire(machine, "stop").to_state == "z"


def test_states_have_timeouts_and_callbacks(kind):
    log, clock = [], Clock()
    builder = (
        StateMachineBuilder[MyState, MyEvent]()
        .initial(MyState.IDLE)
        .state(MyState.IDLE, timeout=0, description="waits for work", on_exit=lambda e: log.append("left"))
        .state(
            MyState.PROCESSING,
            timeout=30,
            on_timeout=MyEvent.COMPLETE,
            on_enter=[lambda e: log.append("one"), lambda e: log.append("two")],
        )
        .state(MyState.PROCESSING, on_enter=["named"])
        .when(MyState.IDLE, MyEvent.START)
        .to(MyState.PROCESSING)
        .when(MyState.PROCESSING, MyEvent.COMPLETE)
        .to(MyState.DONE)
    )
    states = builder.definition().states_by_name
    assert (states["idle"].timeout, states["idle"].description) == (0, "waits for work")
    assert (states["processing"].timeout, states["processing"].on_timeout) == (30, "complete")
    machine = built(
        kind, builder, actions={"named": lambda e: log.append("three")}, clock=clock, policy=limits()
    )
    kind.fire(machine, MyEvent.START)
    assert log == ["left", "one", "two", "three"]
    clock.advance(31)
    kind.wait(machine.check_circuit())
    assert machine.state is MyState.DONE


def test_a_builder_builds_as_often_as_it_is_asked(kind):
    builder = example()
    first, second = built(kind, builder), built(kind, builder)
    assert first.definition == second.definition
    kind.fire(first, MyEvent.START, MyContext(is_ready=True))
    assert second.state is MyState.IDLE
    builder.when(MyState.PROCESSING, "fail").to(MyState.ERROR)
    assert "fail" in builder.definition().triggers
    assert "fail" not in first.definition.triggers


def test_options_are_those_of_the_machine(kind):
    facts = []
    machine = built(
        kind,
        example(),
        policy=limits(max_transitions=1),
        machine_id="t1",
        commit=lambda fact, snapshot: facts.append(fact),
    )
    assert machine.machine_id == "t1"
    kind.fire(machine, MyEvent.START, MyContext(is_ready=True))
    with pytest.raises(CircuitBrokenError):
        kind.fire(machine, MyEvent.COMPLETE)
    assert len(facts) == 2


def test_a_builders_machine_is_restored_with_its_own_options(kind):
    builder = example()
    machine = built(kind, builder)
    kind.fire(machine, MyEvent.START, MyContext(is_ready=True))
    again = built(kind, builder, snapshot=machine.snapshot().model_dump_json())
    assert again.state is MyState.PROCESSING
    assert kind.fire(again, MyEvent.COMPLETE)


def test_what_is_wrong_is_said_all_at_once():
    builder = StateMachineBuilder().state("a", on_timeout="fly").when("a", "go").to("b").degraded("b")
    with pytest.raises(DefinitionError) as raised:
        builder.definition()
    text = str(raised.value)
    assert "initial" in text
    assert "fly" in text


@pytest.mark.parametrize("what", ["guard", "action"])
def test_a_guard_or_action_needs_a_row(what):
    with pytest.raises(
        ValueError, match=rf"{what}: there is no row yet, begin one with when\(...\).to\(...\)"
    ):
        getattr(StateMachineBuilder(), what)(lambda *args: True)


def test_states_of_two_enums_are_refused():
    builder = StateMachineBuilder().initial(MyState.IDLE)
    with pytest.raises(TypeError, match="the states are members of MyState, not of MyEvent"):
        builder.terminal(MyEvent.START)
    with pytest.raises(TypeError, match="the triggers are members of MyEvent, not of MyState"):
        builder.when(MyState.IDLE, MyEvent.START).to(MyState.DONE).when(MyState.IDLE, MyState.DONE)


def test_async_guards_and_actions_need_an_async_machine():
    async def ready(context):
        return context == "yes"

    async def tell(before, after):
        log.append((before, after))

    log = []
    builder = StateMachineBuilder().initial("a").when("a", "go").to("b").guard(ready).action(tell)
    with pytest.raises(DefinitionError) as raised:
        builder.build()
    assert [problem.message for problem in raised.value.problems] == [
        "the guard 'ready' is async: it needs an AsyncStateMachine",
        "the action 'tell' is async: it needs an AsyncStateMachine",
    ]
    import asyncio

    machine = builder.build_async()
    assert not asyncio.run(machine.try_fire("go", "no"))
    assert asyncio.run(machine.fire("go", "yes"))
    assert log == [("a", "b")]


def test_actions_run_after_the_new_state_was_entered(kind):
    log = []
    builder = (
        StateMachineBuilder()
        .initial("a")
        .state("b", on_enter=lambda e: log.append("entered"))
        .when("a", "go")
        .to("b")
        .action(lambda before, after: log.append("action"))
    )
    kind.fire(built(kind, builder), "go")
    assert log == ["entered", "action"]
