"""Forms: switches, typed fields of a context's class, and what the shipped machines carry."""

import json
from dataclasses import dataclass, field
from enum import Enum
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field

from orkeon_transitions.explorer.forms import BadValueError, Form, Switches
from orkeon_transitions.explorer.shipped_forms import hermes_form, router_form, task_form
from orkeon_transitions.explorer.typed_forms import TypedForm
from orkeon_transitions.machines import GraphRouter, HermesAgentFSM, TaskExecution
from tests.explorer.sessions import door


class Mood(Enum):
    GOOD = "good"
    BAD = 2


@dataclass(frozen=True)
class Everything:
    """A context.

    Attributes:
        is_on: Whether it
            is on.
        count: How many.
    """

    is_on: bool
    count: int = 3
    share: float = 0.5
    name: str = "x"
    mood: Mood = Mood.GOOD
    way: Literal["left", "right"] = "left"
    tags: list[str] = field(default_factory=lambda: ["a"])
    limit: int | None = None


class Model(BaseModel):
    size: Annotated[int, Field(gt=0, description="How large")]
    note: str = Field("n", description="A note")


class Plain:
    def __init__(self, size: int, note: str = "n", *, loud: bool = False) -> None:
        self.size, self.note, self.loud = size, note, loud


class Opaque:
    def __init__(self, thing: "Nowhere" = None) -> None:  # noqa: F821 (a name that is not there)
        self.thing = thing


def fields(form, machine=None):
    return {each["name"]: each for each in form.fields(machine)}


# ------------------------------------------------------------------------------------------------- switches
def test_a_definition_has_a_switch_for_each_guard_with_its_description():
    shown = fields(Switches(door()))
    assert shown["has_key"]["label"] == "The key is there"
    assert (shown["has_key"]["type"], shown["has_key"]["value"]) == ("boolean", True)
    assert shown["is_alarmed"]["value"] is False, "what only forbids says no at first"


def test_a_guard_without_a_description_is_named_in_words():
    assert fields(Switches(door(guards={})))["has_key"]["label"] == "Has key"


def test_switches_are_what_the_guards_are_given():
    form = Switches(door())
    form.set(None, "has_key", False)
    assert form.given(None, "unlock") == ({"has_key": False, "is_alarmed": False}, {})
    assert form.given(None, "unlock", {"has_key": True})[0]["has_key"] is True
    assert form.given(None, "unlock")[0]["has_key"] is False, "a value for once counts once"
    form.set(None, "has_key", None)
    assert form.given(None, "unlock")[0]["has_key"] is True


def test_a_switch_is_on_or_off():
    form = Switches(door())
    form.set(None, "has_key", "maybe")
    assert fields(form)["has_key"]["error"] == "a switch is on or off"
    assert form.given(None, "unlock")[0]["has_key"] is True
    form.set(None, "has_key", False)
    assert fields(form)["has_key"]["error"] is None
    with pytest.raises(BadValueError, match="on or off"):
        form.given(None, "unlock", {"has_key": "yes"})


@pytest.mark.parametrize("use", ["set", "given"])
def test_an_unknown_switch_is_refused_with_the_nearest(use):
    form = Switches(door())
    with pytest.raises(BadValueError, match="did you mean 'has_key'"):
        form.set(None, "has_kee", True) if use == "set" else form.given(None, "unlock", {"has_kee": True})


def test_a_form_without_fields():
    form = Form()
    assert (form.kind, form.fields(None), form.given(None, "go")) == ("none", [], (None, {}))
    with pytest.raises(BadValueError, match="no field 'x'"):
        form.set(None, "x", 1)
    with pytest.raises(BadValueError, match="no field 'x'"):
        form.given(None, "go", {"x": 1})


