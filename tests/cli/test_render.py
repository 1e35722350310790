"""`orkeon render`: machines, snapshots and journals as pictures."""

import json

import pytest

from orkeon_transitions.machines import TaskExecution
from orkeon_transitions.store import JsonlJournal
from tests.cli.conftest import HERMES_ROWS, write_log


@pytest.fixture
def moved(folder):
    """A task machine that has moved, its journal `run.jsonl`, its snapshot `state.json`."""
    machine = TaskExecution(machine_id="t1")
    with JsonlJournal(folder / "run.jsonl") as journal:
        journal.record(machine)
        machine.begin_execution()
        machine.request_tool_call()
    (folder / "state.json").write_text(machine.snapshot().model_dump_json())
    return machine


@pytest.mark.parametrize("suffix", [".mmd", ".dot", ".svg", ".png"])
def test_a_machine_that_ships_in_each_format(orkeon, folder, suffix):
    done = orkeon("render", "task_execution", "-o", f"m{suffix}")
    assert (done.code, done.out, done.err) == (0, "", f"wrote m{suffix}\n")
    content = (folder / f"m{suffix}").read_bytes()
    begins = {".mmd": b"stateDiagram", ".dot": b"digraph", ".svg": b"<svg", ".png": b"\x89PNG\r\n\x1a\n"}
    assert begins[suffix] in content[:1000]
    assert orkeon("render", "task_execution", "-o", f"m{suffix}", "--quiet").err == ""


def test_a_machine_file(orkeon, folder):
    (folder / "m.yaml").write_text("initial: here\nstates: [here, there]\ntransitions: [[go, here, there]]\n")
    assert orkeon("render", "m.yaml", "-o", "m.mmd").code == 0
    assert "there" in (folder / "m.mmd").read_text()


def picture(orkeon, folder, *arguments):
    done = orkeon("render", *arguments, "-o", "out.mmd")
    assert done.code == 0, done.err
    return (folder / "out.mmd").read_text()


def test_a_snapshot_a_journal_and_a_log_mark_the_state(orkeon, folder, moved):
    plain = picture(orkeon, folder, "task_execution")
    from_snapshot = picture(orkeon, folder, "task_execution", "--snapshot", "state.json")
    from_journal = picture(orkeon, folder, "task_execution", "--journal", "run.jsonl")
    from_log = picture(orkeon, folder, "run.jsonl")
    assert from_journal == from_log
    assert len({plain, from_snapshot, from_journal}) == 3
    assert (
        picture(orkeon, folder, "task_execution", "--journal", "run.jsonl", "--machine-id", "t1") == from_log
    )


def test_a_foreign_log_needs_the_machine_s_name(orkeon, folder):
    write_log(folder / "agent.log", *HERMES_ROWS)
    done = orkeon("render", "agent.log", "-o", "out.mmd")
    assert done.code == 2
    assert "--machine" in done.err
    assert "waiting" in picture(orkeon, folder, "agent.log", "--machine", "hermes_agent")
    assert "waiting" in picture(orkeon, folder, "hermes_agent", "--journal", "agent.log")


def test_a_log_of_several_machines_must_be_told_which(orkeon, folder, moved):
    with JsonlJournal(folder / "run.jsonl") as journal:
        other = TaskExecution(machine_id="t2")
        journal.record(other)
        other.begin_execution()
    done = orkeon("render", "run.jsonl", "-o", "out.mmd")
    assert done.code == 2
    assert "t1, t2" in done.err
    assert orkeon("render", "run.jsonl", "--machine-id", "t2", "-o", "out.mmd").code == 0
    missing = orkeon("render", "run.jsonl", "--machine-id", "t3", "-o", "out.mmd")
    assert missing.code == 2
    assert "t1, t2" in missing.err


@pytest.mark.parametrize(
    "arguments",
    [
        ["task_execution", "--snapshot", "state.json", "--journal", "run.jsonl"],
        ["run.jsonl", "--snapshot", "state.json"],
        ["run.jsonl", "--journal", "run.jsonl"],
        ["task_execution", "--machine", "task_execution"],
        ["task_execution", "--machine-id", "t1"],
        ["task_execution", "--journal", "nowhere.jsonl"],
        ["task_execution", "--snapshot", "nowhere.json"],
        ["task_execution", "--snapshot", "."],
        ["task_execution", "--snapshot", "run.jsonl"],
        ["hermes_agent", "--snapshot", "state.json"],
        ["nothing", "--journal", "run.jsonl"],
    ],
)
def test_what_does_not_go_together_is_refused(orkeon, folder, moved, arguments):
    done = orkeon("render", *arguments, "-o", "out.mmd")
    assert done.code == 2
    assert "error: " in done.err
    assert "Traceback" not in done.err
    assert not (folder / "out.mmd").exists()


def test_a_snapshot_that_is_none_names_the_part(orkeon, folder, moved):
    data = json.loads((folder / "state.json").read_text())
    (folder / "state.json").write_text(json.dumps(data | {"ordinal": -1}))
    done = orkeon("render", "task_execution", "--snapshot", "state.json", "-o", "out.mmd")
    assert "error: state.json: no snapshot: ordinal: " in done.err
    (folder / "state.json").write_text("{")
    assert (
        "no snapshot: Invalid JSON"
        in orkeon("render", "task_execution", "--snapshot", "state.json", "-o", "x.mmd").err
    )


@pytest.mark.parametrize(
    ("target", "words"), [("out.gif", ".png, .svg"), ("out", ".png, .svg"), ("nowhere/out.mmd", "nowhere")]
)
def test_a_target_that_cannot_be_written_is_refused(orkeon, folder, target, words):
    done = orkeon("render", "task_execution", "-o", target)
    assert done.code == 2
    assert words in done.err
    assert not (folder / "out").exists()


@pytest.mark.parametrize("suffix", ["mmd", "svg", "png"])
def test_a_crew_is_drawn_as_its_tasks(orkeon, folder, little_crew, suffix):
    assert orkeon("render", "little.yaml", "-o", f"plan.{suffix}").code == 0
    assert orkeon("render", "102-graph-orchestration", "-o", f"packaged.{suffix}").code == 0
    assert (folder / f"plan.{suffix}").stat().st_size > 100
    if suffix == "mmd":
        assert "s_collect --> s_validate" in (folder / "packaged.mmd").read_text()


def test_a_crew_whose_tools_are_its_program_s_is_drawn_with_them(orkeon, folder):
    text = "name: own\nagents: {a: {tools: [shout]}}\ntasks: {only: {description: Do it, agent: a}}\n"
    (folder / "own.yaml").write_text(text)
    (folder / "shouting.py").write_text(
        "from orkeon_transitions import tool\n\n@tool\ndef shout(text: str) -> str:\n"
        '    """Say it loudly."""\n    return text.upper()\n'
    )
    refused = orkeon("render", "own.yaml", "-o", "own.mmd")
    assert refused.code == 2
    assert "own.yaml:2:" in refused.err
    assert orkeon("render", "own.yaml", "-o", "own.mmd", "--tools", "shouting").code == 0


def test_a_crew_has_no_snapshot(orkeon, folder, little_crew, moved):
    done = orkeon("render", "little.yaml", "-o", "out.mmd", "--snapshot", "state.json")
    assert done.code == 2
    assert done.err == "error: little.yaml: is a crew file, not a machine\n"
