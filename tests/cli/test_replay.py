"""`orkeon replay`: what a journal says happened."""

import os

import click
import pytest

from orkeon_transitions.machines import TaskExecution
from orkeon_transitions.store import JsonlJournal
from tests.cli.conftest import HERMES_ROWS, write_log


@pytest.fixture
def journal(folder):
    with JsonlJournal(folder / "run.jsonl") as journal:
        for name in ("t1", "t2"):
            machine = TaskExecution(machine_id=name)
            journal.record(machine)
            machine.begin_execution()
        machine.cancel()
    return folder / "run.jsonl"


@pytest.fixture
def log(folder):
    return write_log(folder / "agent.log", *HERMES_ROWS)


def test_the_steps_the_visits_and_the_end(orkeon, log):
    done = orkeon("replay", "agent.log", "--machine", "hermes_agent")
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[0] == "hermes_agent s, 2026-01-01"
    rows = [line.split() for line in lines]
    assert ["1", "00:00:00.000", "idle", "receive_task", "planning"] in rows
    assert ["3", "00:00:02.000", "+1.000", "s", "executing", "call_tool", "waiting"] in rows
    assert ["waiting", "1", "█" * 30] in rows
    assert lines[-1].startswith("final state: waiting (3 transitions made; circuit whole)")


def test_for_programs(orkeon, log):
    replayed = orkeon("replay", "agent.log", "--machine", "hermes_agent", "--json").json
    assert replayed["machine"] == "hermes_agent"
    assert replayed["final_state"] == "waiting"
    assert replayed["transition_count"] == 3
    assert replayed["histogram"] == {"idle": 1, "planning": 1, "executing": 1, "waiting": 1}
    assert replayed["anomalies"] == []
    assert [step["trigger"] for step in replayed["steps"]] == [row[0] for row in HERMES_ROWS]
    assert replayed["steps"][0]["timestamp"] == "2026-01-01T00:00:00+00:00"


def test_a_torn_last_line_is_one_warning_with_its_place(orkeon, folder):  # case E01
    write_log(folder / "agent.log", *HERMES_ROWS, tail='{"timestamp": "2026-01-01T00:0')
    done = orkeon("replay", "agent.log", "--machine", "hermes_agent", "--json")
    assert done.code == 0
    assert done.json["final_state"] == "waiting"
    assert done.err.count("agent.log:4: ") == 1
    assert done.err.startswith("warning: ")


def test_a_torn_log_of_several_machines_warns_once(orkeon, journal):
    with journal.open("a") as file:
        file.write('{"torn')
    done = orkeon("replay", "run.jsonl")
    assert done.code == 0
    assert done.err.count("run.jsonl:4") == 1


def test_a_damaged_line_in_the_middle_is_an_error(orkeon, folder):  # case E01
    lines = write_log(folder / "agent.log", *HERMES_ROWS).read_text().splitlines()
    (folder / "agent.log").write_text("\n".join([lines[0], "{broken", *lines[1:]]))
    done = orkeon("replay", "agent.log", "--machine", "hermes_agent")
    assert done.code == 2
    assert "agent.log:2" in done.err
    assert done.out == ""


def test_the_machine_is_taken_from_the_journal_s_own_lines(orkeon, journal):
    replayed = orkeon("replay", "run.jsonl", "--machine-id", "t2", "--json").json
    assert (replayed["machine"], replayed["machine_id"], replayed["final_state"]) == (
        "task_execution",
        "t2",
        "cancelled",
    )


def test_several_machines_are_summed_up(orkeon, journal):
    done = orkeon("replay", "run.jsonl")
    assert done.code == 0
    rows = [line.split() for line in done.out.splitlines()]
    assert ["t1", "task_execution", "1", "executing"] in rows
    assert ["t2", "task_execution", "2", "cancelled"] in rows
    assert done.err == ""
    listed = orkeon("replay", "run.jsonl", "--json").json["machines"]
    assert [replayed["machine_id"] for replayed in listed] == ["t1", "t2"]


def test_machines_of_another_definition_are_left_out_when_one_is_named(orkeon, journal):
    write_log(journal.with_name("more.log"), *HERMES_ROWS, machine="hermes_agent")
    with journal.open("a") as file:
        file.write(journal.with_name("more.log").read_text())
    assert orkeon("replay", "run.jsonl", "--machine", "hermes_agent", "--json").json["machine_id"] == "s"
    assert len(orkeon("replay", "run.jsonl", "--json").json["machines"]) == 3


@pytest.mark.parametrize("as_json", [True, False])
def test_anomalies_are_shown_and_refused_only_under_strict(orkeon, folder, as_json):
    write_log(folder / "odd.log", *HERMES_ROWS, ("fly", "waiting", "idle"))
    options = ["--machine", "hermes_agent", *(["--json"] if as_json else [])]
    done = orkeon("replay", "odd.log", *options)
    assert done.code == 0
    if as_json:
        [anomaly] = done.json["anomalies"]
        assert (anomaly["code"], anomaly["line"]) == ("illegal-step", 4)
    else:
        assert "odd.log:4: anomaly: " in done.out
        assert "[illegal-step]" in done.out
    assert orkeon("replay", "odd.log", "--strict", *options).code == 1
    assert orkeon("replay", "odd.log", "--strict", *options).out == done.out


