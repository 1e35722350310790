"""Holding outputs against rules, cheapest first."""

import asyncio

import pytest
from pydantic import BaseModel

from orkeon_transitions.crew.checks import MOST_OUTPUT, Checker, Rule
from orkeon_transitions.crew.checks.checker import check_function


class Report(BaseModel):
    title: str
    pages: int


def problems(text, *rules, judge=None, **checker):
    return asyncio.run(Checker(**checker).problems(text, rules, judge))


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (None, []),
        (True, []),
        ("", []),
        ((True, "whatever"), []),
        (False, ["the check 'f' does not accept it"]),
        ("too dull", ["too dull"]),
        ((False, "too dull"), ["too dull"]),
        ((False, None), ["the check 'f' does not accept it"]),
    ],
)
def test_what_a_function_answers(answer, expected):
    async def later(output):
        return answer

    for function in (lambda output: answer, later):
        assert problems("x", Rule(function="f"), functions={"f": function}) == expected


@pytest.mark.parametrize("answer", [0, 1, [], {"ok": True}, (1, 2, 3)])
def test_a_function_that_answers_nonsense_has_failed(answer):
    with pytest.raises(TypeError, match="the check 'f' answers true, false or a text"):
        problems("x", Rule(function="f"), functions={"f": lambda output: answer})


def test_what_a_function_raises_comes_through():
    with pytest.raises(ZeroDivisionError):
        problems("x", Rule(function="f"), functions={"f": lambda output: 1 / 0})


def test_what_costs_more_is_only_asked_where_nothing_else_is_wrong():
    called = []

    async def judge(criteria, output):
        called.append(criteria)
        return "boring"

    def function(output):
        called.append("f")
        return len(output) > 3

    rules = (Rule(min_length=2), Rule(function="f"), Rule(judge="is it nice?"))
    found = {
        text: problems(text, *rules, judge=judge, functions={"f": function}) for text in ("a", "abc", "abcd")
    }
    assert found["a"] == ["it has 1 character, and needs at least 2"]
    assert found["abc"] == ["the check 'f' does not accept it"]
    assert found["abcd"] == ["boring"]
    assert called == ["f", "f", "is it nice?"]


def test_patterns_are_bounded_in_time():
    evil = Rule(must_not_match="(a+)+$")
    (problem,) = problems("a" * 60 + "!", evil, seconds=0.3)
    assert problem == "looking for /(a+)+$/ in it took longer than 0.3 seconds"


def test_patterns_must_and_must_not_match():
    rule = Rule(must_match=r"^#", must_not_match=r"TBD")
    assert problems("# Title", rule) == []
    assert problems("TBD", rule) == ["it must match /^#/", "it must not match /TBD/"]


def test_a_schema_and_a_class():
    schema = Rule(schema={"type": "object", "required": ["pages"]})
    assert problems('{"pages": 1}', schema) == []
    assert problems("{}", schema) == ["at $: 'pages' is a required property"]
    assert problems("no", schema)[0].startswith("it must be one JSON text and nothing else: ")
    model = Rule(model="Report")
    assert problems('```\n{"title": "t", "pages": 3}\n```', model, models={"Report": Report}) == []
    assert problems('{"title": 3, "pages": "x"}', model, models={"Report": Report}) == [
        "at $.title: Input should be a valid string",
        "at $.pages: Input should be a valid integer, unable to parse string as an integer",
    ]


def test_a_schema_that_never_ends_is_ended():
    schema = Rule(schema={"type": "string", "pattern": "^(a+)+$"})
    (problem,) = problems('"' + "a" * 60 + '!"', schema, seconds=0.5)
    assert problem == "holding it against its schema took longer than 0.5 seconds"


def test_an_endless_output_is_looked_at_no_further():
    endless = "x" * (10 * 1024 * 1024)
    rules = (Rule(must_match="(x+)+y"), Rule(function="f"))
    assert problems(endless, *rules) == [
        f"it has 10,485,760 characters, and may have at most {MOST_OUTPUT:,}"
    ]


def test_the_words_of_the_file_are_told_in_place_of_ours():
    rule = Rule(min_words=3, required_words=("a", "b"), message="Say more.")
    assert problems("x", rule) == ["Say more."]
    assert problems("x", Rule(function="f", message="No."), functions={"f": lambda output: False}) == ["No."]


def test_a_function_takes_the_output_and_nothing_else():
    check_function("f", lambda output, more=1: None)
    check_function("f", len)
    for wrong in (lambda: None, lambda output, context: None, "len"):
        with pytest.raises(TypeError, match="'f'"):
            check_function("f", wrong)
