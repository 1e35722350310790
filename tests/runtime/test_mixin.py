"""The same breaker on every machine class of `transitions`."""

import logging
from datetime import timedelta
from enum import Enum

import pytest
from transitions import Machine, MachineError, State
from transitions.extensions import LockedMachine
from transitions.extensions.asyncio import AsyncMachine

from orkeon_transitions.breaker import BreakerLimit, CircuitBreakerPolicy, CircuitBreakerStatus
from orkeon_transitions.errors import CircuitBrokenError
from orkeon_transitions.runtime.mixin import CircuitBreakerMixin
from tests.runtime.mixin_kinds import ASYNC, KINDS, SYNC, Clock, Model, fire, guard, machine, policy

every_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)


def test_all_twelve_classes_of_the_factory_are_tried():
    assert len(KINDS) == 12


@every_kind
@pytest.mark.parametrize("queued", [False, True])
def test_exactly_n_transitions_are_made(kind, queued):  # case D05
    _, model = machine(kind, limits={"max_transitions": 2}, queued=queued)
    fire(model.next)
    fire(model.next)
    with pytest.raises(CircuitBrokenError, match=r"^Max transitions exceeded \(2/2\)") as caught:
        fire(model.next)
    assert model.state == "a"
    assert caught.value.status.limit is BreakerLimit.MAX_TRANSITIONS
    assert caught.value.status.total_transitions == 2


@every_kind
@pytest.mark.parametrize("queued", [False, True])
def test_degraded_mode_moves_the_model(kind, queued):
    _, model = machine(
        kind,
        limits={"max_transitions": 2, "use_degraded_mode": True},
        degraded_state="degraded",
        queued=queued,
    )
    fire(model.next)
    fire(model.next)
    made = fire(model.next)
    assert made is queued  # queued machines always answer True; the trigger that was asked for was not made
    assert model.state == "degraded"
    status = model.circuit_status
    assert status.is_broken
    assert status.total_transitions == 3
    assert status.state_visit_histogram == {"a": 2, "b": 1, "degraded": 1}


@every_kind
def test_a_tripped_machine_raises_on_every_trigger_until_reset(kind):
    heard = []
    _, model = machine(
        kind,
        limits={"max_transitions": 1, "use_degraded_mode": True},
        degraded_state="degraded",
        on_circuit_broken=heard.append,
    )
    fire(model.next)
    fire(model.next)
    for trigger in (model.next, model.tick, model.again, model.end):
        with pytest.raises(CircuitBrokenError):
            fire(trigger)
    assert len(heard) == 1
    model.reset_circuit_breaker()
    status = model.circuit_status
    assert not status.is_broken
    assert status.broken_reason is None
    assert (status.total_transitions, status.state_visit_histogram) == (0, {"degraded": 1})
    assert fire(model.end) is True
    assert model.state == "done"


@every_kind
def test_degraded_mode_without_a_degraded_state_raises(kind):
    _, model = machine(kind, limits={"max_transitions": 1, "use_degraded_mode": True})
    fire(model.next)
    with pytest.raises(CircuitBrokenError):
        fire(model.next)
    assert model.state == "b"


@every_kind
def test_a_model_that_is_degraded_already_is_not_moved(kind):
    _, model = machine(
        kind,
        limits={"max_transitions": 1, "use_degraded_mode": True},
        degraded_state="b",
    )
    fire(model.next)
    with pytest.raises(CircuitBrokenError):
        fire(model.next)
    assert model.circuit_status.total_transitions == 1


@every_kind
def test_visits_trip_at_the_wall_before_any_callback(kind):
    heard = []
    _, model = machine(
        kind,
        limits={"max_state_visits": 2},
        before_state_change=lambda *a: heard.append("before"),
        on_exception=lambda *a: heard.append("exception"),
    )
    for _ in range(3):  # b 1, a 2, b 2
        fire(model.next)
    with pytest.raises(CircuitBrokenError, match=r"^Cycle detected: state 'a'"):
        fire(model.next)
    assert heard == ["before"] * 3
    assert model.state == "b"


@every_kind
def test_a_trip_at_the_wall_tries_no_other_row(kind):
    rows = [
        ["next", "a", "b"],
        {"trigger": "next", "source": "b", "dest": "a"},
        {"trigger": "next", "source": "b", "dest": "done"},
    ]
    _, model = machine(kind, limits={"max_state_visits": 1}, transitions=rows)
    fire(model.next)
    with pytest.raises(CircuitBrokenError):
        fire(model.next)
    assert model.state == "b"


