"""The JSON Schema of a machine file, held against what the reader reads."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from jsonschema import Draft202012Validator

import orkeon_transitions
from orkeon_transitions.breaker import CircuitBreakerPolicy
from orkeon_transitions.definition import (
    MachineDefinition,
    StateDefinition,
    TransitionDefinition,
    check_definition,
    load_definition,
    machine_schema,
    read_source,
    reading,
    rows,
    states,
)
from orkeon_transitions.definition.names import camel_case, snake_case
from orkeon_transitions.errors import DefinitionError
from tests.strategies import any_names, machine_configs, policies

FITS = Draft202012Validator(machine_schema())


def accepted(data):
    return FITS.is_valid(data)


SHIPPED = sorted((Path(orkeon_transitions.__file__).parent / "machines" / "yaml").glob("*.yaml"))


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.stem)
def test_what_is_shipped_fits_and_has_no_findings(file):
    assert accepted(read_source(file).data)
    definition = load_definition(file)
    assert check_definition(definition) == []
    assert not definition.notes
    assert load_definition(definition.to_yaml()) == definition


def test_it_is_a_schema_that_can_be_published():
    schema = machine_schema()
    assert schema["type"] == "object"
    assert schema["$schema"].startswith("https://json-schema.org/draft/")
    assert json.loads(json.dumps(schema)) == schema
    schema["properties"].clear()
    assert machine_schema()["properties"]


@pytest.mark.parametrize(
    ("keys", "schema"),
    [
        ({*MachineDefinition.model_fields, *reading.UNUSED}, machine_schema()),
        ({*StateDefinition.model_fields, *states.UNUSED}, machine_schema()["$defs"]["state"]),
        ({*TransitionDefinition.model_fields, *rows.UNUSED}, machine_schema()["$defs"]["transition"]),
        (
            {
                *CircuitBreakerPolicy.model_fields,
                "preset",
                "state_timeout_seconds",
                "max_total_duration_seconds",
            },
            machine_schema()["$defs"]["circuit_breaker"],
        ),
    ],
)
def test_every_key_is_described_in_both_spellings_and_offered_in_one(keys, schema):
    properties = schema["properties"]
    assert set(properties) == keys | {camel_case(key) for key in keys}
    assert {snake_case(key) for key in properties} == keys
    assert all(rule["description"].endswith((".", ")")) for rule in properties.values())
    offered = [key for key, rule in properties.items() if not rule.get("doNotSuggest")]
    assert len({snake_case(key) for key in offered}) == len(offered)
    assert {snake_case(key) for key in offered} == set(offered)


@pytest.mark.parametrize("preset", CircuitBreakerPolicy.preset_names())
def test_what_a_preset_allows_is_said_of_each_limit(preset):
    policy = CircuitBreakerPolicy.preset(preset)
    keys = machine_schema()["$defs"]["circuit_breaker"]["properties"]
    assert f"{preset} {policy.max_transitions}" in keys["max_transitions"]["description"]
    assert f"{preset} {policy.state_timeout.total_seconds():.0f}" in keys["state_timeout"]["description"]


@given(machine_configs(states=any_names(), triggers=any_names(), policy=policies()))
def test_what_loads_fits(config):
    assert accepted(load_definition(config).to_dict())


@pytest.mark.parametrize(
    "change",
    [
        {"initial": 5},
        {"initial": ""},
        {"initial": "a\nb"},
        {"states": []},
        {"states": [5]},
        {"states": [{"final": True}]},
        {"states": [{"name": "a", "final": "yes"}]},
        {"states": [{"name": "a", "timeout": -1}]},
        {"states": [{"name": "a", "onEnter": "os.getcwd"}]},
        {"transitions": [["go", "a"]]},
        {"transitions": [{"trigger": "go", "source": "a"}]},
        {"transitions": [{"trigger": "go", "source": [], "dest": None}]},
        {"circuit_breaker": {"max_transitions": 1.5}},
        {"circuitBreaker": {"maxTransitons": 5}},
        {"guards": {"not one": "text"}},
        {"guards": {"ok": 5}},
        {"initial": "*"},
        {"states": ["a", "="]},
        {"states": [{"name": "a", "finl": True}]},
        {"states": [{"name": "a", "children": []}]},
        {"parallel": ["a"]},
        {"transitons": []},
        {"transitions": [{"trigger": "go", "source": "a", "dest": "*"}]},
        {"transitions": [{"trigger": "go", "source": "a", "dest": "a", "conditon": "ready"}]},
        {"transitions": [{"trigger": "go", "source": "a", "dest": "a", "conditions": "9lives"}]},
        {"circuit_breaker": {"preset": "strickt"}},
        {"circuit_breaker": {"meters": {"tokens": "many"}}},
        {"circuit_breaker": {"use_degraded_mode": "yes"}},
    ],
)
def test_what_does_not_load_does_not_fit(change):
    sound = {"initial": "a", "states": ["a"], "transitions": [["go", "a", None]]}
    assert accepted(sound)
    load_definition(sound)
    assert not accepted(sound | change)
    with pytest.raises(DefinitionError):
        load_definition(sound | change)


@pytest.mark.parametrize(
    "change",
    [
        {"circuit_breaker": {"preset": " STRICT "}},
        {"circuitBreaker": None},
        {"circuitBreaker": {"preset": "Permissive", "stateTimeoutSeconds": 0.5, "maxRepeats": 0}},
        {"states": ["a", {"name": "größe 🦊", "onEnter": "größe_messen", "tags": ["x"]}]},
        {"queued": True, "sendEvent": True, "auto_transitions": False, "model": None},
        {"states": ["a", {"name": "b", "ignore_invalid_triggers": True, "timeout": 0}]},
        {"transitions": [{"trigger": "go", "source": "*", "dest": "=", "prepare": "f", "after": []}]},
        {"transitions": None},
    ],
)
def test_what_loads_in_an_odd_spelling_fits(change):
    odd = {"initial": "a", "states": ["a"], "transitions": [["go", "a", None]]} | change
    load_definition(odd)
    assert accepted(odd)


@pytest.mark.parametrize(
    ("row", "is_right"),
    [
        (["go", "a", "b"], True),
        (["go", ["a", "b"], None, "ready", None, ["note"], None, "anything"], True),
        (["", "a", "b"], False),
        (["go", [], "b"], False),
        (["go", "a", True], False),
        (["go", "a", "b", "os.getcwd"], False),
        (["go", "a"], False),
    ],
)
def test_a_row_in_the_list_form_is_checked_column_by_column(row, is_right):
    file = {"initial": "a", "states": ["a", "b"], "transitions": [row]}
    assert accepted(file) is is_right
