"""Rules as crew files write them."""

import pytest

from orkeon_transitions.crew import load_crew
from orkeon_transitions.crew.checks import Rule
from tests.crew.crew_texts import problems_of


def task(lines, head=""):
    return f"{head}agents: {{a: {{}}}}\ntasks:\n  t:\n    description: d\n    {lines}\n"


def rules(lines):
    return load_crew(task(lines)).tasks["t"].guardrails


def shape(lines):
    return load_crew(task(lines)).tasks["t"].output_shape


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("guardrails: no_prices", (Rule(function="no_prices"),)),
        ("guardrail: JSON", (Rule(is_json=True),)),
        ("guardrail: It must be kind.", (Rule(judge="It must be kind."),)),
        ("guardrails: {minLength: 3, max_length: 9}", (Rule(min_length=3, max_length=9),)),
        ("guardrails: [{minWords: 1}, {maxWords: 2}]", (Rule(min_words=1), Rule(max_words=2))),
        ("guardrails: [{forbiddenWords: x}]", (Rule(forbidden_words=("x",)),)),
        ("guardrails: [{requiredWords: [x, y z]}]", (Rule(required_words=("x", "y z")),)),
        ("guardrails: [{mustMatch: '^a', mustNotMatch: b}]", (Rule(must_match="^a", must_not_match="b"),)),
        ("guardrails: [{json: true, message: No.}]", (Rule(is_json=True, message="No."),)),
        ("guardrails: [{schema: {type: object}}]", (Rule(schema={"type": "object"}),)),
        ("guardrails: [{function: f}, {judge: nice}]", (Rule(function="f"), Rule(judge="nice"))),
        ("guardrails: []", ()),
        ("guardrail: null", ()),
        ("guardrails: false", ()),
    ],
)
def test_rules(lines, expected):
    assert rules(lines) == expected


def test_both_words_and_all_levels_count():
    crew = load_crew(
        "guardrail: json\nagents: {a: {guardrails: [x]}}\n"
        "tasks: {t: {description: d, guardrails: [y], guardrail: z}}\n"
    )
    assert crew.config.guardrails == (Rule(is_json=True),)
    assert crew.agents["a"].guardrails == (Rule(function="x"),)
    assert crew.tasks["t"].guardrails == (Rule(function="y"), Rule(function="z"))


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("responseSchema: {type: object}", Rule(schema={"type": "object"})),
        ("""output_schema: '{"type": "array"}'""", Rule(schema={"type": "array"})),
        ("schemaInline: {type: string}", Rule(schema={"type": "string"})),
        ("responseSchema: {name: R, schema_inline: {type: object}}", Rule(schema={"type": "object"})),
        ("""responseSchema: {schemaInline: '{"type": "object"}'}""", Rule(schema={"type": "object"})),
        ("output_json: true", Rule(is_json=True)),
        ("output_json: {type: object}", Rule(schema={"type": "object"})),
        ("output_json: Report", Rule(model="Report")),
        ("output_pydantic: Report", Rule(model="Report")),
        ("responseModel: Report", Rule(model="Report")),
        ("responseSchema: Report", Rule(model="Report")),
        ("output_json: true\n    responseSchema: {type: object}", Rule(schema={"type": "object"})),
        ("output_json: false", None),
        ("responseSchema: null", None),
    ],
)
def test_shapes(lines, expected):
    assert shape(lines) == expected


@pytest.mark.parametrize(
    ("lines", "path", "message"),
    [
        ("guardrails: 7", "guardrails", "must be rules for the output, or the name of a function"),
        ("guardrails: ['']", "guardrails[0]", "not an empty text"),
        ("guardrails: [{}]", "guardrails[0]", "asks for nothing"),
        ("guardrails: [{message: x}]", "guardrails[0]", "asks for nothing"),
        ("guardrails: [{max: 3}]", "guardrails[0].max", "unknown key 'max'"),
        ("guardrails: [{minLength: -1}]", "guardrails[0].minLength", "0 or more"),
        ("guardrails: [{minWords: 3, maxWords: 2}]", "guardrails[0].minWords", "is 3, and the most"),
        ("guardrails: [{mustMatch: '('}]", "guardrails[0].mustMatch", "is no regular expression"),
        ("guardrails: [{mustMatch: ''}]", "guardrails[0].mustMatch", "must be a regular expression"),
        ("guardrails: [{mustMatch: 7}]", "guardrails[0].mustMatch", "not the number 7"),
        (
            "guardrails: [{forbiddenWords: [x, 1]}]",
            "guardrails[0].forbiddenWords",
            "must be words or phrases",
        ),
        ("guardrails: [{schema: [1]}]", "guardrails[0].schema", "must be a JSON Schema, not a list"),
        ("guardrails: [{schema: '{'}]", "guardrails[0].schema", "is no JSON"),
        ("guardrails: [{json: 'yes'}]", "guardrails[0].json", "must be true or false"),
        ("guardrails: [{function: 7}]", "guardrails[0].function", "must be a name"),
        ("responseSchema: {type: objekt}", "responseSchema", "is no JSON Schema: at $.type"),
        ("responseSchema: {$ref: 'http://x/y'}", "responseSchema", "nothing is fetched"),
        ("responseSchema: {a: [{$dynamicRef: 7}]}", "responseSchema", "nothing is fetched"),
        ("responseSchema: {minimum: .inf}", "responseSchema", "which is JSON data"),
        ("output_pydantic: {type: object}", "output_pydantic", "must be a name"),
        ("output_json: X\n    output_pydantic: Y", "output_pydantic", "'output_json' says already"),
    ],
)
def test_what_is_wrong_has_its_place(lines, path, message):
    (problem,) = problems_of(task(lines))
    assert problem.path.removeprefix("tasks.t.").replace(".0", "[0]") == path
    assert message in problem.message
    assert problem.line >= 5


def test_guardrail_max_retries_is_the_limit_of_the_validation():
    def limit(lines):
        block = load_crew(task(lines)).tasks["t"].circuit_breaker
        return None if block is None else block.limits

    assert limit("guardrailMaxRetries: 1") == {"max_validation_retries": 1}
    assert limit("circuitBreaker: {maxRetries: 2}\n    guardrail_max_retries: 1") == {
        "max_retries": 2,
        "max_validation_retries": 1,
    }
    both = "circuitBreaker: {maxValidationRetries: 2}\n    guardrail_max_retries: "
    assert limit(f"{both}2") == {"max_validation_retries": 2}
    (problem,) = problems_of(task(f"{both}1"))
    assert "are the same limit, and differ" in problem.message
