"""Every snippet of the README runs, and prints what the README says that it prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from orkeon_transitions import load_crew

README = Path(__file__).parent.parent / "README.md"
BLOCK = re.compile(
    r"^```python\n(?P<code>.*?)^```\n(?:\n```text\n(?P<output>.*?)^```\n)?", re.DOTALL | re.MULTILINE
)
SNIPPETS = list(BLOCK.finditer(README.read_text(encoding="utf-8")))


def line_of(snippet: re.Match[str]) -> int:
    return snippet.string.count("\n", 0, snippet.start()) + 1


@pytest.mark.parametrize("snippet", SNIPPETS, ids=lambda snippet: f"line {line_of(snippet)}")
def test_snippet_prints_what_the_readme_says(snippet, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    code = compile(snippet["code"], f"README.md, line {line_of(snippet)}", "exec", dont_inherit=True)
    exec(code, {"__name__": "__readme__"})
    assert capsys.readouterr().out == (snippet["output"] or "")


def test_the_crew_file_that_is_explained_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("sources").mkdir()
    text = re.search(
        r"^```yaml\n(name: .*?)^```", README.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )
    Path("crew.yaml").write_text(text[1], encoding="utf-8")
    crew = load_crew("crew.yaml", strict=True)
    assert not crew.findings
    result = crew.run_sync(inputs={"topic": "parsers"})
    assert result.success
    assert Path("reports", "report.md").is_file()


def test_there_are_snippets_and_outputs():
    assert len(SNIPPETS) > 10
    assert sum(snippet["output"] is not None for snippet in SNIPPETS) > 8


def test_pictures_and_commands_are_there():
    text = README.read_text(encoding="utf-8")
    for picture in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", text):
        assert (README.parent / picture).is_file(), picture
    commands = re.findall(r"^```sh\n(python3 .*?)\n```", text, re.MULTILINE)
    assert len(commands) == 2
    assert "orkeon run" in commands[0]
    assert commands[1].endswith("pytest")