# ---------------------------------------------------------------------------------------------------- typed
def test_each_type_has_its_field():
    shown = fields(TypedForm(Everything))
    assert {name: each["type"] for name, each in shown.items()} == {
        "is_on": "boolean",
        "count": "integer",
        "share": "number",
        "name": "string",
        "mood": "choice",
        "way": "choice",
        "tags": "json",
        "limit": "integer",
    }
    assert shown["mood"]["choices"] == ["good", 2]
    assert shown["mood"]["value"] == "good"
    assert shown["way"]["choices"] == ["left", "right"]
    assert shown["is_on"]["description"] == "Whether it is on."
    assert shown["tags"]["value"] == ["a"]


def test_a_field_without_a_default_is_needed():
    form = TypedForm(Everything)
    shown = fields(form)
    assert shown["is_on"]["required"]
    assert shown["is_on"]["error"] == "is needed"
    assert not shown["limit"]["required"]
    assert form.given(None, "go") == (None, {}), "asking goes on without"
    with pytest.raises(BadValueError, match="is_on"):
        form.given(None, "go", {})
    form.set(None, "is_on", True)
    assert form.given(None, "go", {})[0] == Everything(is_on=True)


@pytest.mark.parametrize(
    ("name", "value", "read"),
    [
        ("count", "7", 7),
        ("share", 1, 1.0),
        ("mood", 2, Mood.BAD),
        ("way", "right", "right"),
        ("tags", ["x", "y"], ["x", "y"]),
        ("limit", 5, 5),
    ],
)
def test_values_are_read_as_their_types(name, value, read):
    form = TypedForm(Everything)
    form.set(None, "is_on", False)
    form.set(None, name, value)
    assert getattr(form.given(None, "go", {})[0], name) == read


@pytest.mark.parametrize(
    ("name", "value"),
    [("is_on", "yes"), ("count", "many"), ("count", 1.5), ("mood", "fair"), ("way", "up"), ("tags", "a")],
)
def test_a_value_that_does_not_fit_is_kept_with_what_is_wrong(name, value):
    form = TypedForm(Everything)
    form.set(None, "is_on", True)
    before = form.given(None, "go")
    form.set(None, name, value)
    shown = fields(form)[name]
    assert shown["value"] == value
    assert shown["error"]
    if name != "is_on":
        assert form.given(None, "go") == before, "asking goes on with what fits"
    with pytest.raises(BadValueError, match=name):
        form.given(None, "go", {})
    with pytest.raises(BadValueError, match=name):
        TypedForm(Everything).given(None, "go", {name: value})


def test_null_gives_a_field_its_default_back():
    form = TypedForm(Everything)
    form.set(None, "count", 9)
    form.set(None, "count", None)
    assert fields(form)["count"]["value"] == 3


def test_a_pydantic_model_is_a_context_too():
    form = TypedForm(Model)
    shown = fields(form)
    assert shown["size"]["description"] == "How large"
    form.set(None, "size", 3)
    assert form.given(None, "go", {})[0] == Model(size=3)
    form.set(None, "size", -3)
    with pytest.raises(BadValueError, match="size: Input should be greater than 0"):
        form.given(None, "go", {})


def test_any_class_with_typed_arguments_is_a_context():
    form = TypedForm(Plain)
    assert {name: each["type"] for name, each in fields(form).items()} == {
        "size": "integer",
        "note": "string",
        "loud": "boolean",
    }
    form.set(None, "size", 2)
    context, payload = form.given(None, "go", {"loud": True})
    assert (context.size, context.note, context.loud, payload) == (2, "n", True, {})


def test_annotations_that_nobody_can_read_are_taken_as_json():
    assert fields(TypedForm(Opaque))["thing"]["type"] == "json"


def test_defaults_that_json_does_not_know_are_shown_in_words():
    loop = []
    loop.append(loop)

    @dataclass
    class Odd:
        far: float = float("inf")
        thing: object = Plain
        itself: list = field(default_factory=lambda: loop)

    shown = fields(TypedForm(Odd))
    assert shown["far"]["value"] is None
    assert "Plain" in shown["thing"]["value"]
    assert shown["itself"]["value"] == "[[...]]"
    json.dumps(list(shown.values()), allow_nan=False)


