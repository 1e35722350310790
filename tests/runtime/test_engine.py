"""One engine per definition: a `transitions` machine with the mixin, shared by all machines of its kind."""

import gc
import weakref

import pytest
from transitions import Machine
from transitions.extensions.asyncio import AsyncMachine

from orkeon_transitions.definition import load_definition
from orkeon_transitions.runtime import CircuitBreakerMixin
from orkeon_transitions.runtime.engine import async_engine_for, engine_for
from tests.runtime.samples import RING, quiet

ENGINES = [(engine_for, Machine), (async_engine_for, AsyncMachine)]


@pytest.mark.parametrize(("engine_of", "stock"), ENGINES)
def test_the_engine_is_a_machine_of_transitions_with_the_mixin(engine_of, stock):
    engine = engine_of(load_definition(RING))
    assert isinstance(engine, CircuitBreakerMixin)
    assert isinstance(engine, stock)
    assert type(engine).__mro__.index(CircuitBreakerMixin) < type(engine).__mro__.index(Machine)
    assert list(engine.states) == ["a", "b", "c", "end"]
    assert engine.get_triggers("a") == ["next", "tick", "again", "finish"]
    assert engine.get_triggers("end") == []


@pytest.mark.parametrize(("engine_of", "stock"), ENGINES)
def test_equal_definitions_share_one(engine_of, stock):
    first = engine_of(load_definition(RING))
    assert engine_of(load_definition("\n" + RING)) is first
    assert engine_of(load_definition(RING.replace("name: ring", "name: other"))) is not first


def test_the_engine_lists_no_models(kind):
    definition = load_definition(RING)
    machines = [kind.make(RING, **quiet()) for _ in range(50)]
    for machine in machines:
        kind.fire(machine, "next")
    engine = (async_engine_for if kind.is_async else engine_for)(definition)
    assert engine.models == []
    gone = [weakref.ref(machine) for machine in machines]
    del machines, machine
    gc.collect()
    assert [each() for each in gone if each() is not None] == []


def test_no_machine_gets_attributes_from_transitions(kind):
    """Nothing is conjured on models: no `is_a`, no `may_next`, no `to_b`."""
    machine = kind.make(RING, **quiet())
    for name in ("is_a", "may_next", "to_b", "trigger", "add_transition"):
        assert not hasattr(machine, name)


@pytest.mark.parametrize(
    "name", ["state", "_state_name", "models", "trigger", "fire", "to_a", "initial", "*a"]
)
def test_any_text_may_be_a_trigger_or_a_state(kind, name):
    definition = {
        "initial": name,
        "states": [name, "other"],
        "transitions": [{"trigger": name, "source": name, "dest": "other"}],
    }
    machine = kind.make(definition, **quiet())
    assert machine.state == name
    assert kind.fire(machine, name).to_state == "other"
