"""Every snippet of the README runs, and prints what the README says that it prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from orkeon_transitions import load_crew
from orkeon_transitions.docs import TOPICS
from orkeon_transitions.errors import CrewDefinitionError
from tests.snippets import printed_by, snippets

README = Path(__file__).parent.parent / "README.md"
TEXT = README.read_text(encoding="utf-8")
SNIPPETS = snippets(README, "python")
YAML = snippets(README, "yaml")
(CREW,) = (block.text for block in YAML if block.text.startswith("name: "))


@pytest.mark.parametrize("snippet", SNIPPETS, ids=lambda snippet: f"line {snippet.line}")
def test_snippet_prints_what_the_readme_says(snippet, tmp_path, monkeypatch):
    """In a folder that has the crew file which is explained there."""
    monkeypatch.chdir(tmp_path)
    Path("crew.yaml").write_text(CREW, encoding="utf-8")
    assert printed_by(snippet) == (snippet.output or "")


def test_the_crew_file_that_is_explained_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("sources").mkdir()
    Path("crew.yaml").write_text(CREW, encoding="utf-8")
    crew = load_crew("crew.yaml", strict=True)
    assert not crew.findings
    result = crew.run_sync(inputs={"topic": "parsers"})
    assert result.success
    assert Path("reports", "report.md").is_file()


def test_what_is_no_whole_file_is_said_to_be_a_fragment_and_has_known_keys():
    fragments = [block for block in YAML if block.text != CREW]
    assert fragments
    for fragment in fragments:
        assert "fragment:" in "\n".join(TEXT.splitlines()[: fragment.line - 1]).rstrip()[-20:], str(fragment)
        try:
            load_crew(fragment.text, strict=True)
        except CrewDefinitionError as error:  # it lacks what stands elsewhere
            told = [str(problem) for problem in error.problems]
            assert not [words for words in told if "unknown key" in words], told


def test_there_are_snippets_and_outputs():
    assert len(SNIPPETS) > 10
    assert sum(snippet.output is not None for snippet in SNIPPETS) > 8


def test_pictures_and_commands_are_there():
    text = README.read_text(encoding="utf-8")
    pictures = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", text) + re.findall(r'src(?:set)?="([^"]+)"', text)
    for picture in pictures:
        assert (README.parent / picture).is_file(), picture
    commands = re.findall(r"^```sh\n(python3 .*?)\n```", text, re.MULTILINE)
    assert len(commands) == 2
    assert "orkeon run" in commands[0]
    assert commands[1].endswith("pytest")


def test_every_guide_is_named_and_every_file_that_is_linked_is_there():
    prose = re.sub(r"^```.*?^```", "", TEXT, flags=re.DOTALL | re.MULTILINE)
    linked = re.findall(r"\]\((?!https?:)([^)#]+)\)", prose)
    assert [path for path in linked if not (README.parent / path).exists()] == []
    assert {f"orkeon_transitions/docs/{topic}.md" for topic in TOPICS} <= set(linked)
