"""Deliverables: the file is where the crew file says, whoever worked."""

import time

import pytest

from orkeon_transitions.crew import load_crew
from orkeon_transitions.crew.mounts import Mounts
from tests.crew.scripted import ScriptedModel, calls

CREW = """\
agents: {{a: {{tools: [file_write]}}}}
mounts: ["{folder}:/out:rw"]
tasks:
  t: {{description: d, deliverable: "/out/{file}"{more}}}
"""


@pytest.fixture
def made(tmp_path):
    def make(file="sub/report.md", more=""):
        return load_crew(CREW.format(folder=tmp_path / "out", file=file, more=more))

    return make


def test_the_output_of_a_function_is_written(made, tmp_path):
    assert made().run_sync(executor=lambda *_: "Grüße\n").success
    assert (tmp_path / "out" / "sub" / "report.md").read_text(encoding="utf-8") == "Grüße\n"


def test_what_the_function_wrote_itself_stays(made, tmp_path):
    def work(agent, task, context):
        file = tmp_path / "out" / "sub" / "report.md"
        file.parent.mkdir(parents=True)
        file.write_text("the whole report")
        return "written"

    assert made().run_sync(executor=work).success
    assert (tmp_path / "out" / "sub" / "report.md").read_text() == "the whole report"


def test_what_an_earlier_run_wrote_is_replaced(made, tmp_path):
    for words in ("first", "second", "second"):
        assert made().run_sync(executor=lambda *_, said=words: said).success
        assert (tmp_path / "out" / "sub" / "report.md").read_text() == words


def test_a_model_that_writes_has_its_way_and_one_that_does_not_is_written_for(made, tmp_path):
    write = calls(("file_write", {"path": "/out/sub/report.md", "content": "long"}))
    assert made().run_sync(model=ScriptedModel(write, "I wrote it")).success
    assert (tmp_path / "out" / "sub" / "report.md").read_text() == "long"
    assert made(more=", tools: []").run_sync(model=ScriptedModel("all in my answer")).success
    assert (tmp_path / "out" / "sub" / "report.md").read_text() == "all in my answer"


def test_placeholders_are_filled(made, tmp_path):
    assert made("{name}.md").run_sync({"name": "mine"}, executor=lambda *_: "x").success
    assert (tmp_path / "out" / "mine.md").read_text() == "x"


def test_a_file_that_cannot_be_written_fails_the_task_output_kept(made, tmp_path):
    (tmp_path / "out" / "sub" / "report.md").mkdir(parents=True)
    tries = []
    crew = made(more=", circuitBreaker: {maxRetries: 1}")
    task = crew.run_sync(executor=lambda *_: tries.append(1) or "precious").tasks["t"]
    assert (str(task.status), task.attempts, task.output) == ("failed", 2, "precious")
    assert task.error.startswith("the deliverable could not be written: ToolError: /out/sub/report.md")
    assert [str(step.to_state) for step in task.history] == ["executing", "validating", "failed"] * 2


def test_a_failed_task_writes_nothing(made, tmp_path):
    def work(agent, task, context):
        raise RuntimeError("no")

    assert not made().run_sync(executor=work).success
    assert not (tmp_path / "out").exists()


def test_a_trip_while_the_file_is_written_degrades_the_task(made, monkeypatch):
    def slowly(self, path, content):
        time.sleep(0.3)

    monkeypatch.setattr(Mounts, "write", slowly)
    task = (
        made(more=", circuitBreaker: {stateTimeoutSeconds: 0.05}")
        .run_sync(executor=lambda *_: "x")
        .tasks["t"]
    )
    assert (str(task.status), task.output) == ("degraded", "x")
    assert "State timeout exceeded" in task.error
    assert "validating" in task.error
