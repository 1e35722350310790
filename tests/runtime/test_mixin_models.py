"""The models of a guarded machine: many of them, late ones, odd ones, pickled ones.

A long file: every way in which `transitions` takes and drops a model is listed in it once.
"""

import copy
import gc
import logging
import pickle
import weakref
from dataclasses import dataclass
from datetime import timedelta
from types import SimpleNamespace

import pytest
from transitions import Machine
from transitions.extensions import GraphMachine, HierarchicalMachine, LockedMachine
from transitions.extensions.asyncio import AsyncMachine
from transitions.extensions.factory import (
    AsyncGraphMachine,
    HierarchicalAsyncGraphMachine,
    HierarchicalAsyncMachine,
    HierarchicalGraphMachine,
    LockedGraphMachine,
    LockedHierarchicalGraphMachine,
    LockedHierarchicalMachine,
)

from orkeon_transitions.errors import CircuitBrokenError
from orkeon_transitions.runtime.mixin import CircuitBreakerMixin
from tests.runtime.mixin_kinds import KINDS, TRANSITIONS, Clock, Model, fire, guard, machine, policy

every_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)


@every_kind
def test_each_model_has_a_budget_of_its_own(kind):
    models = [Model(), Model()]
    made, _ = machine(kind, models, limits={"max_transitions": 1})
    fire(models[0].next)
    with pytest.raises(CircuitBrokenError):
        fire(models[0].next)
    assert models[1].circuit_status.total_transitions == 0
    assert fire(models[1].next) is True
    assert made.get_circuit_status(models[0]).is_broken


@every_kind
def test_a_model_that_is_added_later(kind):
    clock = Clock()
    made, first = machine(kind, limits={"max_transitions": 1, "state_timeout": 5}, clock=clock)
    fire(first.next)
    clock.now += 60
    late = Model()
    made.add_model(late, initial="b")
    assert late.circuit_status.state_visit_histogram == {"b": 1}
    assert fire(late.next) is True
    with pytest.raises(CircuitBrokenError):
        fire(late.next)


@every_kind
def test_resetting_the_machine_resets_every_model(kind):
    models = [Model(), Model()]
    made, _ = machine(kind, models)
    for model in models:
        fire(model.next)
    made.reset_circuit_breaker(models[0])
    assert [model.circuit_status.total_transitions for model in models] == [0, 1]
    made.reset_circuit_breaker()
    assert [model.circuit_status.total_transitions for model in models] == [0, 0]


@every_kind
def test_a_machine_that_is_its_own_model(kind):
    made, _ = machine(kind, "self", limits={"max_transitions": 1})
    fire(made.next)
    with pytest.raises(CircuitBrokenError):
        fire(made.next)
    assert made.circuit_status.is_broken
    made.reset_circuit_breaker()
    assert fire(made.next) is True


@every_kind
def test_a_machine_tells_the_status_of_its_only_model(kind):
    made, model = machine(kind)
    fire(model.next)
    assert made.circuit_status.total_transitions == 1
    made.add_model(Model())
    with pytest.raises(AttributeError):
        _ = made.circuit_status


@every_kind
def test_a_machine_without_models(kind):
    made, _ = machine(kind, [])
    assert made.models == []
    with pytest.raises(AttributeError):
        _ = made.circuit_status
    made.reset_circuit_breaker()


@every_kind
def test_a_stranger_is_refused(kind):
    made, _ = machine(kind)
    for ask in (made.get_circuit_status, made.reset_circuit_breaker, made.report_spent):
        with pytest.raises(ValueError, match="not a model of this machine"):
            ask(Model())


@every_kind
def test_a_model_that_was_removed_stays_guarded(kind):
    made, model = machine(kind, limits={"max_transitions": 1})
    made.remove_model(model)
    context = getattr(made, "model_context_map", None)
    if context is not None:
        context[id(model)] = []  # a locked machine lets go of the locks of a model that it removes
    if "Graph" in kind.__name__:
        made.model_graphs.setdefault(id(model), made.model_graphs.get(id(model)))
    fire(model.next)
    with pytest.raises(CircuitBrokenError):
        fire(model.next)
    made.add_model(Model())


def test_a_model_that_comes_back_begins_anew():
    made, model = machine(Machine, limits={"max_transitions": 1})
    model.next()
    made.remove_model(model)
    made.add_model(model)
    assert model.circuit_status.total_transitions == 0
    assert model.next() is True
    with pytest.raises(CircuitBrokenError):
        model.next()


