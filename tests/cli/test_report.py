"""`orkeon run --report FILE.md --diagrams DIR`: a run in Markdown and in pictures."""

import asyncio
import importlib
import io
import os
import re
import signal
import sys
from pathlib import Path
from urllib.parse import unquote

import pytest

from orkeon_transitions.cli import main
from orkeon_transitions.cli.board import Board
from orkeon_transitions.cli.deliverables import Deliverables
from orkeon_transitions.cli.report import report_text
from orkeon_transitions.crew import CrewResult, CrewRunStatus, ModelReply, OfflineModel, Usage, load_crew
from orkeon_transitions.crew.decisions import Decision
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
    assert collect[:7] == ["collect", "collector", "completed", "2", "8", "2", "401"]
    names, _, *limits = rows(section(text, "Limits used"))
    used = dict(zip(names, limits[0], strict=True))
    assert used.pop("longest in a state").endswith(" of 2:00")
    assert used.pop("in all").endswith(" of 10:00")
    assert used == {
        "task": "collect", "transitions": "5 of 462", "most visits of a state": "2 of 154",
        "retries": "0 of 0", "tool calls in a round": "1 of 10", "outputs sent back": "0 of 3",
    }  # fmt: skip
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
    assert ["write", "writer", "skipped", "0", "0", "0", "0", ""] in rows(text)
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


def test_a_report_that_cannot_be_written_in_the_end_is_kept(orkeon, little_crew, folder, monkeypatch):
    (folder / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder / "temporary"))

    async def reply(self, messages, tools):
        (folder / "r.md").mkdir(exist_ok=True)
        raise ConnectionError("gone")

    monkeypatch.setattr(OfflineModel, "reply", reply)
    done = orkeon("run", "little.yaml", "--report", "r.md")
    assert done.code == 1
    assert "r.md: the report cannot be written there: " in done.err
    assert "failed" in done.out, "the result is shown all the same"
    kept = Path(re.search(r"the report is in (\S+) instead", done.err).group(1))
    assert kept.parent == folder / "temporary"
    assert "- Status: **failed**" in kept.read_text(encoding="utf-8")


def test_a_report_that_can_be_written_nowhere_is_shown(orkeon, little_crew, folder, monkeypatch):
    async def reply(self, messages, tools):
        (folder / "r.md").mkdir(exist_ok=True)
        return ModelReply("paid for")

    monkeypatch.setattr(OfflineModel, "reply", reply)
    monkeypatch.setattr("tempfile.tempdir", str(folder / "nowhere"))
    done = orkeon("run", "little.yaml", "--report", "r.md", "--json")
    assert (done.code, done.json["status"]) == (0, "completed")
    assert "nor among the temporary files; this is the report:\n# little\n" in done.err


@pytest.mark.parametrize("command", ["run", "resume"])
@pytest.mark.parametrize("option", ["--report", "--diagrams"])
@pytest.mark.parametrize("name", ["", "  "])
def test_an_empty_name_is_refused(orkeon, little_crew, command, option, name):
    given = ("little.yaml",) if command == "run" else ("r", "--store", "sqlite:///s.db")
    done = orkeon(command, *given, option, name)
    assert (done.code, done.out) == (2, "")
    assert f"Invalid value for '{option}': an empty name names nothing" in done.err


@pytest.mark.parametrize("option", ["--report", "--diagrams", "--journal"])
def test_what_cannot_be_written_is_refused_before_anything_is_paid(
    orkeon, little_crew, folder, monkeypatch, option
):
    def refused(*_, **__):
        raise OSError(30, "Read-only file system", "x")

    monkeypatch.setattr(Path, "open", refused)
    monkeypatch.setattr("tempfile.TemporaryFile", refused)
    done = orkeon("run", "little.yaml", option, "x.md")
    assert (done.code, done.out) == (2, "")
    assert "Read-only file system" in done.err
    assert "started" not in done.err