def test_what_the_breaker_did_and_what_failed_is_remarked(orkeon, folder):
    from orkeon_transitions import CircuitBreakerPolicy

    policy = CircuitBreakerPolicy(max_transitions=1, use_degraded_mode=True)
    with JsonlJournal(folder / "run.jsonl") as journal:
        machine = TaskExecution(policy=policy, machine_id="t1")
        journal.record(machine)
        machine.begin_execution()
        machine.try_fire("request_tool_call")
    out = orkeon("replay", "run.jsonl").out
    assert "by the breaker\n" in out
    assert "final state: degraded" in out
    assert out.count("Max transitions exceeded (1/1)") == 1, "the reason is told once"
    assert "circuit broken: Max transitions exceeded (1/1)" in out


def test_failed_internal_and_clock_made_steps_are_remarked(orkeon, folder):
    (folder / "m.yaml").write_text(
        "name: m\ninitial: a\ndegraded: low\nstates: [a, {name: low, final: true}]\n"
        "transitions: [{trigger: tick, source: a, dest: null}]\n"
    )
    ours = {"machine": "m", "v": 1}
    write_log(folder / "m.log", ("tick", "a", "a"), internal=True, ordinal=1, **ours)
    with (folder / "m.log").open("a") as file:
        file.write(
            '{"timestamp": "2026-01-02T00:00:00Z", "session_id": "s", "state": "a",'
            ' "fact": "transition_failed", "machine": "m", "v": 1, "ordinal": 1, "error": "ValueError: no"}\n'
            '{"timestamp": "2026-01-02T00:00:01Z", "session_id": "s", "trigger": null, "from_state": "a",'
            ' "to_state": "low", "machine": "m", "v": 1, "degraded": true, "ordinal": 2}\n'
        )
    out = orkeon("replay", "m.log", "--machine", "m.yaml").out
    assert "then failed: ValueError: no" in out
    assert "(the clock)" in out
    assert out.startswith("m s, 2026-01-01 to 2026-01-02\n")
    assert out.count("2026-01-0") == 4
    write_log(folder / "m.log", ("tick", "a", "a"), internal=True, ordinal=1, **ours)
    assert "internal" in orkeon("replay", "m.log", "--machine", "m.yaml").out


@pytest.mark.parametrize(
    ("content", "options", "words"),
    [
        (None, ["--machine", "hermes_agent"], "no such journal"),
        ("", [], "--machine"),
        ("", ["--machine", "nobody"], "nobody"),
        ('{"no": "record"}\n{"no": "record"}\n', ["--machine", "hermes_agent"], "odd.log:1"),
        ("\x00\x01binary\n\x00\n", ["--machine", "hermes_agent"], "odd.log:1"),
        ("[1]\n[2]\n", ["--machine", "hermes_agent"], "odd.log:1"),
    ],
)
def test_a_log_that_cannot_be_read_is_one_clear_line(orkeon, folder, content, options, words):
    if content is not None:
        (folder / "odd.log").write_text(content)
    done = orkeon("replay", "odd.log", *options)
    assert done.code == 2
    assert words in done.err
    assert "odd.log" in done.err or "nobody" in done.err
    assert len(done.err.splitlines()) == 1


def test_an_empty_log_leaves_the_machine_where_it_starts(orkeon, folder):
    (folder / "empty.log").write_text("")
    done = orkeon("replay", "empty.log", "--machine", "hermes_agent")
    assert done.code == 0
    assert "final state: idle" in done.out


def test_a_machine_that_does_not_ship_is_asked_for(orkeon, folder):
    write_log(folder / "mine.log", ("go", "a", "b"), machine="mine")
    done = orkeon("replay", "mine.log")
    assert done.code == 2
    assert "'mine'" in done.err
    assert "--machine" in done.err


def test_a_folder_is_no_journal(orkeon, folder):
    (folder / "logs").mkdir()
    done = orkeon("replay", "logs", "--machine", "hermes_agent")
    assert (done.code, done.err) == (2, "error: logs: is a folder, not a journal\n")


@pytest.mark.parametrize("command", ["replay", "check", "render -o x.svg task_execution --journal"])
def test_what_is_no_plain_file_is_not_read(orkeon, folder, command):
    """A pipe can be read once only, and some devices never end."""
    os.mkfifo(folder / "pipe")
    for name in ("pipe", "/dev/zero"):
        done = orkeon(*command.split(), name)
        assert done.code == 2
        assert f"{name}: " in done.out + done.err
        assert "is a pipe or a device: save what it gives" in done.out + done.err
    assert not (folder / "x.svg").exists()


def test_an_empty_name_is_no_journal(orkeon):
    assert orkeon("replay", "").err == "error: an empty name is no journal\n"


def test_a_person_is_told_how_to_see_one_of_several(on_terminal, journal):
    assert "--machine-id" in on_terminal("replay", "run.jsonl").err
    assert on_terminal("replay", "run.jsonl", "--quiet").err == ""


