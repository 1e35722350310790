"""Definitions of every kind: they come back from YAML as they were, and stock `transitions` takes them."""

import copy
import json
import pickle

from hypothesis import given
from hypothesis import strategies as st
from transitions import Machine
from transitions.extensions import GraphMachine

from orkeon_transitions.definition import check_definition, load_definition
from tests.strategies import any_names, machine_configs, machine_definitions, policies


@given(machine_definitions(states=any_names(), triggers=any_names(), policy=st.none() | policies()))
def test_round_trip_through_yaml(definition):  # case H01
    again = load_definition(definition.to_yaml())
    assert again == definition
    assert again.to_dict() == definition.to_dict()
    assert hash(again) == hash(definition)
    assert load_definition(json.loads(json.dumps(definition.to_dict()))) == definition


@given(machine_definitions(states=any_names(), triggers=any_names(), policy=policies()))
def test_copies_are_equal(definition):
    assert definition.rows_by_state  # caches are filled
    check_definition(definition)
    for again in (pickle.loads(pickle.dumps(definition)), copy.copy(definition), copy.deepcopy(definition)):
        assert again == definition
        assert again.rows_by_state == definition.rows_by_state


@given(machine_definitions())
def test_stock_machines_take_it(definition):
    machine = Machine(model=None, **definition.to_transitions())
    assert list(machine.states) == [state.name for state in definition.states]
    assert machine.initial == definition.initial
    assert {name for name, state in machine.states.items() if state.final} == definition.final_states
    for state in definition.states:
        rows = definition.rows_by_state[state.name]
        for trigger in definition.triggers_from(state.name):
            stock = machine.events[trigger].transitions[state.name]
            ours = [state.name if row.dest == "=" else row.dest for row in rows if row.trigger == trigger]
            assert [transition.dest for transition in stock] == ours
    GraphMachine(model=None, graph_engine="mermaid", **definition.to_transitions())


@given(machine_configs(states=any_names(), triggers=any_names()))
def test_equal_content_is_equal(config):
    first, second = load_definition(config), load_definition(copy.deepcopy(config))
    assert first == second
    assert first.content_hash == second.content_hash
    renamed = load_definition(config | {"name": config["name"] + "x"})
    assert renamed != first
    assert renamed.content_hash != first.content_hash


@given(machine_definitions(states=any_names(), triggers=any_names()))
def test_checks_always_answer(definition):
    found = check_definition(definition)
    assert all(finding.severity == "warning" for finding in found)
    assert found == check_definition(load_definition(definition.to_dict()))
