"""What the mixin is given when a machine is made, on every machine class of `transitions`."""

from enum import Enum

import pytest
from transitions import Machine, State
from transitions.extensions import LockedMachine
from transitions.extensions.asyncio import AsyncMachine

from orkeon_transitions.breaker import CircuitBreakerPolicy
from orkeon_transitions.errors import CircuitBrokenError
from orkeon_transitions.runtime.mixin import CircuitBreakerMixin
from tests.runtime.mixin_kinds import ASYNC, KINDS, Model, fire, guard, machine, policy

every_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)


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