@every_kind
def test_after_a_trip_at_the_wall_nothing_was_made(kind):
    heard = []
    rows = [
        ["next", "a", "b"],
        {"trigger": "next", "source": "b", "dest": "a"},
        {
            "trigger": "next",
            "source": "b",
            "dest": "done",
            "prepare": lambda event: heard.append("prepare"),
            "conditions": lambda event: heard.append("condition"),
        },
    ]
    _, model = machine(
        kind,
        limits={"max_state_visits": 1},
        transitions=rows,
        send_event=True,
        finalize_event=lambda event: heard.append(event.result),
    )
    fire(model.next)
    with pytest.raises(CircuitBrokenError):
        fire(model.next)
    assert heard == [True, False]


@every_kind
def test_a_row_whose_conditions_fail_is_not_judged(kind):
    rows = [
        ["next", "a", "b"],
        {"trigger": "next", "source": "b", "dest": "a", "conditions": lambda: False},
        {"trigger": "next", "source": "b", "dest": "done"},
    ]
    _, model = machine(kind, limits={"max_state_visits": 1}, transitions=rows)
    fire(model.next)
    assert fire(model.next) is True
    assert model.state == "done"


@every_kind
def test_internal_counts_no_visit_and_reflexive_counts_one(kind):  # case A07
    _, model = machine(kind, limits={"max_state_visits": 3})
    for _ in range(5):
        fire(model.tick)
    fire(model.again)
    fire(model.again)
    status = model.circuit_status
    assert (status.total_transitions, status.current_state_visit_count) == (7, 3)
    with pytest.raises(CircuitBrokenError):
        fire(model.again)
    fire(model.reset_circuit_breaker)
    assert fire(model.again) is True


@every_kind
def test_an_internal_transition_is_counted_first_thing_after(kind):
    seen = []
    rows = [
        {
            "trigger": "tick",
            "source": "a",
            "dest": None,
            "before": lambda: seen.append(model.circuit_status.total_transitions),
            "after": lambda: seen.append(model.circuit_status.total_transitions),
        }
    ]
    made, model = machine(kind, transitions=rows)
    fire(model.tick)
    assert seen == [0, 1]
    assert made.get_transitions("tick")[0].after == [rows[0]["after"]]


@every_kind
@pytest.mark.parametrize("stage", ["before", "after"])
def test_an_internal_transition_that_raises(kind, stage):  # case C01
    rows = [{"trigger": "tick", "source": "a", "dest": None, stage: lambda: 1 / 0}]
    _, model = machine(kind, transitions=rows)
    with pytest.raises(ZeroDivisionError):
        fire(model.tick)
    assert model.circuit_status.total_transitions == (stage == "after")


@every_kind
@pytest.mark.parametrize(("stage", "counted"), [("before", 0), ("after", 1)])
def test_a_move_that_raises_is_counted_when_it_was_written(kind, stage, counted):  # case C01
    rows = [{"trigger": "next", "source": "a", "dest": "b", stage: lambda: 1 / 0}]
    _, model = machine(kind, transitions=rows)
    with pytest.raises(ZeroDivisionError):
        fire(model.next)
    assert model.circuit_status.total_transitions == counted
    assert model.state == "ab"[counted]


@every_kind
def test_an_enter_callback_that_raises_leaves_the_move_counted_once(kind):
    states = ["a", {"name": "b", "on_enter": lambda: 1 / 0}]
    _, model = machine(kind, states=states, transitions=[["next", "a", "b"]])
    with pytest.raises(ZeroDivisionError):
        fire(model.next)
    assert model.state == "b"
    assert model.circuit_status.total_transitions == 1


@every_kind
def test_a_refused_trigger_counts_nothing(kind):
    rows = [
        {"trigger": "next", "source": "a", "dest": "b", "conditions": lambda: False},
        ["end", "b", "done"],
    ]
    _, model = machine(kind, transitions=rows)
    assert fire(model.next) is False
    with pytest.raises(MachineError):
        fire(model.end)
    assert model.circuit_status.total_transitions == 0


@every_kind
def test_a_trip_happens_whether_or_not_the_trigger_is_valid(kind):
    rows = [["next", "a", "b"], ["end", "a", "done"]]
    _, model = machine(kind, limits={"max_transitions": 1}, transitions=rows, ignore_invalid_triggers=True)
    fire(model.next)
    with pytest.raises(CircuitBrokenError):
        fire(model.end)


