"""`orkeon run`: crews from their file to their result."""

import json
import os
import re
from pathlib import Path

import pytest

from orkeon_transitions.crew import OfflineModel
from orkeon_transitions.machines import TaskExecution

EXAMPLE = "103-ts-codebase-with-fsm"


def test_a_crew_runs_to_its_end(orkeon, little_crew, folder):
    done = orkeon("run", "little.yaml")
    assert done.code == 0
    rows = [line.split() for line in done.out.splitlines()]
    assert ["look", "scout", "completed"] in [row[:3] for row in rows]
    assert ["write", "writer", "completed"] in [row[:3] for row in rows]
    assert "Deliverables:\n  out/report.md\n" in done.out
    assert (folder / "out" / "report.md").read_text()
    assert "offline model" in done.out
    assert re.match(r"little: completed in [\d.]+ m?s \(2 tasks, ", done.out.splitlines()[-1])
    assert [line.split(" (")[0] for line in done.err.splitlines()] == ["look", "look", "write", "write"]
    assert orkeon("run", "little.yaml", "--quiet").err == ""


def test_for_programs(orkeon, little_crew, folder):
    done = orkeon("run", "little.yaml", "--json")
    assert done.code == 0
    result = done.json
    assert (result["status"], result["success"], result["crew"]) == ("completed", True, "little")
    assert result["output"]
    look, write = result["tasks"]
    assert (look["id"], look["status"], look["agent"]) == ("look", "completed", "scout")
    assert [step["to_state"] for step in look["history"]][-1] == "completed"
    assert look["deliverable"] is None
    assert write["deliverable"] == str(folder / "out" / "report.md")
    assert result["seconds"] >= 0


@pytest.mark.slow
def test_the_packaged_example_runs_by_name_and_writes_here(orkeon, folder):
    done = orkeon("run", EXAMPLE, "--json")
    assert done.code == 0, done.err
    result = done.json
    assert result["status"] == "completed"
    assert len(result["tasks"]) == 7
    assert {task["status"] for task in result["tasks"]} == {"completed"}
    written = [task["deliverable"] for task in result["tasks"] if task["deliverable"]]
    assert written
    assert all(Path(path).is_relative_to(folder) for path in written)


def test_a_journal_holds_every_transition_and_replays(orkeon, little_crew):
    result = orkeon("run", "little.yaml", "--json", "--journal", "run.jsonl").json
    replayed = orkeon("replay", "run.jsonl", "--json").json["machines"]
    for task, machine in zip(result["tasks"], replayed, strict=True):
        assert machine["machine_id"] == task["machine_id"]
        assert machine["final_state"] == task["state"] == "completed"
        assert [step["trigger"] for step in machine["steps"]] == [step["trigger"] for step in task["history"]]
        assert machine["anomalies"] == []
    orkeon("run", "little.yaml", "--json", "--journal", "run.jsonl")
    assert len(orkeon("replay", "run.jsonl", "--json").json["machines"]) == 4


def test_inputs_fill_the_file(orkeon, little_crew):
    little_crew.write_text(little_crew.read_text().replace("Write it up", '"Write about {topic} in {style}"'))
    done = orkeon("run", "little.yaml")
    assert done.code == 2
    assert "little.yaml:8:" in done.err
    assert "'topic'" in done.err
    assert "'style'" in done.err
    assert done.out == ""
    done = orkeon("run", "little.yaml", "--input", "topic=a=b", "--input", "style= plain ")
    assert done.code == 0
    assert "Write about a=b in" in done.out


def test_a_deliverable_with_a_placeholder_is_found(orkeon, little_crew, folder):
    little_crew.write_text(little_crew.read_text().replace("/out/report.md", '"/out/{name}.md"'))
    done = orkeon("run", "little.yaml", "--input", "name=mine", "--json")
    assert done.json["tasks"][1]["deliverable"] == str(folder / "out" / "mine.md")


