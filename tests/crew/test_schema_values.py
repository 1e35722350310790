import asyncio
from enum import Enum
from typing import Annotated, Literal, Optional

import pytest
from pydantic import BaseModel, Field

from orkeon_transitions.crew import tool
from orkeon_transitions.crew.schema_values import arguments_for

TASK = "Count to 7 in steps of 2.5, at most -3"


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Leaf(BaseModel):
    name: str
    size: int = 3


class Tree(BaseModel):
    leaf: Leaf
    more: list[Leaf]
    child: Optional["Tree"] = None


def made_for(function):
    made = tool(function)
    arguments = arguments_for(made.parameters, TASK, lambda _schema: "words")
    asyncio.run(made.answer(arguments))
    return arguments


def test_every_kind_of_parameter_gets_a_value_that_fits():
    def everything(
        *,
        text: str,
        short: Annotated[str, Field(max_length=2)],
        long: Annotated[str, Field(min_length=9)],
        whole: int,
        part: float,
        yes: bool,
        nothing: None,
        colour: Colour,
        one: Literal["only"],
        some: Literal["first", "second"],
        maybe: int | None,
        either: Annotated[int, Field(ge=100)] | str,
        names: list[str],
        pair: tuple[int, str],
        three: Annotated[list[int], Field(min_length=3)],
        table: dict[str, int],
        tree: Tree,
        default: int = 5,
    ) -> str:
        return "ok"

    made = made_for(everything)
    assert made["text"] == "words"
    assert made["short"] == "wo"
    assert made["long"] == "words...."
    assert (made["whole"], made["part"]) == (7, 7.0)
    assert (made["yes"], made["nothing"], made["colour"]) == (True, None, "red")
    assert (made["one"], made["some"], made["maybe"], made["either"]) == ("only", "first", 7, 100)
    assert (made["names"], made["pair"], made["three"]) == (["words"], [7, "words"], [7, 7, 7])
    assert made["tree"] == {"leaf": {"name": "words"}, "more": [{"name": "words"}]}
    assert "default" not in made


@pytest.mark.parametrize(
    ("limits", "number"),
    [
        ({"ge": 0, "le": 5}, 0),
        ({"ge": 3}, 7),
        ({"gt": 7}, 8),
        ({"le": -5}, -5),
        ({"lt": 3}, -3),
        ({"multiple_of": 5, "ge": 5}, 5),
    ],
)
def test_numbers_come_from_the_task_where_they_fit(limits, number):
    def counted(n: Annotated[int, Field(**limits)]) -> int:
        return n

    assert made_for(counted)["n"] == number


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": ["integer", "null"]}, 7),
        ({"properties": {"a": {"const": 1}}, "required": ["a"]}, {"a": 1}),
        ({"oneOf": [{"type": "null"}]}, None),
        ({"allOf": [{"$ref": "#/$defs/x"}]}, True),
        ({"$ref": "#/$defs/loop"}, "words"),
        ({}, "words"),
        ({"type": "array"}, ["words"]),
        ({"$ref": "#/$defs/deep"}, None),
    ],
)
def test_schemas_from_elsewhere_are_followed_and_never_for_ever(schema, value):
    definitions = {
        "x": {"type": "boolean"},
        "loop": {"$ref": "#/$defs/loop"},
        "deep": {"type": "object", "properties": {"d": {"$ref": "#/$defs/deep"}}, "required": ["d"]},
    }
    root = {"type": "object", "properties": {"p": schema}, "required": ["p"], "$defs": definitions}
    made = arguments_for(root, TASK, lambda _schema: "words")["p"]
    while isinstance(made, dict) and "d" in made:
        made = made["d"]
    assert made == value


def test_what_is_no_object_gives_no_arguments():
    assert arguments_for({"type": "string"}, TASK, lambda _schema: "words") == {}
