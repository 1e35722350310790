"""The JSON Schemas for editors: found from the files that ship, and never stricter than the loaders."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import orkeon_transitions
from orkeon_transitions import load_crew, load_definition
from orkeon_transitions.crew import crew_schema
from orkeon_transitions.crew.keys import AGENT, CREW, TASK
from orkeon_transitions.definition import machine_schema, read_source
from orkeon_transitions.definition.names import camel_case, snake_case
from orkeon_transitions.errors import CrewDefinitionError, DefinitionError

PACKAGE = Path(orkeon_transitions.__file__).parent
TESTS = Path(__file__).parent
SHIPPED = sorted([*PACKAGE.rglob("machines/yaml/*.yaml"), *PACKAGE.rglob("examples/*/*.yaml")])
LINE = re.compile(r"# yaml-language-server: \$schema=(\S+)\n")
MACHINE, CREW_FILE = Draft202012Validator(machine_schema()), Draft202012Validator(crew_schema())
# A crew of a test may name tools and classes that only the test gives.
GIVEN_BY_PROGRAM = re.compile(
    r"unknown (tool|guardrail|schema|class|function)|no tool|mount|is not given|there is no"
)


def texts() -> dict[str, str]:
    """Every text in the tests that may be a file of ours, by where it stands."""
    found = {}
    for path in sorted(TESTS.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and "\n" in node.value:
                found[f"{path.relative_to(TESTS)}:{node.lineno}"] = node.value
    return found


TEXTS = texts()
MACHINES = {place: text for place, text in TEXTS.items() if "states:" in text and "initial:" in text}
CREWS = {place: text for place, text in TEXTS.items() if "agents:" in text and "tasks:" in text}


def told(validator, data):
    return [f"{error.json_path}: {error.message[:200]}" for error in validator.iter_errors(data)]


def machine_loads(text):
    try:
        load_definition(text)
    except DefinitionError:
        return False
    return True


def crew_loads(text):
    try:
        load_crew(text)
    except CrewDefinitionError as error:
        return all(GIVEN_BY_PROGRAM.search(problem.message) for problem in error.problems)
    except (DefinitionError, ValueError, TypeError):
        return False
    return True


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: f"{file.parent.name}/{file.name}")
def test_what_ships_says_where_its_schema_is_and_fits_it(file):
    """By a relative path, which is the same in a checkout and in an installed package."""
    text = file.read_text(encoding="utf-8")
    named = LINE.match(text)
    schema = (file.parent / named[1]).resolve()
    assert schema.parent == PACKAGE / "docs" / "schemas"
    data = read_source(text).data
    kind = "crew" if "agents" in data else "machine"
    assert schema.name == f"{kind}.schema.json"
    assert told(Draft202012Validator(json.loads(schema.read_text(encoding="utf-8"))), data) == []


def test_they_are_schemas():
    for validator in (MACHINE, CREW_FILE):
        Draft202012Validator.check_schema(validator.schema)


def test_every_machine_in_the_tests_that_loads_fits():
    loading = {place: text for place, text in MACHINES.items() if machine_loads(text)}
    assert len(loading) > 20
    refused = {place: told(MACHINE, read_source(text).data) for place, text in loading.items()}
    assert {place: words for place, words in refused.items() if words} == {}


def test_every_crew_in_the_tests_that_loads_fits():
    loading = {place: text for place, text in CREWS.items() if crew_loads(text)}
    assert len(loading) > 60
    refused = {place: told(CREW_FILE, read_source(text).data) for place, text in loading.items()}
    assert {place: words for place, words in refused.items() if words} == {}


SOUND = {"agents": {"a": {"role": "A"}}, "tasks": {"t": {"description": "Do it"}}}


def crew_of(change):
    """A sound crew with a change at its top, or in its agent or its task."""
    where, keys = next(iter(change.items())) if set(change) <= {"agent", "task"} else (None, change)
    if where is None:
        return SOUND | keys
    plural, name = f"{where}s", where[0]
    return SOUND | {plural: {name: SOUND[plural][name] | keys}}


def text_of(data):
    return json.dumps(data, ensure_ascii=False)


@pytest.mark.parametrize(
    "change",
    [
        {"process": "sequentiell"},
        {"process": 5},
        {"circuitBreaker": {"preset": "strickt"}},
        {"circuitBreaker": {"maxRetries": -1}},
        {"circuitBreaker": {"maxTransitons": 5}},
        {"circuitBreaker": "strict"},
        {"graphConfig": {"maxRetryCycles": 1.5}},
        {"graphConfig": {"stateTimeoutSeconds": 5}},
        {"consensus": {"rule": "loudest"}},
        {"consensus": {"threshold": 0.5}},
        {"consensus": {"quorum": 0}},
        {"consensus": {"discussionRounds": 11}},
        {"consensus": {"weights": {"a": "heavy"}}},
        {"executionBudget": "lavish"},
        {"executionBudget": {"tokens": 0}},
        {"executionBudget": {"preset": "lavish"}},
        {"executionBudget": {"toolCalls": -1}},
        {"managerLlm": "openai:gpt-5"},
        {"knowledge": ["a"]},
        {"planning": "yes"},
        {"maxConcurrency": 0},
        {"parallelConfig": {"maxConcurrency": 0}},
        {"web": {}},
        {"web": {"allow": ["a.org"], "maxBytes": 0}},
        {"mcpServers": {"a b": {"command": "x"}}},
        {"mcpServers": {"files": {"comand": "x"}}},
        {"llm": {"model": "openai:gpt-5", "temperature": 3}},
        {"llm": {"apiKey": "x"}},
        {"llm": 5},
        {"agents": {}},
        {"agents": []},
        {"tasks": []},
        {"agent": {"tools": 5}},
        {"agent": {"humanInput": True}},
        {"agent": {"maxIter": -1}},
        {"task": {"description": ""}},
        {"task": {"description": None}},
        {"task": {"guardrails": [{"maxWord": 5}]}},
        {"task": {"guardrails": {"maxWords": -5}}},
        {"task": {"condition": "x"}},
        {"task": {"asyncExecution": "soon"}},
        {"task": {"llmOverride": {"maxTokens": 0}}},
    ],
    ids=text_of,
)
def test_what_the_loader_refuses_is_refused_where_a_schema_can_see_it(change):
    crew = crew_of(change)
    with pytest.raises(CrewDefinitionError):
        load_crew(text_of(crew))
    assert told(CREW_FILE, crew)


@pytest.mark.parametrize(
    "change",
    [
        {"process": " Graph "},
        {"circuitBreaker": {"preset": "STRICT", "state_timeout": 5, "maxTotalDuration": 0}},
        {"circuit_breaker": {"stateTimeoutSeconds": 0.5, "meters": {"usd": 1}}},
        {"consensus": {"rule": "superMajority", "fallback": "Accept Best"}},
        {"consensusConfig": {"mode": "super_majority"}},
        {"executionBudget": "Strict"},
        {"executionBudget": {"maxWallTimeSeconds": 3, "wall_time": 3.0}},
        {"managerLlm": None, "knowledge": False, "embedder": {}},
        {"somethingElse": 5, "x-note": "of ours"},
        {"llm": {"modelName": "openai:gpt-5", "stopSequences": "x", "reasoningEffort": "low"}},
        {"agent": {"verbose": 2, "allowDelegation": False, "memory": True}},
        {"task": {"context": "t2", "dependencies": None}},
        {"task": {"outputJson": True, "guardrail": {"max_words": 5}}},
    ],
    ids=text_of,
)
def test_what_loads_in_an_odd_spelling_fits(change):
    crew = crew_of(change)
    crew["tasks"] = crew["tasks"] | {"t2": {"description": "Do that"}}
    assert crew_loads(text_of(crew) + "\n")
    assert told(CREW_FILE, crew) == []


def blocks(schema, path="$"):
    """Every mapping with known keys, by where it stands."""
    if isinstance(schema, list):
        for index, part in enumerate(schema):
            yield from blocks(part, f"{path}[{index}]")
    elif isinstance(schema, dict):
        if isinstance(schema.get("properties"), dict):
            yield path, schema["properties"]
        for key, part in schema.items():
            yield from blocks(part, f"{path}.{key}")


@pytest.mark.parametrize(("schema", "spelled"), [(machine_schema(), snake_case), (crew_schema(), camel_case)])
def test_every_key_is_explained_and_offered_in_one_spelling_only(schema, spelled):
    for path, properties in blocks(schema):
        for key, rule in properties.items():
            assert len(rule["description"]) > 8, f"{path}.{key}"
            assert rule["description"].endswith("."), f"{path}.{key}"
            if not rule.get("doNotSuggest"):
                assert key == spelled(key), f"{path}.{key} is offered"
        offered = [rule["description"] for rule in properties.values() if not rule.get("doNotSuggest")]
        assert not [words for words in offered if words.startswith(("Another word", "Accepted", "Not there"))]


@pytest.mark.parametrize(("table", "name"), [(CREW, None), (AGENT, "agent"), (TASK, "task")])
def test_what_has_no_effect_is_not_offered(table, name):
    properties = (crew_schema() if name is None else crew_schema()["$defs"][name])["properties"]
    for key in table.carried | table.later:
        assert properties[key]["doNotSuggest"]
        assert properties[camel_case(key)]["doNotSuggest"]