def test_findings_are_told_with_their_place_and_refused_under_strict(orkeon, little_crew):
    little_crew.write_text(little_crew.read_text().replace("role: Scout", "role: Scout, colour: red"))
    done = orkeon("run", "little.yaml", "--json")
    assert (done.code, done.json["status"]) == (0, "completed")
    assert re.search(r"^little\.yaml:3:24: warning: .*'colour'.*\[unknown-key\]$", done.err, re.MULTILINE)
    done = orkeon("run", "little.yaml", "--strict")
    assert done.code == 2
    assert "little.yaml:3:" in done.err
    assert done.out == ""


def test_the_offline_model_may_be_named(orkeon, little_crew):
    assert orkeon("run", "little.yaml", "--model", "offline").code == 0


class TestEnds:
    """How a run ends is its exit code."""

    def test_a_failed_task_fails_the_run_and_skips_what_needs_it(self, orkeon, little_crew, monkeypatch):
        async def reply(self, messages, tools):
            raise ConnectionError("no network")

        monkeypatch.setattr(OfflineModel, "reply", reply)
        done = orkeon("run", "little.yaml")
        assert done.code == 1
        rows = {row[0]: row for line in done.out.splitlines() if (row := line.split())}
        assert rows["look"][2] == "failed"
        assert rows["write"][2] == "skipped"
        assert "look: failed: " in done.out
        assert "no network" in done.out
        assert "failed in" in done.out.splitlines()[-1]
        assert "Deliverables" not in done.out

    def test_what_ended_the_run_itself_is_told(self, orkeon, folder):
        tasks = "tasks: {one: {description: d}, two: {description: d}, three: {description: d}}\n"
        (folder / "g.yaml").write_text(
            f"process: graph\ngraphConfig: {{maxTransitions: 3}}\nagents: {{a: {{}}}}\n{tasks}"
        )
        done = orkeon("run", "g.yaml")
        assert done.code == 1
        assert done.out.splitlines()[-3:-1] == [
            "g: failed: circuit breaker of the graph: Max transitions exceeded (3/3)",
            "three: cancelled: the run was broken off before",
        ]

    def test_a_degraded_task_is_exit_code_3(self, orkeon, little_crew):
        text = little_crew.read_text()
        little_crew.write_text(text + "circuitBreaker: {preset: strict, maxTransitions: 2}\n")
        done = orkeon("run", "little.yaml", "--json")
        assert done.code == 3
        assert done.json["status"] == "degraded"
        assert done.json["tasks"][0]["status"] == "degraded"
        assert "Max transitions exceeded (2/2)" in orkeon("run", "little.yaml").out

    def test_an_old_deliverable_is_not_this_run_s(self, orkeon, little_crew, folder):
        assert orkeon("run", "little.yaml").code == 0
        little_crew.write_text(
            little_crew.read_text() + "circuitBreaker: {preset: strict, maxTransitions: 1}\n"
        )
        assert (folder / "out" / "report.md").exists()
        assert orkeon("run", "little.yaml", "--json").json["tasks"][1]["deliverable"] is None

    def test_the_machine_decides(self, orkeon, little_crew, monkeypatch):
        for kind in TaskExecution.__mro__:
            if "can_call_tool" in vars(kind):
                monkeypatch.setattr(kind, "can_call_tool", lambda self, event: False)
        done = orkeon("run", "little.yaml", "--json")
        assert "tool_calling" not in json.dumps(done.json["tasks"])


class TestJournalsThatCannotBeWritten:
    def test_one_that_cannot_be_opened_is_invalid_input(self, orkeon, little_crew, folder):
        (folder / "taken").mkdir()
        for journal in ("nowhere/run.jsonl", "taken"):
            done = orkeon("run", "little.yaml", "--journal", journal)
            assert done.code == 2
            assert journal in done.err
            assert len(done.err.splitlines()) == 1
            assert not (folder / "out").exists()

    @pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
    def test_one_in_a_folder_without_write_permission_is_invalid_input(self, orkeon, little_crew, folder):
        (folder / "locked").mkdir(mode=0o555)
        assert orkeon("run", "little.yaml", "--journal", "locked/run.jsonl").code == 2

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
    @pytest.mark.parametrize("as_json", [True, False])
    def test_one_on_a_full_disk_stops_the_run_before_a_fact_is_lost(
        self, orkeon, little_crew, folder, as_json
    ):
        done = orkeon("run", "little.yaml", "--journal", "/dev/full", *(["--json"] if as_json else []))
        assert done.code == 1
        assert "No space left on device" in done.err
        assert "Traceback" not in done.err
        assert not (folder / "out").exists()
        if as_json:
            assert done.json["status"] == "failed"
            assert all(task["history"] == [] for task in done.json["tasks"])
        else:
            assert "look" in done.out