def test_trying_leaves_nothing_and_changes_nothing(orkeon, little_crew, folder):
    (folder / "old.md").write_text("old")
    (folder / "led.md").symlink_to("new.md")
    before = (folder / "old.md").stat().st_mtime_ns
    for name in ("old.md", "led.md", "third.md"):
        assert orkeon("run", "missing.yaml", "--report", name, "--diagrams", "p").code == 2
    assert ((folder / "old.md").read_text(), (folder / "old.md").stat().st_mtime_ns) == ("old", before)
    assert not (folder / "new.md").exists()
    assert not (folder / "third.md").exists()
    assert list((folder / "p").iterdir()) == []


def test_a_pipe_is_no_file_for_a_report(orkeon, little_crew, folder):
    os.mkfifo(folder / "pipe.md")
    done = orkeon("run", "little.yaml", "--report", "pipe.md")
    assert done.code == 2
    assert "is a pipe or a device" in done.err


def test_a_full_standard_output_costs_no_report_and_is_no_invalid_input(
    orkeon, little_crew, folder, monkeypatch
):
    class Full(io.StringIO):
        def write(self, text):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(sys, "stdout", Full())
    assert main(["run", "little.yaml", "--report", "r.md"]) == 1
    assert "- Status: **completed**" in (folder / "r.md").read_text(encoding="utf-8")


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
    def nothing_there(*_, **__):
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


# ---- all together
def test_the_report_shows_the_pictures_from_where_it_lies(orkeon, little_crew, folder):
    (folder / "docs").mkdir()
    done = orkeon("run", "little.yaml", "--report", "docs/r.md", "--diagrams", "my pictures")
    assert done.code == 0
    text = (folder / "docs" / "r.md").read_text(encoding="utf-8")
    link = "../my%20pictures/look.svg"
    assert f"- Picture: [../my pictures/look.svg]({link})" in section(text, "look: ")
    assert f"![The way that look took]({link})" in section(text, "look: ")
    assert (folder / "docs" / unquote(link)).is_file()


def test_a_picture_as_text_is_linked_and_not_shown(orkeon, little_crew, folder, monkeypatch):
    def nothing_there(*_, **__):
        raise MissingExtraError("There is no Graphviz.", extra="diagrams")

    monkeypatch.setattr(
        importlib.import_module("orkeon_transitions.diagrams.render"), "lay_out", nothing_there
    )
    orkeon("run", "little.yaml", "--report", "r.md", "--diagrams", "p")
    text = (folder / "r.md").read_text(encoding="utf-8")
    assert "- Picture: [p/look.mmd](p/look.mmd)" in text
    assert "![" not in text


def test_a_picture_that_cannot_be_written_does_not_cost_the_report(orkeon, little_crew, folder):
    (folder / "p" / "look.svg").mkdir(parents=True)
    done = orkeon("run", "little.yaml", "--report", "r.md", "--diagrams", "p")
    assert done.code == 0
    assert "error: there is no picture of task 'look': " in done.err
    assert (folder / "p" / "write.svg").is_file()
    assert "- Status: **completed**" in (folder / "r.md").read_text(encoding="utf-8")


def test_tokens_and_money_are_in_the_report(orkeon, little_crew, folder, monkeypatch):
    async def reply(self, messages, tools):
        return ModelReply("x", (), Usage(1, 1000, 234, usd=0.0125))

    monkeypatch.setattr(OfflineModel, "reply", reply)
    text = little_crew.read_text()
    little_crew.write_text("circuitBreaker: {meters: {tokens: 50000, usd: 0.5}}\n" + text)
    assert orkeon("run", "little.yaml", "--report", "r.md").code == 0
    text = (folder / "r.md").read_text(encoding="utf-8")
    assert "2,468 tokens (2,000 read, 468 written), $0.0250" in text
    names, _, *limits = rows(section(text, "Limits used"))
    used = dict(zip(names, limits[0], strict=True))
    assert (used["tokens"], used["usd"]) == ("1.2k of 50k", "0.0125 of 0.5")


