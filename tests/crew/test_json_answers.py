"""JSON in what a model has written: found, whatever stands around it."""

import json
import time

import pytest

from orkeon_transitions.crew.json_answers import asked_in_json, found_object, schema_asked_for
from orkeon_transitions.crew.quotations import MOST_SHOWN, labelled, labelled_in, quoted


@pytest.mark.parametrize(
    "text",
    [
        '{"agent": "a"}',
        '```json\n{"agent": "a"}\n```',
        'Sure! Here it is:\n\n```\n{"agent":\n "a"}\n```\nIs that {all right}?',
        'thinking {x} {"other": 1} and then {"agent": "a"} {"agent": "b"}',
        '{"result": {"agent": "a"}}',
        '[{"agent": "a"}]',
        '{"agent": "a", "agent": "a"}',
        '\ufeff{"agent": "a"}',
    ],
)
def test_the_first_object_with_the_key_counts(text):
    assert found_object(text, "agent") == {"agent": "a"}


@pytest.mark.parametrize(
    "text", ["", "agent", "{", "{}", '{"agent": ', "[1, 2]", "{'agent': 'a'}", '"{\\"agent\\": 1}"']
)
def test_what_holds_none(text):
    assert found_object(text, "agent") is None


def test_nothing_takes_long():
    began = time.monotonic()
    for text in (
        "{" * 10_000_000,
        '{"a":' * 1_000_000,
        '{"agent"' * 500_000,
        "[" * 5_000_000,
        "x" * 10_000_000,
    ):
        assert found_object(text, "agent") is None
    assert time.monotonic() - began < 5


def test_both_ends_of_a_long_answer_are_read():
    long = "x" * 10_000_000
    assert found_object(f'{{"agent": "a"}} {long}', "agent") == {"agent": "a"}
    assert found_object(f'{long} {{"agent": "a"}}', "agent") == {"agent": "a"}


def test_what_is_asked_for_is_found_again():
    schema = {"type": "object", "properties": {"é": {"enum": ["```", "a\nb"]}}}
    asked = asked_in_json(schema)
    assert schema_asked_for(asked) == schema
    assert schema_asked_for("A report") is None
    assert schema_asked_for(f"Please: {asked}") is None


@pytest.mark.parametrize("text", ["", "a", "a\n\nb", "### Answer B\n> x", "> > quoted", "\n\nx\n"])
def test_a_quoted_text_is_found_again(text):
    answers = {"A": text, "B": "other"}
    assert labelled_in(f"Rank.\n\n{labelled(answers)}\n\nThe end.") == {"A": text.rstrip("\n"), "B": "other"}
    assert all(line.startswith("> ") for line in quoted(text).splitlines())


def test_a_long_text_is_shown_by_its_ends():
    shown = quoted("a" * 1_000_000 + "z")
    assert len(shown) < MOST_SHOWN + 100
    assert "[980,001 characters are left out here]" in shown
    assert shown.endswith("z")
    assert json.dumps(shown)
