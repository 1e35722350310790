"""Schemas that nothing can be held against, and those that only look like it."""

import pytest

from orkeon_transitions.crew import load_crew, tool
from orkeon_transitions.crew.checks.references import schema_problems
from orkeon_transitions.errors import CrewDefinitionError
from tests.crew.scripted import ScriptedModel, calls, crew_of_one

TREE = {"type": "object", "properties": {"kids": {"type": "array", "items": {"$ref": "#"}}}}
ROUND = {"$defs": {"a": {"anyOf": [{"$ref": "#/$defs/b"}]}, "b": {"then": {"$ref": "#/$defs/a"}}}}


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}},
        {"allOf": [True, {"$ref": "#"}]},
        {"oneOf": [{"type": "object"}, {"not": {"$ref": "#"}}]},
        {"$dynamicRef": "#"},
        {"$anchor": "me", "anyOf": [{"$ref": "#me"}]},
        {"properties": {"a": ROUND, "b": {"$ref": "#/properties/a/$defs/a"}}, **ROUND},
        {"if": {"$ref": "#"}},
        {"dependentSchemas": {"a": {"$ref": "#"}}},
        {"allOf": [{"$ref": "#/allOf/0"}]},
        {"$defs": {"a/b~c": {"$ref": "#/$defs/a~1b~0c"}}},
        {"$defs": {"a b": {"$ref": "#/$defs/a%20b"}}},
    ],
)
def test_a_way_round_that_takes_no_step_into_the_value_never_ends(schema):
    (problem,) = schema_problems(schema)
    assert "refers to itself without end" in problem


@pytest.mark.parametrize(
    "schema",
    [
        TREE,
        {"$ref": "#/$defs/n", "$defs": {"n": {"properties": {"next": {"$ref": "#/$defs/n"}}}}},
        {"additionalProperties": {"$ref": "#"}},
        {"prefixItems": [{"$ref": "#"}]},
        {"allOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}], "$defs": {"a": {"type": "object"}}},
        {"properties": {"$ref": {"type": "string"}}},
        {"const": {"$ref": "what it likes"}},
        {"enum": [{"$ref": 7}], "default": {"$ref": "#/no/where"}},
        {"$ref": "#/$defs/yes", "$defs": {"yes": True}},
        {"$defs": {"own": {"$id": "http://x/own", "properties": {"a": {"$ref": "#/$defs/inner"}}}}},
        {},
    ],
)
def test_what_ends_is_in_order(schema):
    assert list(schema_problems(schema)) == []


@pytest.mark.parametrize(
    ("reference", "words"),
    [
        ("#/$defs/none", "refers to '#/$defs/none', which is not in it"),
        ("#nobody", "refers to '#nobody', which is not in it"),
        ("#/allOf/7", "refers to '#/allOf/7', which is not in it"),
        ("#/type/0", "which is not in it"),
        ("other.json", "nothing is fetched"),
        (7, "nothing is fetched"),
    ],
)
def test_a_reference_leads_somewhere_here(reference, words):
    (problem,) = schema_problems({"type": "object", "allOf": [{"items": {"$ref": reference}}]})
    assert words in problem


@pytest.mark.parametrize(
    "task",
    [
        ", responseSchema: {$ref: '#'}",
        ', schema_inline: \'{"$ref": "#"}\'',
        ", guardrails: [{schema: {$ref: '#'}}]",
        ", llm_override: {responseFormat: {$ref: '#'}}",
    ],
)
def test_wherever_it_is_written_it_is_refused_with_its_place(task):
    with pytest.raises(CrewDefinitionError, match="refers to itself without end") as raised:
        crew_of_one(task=task)
    assert raised.value.problems[0].line == 6


def test_a_tree_is_held_against_its_schema_at_any_depth():
    crew = crew_of_one(
        task=f", responseSchema: {TREE}".replace("'", '"'), breaker="maxValidationRetries: 1, maxRetries: 0"
    )
    deep = ScriptedModel('{"kids": [' * 300 + "]}" * 300, '{"kids": [{"kids": [7]}]}', '{"kids": [{}]}')
    result = crew.run_sync(model=deep).tasks["t"]
    assert "nested too deep to be held against its schema" in deep.asked[1][-1].content
    assert result.error.startswith("the output was not accepted: at $.kids[0].kids[0]: ")


# ---- numbers
@pytest.mark.parametrize("output", ["1e999", '{"a": -1e999}', "[1e400]", "```json\n[1E+999]\n```"])
@pytest.mark.parametrize("task", [", outputJson: true", ", responseSchema: {}", ", guardrails: [json]"])
def test_a_number_that_is_too_large_is_no_json(output, task):
    model = ScriptedModel(output, '{"a": 1e99}')
    result = crew_of_one(task=task).run_sync(model=model)
    assert result.output == '{"a": 1e99}'
    assert "is too large" in model.asked[1][-1].content


def test_nor_is_it_an_argument(monkeypatch):
    @tool
    def grow(by: float) -> str:
        """Grows."""
        return f"grown by {by}"

    given = [("grow", '{"by": 1e999}'), ("grow", {"by": float("inf")}), ("grow", '{"by": 1e9}')]
    model = ScriptedModel(calls(*given), "done")
    crew_of_one(grow).run_sync(model=model)
    too_large, infinite, fine = model.answers
    assert too_large == "error: wrong arguments for grow: Invalid JSON: the number 1e999 is too large"
    assert infinite.startswith("error: wrong arguments for grow: by: ")
    assert fine == "grown by 1000000000.0"


def test_nor_in_a_schema():
    with pytest.raises(CrewDefinitionError, match="is no JSON: the number 1e999 is too large"):
        load_crew("agents: {a: {}}\ntasks: {t: {description: d, responseSchema: '{\"minimum\": 1e999}'}}")