@every_kind
def test_a_model_that_is_added_twice_keeps_its_counts(kind):
    if "Graph" in kind.__name__:
        pytest.skip("graph machines refuse a model that has a graph already")
    made, model = machine(kind, limits={"max_transitions": 2})
    fire(model.tick)
    made.add_model(model)
    assert model.circuit_status.total_transitions >= 1


def test_no_record_outlives_its_model():
    made, model = machine(Machine)
    gone = weakref.ref(model)
    made.remove_model(model)
    del model
    gc.collect()
    assert gone() is None
    assert made._breaker_watches == {}


@dataclass
class Same:
    name: str = "same"


def test_an_equal_model_is_passed_over_as_transitions_does():
    first, second = Same(), Same()
    made, _ = machine(Machine, [first, second])
    assert made.models == [first]
    assert not hasattr(second, "next")
    with pytest.raises(ValueError, match="not a model"):
        made.get_circuit_status(second)


def test_removing_the_equal_of_a_model_leaves_no_record_behind():
    first, second = Same(), Same()
    made, _ = machine(Machine, [first])
    made.remove_model(second)  # stock removes the first
    assert made.models == []
    assert made._breaker_watches == {}


class Slotted:
    __slots__ = (
        "again",
        "end",
        "is_a",
        "is_b",
        "is_degraded",
        "is_done",
        "may_again",
        "may_end",
        "may_next",
        "may_tick",
        "may_trigger",
        "next",
        "reset_circuit_breaker",
        "state",
        "tick",
        "trigger",
    )


def test_a_model_with_slots():
    _, model = machine(Machine, Slotted(), limits={"max_transitions": 1})
    model.next()
    with pytest.raises(CircuitBrokenError):
        model.next()
    assert model.circuit_status.is_broken
    model.reset_circuit_breaker()
    assert not model.circuit_status.is_broken


def test_a_model_whose_class_takes_no_attributes(caplog):
    made, model = machine(Machine, SimpleNamespace(), limits={"max_transitions": 1})
    assert "get_circuit_status" in caplog.text
    model.next()
    with pytest.raises(CircuitBrokenError):
        model.next()
    assert made.get_circuit_status(model).is_broken
    model.reset_circuit_breaker()
    assert not made.get_circuit_status(model).is_broken


class WithOwnNames:
    circuit_status = "mine"

    def reset_circuit_breaker(self):
        return "mine"


def test_names_that_the_model_has_already_are_left_alone(caplog):
    with caplog.at_level(logging.WARNING, "transitions.core"):
        made, model = machine(Machine, WithOwnNames(), limits={"max_transitions": 1})
    assert "reset_circuit_breaker" in caplog.text
    assert (model.circuit_status, model.reset_circuit_breaker()) == ("mine", "mine")
    model.next()
    with pytest.raises(CircuitBrokenError):
        model.next()
    assert made.get_circuit_status(model).is_broken


class WithOwnStatus:
    circuit_status = "mine"


def test_a_status_of_the_models_own_is_left_alone(caplog):
    machine(Machine, WithOwnStatus())
    assert "circuit_status" in caplog.text
    assert WithOwnStatus.circuit_status == "mine"


def test_model_override_binds_only_what_the_model_declares():
    class Bare:
        def next(self): ...

    class Declared(Bare):
        circuit_status = None

        def reset_circuit_breaker(self): ...

    made, bare = machine(Machine, Bare(), model_override=True)
    assert not hasattr(bare, "circuit_status")
    assert not hasattr(bare, "reset_circuit_breaker")
    assert bare.next() is True
    assert made.get_circuit_status(bare).total_transitions == 1
    _, declared = machine(Machine, Declared(), model_override=True)
    declared.next()
    assert declared.circuit_status.total_transitions == 1
    declared.reset_circuit_breaker()
    assert declared.circuit_status.total_transitions == 0


def test_the_status_of_a_class_or_of_a_model_that_is_not_guarded():
    class Own:
        pass

    machine(Machine, Own())
    assert "CircuitStatusView" in repr(Own.circuit_status)
    with pytest.raises(AttributeError, match="no circuit breaker"):
        _ = Own().circuit_status


def test_two_machines_of_one_model():
    model = Model()
    first, _ = machine(Machine, model, limits={"max_transitions": 1})
    second, _ = machine(
        Machine, model, model_attribute="phase", transitions=[["advance", "a", "b"], ["advance", "b", "a"]]
    )
    model.next()
    model.advance()
    model.advance()
    assert first.get_circuit_status(model).total_transitions == 1
    assert second.get_circuit_status(model).total_transitions == 2
    with pytest.raises(CircuitBrokenError):
        model.next()
    assert model.circuit_status == first.get_circuit_status(model) or model.circuit_status.is_broken


# Pickling needs classes that can be imported.