@every_kind
def test_the_clocks_trip_at_the_gate(kind):  # case D01
    clock = Clock()
    _, model = machine(kind, limits={"state_timeout": 10}, clock=clock)
    clock.now += 10
    assert fire(model.next) is True
    clock.now += 10.5
    assert model.circuit_status.time_in_current_state == timedelta(seconds=10.5)
    with pytest.raises(CircuitBrokenError, match=r"^State timeout exceeded.*10\.5s.*'b'.*10s") as caught:
        fire(model.next)
    assert caught.value.status.limit is BreakerLimit.STATE_TIMEOUT


@every_kind
def test_the_total_duration_runs_from_the_first_transition(kind):
    clock = Clock()
    _, model = machine(kind, limits={"max_total_duration": 10}, clock=clock)
    clock.now += 100
    fire(model.next)
    clock.now += 10
    fire(model.next)
    assert model.circuit_status.remaining == timedelta(0)
    clock.now += 1
    with pytest.raises(CircuitBrokenError, match=r"^Max total duration exceeded"):
        fire(model.next)


@every_kind
def test_meters_are_reported_on_the_model(kind):
    _, model = machine(kind, limits={"meters": {"tokens": 100}})
    model.spend(tokens=100)
    assert fire(model.next) is True
    model.spend(tokens=1)
    with pytest.raises(CircuitBrokenError, match=r"^Budget exhausted.*tokens"):
        fire(model.next)
    assert model.circuit_status.spent == {"tokens": 101}


@pytest.mark.parametrize("amount", [-1, float("nan")])
def test_what_was_spent_cannot_be_given_back(amount):
    _, model = machine(Machine, limits={"meters": {"tokens": 100}})
    with pytest.raises(ValueError, match="tokens"):
        model.spend(tokens=amount)


def test_a_model_without_meters_gets_no_spend():
    _, model = machine(Machine)
    assert not hasattr(model, "spend")


CALLS = [
    {"trigger": "call", "source": "a", "dest": "b", "repeatable": False},
    {"trigger": "poll", "source": "a", "dest": "b"},
    ["back", "b", "a"],
]


@every_kind
def test_a_marked_row_may_be_taken_n_times_in_a_row_with_an_equal_payload(kind):
    _, model = machine(kind, limits={"max_repeats": 2}, transitions=CALLS)
    for _ in range(2):
        fire(model.call, "search", query={"b": 2, "a": 1})
        fire(model.back)
        fire(model.poll, "search", query={"a": 1, "b": 2})  # not marked: neither counts nor interrupts
        fire(model.back)
    with pytest.raises(CircuitBrokenError, match=r"^Repetition: 'call' with .*query.* 3 times") as caught:
        fire(model.call, "search", query={"a": 1, "b": 2})
    assert caught.value.status.limit is BreakerLimit.MAX_REPEATS
    assert model.state == "a"


@every_kind
def test_another_payload_begins_anew(kind):
    _, model = machine(kind, limits={"max_repeats": 1}, transitions=CALLS)
    for query in ("x", "y", "x"):
        fire(model.call, query)
        fire(model.back)
    with pytest.raises(CircuitBrokenError):
        fire(model.call, "x")
    model.reset_circuit_breaker()
    assert fire(model.call, "x") is True


@every_kind
def test_a_marked_row_that_fails_before_it_is_written_is_not_counted(kind):
    fails = [True, True]

    def before(query):
        if fails:
            raise ValueError(fails.pop())

    rows = [{**CALLS[0], "before": before}, ["back", "b", "a"]]
    _, model = machine(kind, limits={"max_repeats": 1}, transitions=rows)
    for _ in range(2):
        with pytest.raises(ValueError, match="True"):
            fire(model.call, "x")
    assert fire(model.call, "x") is True


@every_kind
def test_repetition_is_not_counted_where_the_policy_does_not_limit_it(kind):
    _, model = machine(kind, transitions=CALLS)
    for _ in range(20):
        fire(model.call, "x")
        fire(model.back)


@every_kind
def test_auto_transitions_are_guarded(kind):  # case E03
    _, model = machine(kind, limits={"max_transitions": 1}, auto_transitions=True)
    fire(model.to_b)
    with pytest.raises(CircuitBrokenError):
        fire(model.to_a)
    assert model.state == "b"


@every_kind
def test_triggers_by_name_are_guarded(kind):
    _, model = machine(kind, limits={"max_transitions": 1})
    fire(model.trigger, "next")
    with pytest.raises(CircuitBrokenError):
        fire(model.trigger, "next")


