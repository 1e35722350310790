"""`orkeon run --report FILE.md --diagrams DIR`: a run in Markdown and in pictures."""

import importlib
import re

import pytest

from orkeon_transitions.crew import OfflineModel
from orkeon_transitions.errors import MissingExtraError

EXAMPLE = "102-graph-orchestration"


def section(text, title):
    """What stands below a heading, up to the next one."""
    found = re.search(rf"^## {re.escape(title)}.*?\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    assert found, text
    return found.group(1)


def rows(text):
    return [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in text.splitlines()
        if line.startswith("| ")
    ]


def failing(error):
    async def reply(self, messages, tools):
        raise error

    return reply


def test_the_example_shows_its_retry_in_the_report(orkeon, folder):
    done = orkeon("run", EXAMPLE, "--report", "report.md")
    assert done.code == 0
    text = (folder / "report.md").read_text(encoding="utf-8")
    assert text.startswith("# graph-orchestration\n")
    assert "- Status: **completed** in " in text
    assert "- Process: graph; run `" in text
    collect = next(row for row in rows(text) if row[0] == "collect")
    assert collect[:6] == ["collect", "collector", "completed", "2", "8", "2"]
    assert ["collect", "5 of 462", "2 of 154", "0 of 0", "1 of 10"] in rows(section(text, "Limits used"))
    said = section(text, "collect: completed by collector")
    assert "- Begun by collector: assigned → executing → tool_calling → failed (tool" in said
    assert "dropped the connection" in said
    assert "- Begun again by collector: assigned → executing → tool_calling → executing" in said
    assert "counters.md`" in section(text, "report: completed by writer")


def test_the_retry_is_told_while_it_runs(orkeon):
    lines = orkeon("run", EXAMPLE).err.splitlines()
    assert lines[0] == "collect (collector): started"
    assert lines[1].startswith("collect (collector): failed, to be retried (1 of 2): tool 'counter_feed'")
    assert lines[2] == "collect (collector): started"
    assert lines[3].startswith("collect (collector): completed in ")
    assert len(lines) == 10


def test_a_run_that_failed_has_its_report_too(orkeon, little_crew, folder, monkeypatch):
    monkeypatch.setattr(OfflineModel, "reply", failing(ConnectionError("no *network*\nat | all")))
    done = orkeon("run", "little.yaml", "--report", "r.md", "--diagrams", "pictures")
    assert done.code == 1
    text = (folder / "r.md").read_text(encoding="utf-8")
    assert "- Why: task 'look' failed: ConnectionError: no \\*network\\* at \\| all" in text
    assert ["write", "writer", "skipped", "0", "0", "0", ""] in rows(text)
    assert "## write: skipped by writer" in text
    assert "- Why: it needs 'look', which came to no good end" in text
    assert "### Output" not in text
    assert [file.name for file in (folder / "pictures").iterdir()] == ["look.svg"]


def test_limits_that_are_off_are_said_to_be(orkeon, little_crew, folder):
    text = little_crew.read_text()
    little_crew.write_text("goal: See\ncircuitBreaker: {maxTransitions: 0}\n" + text)
    orkeon("run", "little.yaml", "--report", "r.md")
    report = (folder / "r.md").read_text(encoding="utf-8")
    assert report.startswith("# little\n\nSee\n")
    assert [row[1] for row in rows(section(report, "Limits used"))][2:] == ["9, no limit", "5, no limit"]


def test_an_output_with_fences_stays_whole(orkeon, little_crew, folder, monkeypatch):
    from orkeon_transitions.crew import ModelReply

    async def reply(self, messages, tools):
        return ModelReply("```python\nx = 1\n```\nand ````\x1b[31m")

    monkeypatch.setattr(OfflineModel, "reply", reply)
    orkeon("run", "little.yaml", "--report", "r.md")
    text = (folder / "r.md").read_text(encoding="utf-8")
    assert "`````\n```python\nx = 1\n```\nand ````\\x1b[31m\n`````\n" in text


@pytest.mark.parametrize("where", ["folder.md", "no/such/report.md"])
def test_a_report_that_cannot_be_written_is_refused_before_the_run(orkeon, little_crew, folder, where):
    (folder / "folder.md").mkdir()
    done = orkeon("run", "little.yaml", "--report", where)
    assert (done.code, done.out) == (2, "")
    assert "for the report" in done.err
    assert "started" not in done.err


def test_a_report_that_cannot_be_written_in_the_end_is_said(orkeon, little_crew, folder, monkeypatch):
    async def reply(self, messages, tools):
        (folder / "r.md").mkdir(exist_ok=True)
        raise ConnectionError("gone")

    monkeypatch.setattr(OfflineModel, "reply", reply)
    done = orkeon("run", "little.yaml", "--report", "r.md")
    assert done.code == 2
    assert "r.md: cannot be written: " in done.err
    assert "failed" in done.out, "the result is shown all the same"


# ---- pictures
def test_each_task_has_a_picture_with_its_way(orkeon, folder):
    assert orkeon("run", EXAMPLE, "--diagrams", "deep/pictures").code == 0
    pictures = folder / "deep" / "pictures"
    names = ["analyse.svg", "collect.svg", "report.svg", "validate.svg"]
    assert sorted(file.name for file in pictures.iterdir()) == names
    collect = (pictures / "collect.svg").read_text(encoding="utf-8")
    assert "state-completed" in collect
    for picture, seen in (("collect", True), ("analyse", False)):
        arrow = re.search(
            r'<g id="arrow-tool_calling-failed" class="([^"]*)"',
            (pictures / f"{picture}.svg").read_text(encoding="utf-8"),
        )
        assert arrow
        assert ("taken" in arrow.group(1)) == seen


def test_names_that_no_file_can_have_are_bent(orkeon, little_crew, folder):
    text = "agents: {a: {}}\ntasks:\n" + "".join(
        f'  "{name}": {{description: d}}\n' for name in ("a/b", "a b", "A-B", "../..", "é", "x" * 300)
    )
    little_crew.write_text(text)
    assert orkeon("run", "little.yaml", "--diagrams", "p").code == 0
    names = sorted(file.name for file in (folder / "p").iterdir())
    assert names == sorted(["a-b.svg", "a-b-2.svg", "A-B-3.svg", "task.svg", "é.svg", "x" * 80 + ".svg"])


def test_without_graphviz_the_pictures_are_mermaid(orkeon, little_crew, folder, monkeypatch):
    def nothing_there(*_):
        raise MissingExtraError("There is no Graphviz.", extra="diagrams")

    module = importlib.import_module("orkeon_transitions.diagrams.render")
    monkeypatch.setattr(module, "lay_out", nothing_there)
    done = orkeon("run", "little.yaml", "--diagrams", "p")
    assert done.code == 0
    assert sorted(file.name for file in (folder / "p").iterdir()) == ["look.mmd", "write.mmd"]
    assert done.err.count("drawn as Mermaid") == 1


def test_a_trip_is_in_the_picture(orkeon, little_crew, folder):
    text = little_crew.read_text()
    little_crew.write_text("circuitBreaker: {maxTransitions: 2, useDegradedMode: false}\n" + text)
    assert orkeon("run", "little.yaml", "--diagrams", "p").code == 1
    assert "Max transitions exceeded" in (folder / "p" / "look.svg").read_text(encoding="utf-8")


def test_a_folder_that_cannot_be_made_is_refused_before_the_run(orkeon, little_crew, folder):
    (folder / "file").write_text("")
    done = orkeon("run", "little.yaml", "--diagrams", "file")
    assert (done.code, done.out) == (2, "")
    assert "cannot be a folder for pictures" in done.err
