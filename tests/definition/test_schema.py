"""The JSON Schema of a machine file, held against what the reader reads."""

import json
import re
from itertools import zip_longest
from pathlib import Path

import pytest
from hypothesis import given

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
)
from orkeon_transitions.definition.names import camel_case, snake_case
from tests.strategies import any_names, machine_configs, policies

TYPES = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "null": type(None),
    "integer": int,
    "number": (int, float),
}


def fits(value, schema, root):
    """Whether a value fits, as far as the keywords that our schema has go."""
    if "$ref" in schema:
        return fits(value, root["$defs"][schema["$ref"].removeprefix("#/$defs/")], root)
    if "anyOf" in schema and not any(fits(value, one, root) for one in schema["anyOf"]):
        return False
    if "enum" in schema and value not in schema["enum"]:
        return False
    if "type" in schema:
        kinds = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
        if not any(
            isinstance(value, TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))
            for kind in kinds
        ):
            return False
    if isinstance(value, str):
        return re.search(schema.get("pattern", ""), value) is not None
    if isinstance(value, int | float):
        return value >= schema.get("minimum", value)
    if isinstance(value, list):
        return schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)) and all(
            fits(item, one, root)
            for item, one in zip_longest(
                value, schema.get("prefixItems", [])[: len(value)], fillvalue=schema.get("items", {})
            )
        )
    return not isinstance(value, dict) or fits_mapping(value, schema, root)


def fits_mapping(value, schema, root):
    known, others = schema.get("properties", {}), schema.get("additionalProperties", True)
    if not set(schema.get("required", ())) <= set(value):
        return False
    if not all(fits(key, schema.get("propertyNames", {}), root) for key in value):
        return False
    for key, content in value.items():
        rule = known.get(key, others)
        if rule is False or (rule is not True and not fits(content, rule, root)):
            return False
    return True


def accepted(data):
    schema = machine_schema()
    return fits(data, schema, schema)


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
        (set(MachineDefinition.model_fields), machine_schema()),
        (set(StateDefinition.model_fields), machine_schema()["$defs"]["state"]),
        (set(TransitionDefinition.model_fields), machine_schema()["$defs"]["transition"]),
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
def test_every_key_is_described_in_both_spellings(keys, schema):
    assert set(schema["properties"]) == keys | {camel_case(key) for key in keys}
    assert {snake_case(key) for key in schema["properties"]} == keys
    assert all(rule["description"] for rule in schema["properties"].values())


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
    ],
)
def test_what_does_not_load_does_not_fit(change):
    sound = {"initial": "a", "states": ["a"], "transitions": [["go", "a", None]]}
    assert accepted(sound)
    assert not accepted(sound | change)


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
    schema = machine_schema()
    assert fits(file, schema, schema) is is_right
