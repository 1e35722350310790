"""The guides that ship: every snippet runs, and what is made from the schemas is what they say."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from orkeon_transitions import check_definition, load_crew, load_definition
from orkeon_transitions.crew import crew_schema
from orkeon_transitions.definition import read_source
from orkeon_transitions.definition.writing import write_data
from orkeon_transitions.docs import TOPICS, guide, summary
from orkeon_transitions.errors import DefinitionError
from tests import make_docs
from tests.snippets import is_like, printed_by, session_of, snippets

FOLDER = make_docs.DOCS
# Of a crew, so that what says less than a whole one can be read.
AROUND = {"agents": {"somebody": {}}, "tasks": {"something": {"description": "Do it"}}}
WORDS_A_MINUTE, BLOCKS_A_MINUTE = 240, 6


@pytest.mark.parametrize("topic", TOPICS)
def test_every_snippet_of_a_guide_runs_and_prints_what_stands_there(topic, tmp_path, monkeypatch):
    """From top to bottom in one folder, as a reader would."""
    monkeypatch.chdir(tmp_path)
    for snippet in snippets(FOLDER / f"{topic}.md"):
        match snippet.language:
            case "python":
                assert is_like(snippet.output or "", printed_by(snippet)), str(snippet)
            case "py" if find_spec("langgraph") is not None:
                assert is_like(snippet.output or "", printed_by(snippet)), str(snippet)
            case "console":
                real = session_of(snippet)
                assert is_like(snippet.text, real), f"{snippet}:\n{real}"
            case "yaml":
                yaml_is_sound(snippet)


def yaml_is_sound(snippet):
    """A file of its own, or a part of one; one that is called broken is."""
    name = snippet.file_name
    if name:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(snippet.text, encoding="utf-8")
    data = read_source(snippet.text).data
    if name and name.startswith("broken"):
        with pytest.raises(DefinitionError):
            load_definition(name)
    elif "states" in data:
        assert not check_definition(load_definition(snippet.text)), str(snippet)
    elif set(data) <= set(crew_schema()["properties"]):
        of_surroundings = {"starts-program", "gives-variables", "missing-folder"}
        crew = load_crew(write_data({**AROUND, **data}), strict=True)
        assert {finding.code for finding in crew.findings} <= of_surroundings, str(snippet)
    else:  # one of a pair that a command below reads
        assert Path(name).stem in {"agents", "tasks"}, str(snippet)


def test_the_topics_are_the_guides_that_are_there():
    assert sorted(TOPICS) == sorted(path.stem for path in FOLDER.glob("*.md"))
    with pytest.raises(KeyError):
        guide("../../README")


@pytest.mark.parametrize("topic", TOPICS)
def test_a_guide_begins_with_what_the_reader_wants_to_do_and_is_short(topic):
    text = guide(topic)
    assert text.startswith("# ")
    assert 20 < len(summary(topic)) < 120
    assert "\n```sh\n" not in text or topic == "persistence", "a block that nobody runs"
    prose = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    if topic != "yaml-keys":  # which is looked things up in
        blocks = len(snippets(FOLDER / f"{topic}.md"))
        minutes = len(prose.split()) / WORDS_A_MINUTE + blocks / BLOCKS_A_MINUTE
        assert minutes < 5, "it takes too long to read"


@pytest.mark.parametrize("topic", TOPICS)
def test_no_line_of_code_is_broken_on_a_terminal_of_80_columns(topic):
    for snippet in snippets(FOLDER / f"{topic}.md", "python", "py", "yaml"):
        assert max(map(len, snippet.text.splitlines())) <= 78, str(snippet)


@pytest.mark.parametrize("topic", TOPICS)
def test_a_guide_only_names_what_is_there(topic):
    for named in re.findall(r"`orkeon docs ([\w-]+)`", guide(topic)):
        assert named in TOPICS


@pytest.mark.parametrize(
    ("path", "text"), make_docs.written().items(), ids=lambda value: getattr(value, "name", "")
)
def test_what_is_made_from_the_schemas_is_up_to_date(path, text):
    assert path.read_text(encoding="utf-8") == text, "run python -m tests.make_docs"