@pytest.mark.parametrize("name", ["no-such-crew.yaml", "no-such-crew"])
def test_a_missing_crew_is_one_clear_line(orkeon, name):
    done = orkeon("run", name)
    assert done.code == 2
    assert name in done.err
    assert len(done.err.splitlines()) == 1


def test_a_machine_is_no_crew(orkeon, folder):
    (folder / "m.yaml").write_text("initial: a\nstates: [a]\n")
    done = orkeon("run", "m.yaml")
    assert (done.code, done.err) == (2, "error: m.yaml: is a machine, not a crew\n")


def test_the_nearest_example_is_offered(orkeon):
    assert f"'{EXAMPLE}'" in orkeon("run", "103-ts-codebase-with-fsn").err


def test_what_is_not_there_yet_is_refused_by_name(orkeon, little_crew):
    text = little_crew.read_text()
    for key in ("managerLlm", "planningLlm", "knowledgeSources"):
        little_crew.write_text(f"{key}: something\n{text}")
        done = orkeon("run", "little.yaml")
        assert done.code == 2
        assert f"'{key}' is not there yet" in done.err


def test_a_terminal_gets_the_live_table_and_a_drawn_result(on_terminal, little_crew):
    done = on_terminal("run", "little.yaml", columns=80)
    assert done.code == 0
    assert "\x1b[?25l" in done.err, "the cursor is hidden while the table moves"
    assert done.err.endswith("\x1b[?25h") or "\x1b[?25h" in done.err
    assert "of 2 tasks" in done.err
    assert "╭" in done.out
    assert "\x1b[32mcompleted\x1b[0m" in done.out


def test_what_is_decided_is_shown(orkeon, folder):
    agents = "agents: {boss: {}, a: {}, b: {}}\ntasks: {t: {description: d, agent: b}}\n"
    (folder / "led.yaml").write_text(f"process: hierarchical\nmanagerAgent: boss\n{agents}")
    done = orkeon("run", "led.yaml")
    assert done.code == 0
    assert done.err.splitlines()[:3] == [
        "t: assignment by boss: b ([offline model] No language model was asked.)",
        "t (b): started",
        "t: review by boss: accepted ([offline model] No language model was asked.)",
    ]
    document = json.loads(orkeon("run", "led.yaml", "--json").out)
    assert [(one["kind"], one["choice"]) for one in document["decisions"]] == [
        ("assignment", "b"),
        ("review", "accepted"),
    ]


def test_a_terminal_gets_the_last_decision_below_the_table(on_terminal, folder):
    text = "process: consensual\nagents: {a: {}, b: {}, c: {}}\ntasks: {t: {description: d}}\n"
    (folder / "agree.yaml").write_text(text)
    done = on_terminal("run", "agree.yaml", columns=100)
    assert done.code == 0
    assert "t: consensus: a (all 3 answers are the same)" in done.err
    assert "completed" in done.out


def test_tasks_that_agents_agreed_on_are_done_in_the_list_of_runs(orkeon, folder):
    text = "process: consensual\nagents: {a: {}, b: {}, c: {}}\ntasks: {t: {description: d}}\n"
    (folder / "agree.yaml").write_text(text)
    orkeon("run", "agree.yaml", "--store", "sqlite:///runs.db")
    (run,) = json.loads(orkeon("runs", "--store", "sqlite:///runs.db", "--json").out)["runs"]
    assert (run["tasks_done"], run["tasks"]) == (1, 1)