class Pickled(CircuitBreakerMixin, Machine): ...


class PickledLocked(CircuitBreakerMixin, LockedMachine): ...


class PickledNested(CircuitBreakerMixin, HierarchicalMachine): ...


class PickledLockedNested(CircuitBreakerMixin, LockedHierarchicalMachine): ...


class PickledGraph(CircuitBreakerMixin, GraphMachine): ...


class PickledNestedGraph(CircuitBreakerMixin, HierarchicalGraphMachine): ...


class PickledLockedGraph(CircuitBreakerMixin, LockedGraphMachine): ...


class PickledLockedNestedGraph(CircuitBreakerMixin, LockedHierarchicalGraphMachine): ...


class PickledAsync(CircuitBreakerMixin, AsyncMachine): ...


class PickledAsyncGraph(CircuitBreakerMixin, AsyncGraphMachine): ...


class PickledNestedAsync(CircuitBreakerMixin, HierarchicalAsyncMachine): ...


class PickledNestedAsyncGraph(CircuitBreakerMixin, HierarchicalAsyncGraphMachine): ...


PICKLED = [
    Pickled,
    PickledLocked,
    PickledNested,
    PickledLockedNested,
    PickledGraph,
    PickledNestedGraph,
    PickledAsync,
    PickledAsyncGraph,
    PickledNestedAsync,
    PickledNestedAsyncGraph,
]
# Stock LockedGraphMachines lose the locks of their models when they are pickled.
UNPICKLABLE = [PickledLockedGraph, PickledLockedNestedGraph]

NOW = Clock()


def pickled_machine(kind, model=None):
    options = {"graph_engine": "mermaid"} if "Graph" in kind.__name__ else {}
    model = Model() if model is None else model
    made = kind(
        model,
        states=["a", "b", "degraded", "done"],
        initial="a",
        transitions=TRANSITIONS,
        auto_transitions=False,
        circuit_breaker=policy(max_transitions=2, state_timeout=100),
        clock=NOW,
        **options,
    )
    return made, model


def through_pickle(value):
    return pickle.loads(pickle.dumps(value))


@pytest.mark.parametrize("kind", PICKLED, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("way", [through_pickle, copy.deepcopy])
def test_a_pickled_machine_goes_on_independently(kind, way):  # case E04
    made, model = pickled_machine(kind)
    fire(model.next)
    twin = way(made)
    [other] = twin.models
    assert other.circuit_status.total_transitions == 1
    fire(other.next)
    with pytest.raises(CircuitBrokenError):
        fire(other.next)
    assert other.circuit_status.is_broken
    assert not model.circuit_status.is_broken
    other.reset_circuit_breaker()
    assert not other.circuit_status.is_broken
    assert fire(model.next) is True


@pytest.mark.parametrize("kind", PICKLED, ids=lambda kind: kind.__name__)
def test_a_pickled_model_brings_its_machine(kind):
    _, model = pickled_machine(kind)
    fire(model.next)
    other = through_pickle(model)
    fire(other.next)
    with pytest.raises(CircuitBrokenError):
        fire(other.next)
    assert other.circuit_status.total_transitions == 2


def test_time_between_pickling_and_unpickling_is_not_counted():
    _, model = pickled_machine(Pickled)
    model.next()
    NOW.now += 30
    data = pickle.dumps(model)
    NOW.now += 5000
    other = pickle.loads(data)
    assert other.circuit_status.time_in_current_state == timedelta(seconds=30)
    assert other.circuit_status.total_elapsed == timedelta(seconds=30)


def test_a_machine_that_is_its_own_model_can_be_pickled():
    made, _ = pickled_machine(Pickled, "self")
    made.next()
    twin = through_pickle(made)
    assert twin.circuit_status.total_transitions == 1
    twin.next()
    with pytest.raises(CircuitBrokenError):
        twin.next()


def test_a_model_with_state_of_its_own_attribute_is_left_as_it_is():
    model = Model()
    model.budget = 3
    guard(Machine)(model, states=["a"], initial="a")
    assert set(vars(model)) == set(vars(stock_model(Model()))) | {"budget", "reset_circuit_breaker"}


def stock_model(model):
    Machine(model, states=["a"], initial="a")
    return model


def test_a_model_that_the_machine_never_met_is_not_judged():
    """Events can be triggered on any object that has a state; there is no record to judge it by."""
    made, _ = machine(Machine, limits={"max_transitions": 1, "max_state_visits": 1})
    stranger = Model()
    stranger.state = "a"
    for trigger in ("next", "tick", "next"):
        assert made.events[trigger].trigger(stranger)
    assert stranger.state == "a"
