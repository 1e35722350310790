"""Every node of a definition, corrupted in turn, gives a problem on the right line; nothing else escapes."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orkeon_transitions.definition import load_definition
from orkeon_transitions.errors import DefinitionError, Problem
from tests.strategies import any_names, machine_configs

MARK = "# corrupted"
FULL = {
    "name": "full",
    "description": "Every key there is",
    "initial": "idle",
    "degraded": "given_up",
    "circuit_breaker": {
        "preset": "strict",
        "max_transitions": 20,
        "stateTimeoutSeconds": 60,
        "max_state_visits": 4,
        "max_total_duration": 3.5,
        "use_degraded_mode": True,
        "meters": {"tokens": 1000, "usd": 0.5},
        "max_repeats": 3,
    },
    "guards": {"is_ready": "Ready", "has_budget": None},
    "states": [
        "idle",
        {
            "name": "busy",
            "description": "Works",
            "final": False,
            "timeout": 30,
            "on_timeout": "stop",
            "on_enter": ["note"],
            "onExit": "note",
            "tags": ["slow", "red"],
        },
        {"name": "given_up", "final": True},
    ],
    "transitions": [
        {
            "trigger": "start",
            "source": ["idle", "busy"],
            "dest": "busy",
            "conditions": ["is_ready", "has_budget"],
            "unless": "has_budget",
            "before": ["note"],
            "after": "note",
            "always": True,
            "repeatable": False,
            "description": "Begins",
        },
        {"trigger": "stop", "source": "*", "dest": "given_up"},
        {"trigger": "tick", "source": "busy", "dest": None},
        ["again", "busy", "="],
    ],
}
REFERENCES = {"initial", "degraded", "source", "dest", "on_timeout", "conditions", "unless", "preset"}
CALLBACKS = {"before", "after", "on_enter", "onExit", "on_exit"}
NAMED_FREELY = {"meters", "guards"}


class Pairs(list):
    """A mapping that may have a key twice."""


class Raw(str):
    """A value as it is to stand in the file."""


def tree_of(value: Any) -> Any:
    if isinstance(value, dict):
        return Pairs((key, tree_of(content)) for key, content in value.items())
    if isinstance(value, list):
        return [tree_of(item) for item in value]
    return value


def lines_of(tree: Any, indent: str = "") -> Iterator[str]:
    """Writes every node on a line of its own."""
    for item in tree:
        key, value = item if isinstance(tree, Pairs) else (None, item)
        head = indent + ("-" if key is None else f"{json.dumps(key, ensure_ascii=False)}:")
        if isinstance(value, Raw):
            yield f"{head} {value} {MARK}"
        elif isinstance(value, list) and value:
            yield head
            yield from lines_of(value, indent + "  ")
        else:
            shown = (
                "{}"
                if value == Pairs() and isinstance(value, Pairs)
                else json.dumps(value, ensure_ascii=False)
            )
            yield f"{head} {shown}"


def corruptions(tree: Any, key: str = "") -> Iterator[Any]:
    """Gives the tree again and again, each time with one node corrupted."""
    if isinstance(tree, Pairs):
        if key not in NAMED_FREELY:
            yield Pairs([*tree, ("zzz", Raw("1"))])
        if key == "guards":
            yield Pairs([*tree, ("zzz", Raw("1"))])
        for index, (name, value) in enumerate(tree):
            yield Pairs([*tree, (name, Raw("1"))])
            for changed in corruptions_of_value(value, name):
                yield Pairs([*tree[:index], (name, changed), *tree[index + 1 :]])
    elif isinstance(tree, list):
        row_keys = ("trigger", "source", "dest") if key == "transitions-row" else None
        for index, value in enumerate(tree):
            name = row_keys[index] if row_keys else key
            for changed in corruptions_of_value(value, name):
                yield [*tree[:index], changed, *tree[index + 1 :]]


def corruptions_of_value(value: Any, key: str) -> Iterator[Any]:
    is_row = key == "transitions" and isinstance(value, list) and not isinstance(value, Pairs)
    if isinstance(value, Pairs) or (is_row and value and isinstance(value[0], Pairs)):
        yield Raw("5")
        yield from corruptions(value, key)
    elif isinstance(value, list) and value:
        yield Raw("5")
        yield from corruptions(value, "transitions-row" if is_row and isinstance(value[0], str) else key)
    elif isinstance(value, bool):
        yield Raw("yes")
        yield Raw("[[1]]")
    else:
        yield Raw("[[1]]")
        if key in REFERENCES:
            yield Raw("zzz-zzz")
        if key in CALLBACKS:
            yield Raw("os.getcwd")
        if key in {"trigger", "name", "initial"}:
            yield Raw("7")


def check_all(config: dict[str, Any]) -> int:
    tree = tree_of(config)
    load_definition("\n".join(lines_of(tree)) + "\n")
    number = 0
    for changed in corruptions(tree):
        number += 1
        lines = list(lines_of(changed))
        line = next(number for number, text in enumerate(lines, 1) if text.endswith(MARK))
        with pytest.raises(DefinitionError) as caught:
            load_definition("\n".join(lines) + "\n")
        problems = caught.value.problems
        assert any(problem.line == line and problem.column for problem in problems), (
            lines[line - 1],
            problems,
        )
        assert all(problem.message and problem.line for problem in problems)
    return number


def problems_of(what: Any) -> list[Problem]:
    try:
        load_definition(what)
    except DefinitionError as error:
        return error.problems
    return []


def test_every_node_of_a_full_definition():
    assert check_all(FULL) > 150


@settings(max_examples=15, deadline=None)
@given(machine_configs(states=any_names(), triggers=any_names(), max_states=3, max_rows=3))
def test_every_node_of_any_definition(config):
    check_all(config)


@settings(max_examples=300)
@given(st.text(max_size=60) | st.text("{}[]:,-&*!<>|'\"\n #ab0", max_size=40), st.integers(0, 2000))
def test_any_text_is_read_or_refused(noise, at):
    whole = "\n".join(lines_of(tree_of(FULL))) + "\n"
    for text in (noise + "\n", whole[:at] + noise + whole[at:]):
        assert all(problem.message for problem in problems_of(text))


KEYS = [*FULL, *FULL["states"][1], *FULL["transitions"][0], *FULL["circuit_breaker"], "children"]
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | any_names()
    | st.sampled_from(["idle", "*", "="])
)


@settings(max_examples=300)
@given(
    st.dictionaries(
        st.sampled_from(KEYS),
        st.recursive(
            LEAVES,
            lambda inner: (
                st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=6)
            ),
            max_leaves=20,
        ),
    )
)
def test_any_mapping_is_read_or_refused(data):
    assert all(problem.message for problem in problems_of(data))