def test_the_tables_are_drawn_on_a_terminal(on_terminal, log):
    done = on_terminal("replay", "agent.log", "--machine", "hermes_agent", columns=80)
    assert done.code == 0
    assert done.out.count("╭") == 2


def test_a_trip_that_was_reset_is_told_with_its_step_and_the_budget_is_counted_anew(orkeon, folder):
    from orkeon_transitions import CircuitBreakerPolicy, StateMachine

    definition = "name: m\ninitial: a\ndegraded: low\nstates: [a, low]\ntransitions: [[go, '*', '=']]\n"
    (folder / "m.yaml").write_text(definition)
    policy = CircuitBreakerPolicy(max_transitions=2, use_degraded_mode=True)
    with JsonlJournal(folder / "m.log") as journal:
        machine = StateMachine(definition, policy=policy)
        journal.record(machine)
        for _ in range(3):
            machine.try_fire("go")
        machine.reset_circuit_breaker()
        machine.fire("go")
    out = orkeon("replay", "m.log", "--machine", "m.yaml").out
    assert "by the breaker: Max transitions exceeded (2/2)" in out
    assert out.endswith("final state: low (4 transitions made; 1 in the current budget; circuit whole)\n")


# -------------------------------------------------------------------------------------------- from a store
@pytest.fixture
def url(folder):
    pytest.importorskip("sqlalchemy")
    from orkeon_transitions.store import MachineStore

    with MachineStore("sqlite:///machines.db") as store:
        for name in ("t1", "t2"):
            machine = store.create(TaskExecution, machine_id=name)
            machine.begin_execution()
        machine.cancel()
    return "sqlite:///machines.db"


def test_a_store_is_replayed_like_a_file(orkeon, folder, url):
    out = orkeon("replay", url).out
    rows = [line.split() for line in out.splitlines()]
    assert rows[1:3] == [
        ["t1", "task_execution", "1", "executing"],
        ["t2", "task_execution", "2", "cancelled"],
    ]
    done = orkeon("replay", url, "--machine-id", "t2", "--at", "1", "--diagram", "at.mmd")
    assert "state then: executing (1 transition made; circuit whole)" in done.out
    assert "executing" in (folder / "at.mmd").read_text()
    assert [each["machine_id"] for each in orkeon("replay", url, "--json").json["machines"]] == ["t1", "t2"]
    assert orkeon("render", url, "--machine-id", "t1", "-o", "t1.mmd").code == 0


def test_an_anomaly_in_a_store_is_told_with_its_machine_and_version(orkeon, folder, url):
    (folder / "other.yaml").write_text(
        "name: task_execution\ninitial: assigned\nstates: [assigned, executing]\n"
        "transitions: [[begin, assigned, executing]]\n"
    )
    done = orkeon("replay", url, "--machine", "other.yaml", "--machine-id", "t1")
    assert "sqlite:///machines.db t1, version 1: anomaly: recorded with another content" in done.out
    assert "[definition-changed]" in done.out
    assert "[illegal-step]" in done.out


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("sqlite:///none.db", "there is no such database"),
        ("sqlite://", "there is no such database"),
        ("mysql://me:hunter2@host/db", "'mysql'"),
        ("postgresql://me:hunter2@127.0.0.1:1/db", "127.0.0.1"),
    ],
)
def test_a_store_that_cannot_be_read_is_one_clear_error(orkeon, folder, name, words):
    pytest.importorskip("sqlalchemy")
    done = orkeon("replay", name)
    assert (done.code, done.out) == (2, "")
    assert words in done.err
    assert "hunter2" not in done.err
    assert list(folder.iterdir()) == []


def test_a_machine_that_a_store_has_not_is_one_clear_error(orkeon, url):
    done = orkeon("replay", url, "--machine-id", "t3")
    assert (done.code, done.err) == (2, "error: sqlite:///machines.db: no machine 't3'; there are: t1, t2\n")


# ---------------------------------------------------------------------------------------------- how it looks
def test_times_are_those_of_utc(orkeon, folder):
    (folder / "a.log").write_text(
        '{"timestamp": "2026-01-01T00:30:00+02:00", "session_id": "s", "trigger": "receive_task",'
        ' "from_state": "idle", "to_state": "planning"}\n'
    )
    out = orkeon("replay", "a.log", "--machine", "hermes_agent").out
    assert out.startswith("hermes_agent s, 2025-12-31\n")
    assert "22:30:00.000" in out


@pytest.mark.parametrize("columns", [60, 100])
@pytest.mark.parametrize("options", [[], ["--at", "3"]])
def test_a_narrow_terminal_cuts_no_cell(on_terminal, folder, columns, options):
    write_log(folder / "days.log", *HERMES_ROWS)
    text = (folder / "days.log").read_text()
    (folder / "days.log").write_text(text.replace("2026-01-01T00:00:02", "2026-01-02T00:00:02"))
    out = on_terminal("replay", "days.log", "--machine", "hermes_agent", *options, columns=columns).out
    assert "…" not in out
    assert max(map(len, click.unstyle(out).splitlines())) <= columns
