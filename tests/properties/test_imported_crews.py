"""Whatever a CrewAI pair looks like, the file made of it gives what the pair gives, without a finding."""

import json
import tempfile
from dataclasses import replace
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from orkeon_transitions.crew import load_crew
from orkeon_transitions.crew.importing import import_crewai

IDS = st.from_regex(r"[a-z][a-z_]{0,5}", fullmatch=True)
WORDS = st.lists(
    st.sampled_from(["write", "{topic}", "{current_year}", "# no comment", "a: b", "- x", "it's", "*", "é"]),
    min_size=1,
    max_size=4,
).map(" ".join)
COMMENTS = st.sampled_from(["", "# what follows\n", "\n", "    # further in\n"])
IDLE = st.dictionaries(
    st.sampled_from(["verbose", "cache", "inject_date", "tags", "metadata", "quiet_mode", "memory_config"]),
    st.sampled_from([["one", "two"], {"a": 1, "b": [2]}, "some words", []]),
    max_size=3,
).map(lambda drawn: {key: True if key in {"verbose", "cache"} else value for key, value in drawn.items()})


@st.composite
def texts(draw, value, margin):
    """A value behind its key, in one of the ways in which people write it."""
    way = draw(st.sampled_from(["json", "json", "block", "deep"]))
    pad = " " * margin
    if isinstance(value, str) and " " in value and way != "json":
        mark = draw(st.sampled_from([">", "|", ">-", "|+"]))
        gap = "\n" if way == "deep" else ""
        return f" {mark}\n{gap}{pad}{value}\n{pad}{pad}{value}\n"
    if isinstance(value, list) and value and way != "json":
        shift = pad if way == "deep" else pad[2:]
        return "\n" + "".join(f"{shift}- {json.dumps(item, ensure_ascii=False)}\n" for item in value)
    if isinstance(value, dict) and value and way != "json":
        return "\n" + "".join(f"{pad}{key}: {json.dumps(item)}\n" for key, item in value.items())
    return f" {json.dumps(value, ensure_ascii=False)}\n"


@st.composite
def files(draw, part, members):
    style = draw(st.sampled_from(["block", "block", "block", "flow", "one line"]))
    if style == "one line":
        return json.dumps(members, ensure_ascii=False) + "\n"
    text = draw(st.sampled_from(["", "# Ours.\n", "---\n", "# Ours.\n---\n"]))
    wrapped = style == "block" and draw(st.booleans())
    lines = ""
    for name, member in members.items():
        if style == "flow":
            lines += f"{name}: {json.dumps(member, ensure_ascii=False)}\n"
            continue
        lines += f"{draw(COMMENTS)}{name}:{draw(st.sampled_from(['', '  # ours']))}\n"
        for key, value in member.items():
            lines += f"{draw(COMMENTS)}    {key}:{draw(texts(value, 8))}"
    if wrapped:
        lines = f"{part}:\n" + "".join(
            f"  {line}" if line.strip() else line for line in lines.splitlines(True)
        )
    return text + lines


@st.composite
def pairs(draw):
    agents = draw(st.lists(IDS, min_size=1, max_size=3, unique=True))
    tasks = draw(st.lists(IDS, min_size=1, max_size=4, unique=True))
    members = {
        "agents": {
            name: {"role": draw(WORDS), "goal": draw(WORDS), "backstory": draw(WORDS), **draw(IDLE)}
            | draw(
                st.sampled_from(
                    [{}, {"tools": ["FileReadTool"]}, {"tools": ["file_read", "DirectoryReadTool"]}]
                )
            )
            for name in agents
        },
        "tasks": {
            name: {"description": draw(WORDS), "expected_output": draw(WORDS), **draw(IDLE)}
            | draw(st.sampled_from([{}, {"agent": agents[0]}, {"async_execution": True}]))
            | draw(st.sampled_from([{}, {"output_file": "out/{topic}.md"}, {"output_file": "x.md"}]))
            | ({"context": draw(st.lists(st.sampled_from(tasks[:index]), max_size=2))} if index else {})
            for index, name in enumerate(tasks)
        },
    }
    return {f"{part}.yaml": draw(files(part, members[part])) for part in members}


def in_effect(crew):
    members = {
        kind: {name: replace(member, carried={}) for name, member in getattr(crew.config, kind).items()}
        for kind in ("agents", "tasks")
    }
    return replace(crew.config, carried={}, folder=Path(), **members)


@settings(deadline=None, max_examples=50)
@given(pairs())
def test_the_file_gives_what_the_pair_gives(pair):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in pair.items():
            Path(folder, name).write_text(text)
        crew = load_crew(folder)
        imported = import_crewai(folder)
        Path(folder, "apart").mkdir()
        Path(folder, "apart", "mine.yaml").write_text(imported.text)
        written = load_crew(Path(folder, "apart", "mine.yaml"), strict=True)
    assert in_effect(written) == in_effect(crew)
    assert [finding for finding in written.findings if finding.code != "lookalike"] == []