@every_kind
def test_a_state_that_is_set_by_hand_is_counted(kind):
    made, model = machine(kind, limits={"max_transitions": 1})
    made.set_state("b", model)
    assert model.circuit_status.state_visit_histogram == {"a": 1, "b": 1}
    with pytest.raises(CircuitBrokenError):
        fire(model.next)


@every_kind
def test_final_means_nothing_here(kind):
    states = ["a", {"name": "b", "final": True}, "done", "degraded"]
    _, model = machine(kind, limits={"max_transitions": 2}, states=states)
    fire(model.next)
    fire(model.next)
    with pytest.raises(CircuitBrokenError):
        fire(model.next)


@every_kind
def test_the_degraded_move_runs_the_callbacks_with_the_arguments_of_the_trigger(kind):
    heard = []
    states = [
        {"name": "a", "on_exit": lambda tool: heard.append(("exit", tool))},
        {"name": "degraded", "on_enter": lambda tool: heard.append(("enter", tool))},
        "b",
        "done",
    ]
    _, model = machine(
        kind,
        limits={"max_state_visits": 1, "use_degraded_mode": True},
        degraded_state="degraded",
        states=states,
        before_state_change=lambda tool: heard.append(("before", tool)),
        after_state_change=lambda tool: heard.append(("after", tool)),
    )
    assert fire(model.again, tool="search") is False
    assert heard == [("before", "search"), ("exit", "search"), ("enter", "search"), ("after", "search")]


@every_kind
def test_the_degraded_move_tells_the_trigger_in_whose_place_it_is_made(kind):
    heard = []
    _, model = machine(
        kind,
        limits={"max_transitions": 1, "use_degraded_mode": True},
        degraded_state="degraded",
        send_event=True,
        after_state_change=lambda event: heard.append((event.event.name, event.transition.dest)),
    )
    fire(model.next)
    fire(model.end)
    assert heard == [("next", "b"), ("end", "degraded")]


@every_kind
def test_a_trigger_fired_on_entering_the_degraded_state_raises(kind):
    outcome = []

    async def awaited():
        try:
            await model.next()
        except CircuitBrokenError as error:
            outcome.append(error)

    def called():
        try:
            model.next()
        except CircuitBrokenError as error:
            outcome.append(error)

    states = ["a", "b", "done", {"name": "degraded", "on_enter": awaited if kind in ASYNC else called}]
    _, model = machine(
        kind,
        limits={"max_transitions": 1, "use_degraded_mode": True},
        degraded_state="degraded",
        states=states,
    )
    fire(model.next)
    fire(model.next)
    assert len(outcome) == 1
    assert model.state == "degraded"


@every_kind
def test_the_listener_hears_of_a_trip_before_the_model_moves(kind):
    heard = []
    _, model = machine(
        kind,
        limits={"max_transitions": 1, "use_degraded_mode": True},
        degraded_state="degraded",
        on_circuit_broken=lambda status: heard.append((status, model.state)),
    )
    fire(model.next)
    fire(model.next)
    [(status, state)] = heard
    assert isinstance(status, CircuitBreakerStatus)
    assert (status.is_broken, status.total_transitions, state) == (True, 1, "b")


@every_kind
def test_a_listener_that_raises_is_logged_and_stops_nothing(kind, caplog):
    _, model = machine(kind, limits={"max_transitions": 1}, on_circuit_broken=lambda status: 1 / 0)
    fire(model.next)
    with (
        caplog.at_level(logging.ERROR, "orkeon_transitions.runtime.mixin"),
        pytest.raises(CircuitBrokenError),
    ):
        fire(model.next)
    assert "on_circuit_broken" in caplog.text


@pytest.mark.parametrize("kind", ASYNC, ids=lambda kind: kind.__name__)
def test_an_async_machine_awaits_its_listener(kind, caplog):
    heard = []

    async def listener(status):
        heard.append(status.limit)
        raise ValueError("listener")

    _, model = machine(kind, limits={"max_transitions": 1}, on_circuit_broken=listener)
    fire(model.next)
    with pytest.raises(CircuitBrokenError):
        fire(model.next)
    assert heard == [BreakerLimit.MAX_TRANSITIONS]
    assert "on_circuit_broken" in caplog.text


@pytest.mark.parametrize("kind", SYNC, ids=lambda kind: kind.__name__)
def test_a_plain_machine_refuses_a_coroutine_as_listener(kind):
    async def listener(status): ...

    with pytest.raises(TypeError, match="coroutine"):
        machine(kind, on_circuit_broken=listener)


