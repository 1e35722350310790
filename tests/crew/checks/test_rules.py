"""What can be told of an output at once."""

import json

import pytest

from orkeon_transitions.crew.checks import MOST_OUTPUT, Rule, json_of, unfenced
from orkeon_transitions.crew.checks.rules import longest_allowed, plain_problems


def wrong(text, **rule):
    return list(plain_problems(Rule(**rule), text))


@pytest.mark.parametrize(
    ("rule", "good", "bad"),
    [
        ({"min_length": 3}, "abc", "ab"),
        ({"min_words": 2}, "a b", "a"),
        ({"max_words": 2}, "a\nb", "a b c"),
        ({"required_words": ("Ice cream",)}, "an ICE\n cream!", "icecream"),
        ({"forbidden_words": ("cost",)}, "costly", "What does it Cost?"),
        ({"forbidden_words": ("c++", "$5")}, "c+", "I like C++"),
        ({"is_json": True}, "[1]", "[1"),
        ({"is_json": True}, "```json\n{}\n```", "Here it is: {}"),
        ({"schema": {}}, "null", "NaN"),
    ],
)
def test_each_rule_tells_good_from_bad(rule, good, bad):
    assert wrong(good, **rule) == []
    (problem,) = wrong(bad, **rule)
    assert problem.startswith("it ")


def test_everything_is_said_at_once():
    assert len(wrong("x", min_length=5, min_words=2, required_words=("y", "z"), is_json=True)) == 5


@pytest.mark.parametrize("text", ["[" * 100_000, "1" * 5_000, '{"a": Infinity}', ""])
def test_what_python_reads_and_json_is_not_is_no_json(text):
    with pytest.raises(ValueError):
        json_of(text)


@pytest.mark.parametrize(
    ("text", "inner"),
    [
        ("```json\n{}\n```", "{}"),
        ("  ```\r\n[1]\r\n```\n", "[1]"),
        ("``` JSON5\n{}```", "{}"),
        ("{}", "{}"),
        ("```json {} ```", "```json {} ```"),
        ("a\n```\n{}\n```", "a\n```\n{}\n```"),
    ],
)
def test_only_a_fence_around_everything_is_taken_off(text, inner):
    assert unfenced(text) == inner


def test_what_the_rules_say_of_the_length_counts_else_there_is_a_bound():
    assert longest_allowed([]) == longest_allowed([Rule(min_length=1)]) == MOST_OUTPUT
    assert longest_allowed([Rule(max_length=9), Rule(max_length=7)]) == 7
    assert longest_allowed([Rule(max_length=MOST_OUTPUT * 4)]) == MOST_OUTPUT * 4


def test_an_agent_is_told_the_shape():
    assert Rule(min_length=3).format == ""
    assert Rule(is_json=True).format == "Only JSON."
    said = Rule(schema={"type": "array"}).format
    assert json.loads(said.partition("\n")[2]) == {"type": "array"}
    assert Rule(model="M", shown={"type": "object"}).format.endswith('{"type": "object"}')
