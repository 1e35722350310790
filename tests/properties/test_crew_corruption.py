"""Every node of a crew file, corrupted in turn, gives a problem on the right line; nothing else escapes."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orkeon_transitions.crew import load_crew
from orkeon_transitions.errors import CrewDefinitionError
from tests.properties.test_corruption import MARK, Pairs, Raw, lines_of, tree_of

FULL = {
    "name": "full",
    "goal": "Every key there is",
    "process": "sequential",
    "llm": "offline",
    "circuitBreaker": {
        "preset": "strict",
        "maxTransitions": 20,
        "stateTimeoutSeconds": 60,
        "max_state_visits": 4,
        "maxTotalDurationSeconds": 3.5,
        "useDegradedMode": True,
        "maxRetries": 1,
        "maxToolCallsPerRound": 5,
        "max_validation_retries": 0,
    },
    "mounts": [".:/code:ro", "./later:/out:rw"],
    "agents": {
        "cook": {
            "role": "Cook",
            "goal": "Tea",
            "backstory": "Old hand",
            "tools": ["file_read", "file_write"],
            "llm": "offline",
        },
    },
    "tasks": {
        "boil": {"description": "Boil", "expectedOutput": "Hot water", "agent": "cook"},
        "pour": {
            "description": "Pour",
            "expected_output": "Tea",
            "dependencies": ["boil"],
            "tools": ["file_write"],
            "deliverable": "/out/tea.md",
            "circuit_breaker": {"maxTransitions": 30},
        },
    },
}
REFERENCES = {"process", "llm", "preset", "agent", "tools", "dependencies", "mounts", "deliverable"}
KEYED_FREELY = {"agents", "tasks"}


def corruptions(tree: Any, key: str = "") -> Iterator[Any]:
    """Gives the tree again and again, each time with one node corrupted."""
    if isinstance(tree, Pairs):
        yield Pairs([*tree, ("zzz", Raw("1"))])
        for index, (name, value) in enumerate(tree):
            yield Pairs([*tree, (name, Raw("1"))])
            inner = "" if key in KEYED_FREELY else name
            for changed in of_value(value, inner):
                yield Pairs([*tree[:index], (name, changed), *tree[index + 1 :]])
    else:
        for index, value in enumerate(tree):
            for changed in of_value(value, key):
                yield [*tree[:index], changed, *tree[index + 1 :]]


def of_value(value: Any, key: str) -> Iterator[Any]:
    if isinstance(value, list):
        yield Raw("5")
        yield from corruptions(value, key)
        return
    yield Raw("[[1]]")
    if key in REFERENCES:
        yield Raw("zzz-zzz")
    if isinstance(value, bool):
        yield Raw("yes")
    elif isinstance(value, int | float):
        yield Raw("-1")
        yield Raw("'7'")


CORRUPTED = ["\n".join(lines_of(tree)) + "\n" for tree in corruptions(tree_of(FULL))]


def test_the_whole_file_loads():
    text = "\n".join(lines_of(tree_of(FULL))) + "\n"
    assert load_crew(text, strict=True).findings == ()
    assert len(CORRUPTED) > 100


@pytest.mark.parametrize("text", CORRUPTED)
def test_each_corruption_is_found_on_its_line(text):
    with pytest.raises(CrewDefinitionError) as raised:
        load_crew(text, strict=True)
    (corrupted,) = [number for number, line in enumerate(text.splitlines(), 1) if line.endswith(MARK)]
    assert corrupted in {problem.line for problem in raised.value.problems}, str(raised.value)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*FULL, *FULL["tasks"]["pour"], "role", "x"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(deadline=None)
@given(VALUES, st.sampled_from([None, *FULL]))
def test_no_file_raises_anything_else(value, key):
    data = value if key is None else FULL | {key: value}
    try:
        load_crew(json.dumps(data, ensure_ascii=False) + "\n")
    except CrewDefinitionError:
        return