@every_kind
def test_an_unknown_degraded_state_is_an_error_at_construction(kind):
    with pytest.raises(ValueError, match="degraded_state 'lost'"):
        machine(kind, degraded_state="lost")


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"circuit_breaker": {"max_transitions": 3}}, TypeError, "CircuitBreakerPolicy, not dict"),
        ({"circuit_breaker": "strict"}, TypeError, "CircuitBreakerPolicy, not str"),
        ({"on_circuit_broken": "notify"}, TypeError, "callable"),
    ],
)
def test_wrong_arguments_are_refused_by_name(options, error, message):
    with pytest.raises(error, match=message):
        guard(Machine)(Model(), states=["a"], initial="a", **options)


def test_an_unknown_keyword_is_refused_as_transitions_does():
    with pytest.raises(ValueError, match="circuit_braker"):
        guard(Machine)(Model(), states=["a"], initial="a", circuit_braker=policy())


@every_kind
def test_without_a_policy_the_default_one_guards(kind):
    options = {"graph_engine": "mermaid"} if "Graph" in kind.__name__ else {}
    model = Model()
    guard(kind)(model, states=["a"], initial="a", **options)
    assert model.circuit_status.policy == CircuitBreakerPolicy.default()


class Step(Enum):
    A = "first"
    B = 2
    LOST = None


@every_kind
def test_enum_states_are_known_by_their_names(kind):
    _, model = machine(
        kind,
        limits={"max_state_visits": 1, "use_degraded_mode": True},
        states=Step,
        initial=Step.A,
        transitions=[["next", Step.A, Step.B], ["next", Step.B, Step.A]],
        degraded_state=Step.LOST,
    )
    fire(model.next)
    assert fire(model.next) is False
    assert model.state is Step.LOST
    assert model.circuit_status.state_visit_histogram == {"A": 1, "B": 1, "LOST": 1}


def test_the_degraded_state_may_be_a_state_object():
    lost = State("lost")
    _, model = machine(
        Machine,
        limits={"max_state_visits": 1, "use_degraded_mode": True},
        states=["a", lost],
        transitions=[["again", "a", "="]],
        degraded_state=lost,
    )
    fire(model.again)
    assert model.state == "lost"


@every_kind
def test_another_model_attribute(kind):
    made, model = machine(kind, limits={"max_transitions": 1}, model_attribute="phase")
    fire(model.next)
    assert model.phase == "b"
    with pytest.raises(CircuitBrokenError):
        fire(model.next)
    assert made.get_circuit_status(model).state_visit_histogram == {"a": 1, "b": 1}


@every_kind
def test_the_mixin_goes_first(kind):
    with pytest.raises(TypeError, match="class Wrong: CircuitBreakerMixin goes before"):
        type("Wrong", (kind, CircuitBreakerMixin), {})


def test_a_subclass_of_a_guarded_class_stays_guarded():
    class Base(CircuitBreakerMixin):
        pass

    class Parent(Base, LockedMachine):
        pass

    class Child(Parent):
        pass

    assert Child.event_cls is Parent.event_cls
    model = Model()
    Child(
        model,
        states=["a", "b"],
        initial="a",
        transitions=[["next", "*", "b"]],
        circuit_breaker=policy(max_transitions=1),
    )
    model.next()
    with pytest.raises(CircuitBrokenError):
        model.next()


def test_a_machine_with_event_and_transition_classes_of_its_own_keeps_them():
    heard = []

    class Event(Machine.event_cls):
        def trigger(self, model, *args, **kwargs):
            heard.append("event")
            return super().trigger(model, *args, **kwargs)

    class Transition(Machine.transition_cls):
        def execute(self, event_data):
            heard.append("transition")
            return super().execute(event_data)

    class Own(CircuitBreakerMixin, Machine):
        event_cls = Event
        transition_cls = Transition

    model = Model()
    Own(model, states=["a"], initial="a", transitions=[["tick", "a", None]], circuit_breaker=policy())
    model.tick()
    assert heard == ["event", "transition"]
    assert model.circuit_status.total_transitions == 1


@pytest.mark.parametrize("kind", [Machine, AsyncMachine], ids=lambda kind: kind.__name__)
def test_triggers_may_nest_as_deep_as_fifty(kind):
    depth = 0

    def called():
        nonlocal depth
        depth += 1
        if depth < 50:
            model.again()

    async def awaited():
        nonlocal depth
        depth += 1
        if depth < 50:
            await model.again()

    callback = awaited if kind in ASYNC else called
    _, model = machine(kind, states=[{"name": "a", "on_enter": callback}, "done", "b"])
    fire(model.again)
    assert model.circuit_status.total_transitions == 50
