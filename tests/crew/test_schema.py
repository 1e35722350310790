import json

import pytest

from orkeon_transitions.crew import crew_schema
from orkeon_transitions.crew.keys import AGENT, CREW, TASK
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
