"""`orkeon run --store`, `orkeon runs` and `orkeon resume`."""

import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from orkeon_transitions.cli.stores import age
from orkeon_transitions.crew import OfflineModel, load_crew
from orkeon_transitions.store import MachineStore
from tests.crew.dying import died

URL = "sqlite:///runs.db"
ORKEON = [sys.executable, "-m", "orkeon_transitions"]


@pytest.fixture(autouse=True)
def _no_store_in_the_environment(monkeypatch):
    monkeypatch.delenv("ORKEON_STORE", raising=False)


@pytest.fixture
def stopped(orkeon, little_crew, monkeypatch):
    """A run `r` of the little crew that Ctrl-C has ended while it wrote."""
    asked = []

    async def reply(self, messages, tools):
        asked.append(messages)
        if len(asked) == 5:  # the second task has been begun
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.01)
        return await answers(self, messages, tools)

    answers = OfflineModel.reply
    monkeypatch.setattr(OfflineModel, "reply", reply)
    done = orkeon("run", "little.yaml", "--store", URL, "--run-id", "r")
    monkeypatch.setattr(OfflineModel, "reply", answers)
    return done


def states_of(done):
    return {task["id"]: task["status"] for task in done.json["tasks"]}


def test_a_run_is_kept_and_listed(orkeon, little_crew):
    done = orkeon("run", "little.yaml", "--store", URL)
    assert done.code == 0
    note = done.err.splitlines()[0]
    assert note.startswith("note: run ")
    assert note.endswith(" is kept in sqlite:///runs.db")
    run_id = note.split()[2]
    listed = orkeon("runs", "--store", URL)
    assert listed.code == 0
    head, row = listed.out.splitlines()
    assert head.split()[:3] == ["RUN", "CREW", "STATUS"]
    assert row.split()[:6] == [run_id, "little", "completed", "2", "of", "2"]
    (document,) = orkeon("runs", "--store", URL, "--json").json["runs"]
    assert (document["run_id"], document["tasks"], document["tasks_done"]) == (run_id, 2, 2)
    assert document["output"]
    assert document["owner"] is None
    assert document["source"].endswith("little.yaml")
    assert document["machines"][f"{run_id}/look"] == "completed"


def test_ctrl_c_leaves_a_run_that_goes_on(orkeon, stopped):
    assert stopped.code == 130
    assert f"orkeon resume r --store {URL} goes on with it" in stopped.err.splitlines()[-1]
    assert [run["status"] for run in orkeon("runs", "--store", URL, "--json").json["runs"]] == ["interrupted"]
    done = orkeon("resume", "r", "--store", URL)
    assert done.code == 0
    assert "look (scout): completed before" in done.err
    assert "write (writer): goes on" in done.err
    assert "Deliverables:\n  out/report.md\n" in done.out
    again = orkeon("resume", "r", "--store", URL)
    assert again.code == 2
    assert "run 'r' has ended (completed)" in again.err


def test_for_programs(orkeon, stopped, folder):
    done = orkeon("resume", "r", "--store", URL, "--json", "--report", "r.md", "--diagrams", "pictures")
    assert done.code == 0, done.err
    assert states_of(done) == {"look": "completed", "write": "completed"}
    assert done.json["run_id"] == "r"
    assert "run `r`" in (folder / "r.md").read_text()
    assert len(list((folder / "pictures").iterdir())) == 2


def test_a_file_that_was_written_before_is_told(orkeon, little_crew, folder):
    text = little_crew.read_text().replace("agent: scout}", "agent: scout, deliverable: /out/look.md}")
    little_crew.write_text(text)
    with MachineStore(URL) as store:
        assert died(load_crew("little.yaml"), store.runs, 14)
        store.runs.take_up("r", take_over=True).release("interrupted")
    done = orkeon("resume", "r", "--store", URL, "--json")
    assert "look (scout): completed before" in done.err
    assert [task["deliverable"] for task in done.json["tasks"]] == [
        str(folder / "out" / "look.md"),
        str(folder / "out" / "report.md"),
    ]


def test_on_a_terminal(on_terminal, stopped):
    done = on_terminal("runs", "--store", URL)
    assert "interrupted" in done.out
    assert "orkeon resume RUN" in done.err
    done = on_terminal("resume", "r", "--store", URL)
    assert done.code == 0
    assert "2 tasks" in done.out


def test_the_store_may_stand_in_the_environment(orkeon, stopped, monkeypatch):
    monkeypatch.setenv("ORKEON_STORE", URL)
    assert orkeon("runs").out.splitlines()[1].split()[0] == "r"
    assert orkeon("resume", "r").code == 0


def test_a_crew_file_that_has_changed(orkeon, stopped, little_crew, folder):
    little_crew.write_text(little_crew.read_text().replace("Write it up", "Write it all up"))
    done = orkeon("resume", "r", "--store", URL)
    assert done.code == 2
    assert "little.yaml:8:" in done.err
    assert "tasks.write.description: has changed since run 'r' began" in done.err
    assert "--allow-changes" in done.err
    assert orkeon("resume", "r", "--store", URL, "--allow-changes").code == 0


def test_a_crew_file_that_is_elsewhere(orkeon, stopped, little_crew, folder):
    little_crew.rename(folder / "moved.yaml")
    done = orkeon("resume", "r", "--store", URL)
    assert done.code == 2
    assert "little.yaml" in done.err
    assert orkeon("resume", "r", "--store", URL, "--crew", "moved.yaml").code == 0


