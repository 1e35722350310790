"""Every node of a crew, corrupted in turn, is a problem in its file and line; nothing else escapes."""

import json
from collections.abc import Iterator
from pathlib import Path
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
    "process": "graph",
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
    "graphConfig": {
        "maxRetryCycles": 1,
        "circuitBreakerPreset": "default",
        "max_transitions": 30,
        "maxStateVisits": 9,
        "maxTotalDurationSeconds": 7.5,
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
            "context": ["boil"],
            "llm_override": {
                "model": "offline",
                "baseUrl": "http://127.0.0.1:1/v1",
                "temperature": 0.2,
                "maxTokens": 5,
                "thinking": "low",
                "response_format": "json",
                "stop": ["END"],
                "price": {"input": 1, "output": 2},
            },
            "tools": ["file_write"],
            "deliverable": "/out/tea.md",
            "circuit_breaker": {"maxTransitions": 30},
        },
    },
}
REFERENCES = {
    "process", "llm", "preset", "circuitBreakerPreset", "agent", "tools", "dependencies", "context", "mounts",
    "deliverable", "llm_override",
}  # fmt: skip
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


TREES = list(corruptions(tree_of(FULL)))
PARTS = ("agents", "tasks")


def text_of(tree: Any) -> str:
    if isinstance(tree, Raw):
        return f"{tree} {MARK}\n"
    return "\n".join(lines_of(tree)) + "\n"


def one_file(tree: Pairs) -> dict[str, str]:
    return {"crew.yaml": text_of(tree)}


def three_files(tree: Pairs) -> dict[str, str]:
    main = Pairs([(key, value) for key, value in tree if key not in PARTS])
    return {"crew.yaml": text_of(main)} | {f"{key}.yaml": text_of(dict(tree)[key]) for key in PARTS}


def a_file_for_each(tree: Pairs) -> dict[str, str]:
    files = three_files(tree)
    for part in PARTS:
        members = dict(tree)[part]
        if isinstance(members, Pairs):
            del files[f"{part}.yaml"]
            files |= {f"{part}/{name}.yaml": text_of(value) for name, value in members}
    return files


LAYOUTS = (one_file, three_files, a_file_for_each)


def fits(layout: Any, tree: Pairs) -> bool:
    """Whether a tree can be put into files: no two files have one name."""
    mappings = [] if layout is one_file else [Pairs(pair for pair in tree if pair[0] in PARTS)]
    if layout is a_file_for_each:
        mappings += [value for _, value in mappings[0] if isinstance(value, Pairs)]
    return all(len(mapping) == len(dict(mapping)) for mapping in mappings)


CORRUPTED = [(layout, tree) for layout in LAYOUTS for tree in TREES if fits(layout, tree)]


def put(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return folder


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_whole_crew_loads(tmp_path, layout):
    crew = load_crew(put(tmp_path, layout(tree_of(FULL))), strict=True)
    assert crew.findings == ()
    assert list(crew.tasks) == ["boil", "pour"]
    assert len(CORRUPTED) > 300


@pytest.mark.parametrize(("layout", "tree"), CORRUPTED)
def test_each_corruption_is_found_in_its_file_and_line(tmp_path, layout, tree):
    files = layout(tree)
    with pytest.raises(CrewDefinitionError) as raised:
        load_crew(put(tmp_path, files), strict=True)
    (corrupted,) = [
        (str(tmp_path / name), number)
        for name, text in files.items()
        for number, line in enumerate(text.splitlines(), 1)
        if line.endswith(MARK)
    ]
    found = {(problem.file, problem.line) for problem in raised.value.problems}
    assert corrupted in found, str(raised.value)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*FULL, *FULL["tasks"]["pour"], "role", "x"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(deadline=None)
@given(VALUES, st.sampled_from([None, "anchors", "managerAgent", *FULL]))
def test_no_file_raises_anything_else(value, key):
    data = value if key is None else FULL | {key: value}
    try:
        load_crew(json.dumps(data, ensure_ascii=False) + "\n")
    except CrewDefinitionError:
        return