def test_decisions_are_in_the_report():
    decision = Decision("assignment", "boss", "look", "scout", "he | knows\nit", round=2)
    result = CrewResult("c", CrewRunStatus.COMPLETED, "", None, Usage(), {}, "r", decisions=(decision,))
    crew = load_crew("agents: {scout: {role: S}}\ntasks:\n  look: {description: d}\n")
    text = report_text(crew, result, Deliverables(crew, {}), Board.of("c", []))
    assert ["assignment", "boss", "look", "scout", "2", r"he \| knows it"] in [
        [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in text.splitlines()
    ]


def test_a_run_that_is_interrupted_has_its_report_and_pictures(orkeon, little_crew, folder, monkeypatch):
    async def reply(self, messages, tools):
        if "Results of earlier tasks" in messages[1].content:
            os.kill(os.getpid(), signal.SIGINT)
            await asyncio.Event().wait()
        return ModelReply("found it")

    monkeypatch.setattr(OfflineModel, "reply", reply)
    done = orkeon("run", "little.yaml", "--report", "r.md", "--diagrams", "p", "--store", "sqlite:///s.db")
    assert done.code == 130
    text = (folder / "r.md").read_text(encoding="utf-8")
    assert "- Status: **cancelled**" in text
    assert "found it" in section(text, "look: completed")
    assert "assigned → executing → cancelled" in section(text, "write: cancelled")
    assert sorted(file.name for file in (folder / "p").iterdir()) == ["look.svg", "write.svg"]
    run_id = re.search(r"run `(\w+)`", text).group(1)
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    done = orkeon("resume", run_id, "--store", "sqlite:///s.db", "--report", "r2.md", "--diagrams", "p2")
    assert done.code == 0
    text = (folder / "r2.md").read_text(encoding="utf-8")
    assert "- Status: **completed**" in text
    assert "found it" in section(text, "look: completed")
    assert sorted(file.name for file in (folder / "p2").iterdir()) == ["look.svg", "write.svg"]


def test_a_run_that_an_error_breaks_off_has_its_report(orkeon, little_crew, folder, monkeypatch):
    from orkeon_transitions.crew.processes.process import CrewRun

    prepare = CrewRun.prepare

    def breaking(self, task_id, *rest):
        if task_id == "write":
            raise RuntimeError("out of *luck*")
        return prepare(self, task_id, *rest)

    monkeypatch.setattr(CrewRun, "prepare", breaking)
    done = orkeon("run", "little.yaml", "--report", "r.md", "--diagrams", "p")
    assert done.code == 1
    assert "unexpected RuntimeError: out of *luck*" in done.err
    text = (folder / "r.md").read_text(encoding="utf-8")
    assert "- The run was stopped: RuntimeError: out of \\*luck\\*" in text
    assert "## look: completed" in text
    assert (folder / "p" / "look.svg").is_file()


def test_a_person_is_told_where_to_look(on_terminal, orkeon, little_crew):
    asked = ("run", "little.yaml", "--report", "r.md", "--diagrams", "p")
    assert "note: written down in r.md\nnote: written down in p\n" in on_terminal(*asked, "--no-color").err
    assert "written down" not in orkeon(*asked).err


def test_attempts_of_several_agents_are_each_begun(orkeon, folder):
    (folder / "c.yaml").write_text(
        "process: consensual\nagents: {a: {role: A}, b: {role: B}}\ntasks:\n  t: {description: d}\n"
    )
    assert orkeon("run", "c.yaml", "--report", "r.md").code == 0
    text = (folder / "r.md").read_text(encoding="utf-8")
    assert "- Begun by a: assigned → executing" in text
    assert "- Begun by b: assigned → executing" in text
    assert "| consensus |" in text