def test_inputs_are_kept_and_may_be_changed_on_purpose(orkeon, little_crew):
    little_crew.write_text(little_crew.read_text().replace("Write it up", '"Write about {topic}"'))
    with MachineStore(URL) as store:
        assert died(load_crew("little.yaml"), store.runs, 3, inputs={"topic": "parsers"})
        store.runs.take_up("r", take_over=True).release("interrupted")
    done = orkeon("resume", "r", "--store", URL, "--input", "topic=lexers")
    assert done.code == 2
    assert "inputs.topic: has another value" in done.err
    done = orkeon("resume", "r", "--store", URL)
    assert done.code == 0
    assert "Write about parsers" in done.out


def test_one_that_is_being_worked_on(orkeon, little_crew):
    with MachineStore(URL) as store:
        assert died(load_crew("little.yaml"), store.runs, 3)
        (listed,) = orkeon("runs", "--store", URL, "--json").json["runs"]
        assert (listed["status"], str(os.getpid()) in listed["owner"]) == ("running", True)
        done = orkeon("resume", "r", "--store", URL)
        assert done.code == 2
        assert f"is being worked on by process {os.getpid()}" in done.err
        assert "--take-over" in done.err
        assert orkeon("resume", "r", "--store", URL, "--take-over").code == 0
    (listed,) = orkeon("runs", "--store", URL, "--json").json["runs"]
    assert listed["status"] == "completed"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["resume", "r"], "--store"),
        (["runs"], "--store"),
        (["resume", "r", "--store", "sqlite:///none.db"], "no such database"),
        (["runs", "--store", "sqlite:///none.db"], "no such database"),
        (["runs", "--store", "sqlite://"], "in memory"),
        (["runs", "--store", "d/runs.db"], "a store in that file is named sqlite:///d/runs.db"),
        (["resume", "r", "--store", "/d/runs.db"], "a store in that file is named sqlite:////d/runs.db"),
        (["run", "little.yaml", "--store", "runs.db"], "a store in that file is named sqlite:///runs.db"),
        (["runs", "--store", "mysql://x"], "mysql"),
        (["run", "little.yaml", "--store", "nonsense"], "URL"),
        (["run", "little.yaml", "--store", URL, "--journal", "j.jsonl"], "written down once"),
        (["runs", "--store", URL, "--limit", "0"], "--limit"),
    ],
)
def test_mistakes(orkeon, little_crew, arguments, words):
    done = orkeon(*arguments)
    assert done.code == 2
    assert words in done.err
    assert "Traceback" not in done.err


def test_a_run_that_is_not_there(orkeon, little_crew):
    orkeon("run", "little.yaml", "--store", URL, "--run-id", "night")
    done = orkeon("resume", "nigth", "--store", URL)
    assert done.code == 2
    assert "did you mean 'night'" in done.err
    done = orkeon("run", "little.yaml", "--store", URL, "--run-id", "night")
    assert done.code == 2
    assert "a run 'night' already" in done.err


def test_no_runs_yet(orkeon, folder):
    MachineStore(URL).close()
    assert orkeon("runs", "--store", URL).out == "no runs in sqlite:///runs.db\n"
    assert orkeon("runs", "--store", URL, "--json").json["runs"] == []


def test_a_crew_from_a_text_needs_its_file(orkeon, little_crew):
    with MachineStore(URL) as store:
        with pytest.raises(TypeError):
            load_crew(little_crew.read_text()).run_sync(run_log=store.runs, inputs={"x": object()})
        text = little_crew.read_text().replace("./", f"{little_crew.parent}/")
        store.runs.begin("r", load_crew(text)._origin({}, ()).to_note()).release("interrupted")
    done = orkeon("resume", "r", "--store", URL)
    assert done.code == 2
    assert "--crew" in done.err


@pytest.mark.parametrize(
    ("passed", "words"), [(0.5, "0.5 s"), (125, "2:05"), (86_400 * 3, "3 days"), (-5, "0 ms")]
)
def test_ages(passed, words):
    now = datetime.now(UTC)
    assert age(now - timedelta(seconds=passed), now) == words


@pytest.mark.slow
@pytest.mark.parametrize("crew", ["102-graph-orchestration", "103-ts-codebase-with-fsm"])
def test_the_command_is_killed_and_gone_on_with(crew, folder):
    killed = False
    for number in range(5):
        run_id = f"r{number}"
        child = subprocess.Popen(
            [*ORKEON, "run", crew, "--store", URL, "--run-id", run_id, "--quiet"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        until = time.monotonic() + 30
        while not _has_begun(run_id) and child.poll() is None and time.monotonic() < until:
            time.sleep(0.005)
        time.sleep(0.02 * number)
        child.kill()
        child.communicate()
        if child.returncode == 0:
            continue
        done = subprocess.run(
            [*ORKEON, "resume", run_id, "--store", URL], capture_output=True, text=True, check=False
        )
        if "has ended" in done.stderr:
            continue
        assert done.returncode == 0, done.stderr
        assert ": completed in" in done.stdout.splitlines()[-1]
        killed = True
    assert killed


def _has_begun(run_id):
    if not Path("runs.db").exists():
        return False
    try:
        with MachineStore(URL, must_exist=True) as store:
            return bool([run for run in store.runs.listed() if run.run_id == run_id and run.states])
    except Exception:
        return False


@pytest.mark.parametrize("name", ["", "x" * 300])
def test_a_run_with_a_name_that_is_none_is_refused_before_anything_is_written(orkeon, tmp_path, name):
    done = orkeon(
        "run", "103-ts-codebase-with-fsm", "--run-id", name, "--store", f"sqlite:///{tmp_path}/r.db"
    )
    assert done.code == 2
    assert done.err.startswith("error: a run's name")
    assert not (tmp_path / "r.db").exists()
