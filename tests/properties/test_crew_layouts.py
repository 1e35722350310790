"""Whatever a crew is, it is the same crew in one file and in many; and stars that call no anchor survive."""

import json
import tempfile
from dataclasses import replace
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from orkeon_transitions.crew import load_crew
from orkeon_transitions.crew.anchors import Anchors

IDS = st.text("abXY09-_ é", min_size=1, max_size=6).filter(str.strip)
TEXTS = st.text("ab *{}:#\n'\"", max_size=12)
BLOCKS = st.none() | st.fixed_dictionaries({}, optional={
    "preset": st.sampled_from(["strict", "default", "permissive", None]),
    "maxTransitions": st.integers(0, 99),
    "max_retries": st.integers(0, 9),
})  # fmt: skip


@st.composite
def crews(draw):
    agents = draw(st.lists(IDS, min_size=1, max_size=4, unique=True))
    tasks = draw(st.lists(IDS, min_size=1, max_size=6, unique=True))
    return {
        "name": "x",
        "process": draw(st.sampled_from(["sequential", "parallel", "graph"])),
        "circuitBreaker": draw(BLOCKS),
        "agents": {name: {"role": draw(TEXTS), "backstory": draw(TEXTS)} for name in agents},
        "tasks": {
            name: {
                "description": f"d{draw(TEXTS)}",
                "agent": draw(st.none() | st.sampled_from(agents)),
                # Only on those before it: no cycle.
                "dependencies": draw(st.lists(st.sampled_from(tasks[:index]), max_size=3)) if index else [],
                "circuit_breaker": draw(BLOCKS),
            }
            for index, name in enumerate(tasks)
        },
    }


def written(value):
    return json.dumps(value, ensure_ascii=False) + "\n"


def config_of(files):
    with tempfile.TemporaryDirectory() as folder:
        for name, value in files.items():
            path = Path(folder, name)
            path.parent.mkdir(exist_ok=True)
            path.write_text(written(value))
        return replace(load_crew(folder).config, folder=Path())


@settings(deadline=None)
@given(crews())
def test_all_layouts_are_one_crew(crew):
    main = {key: value for key, value in crew.items() if key not in {"agents", "tasks"}}
    parts = {f"{part}.yaml": crew[part] for part in ("agents", "tasks")}
    single = {
        f"{part}/{name}.yaml": body for part in ("agents", "tasks") for name, body in crew[part].items()
    }
    expected = replace(load_crew(written(crew)).config, folder=Path())
    assert config_of({"crew.yaml": crew}) == expected
    assert config_of({"crew.yaml": main, **parts}) == expected
    assert config_of({"config.yaml": main, **single}) == expected


CALLED = st.text("ab*\\ -_.\n", max_size=30)


@given(CALLED, st.dictionaries(st.sampled_from(["a", "b", "ab", "a-b"]), st.text("xyz", max_size=3)))
def test_what_calls_no_anchor_stays_as_it_is(text, texts):
    anchors = Anchors(texts)
    expanded = anchors.expand(text)
    if not any(f"*{name}" in text for name in texts):
        assert expanded == text
    # Only what is called goes, and only for what it stands for.
    assert expanded.count("\n") == text.count("\n")
    assert set(anchors.strangers(text)).isdisjoint(texts)
    if "*" not in expanded:
        assert anchors.expand(expanded) == expanded
