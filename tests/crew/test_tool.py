import asyncio
import json
import math
import threading
from collections.abc import AsyncIterator, Callable
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field

from orkeon_transitions.crew import IdempotencyKey, Tool, ToolError, tool
from orkeon_transitions.crew.tool import MOST_ANSWER, as_text, as_tool


class Point(BaseModel):
    x: int
    y: int = 0


@tool
def measure(point: Point, unit: Literal["mm", "cm"] = "mm", times: Annotated[int, Field(ge=1)] = 1) -> str:
    """Measures a point."""
    return f"{point.x * times}{unit}"


def test_a_key_is_asked_for_once():
    def twice(one: IdempotencyKey, two: IdempotencyKey) -> str:
        return one + two

    with pytest.raises(TypeError, match="one and two both ask for the idempotency key"):
        tool(twice)


def test_a_key_is_none_of_the_models():
    @tool
    async def named(text: str, key: IdempotencyKey) -> str:
        return f"{text} {key}"

    assert asyncio.run(named.answer({"text": "x"}, key="r/t")) == "x r/t"
    with pytest.raises(ToolError, match="key"):
        asyncio.run(named.answer({"text": "x", "key": "mine"}))


def answer(made: Tool, arguments):
    return asyncio.run(made.answer(arguments))


def test_the_schema_comes_from_the_hints_and_the_docstring():
    assert measure.name == "measure"
    assert measure.description == "Measures a point."
    properties = measure.parameters["properties"]
    assert measure.parameters["type"] == "object"
    assert measure.parameters["required"] == ["point"]
    assert properties["unit"]["enum"] == ["mm", "cm"]
    assert properties["unit"]["default"] == "mm"
    assert properties["times"]["minimum"] == 1
    assert measure.spec.parameters == measure.parameters


def test_it_is_still_the_function():
    assert measure(Point(x=2), times=3) == "6mm"


def test_arguments_are_converted_and_defaults_are_the_functions():
    assert answer(measure, {"point": {"x": "4"}, "unit": "cm"}) == "4cm"
    assert answer(measure, '{"point": {"x": 4}, "times": 2}') == "8mm"


@pytest.mark.parametrize(
    ("arguments", "needle"),
    [
        ({}, "point: Field required"),
        ({"point": {"x": "no"}}, "point.x"),
        ({"point": {"x": 1}, "times": 0}, "times"),
        ({"point": {"x": 1}, "colour": "red"}, "colour"),
        ("not json", "Invalid JSON"),
        ("[1]", "wrong arguments"),
        ("", "point: Field required"),
    ],
)
def test_wrong_arguments_are_an_answer(arguments, needle):
    with pytest.raises(ToolError, match=needle):
        answer(measure, arguments)


def test_an_async_function_runs_in_the_loop_and_a_plain_one_beside_it():
    @tool
    async def inside() -> bool:
        return threading.current_thread() is threading.main_thread()

    @tool
    def beside() -> bool:
        return threading.current_thread() is threading.main_thread()

    @tool
    def gives_a_coroutine() -> object:
        return inside()

    assert answer(inside, {}) == "true"
    assert answer(beside, {}) == "false"
    assert answer(gives_a_coroutine, {}) == "true"


def test_parameters_may_have_names_that_a_model_class_could_not():
    @tool(name="odd-name", repeatable=True)
    def odd(schema: str, copy: int, json: str, _private: str = "p") -> list[str]:
        return [schema, str(copy), json, _private]

    assert odd.name == odd.description == "odd-name"
    assert odd.repeatable
    assert answer(odd, {"schema": "s", "copy": 1, "json": "j"}) == '["s","1","j","p"]'


def no_hint(x) -> str: ...
def positional(x: int, /) -> str: ...
def collecting(*x: int) -> str: ...
def also_collecting(**x: int) -> str: ...
def no_schema(x: threading.Thread) -> str: ...


async def yielding(x: int) -> AsyncIterator[int]:
    yield x


@pytest.mark.parametrize(
    "function", [no_hint, positional, collecting, also_collecting, no_schema, yielding, int, max]
)
def test_a_function_that_can_be_no_tool_is_refused_by_name(function):
    with pytest.raises(TypeError, match=function.__name__):
        tool(function)


def test_a_tool_needs_a_name():
    with pytest.raises(TypeError, match="name"):
        tool(lambda: 1)
    assert tool(name="<lambda>")(lambda: 1).name == "<lambda>"

    with pytest.raises(TypeError, match="name"):
        tool(name=5)(measure.function)


def test_a_default_that_json_cannot_say_is_left_out_of_the_schema():
    @tool
    def scale(by: float = float("nan"), to: float = 2.5) -> bool:
        return math.isnan(by)

    assert json.loads(json.dumps(scale.parameters, allow_nan=False))["properties"]["to"]["default"] == 2.5
    assert "default" not in scale.parameters["properties"]["by"]
    assert answer(scale, {}) == "true"


def test_as_tool_leaves_tools_alone():
    assert as_tool(measure) is measure
    assert as_tool(measure.function).name == "measure"


@pytest.mark.parametrize(
    ("value", "text"),
    [("as it is", "as it is"), (None, "null"), ({"a": Point(x=1)}, '{"a":{"x":1,"y":0}}'), ({1}, "[1]")],
)
def test_answers_become_text(value, text):
    assert as_text(value) == text


def test_a_long_answer_is_cut_and_says_so():
    text = as_text("x" * (MOST_ANSWER + 5))
    assert len(text) < MOST_ANSWER + 50
    assert text.endswith("[cut: 5 more characters]")


def test_a_hint_that_leads_nowhere_is_said():
    def lost(x: "Nowhere") -> str: ...  # noqa: F821  # that is the point

    def no_json(x: Callable[[], int]) -> str: ...

    for function in (lost, no_json):
        with pytest.raises(TypeError, match=f"'{function.__name__}' cannot be a tool"):
            tool(function)
