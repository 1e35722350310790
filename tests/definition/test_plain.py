"""A program's own mappings: Enums, state objects, tuples."""

from enum import Enum, IntEnum, StrEnum
from types import MappingProxyType

import pytest
from transitions import State
from transitions.extensions import HierarchicalMachine
from transitions.extensions.states import Tags, Timeout, add_state_features

from orkeon_transitions.definition import load_definition
from orkeon_transitions.definition.plain import plain_source
from orkeon_transitions.errors import CrewDefinitionError
from tests.definition.problems import only_problem, problems_of


class Color(Enum):
    RED = "red"
    GREEN = 2


class Step(StrEnum):
    GO = "go"


class Number(IntEnum):
    ONE = 1


class MyText(str):
    pass


def test_enum_members_are_known_by_their_text():
    definition = load_definition(
        {
            "initial": Color.RED,
            "states": [Color.RED, {"name": Color.GREEN, "final": True}, Number.ONE],
            "transitions": [(Step.GO, Color.RED, Color.GREEN), [Step.GO, [Number.ONE], None]],
            "degraded": Color.GREEN,
        }
    )
    assert [state.name for state in definition.states] == ["red", "GREEN", "ONE"]
    assert definition.transitions[0].trigger == "go"
    assert type(definition.transitions[0].trigger) is str
    assert definition.degraded == "GREEN"


def test_an_enum_class_is_its_members():
    definition = load_definition({"initial": "red", "states": Color})
    assert [state.name for state in definition.states] == ["red", "GREEN"]


def test_mappings_tuples_and_texts_of_any_class():
    rows = ({"trigger": MyText("go"), "source": ("a",), "dest": "b"},)
    config = MappingProxyType({MyText("initial"): MyText("a"), "states": ("a", "b"), "transitions": rows})
    definition = load_definition(config)
    assert type(definition.initial) is str
    assert load_definition(definition.to_yaml()) == definition


def test_state_objects_of_transitions():
    states = [State("a", on_enter="note", on_exit=["count"]), State(Color.GREEN, final=True)]
    definition = load_definition({"initial": "a", "states": states})
    first, last = definition.states
    assert (first.name, first.on_enter, first.on_exit, first.final) == ("a", ("note",), ("count",), False)
    assert (last.name, last.final) == ("GREEN", True)


def test_state_objects_with_features():
    @add_state_features(Timeout, Tags)
    class Machine(HierarchicalMachine):
        pass

    state = Machine.state_cls
    late = state("late", timeout=5, on_timeout="stop", tags=["slow"])
    config = {"initial": "late", "states": [late, "end"], "transitions": [["stop", "late", "end"]]}
    definition = load_definition(config)
    assert definition.states[0].timeout == 5
    assert definition.states[0].on_timeout == "stop"
    assert definition.states[0].tags == ("slow",)


def test_parts_of_another_definition():
    rows = [{"trigger": "go", "source": "*", "dest": None, "conditions": "ok", "description": "Goes"}]
    states = [{"name": "a", "timeout": 5, "on_timeout": "go", "description": "First", "tags": "x"}]
    definition = load_definition({"initial": "a", "states": states, "transitions": rows})
    parts = {"states": definition.states, "transitions": definition.transitions}
    assert load_definition({"initial": "a", **parts}) == definition


def test_nested_state_objects_are_refused_by_name():
    nested = HierarchicalMachine(states=[{"name": "C", "children": ["1"]}], initial="C").states["C"]
    assert "children" in only_problem({"initial": "C", "states": [nested]}).message


def test_state_objects_with_functions_as_callbacks():
    assert (
        "guards= or actions="
        in only_problem({"initial": "a", "states": [State("a", on_enter=print)]}).message
    )


@pytest.mark.parametrize("key", [5, None, ("a",)])
def test_keys_that_are_no_text(key):
    problem = only_problem({"initial": "a", "states": [{"name": "a", key: 1}]})
    assert problem.path == "states[0]"
    assert repr(key) in problem.message


def test_enum_members_as_keys():
    rows = [{"trigger": "t", "source": "a", "dest": None, "conditions": "go"}]
    config = {"initial": "a", "states": ["a"], "transitions": rows, "guards": {Step.GO: "Goes"}}
    assert load_definition(config).guards == {"go": "Goes"}


def test_what_contains_itself():
    config = {"initial": "a", "states": ["a"]}
    config["guards"] = config["transitions"] = config
    assert "contain itself" in only_problem(config).message
    states = ["a"]
    states += [states, states]
    assert "contain itself" in only_problem({"initial": "a", "states": states}).message


def test_objects_that_mean_nothing_here():
    problems = problems_of({"initial": object(), "states": [{"name": "a", "timeout": object()}, {1, 2}]})
    assert [problem.path for problem in problems] == ["states[0].timeout", "states[1]", "initial"]
    assert "an object of type set" in problems[1].message


def test_the_error_can_be_another_class():
    with pytest.raises(CrewDefinitionError):
        plain_source({5: 1}, error=CrewDefinitionError)
