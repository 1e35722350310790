import json

import pytest

from orkeon_transitions.crew import crew_schema
from orkeon_transitions.crew.keys import AGENT, CREW, KINDS, TASK
from orkeon_transitions.definition.names import camel_case


def test_it_is_json():
    assert json.loads(json.dumps(crew_schema()))["type"] == "object"


@pytest.mark.parametrize("table", [CREW, AGENT, TASK])
def test_every_key_of_a_table_is_described_in_both_spellings(table):
    schema = crew_schema()
    described = {
        id(CREW): schema["properties"],
        id(AGENT): schema["$defs"]["agent"]["properties"],
        id(TASK): schema["$defs"]["task"]["properties"],
    }[id(table)]
    assert set(described) == {spelling for name in table.all_names for spelling in (name, camel_case(name))}
    assert all(described[name]["description"] == "Not there yet." for name in table.later)


def test_what_a_carried_key_must_hold_is_the_same_as_for_the_loader():
    schema = crew_schema()
    for table, block in ((CREW, schema), (AGENT, schema["$defs"]["agent"]), (TASK, schema["$defs"]["task"])):
        typed = {name for name in table.carried if "type" in block["properties"][name]}
        assert typed == table.carried & set(KINDS)


def test_a_graph_config_is_described():
    graph = crew_schema()["properties"]["graphConfig"]
    assert graph["additionalProperties"] is False
    assert set(graph["properties"]) >= {
        "maxRetryCycles",
        "circuitBreakerPreset",
        "maxTransitions",
        "maxStateVisits",
        "maxTotalDurationSeconds",
    }


def test_a_crew_of_several_files_is_not_refused():
    assert "required" not in crew_schema()


def test_the_limits_of_the_seed_are_all_there():
    limits = crew_schema()["$defs"]["circuit_breaker"]["properties"]
    assert set(limits) >= {
        "preset",
        "maxTransitions",
        "stateTimeoutSeconds",
        "maxStateVisits",
        "maxTotalDurationSeconds",
        "useDegradedMode",
        "maxRetries",
        "maxToolCallsPerRound",
        "maxValidationRetries",
    }