def test_a_type_that_nobody_knows_is_taken_as_it_is():
    @dataclass
    class Holding:
        plain: Plain | None = None
        mood: Annotated[Mood | None, "how it is"] = None

    form = TypedForm(Holding)
    shown = fields(form)
    assert (shown["plain"]["type"], shown["mood"]["type"]) == ("json", "choice")
    form.set(None, "plain", {"size": 1})
    form.set(None, "mood", "good")
    assert form.given(None, "go", {})[0] == Holding({"size": 1}, Mood.GOOD)


def test_what_the_class_itself_refuses_is_said():
    @dataclass
    class Picky:
        size: int = 1

        def __post_init__(self):
            if self.size > 2:
                raise ValueError("too large")

    form = TypedForm(Picky)
    form.set(None, "size", 3)
    assert form.given(None, "go") == (None, {})
    with pytest.raises(BadValueError, match="too large"):
        form.given(None, "go", {})


def test_a_field_of_a_name_that_there_is_not():
    with pytest.raises(BadValueError, match="no field 'cont', did you mean 'count'"):
        TypedForm(Everything).set(None, "cont", 1)


# -------------------------------------------------------------------------------------------------- shipped
def test_a_task_judges_its_own_counters_until_a_field_is_filled_in():
    form, machine = task_form(), TaskExecution()
    assert form.given(machine, "begin_execution") == (None, {})
    machine.begin_execution()
    machine.request_tool_call()
    assert fields(form, machine)["tool_call_count"]["value"] == 1, "it follows the machine"
    form.set(machine, "tool_call_count", 10)
    context, _ = form.given(machine, "request_tool_call")
    assert (context.tool_call_count, context.can_call_tool) == (10, False)
    form.set(machine, "tool_call_count", None)
    assert form.given(machine, "request_tool_call") == (None, {})


def test_an_agents_form_carries_what_each_trigger_needs():
    form, machine = hermes_form(), HermesAgentFSM("s1")
    form.begin(machine)
    assert machine.plan_steps == ["search", "summarise"]
    assert machine.registered_tools == {"web_search"}
    assert form.given(machine, "call_tool") == (None, {"tool_name": "web_search"})
    assert set(form.given(machine, "receive_task")[1]) == {"task"}
    form.set(machine, "registered_tools", ["b", "a"])
    assert machine.registered_tools == {"a", "b"}
    assert fields(form, machine)["registered_tools"]["value"] == ["a", "b"]
    form.set(machine, "result", None)
    assert form.given(machine, "finish_execution") == (None, {})
    form.set(machine, "task", None)
    assert form.given(machine, "receive_task")[1]["task"].startswith("Find")


def test_an_agents_form_says_what_does_not_fit():
    form, machine = hermes_form(), HermesAgentFSM("s1")
    form.begin(machine)
    form.set(machine, "plan_steps", "search")
    assert fields(form, machine)["plan_steps"]["error"]
    assert machine.plan_steps == ["search", "summarise"]
    with pytest.raises(BadValueError, match="plan_steps"):
        form.given(machine, "plan_ready", {})
    with pytest.raises(BadValueError, match="tool_name"):
        form.given(machine, "call_tool", {"tool_name": 3})
    with pytest.raises(BadValueError, match="no field 'nothing'"):
        form.given(machine, "call_tool", {"nothing": 3})
    form.set(machine, "plan_steps", ["one"])
    assert form.given(machine, "call_tool", {"tool_name": "x"}) == (None, {"tool_name": "x"})


def test_a_routers_form_is_a_choice():
    form, machine = router_form(), GraphRouter()
    form.begin(machine)
    shown = fields(form, machine)["chosen"]
    assert (shown["type"], shown["value"]) == ("choice", "execute_task")
    assert "end" in shown["choices"]
    form.set(machine, "chosen", "end")
    assert form.given(machine, "step") == (None, {"chosen": "end"})
    form.set(machine, "chosen", "nowhere")
    assert fields(form, machine)["chosen"]["error"]
