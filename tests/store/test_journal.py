"""Journals in files: what is written when, what happens when it cannot be, and torn files."""

import asyncio
import errno
import json
import os
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import pytest

from orkeon_transitions.breaker import CircuitBreakerPolicy
from orkeon_transitions.errors import CircuitBrokenError, JournalError, OrkeonError
from orkeon_transitions.machines import (
    AsyncHermesAgentFSM,
    AsyncTaskExecution,
    HermesAgentFSM,
    TaskExecution,
    TaskState,
    TaskStatus,
    machine_definition,
)
from orkeon_transitions.runtime import StateMachine
from orkeon_transitions.store import JsonlJournal, replay

DEFINITION = machine_definition("task_execution")


def lines_of(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.jsonl"


# ------------------------------------------------------------------------------------------------- writing
def test_one_line_per_transition_beginning_with_the_seeds_keys(path):
    with JsonlJournal(path) as journal:
        fsm = TaskExecution(machine_id="t1")
        journal.record(fsm)
        fsm.begin_execution()
        fsm.submit_for_validation()
    first, second = lines_of(path)
    assert list(first)[:5] == ["timestamp", "session_id", "trigger", "from_state", "to_state"]
    assert list(first.values())[1:5] == ["t1", "begin_execution", "assigned", "executing"]
    assert (first["v"], first["fact"], first["machine"]) == (1, "transition", "task_execution")
    assert first["definition"] == DEFINITION.content_hash
    assert (second["ordinal"], second["transition_count"]) == (2, 2)
    assert first["timestamp"].endswith("+00:00")


def test_the_line_is_in_the_file_before_the_state_is_visible(path):
    seen = []
    with JsonlJournal(path) as journal:
        fsm = TaskExecution()

        def hook(fact, snapshot):
            journal(fact, snapshot)
            seen.append((fsm.state, lines_of(path)[-1]["to_state"]))

        fsm.attach_commit(hook)
        fsm.begin_execution()
    assert seen == [(TaskState.ASSIGNED, "executing")]


def test_refused_triggers_and_questions_leave_no_line(path):
    with JsonlJournal(path) as journal:
        fsm = TaskExecution()
        journal.record(fsm)
        assert not fsm.try_fire("retry")
        assert fsm.can_fire("cancel")
    assert path.read_bytes() == b""


def test_payloads_stay_out(path):
    with JsonlJournal(path) as journal:
        agent = HermesAgentFSM("s")
        journal.record(agent)
        agent.receive_task(task="the password is xyzzy")
    assert "xyzzy" not in path.read_text()


@pytest.mark.parametrize("name", ["任务 1", "a\nb", "\u2028", "\ud800", 'q"x'])
def test_any_machine_id_is_one_line_and_comes_back(path, name):
    with JsonlJournal(path) as journal:
        fsm = TaskExecution(machine_id=name)
        journal.record(fsm)
        fsm.begin_execution()
    assert path.read_bytes().count(b"\n") == 1
    assert replay(path, DEFINITION, machine_id=name).final_state == "executing"


# case D06, case D07
@pytest.mark.parametrize(
    ("policy", "limit"),
    [
        (CircuitBreakerPolicy(max_transitions=1), "max_transitions"),
        (CircuitBreakerPolicy(state_timeout=5), "state_timeout"),
        (CircuitBreakerPolicy(max_state_visits=1), "max_state_visits"),
        (CircuitBreakerPolicy(state_timeout=0, max_total_duration=5), "max_total_duration"),
        (CircuitBreakerPolicy(meters={"tokens": 10}), "meters"),
        (CircuitBreakerPolicy(max_repeats=1), "max_repeats"),
    ],
)
@pytest.mark.parametrize("degraded", [False, True])
def test_a_trip_says_which_limit_by_how_much_and_from_where(path, policy, limit, degraded):
    now = [0.0]
    policy = policy.model_copy(update={"use_degraded_mode": degraded})
    with JsonlJournal(path) as journal:
        fsm = TaskExecution(policy=policy, clock=lambda: now[0], machine_id="t")
        journal.record(fsm)
        fsm.begin_execution()
        fsm.spend(tokens=11)
        now[0] = 6.0
        for trigger in ("request_tool_call", "tool_call_completed", "request_tool_call"):
            try:
                if not fsm.fire(trigger, tool="search"):
                    break
            except CircuitBrokenError:
                break
    trip = next(line for line in lines_of(path) if line["fact"] == "circuit_broken")
    assert trip["limit"] == limit
    assert trip["reason"] == fsm.circuit_status.broken_reason
    assert trip["visits"]["executing"] >= 1
    assert trip["trigger"] in {"request_tool_call", "tool_call_completed"}
    assert trip["policy"]["max_transitions"] == policy.max_transitions
    last = lines_of(path)[-1]
    if degraded:
        assert (last["to_state"], last["degraded"], last["accepted"]) == ("degraded", True, False)
        assert last["from_state"] == trip["state"]
        assert last["reason"]
    else:
        assert last is not None
        assert last["fact"] == "circuit_broken"
        assert last["state"] == fsm.state
    back = replay(path, DEFINITION)
    assert back.is_circuit_broken
    assert back.broken_reason == fsm.circuit_status.broken_reason
    assert back.final_state == fsm.state
    assert back.histogram == fsm.circuit_status.state_visit_histogram
    assert back.transition_count == fsm.transition_count
    assert back.anomalies == []


def test_a_reset_is_a_line_of_its_own(path):
    with JsonlJournal(path) as journal:
        fsm = TaskExecution(policy=CircuitBreakerPolicy(max_transitions=1))
        journal.record(fsm)
        fsm.begin_execution()
        assert not fsm.try_fire("fail")
        fsm.reset_circuit_breaker()
        fsm.fail()
    assert [line["fact"] for line in lines_of(path)] == [
        "transition",
        "circuit_broken",
        "breaker_reset",
        "transition",
    ]
    back = replay(path, DEFINITION)
    assert (back.final_state, back.transition_count, back.is_circuit_broken) == ("failed", 1, False)
    assert back.histogram == fsm.circuit_status.state_visit_histogram
    assert back.steps[-1].ordinal == 2


# case C01
def test_a_callback_that_fails_after_the_state_marks_its_step(path):
    class Broken(HermesAgentFSM):
        def on_enter_planning(self, event):
            raise ValueError("no model")

    with JsonlJournal(path) as journal:
        agent = Broken("s")
        journal.record(agent)
        with pytest.raises(ValueError, match="no model"):
            agent.receive_task(task="t")
    back = replay(path, machine_definition("hermes_agent"))
    assert back.final_state == agent.state == "planning"
    assert [step.error for step in back.steps] == ["ValueError: no model"]
    assert back.transition_count == agent.transition_count == 1
    assert back.anomalies == []


# case C01
def test_a_callback_that_fails_before_the_state_leaves_no_line(path):
    class Broken(HermesAgentFSM):
        def initialize_context(self, event):
            raise ValueError("no model")

    with JsonlJournal(path) as journal:
        agent = Broken("s")
        journal.record(agent)
        with pytest.raises(ValueError, match="no model"):
            agent.receive_task(task="t")
    assert path.read_bytes() == b""
    assert agent.state == "idle"


# case C03
def test_triggers_fired_inside_of_callbacks_are_in_the_order_of_the_states(path):
    class Eager(HermesAgentFSM):
        def on_enter_planning(self, event):
            self.plan_steps = ["one"]
            self.plan_ready()
            raise ValueError("late")

        def on_enter_executing(self, event):
            self.fire_later("finish_execution", result=1)

    with JsonlJournal(path) as journal:
        agent = Eager("s")
        journal.record(agent)
        with pytest.raises(ValueError, match="late"):
            agent.receive_task(task="t")
    back = replay(path, machine_definition("hermes_agent"))
    assert [(step.from_state, step.to_state) for step in back.steps] == [
        ("idle", "planning"),
        ("planning", "executing"),
        ("executing", "completed"),
    ]
    assert [step.error for step in back.steps] == ["ValueError: late", None, None]
    assert back.anomalies == []


# case C05
def test_an_interruption_is_in_the_journal(path):
    class Slow(AsyncHermesAgentFSM):
        async def on_enter_planning(self, event):
            await asyncio.sleep(60)

    async def run():
        agent = Slow("s")
        journal.record(agent)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(agent.receive_task(task="t"), 0.05)

    with JsonlJournal(path) as journal:
        asyncio.run(run())
    back = replay(path, machine_definition("hermes_agent"))
    assert back.final_state == "planning"
    assert back.steps[0].error == "CancelledError"


# case A07
def test_internal_and_reflexive_are_told_apart(path):
    definition = {
        "name": "m",
        "initial": "a",
        "states": ["a", {"name": "b", "final": True}],
        "transitions": [["stay", "a", None], ["again", "a", "="], ["end", "a", "b"]],
    }
    with JsonlJournal(path) as journal:
        fsm = StateMachine(definition)
        journal.record(fsm)
        fsm.fire("stay")
        fsm.fire("again")
    back = replay(path, fsm.definition)
    assert [step.internal for step in back.steps] == [True, False]
    assert back.histogram == {"a": 2} == fsm.circuit_status.state_visit_histogram
    assert back.transition_count == 2
    assert back.anomalies == []


# --------------------------------------------------------------------------------------- several machines
def test_several_machines_and_threads_share_one_journal(path):
    def work(fsm):
        fsm.begin_execution()
        for _ in range(20):
            fsm.request_tool_call()
            fsm.tool_call_completed()
        fsm.cancel()

    machines = [TaskExecution(machine_id=f"t{i}", max_tool_calls_per_round=20) for i in range(6)]
    with JsonlJournal(path) as journal:
        for fsm in machines:
            journal.record(fsm)
        threads = [threading.Thread(target=work, args=(fsm,)) for fsm in machines]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    for fsm in machines:
        back = replay(path, DEFINITION, machine_id=fsm.machine_id)
        assert back.final_state == "cancelled"
        assert len(back.steps) == 42
        assert back.anomalies == []
    with pytest.raises(JournalError, match=r"'t0'.*'t5'"):
        replay(path, DEFINITION)


def test_two_processes_append_whole_lines_to_one_file(path):
    script = (
        "import sys\n"
        "from orkeon_transitions.machines import AgentStatus\n"
        "from orkeon_transitions.store import JsonlJournal\n"
        "with JsonlJournal(sys.argv[1]) as journal:\n"
        "    agent = AgentStatus(machine_id=sys.argv[2])\n"
        "    journal.record(agent)\n"
        "    agent.initialize()\n"
        "    for _ in range(100):\n"
        "        agent.assign_task(), agent.complete_task()\n"
    )
    workers = [subprocess.Popen([sys.executable, "-c", script, path, name]) for name in ("one", "two")]
    assert [worker.wait(60) for worker in workers] == [0, 0]
    for name in ("one", "two"):
        back = replay(path, machine_definition("agent_status"), machine_id=name)
        assert (len(back.steps), back.anomalies) == (201, [])


def test_async_machines_are_recorded_too(path):
    async def run():
        fsm = AsyncTaskExecution(machine_id="t")
        journal.record(fsm)
        await fsm.begin_execution()
        await fsm.fail()

    with JsonlJournal(path) as journal:
        asyncio.run(run())
    assert replay(path, DEFINITION).final_state == "failed"


def test_a_machine_has_one_journal(path, tmp_path):
    with JsonlJournal(path) as journal, JsonlJournal(tmp_path / "other.jsonl") as other:
        fsm = TaskExecution()
        journal.record(fsm)
        with pytest.raises(OrkeonError):
            other.record(fsm)
        fsm.begin_execution()
    assert len(lines_of(path)) == 1


# ------------------------------------------------------------------------------------ restored machines
# case E03
def test_a_restored_machine_says_where_it_is(path):
    fsm = TaskExecution(machine_id="t")
    fsm.begin_execution()
    fsm.request_tool_call()
    restored = TaskExecution.restore(fsm.snapshot())
    with JsonlJournal(path) as journal:
        journal.record(restored)
        assert replay(path, DEFINITION).final_state == "tool_calling"
        restored.tool_call_completed()
    back = replay(path, DEFINITION)
    assert back.final_state == restored.state
    assert back.histogram == restored.circuit_status.state_visit_histogram
    assert back.transition_count == restored.transition_count == 3
    assert [step.ordinal for step in back.steps] == [3]
    assert back.anomalies == []


# case E03
def test_moves_made_without_the_journal_are_a_gap(path):
    with JsonlJournal(path) as journal:
        fsm = TaskExecution(machine_id="t")
        journal.record(fsm)
        fsm.begin_execution()
    unrecorded = TaskExecution.restore(fsm.snapshot())
    unrecorded.fail()
    with JsonlJournal(path) as journal:
        journal.record(unrecorded)
        unrecorded.retry()
    back = replay(path, DEFINITION)
    assert back.final_state == "executing"
    assert [(anomaly.code, anomaly.line) for anomaly in back.anomalies] == [("gap", 2)]


def test_a_broken_machine_that_joins_is_broken_in_the_replay(path):
    fsm = TaskExecution(policy=CircuitBreakerPolicy(max_transitions=1))
    fsm.begin_execution()
    assert not fsm.try_fire("fail")
    with JsonlJournal(path) as journal:
        journal.record(fsm)
    back = replay(path, DEFINITION)
    assert back.is_circuit_broken
    assert back.broken_reason == fsm.circuit_status.broken_reason


# ------------------------------------------------------------------------------------------------ closing
def test_a_closed_journal_stops_its_machines_until_they_have_another(path):
    fsm = TaskExecution()
    journal = JsonlJournal(path)
    journal.record(fsm)
    assert not journal.closed
    journal.close()
    journal.close()
    assert journal.closed
    assert "closed" in repr(journal)
    with pytest.raises(JournalError, match="closed"):
        fsm.begin_execution()
    assert fsm.state is TaskState.ASSIGNED
    assert fsm.transition_count == 0
    with pytest.raises(JournalError, match="closed"):
        journal.record(TaskExecution())
    with JsonlJournal(path) as another:
        another.record(fsm)
        fsm.begin_execution()
    assert replay(another, DEFINITION).final_state == "executing"


def test_a_journal_can_be_given_as_the_commit_hook(path):
    with JsonlJournal(path) as journal:
        fsm = TaskExecution(commit=journal)
        fsm.begin_execution()
    assert len(lines_of(path)) == 1


def test_fsync_waits_for_the_disk(path, monkeypatch):
    synced = []
    monkeypatch.setattr(os, "fsync", synced.append)
    with JsonlJournal(path, fsync=True) as journal:
        fsm = TaskExecution()
        journal.record(fsm)
        before = len(synced)
        fsm.begin_execution()
    assert before >= 1
    assert len(synced) == before + 1


# ----------------------------------------------------------------------------------- when it cannot write
def test_a_full_disk_stops_the_machine():
    with JsonlJournal("/dev/full") as journal:
        fsm = TaskExecution()
        journal.record(fsm)
        with pytest.raises(JournalError, match="/dev/full"):
            fsm.begin_execution()
        assert not fsm.is_circuit_broken
        assert (fsm.state, fsm.transition_count) == ("assigned", 0)
        with pytest.raises(JournalError, match="/dev/full"):
            fsm.begin_execution()


def test_a_trip_that_cannot_be_written_has_not_happened():
    now = [0.0]
    fsm = TaskExecution(policy=CircuitBreakerPolicy(state_timeout=1), clock=lambda: now[0])
    fsm.begin_execution()
    now[0] = 2.0
    with JsonlJournal("/dev/full") as journal:
        fsm.attach_commit(journal)
        with pytest.raises(JournalError):
            fsm.fail()
    assert not fsm.is_circuit_broken


def test_a_joining_line_that_cannot_be_written_is_an_error():
    fsm = TaskExecution()
    fsm.begin_execution()
    with JsonlJournal("/dev/full") as journal, pytest.raises(JournalError):
        journal.record(fsm)


class NearlyFullFile:
    """A file that takes some bytes and then has no room, as a full disk does."""

    def __init__(self, file, room):
        self.file, self.room, self.can_cut = file, room, True

    def write(self, data):
        if self.room == 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        part = bytes(data[: self.room])
        self.room -= len(part)
        return self.file.write(part)

    def truncate(self, size):
        if not self.can_cut:
            raise OSError(errno.EIO, "Input/output error")
        return self.file.truncate(size)

    def __getattr__(self, name):
        return getattr(self.file, name)


def test_a_half_written_line_is_cut_off_again(path):
    with JsonlJournal(path) as journal:
        fsm = TaskExecution()
        journal.record(fsm)
        fsm.begin_execution()
        before = path.read_bytes()
        disk = journal._file = NearlyFullFile(journal._file, room=30)
        with pytest.raises(JournalError, match="No space left"):
            fsm.fail()
        assert path.read_bytes() == before
        assert fsm.state is TaskState.EXECUTING
        disk.room = 10_000
        fsm.fail()
    assert replay(path, DEFINITION).final_state == "failed"


def test_a_half_written_line_that_cannot_be_cut_off_is_cut_before_the_next_one(path):
    with JsonlJournal(path) as journal:
        fsm = TaskExecution()
        journal.record(fsm)
        fsm.begin_execution()
        disk = journal._file = NearlyFullFile(journal._file, room=30)
        disk.can_cut = False
        with pytest.raises(JournalError, match="No space left"):
            fsm.fail()
        disk.room = 10_000
        with pytest.raises(JournalError, match="Input/output"):
            fsm.fail()
        disk.can_cut = True
        fsm.fail()
    back = replay(path, DEFINITION)
    assert (back.final_state, len(back.steps)) == ("failed", 2)


def test_a_sync_that_fails_leaves_no_line(path, monkeypatch):
    def fail(number):
        raise OSError(errno.EIO, "Input/output error")

    with JsonlJournal(path, fsync=True) as journal:
        fsm = TaskExecution()
        journal.record(fsm)
        monkeypatch.setattr(os, "fsync", fail)
        with pytest.raises(JournalError):
            fsm.begin_execution()
    assert path.read_bytes() == b""
    assert fsm.state is TaskState.ASSIGNED


@pytest.mark.parametrize("where", ["missing/run.jsonl", "."])
def test_a_file_that_cannot_be_opened_is_one_clear_error(tmp_path, where):
    with pytest.raises(JournalError, match="cannot open the journal"):
        JsonlJournal(tmp_path / where)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_write_permission_is_one_clear_error(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(JournalError, match="Permission denied"):
        JsonlJournal(tmp_path / "run.jsonl")


def test_a_file_that_may_not_be_repaired_is_an_error(path, monkeypatch):
    path.write_bytes(b'{"half')

    def refuse(self):
        raise OSError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(JsonlJournal, "_repair", refuse)
    with pytest.raises(JournalError, match="cannot repair"):
        JsonlJournal(path)
    assert path.read_bytes() == b'{"half'


# -------------------------------------------------------------------------------------------- torn files
RECORD = {
    "timestamp": "2026-01-01T00:00:00+00:00",
    "session_id": "s",
    "trigger": "begin_execution",
    "from_state": "assigned",
    "to_state": "executing",
}
WHOLE = json.dumps(RECORD).encode()
CUT_CHARACTER = b'{"timestamp": "2026-01-01T00:00:00+00:00", "session_id": "caf\xc3'


# case E01
@pytest.mark.parametrize(
    "tail",
    [
        b'{"half": 1',
        b'{"half": 1\n',
        b'{"half": 1\n\n',
        b'{"half": 1\n  \r\n',
        CUT_CHARACTER,
        b"{",
        b"\x00\x00\x00\x00",
        b"17",
    ],
)
def test_a_torn_tail_is_set_apart_when_the_file_is_opened(path, tail):
    path.write_bytes(WHOLE + b"\n" + tail)
    with pytest.warns(UserWarning, match=r"run\.jsonl:2: .*run\.jsonl\.torn") as caught:
        journal = JsonlJournal(path)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    with journal:
        fsm = TaskExecution(machine_id="s")
        fsm.begin_execution()
        journal.record(fsm)
        fsm.fail()
    torn = Path(f"{path}.torn")
    assert torn.read_bytes() == tail.split(b"\n")[0].rstrip(b"\r") + b"\n"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        back = replay(path, DEFINITION)
    assert (back.final_state, back.anomalies) == ("failed", [])


# case E01
def test_a_second_fragment_is_added_to_the_first(path):
    for fragment in (b'{"one', b'{"two'):
        path.write_bytes(WHOLE + b"\n" + fragment)
        with pytest.warns(UserWarning, match=":2"):
            JsonlJournal(path).close()
    assert Path(f"{path}.torn").read_bytes() == b'{"one\n{"two\n'


# case E01
def test_a_file_that_is_only_a_fragment_becomes_empty(path):
    path.write_bytes(b'{"timestamp"')
    with pytest.warns(UserWarning, match=":1"):
        JsonlJournal(path).close()
    assert path.read_bytes() == b""


def test_a_whole_record_without_its_newline_is_a_record(path):
    path.write_bytes(WHOLE)
    with JsonlJournal(path) as journal:
        fsm = TaskExecution(machine_id="s")
        fsm.begin_execution()
        journal.record(fsm)
        fsm.fail()
    assert not Path(f"{path}.torn").exists()
    assert replay(path, DEFINITION).final_state == "failed"
    assert len(lines_of(path)) == 3


@pytest.mark.parametrize("content", [b"", b"\n\n", WHOLE + b"\n", WHOLE + b"\r\n", WHOLE + b"\n\n"])
def test_a_file_that_ends_well_is_left_alone(path, content):
    path.write_bytes(content)
    JsonlJournal(path).close()
    assert path.read_bytes() == content


def test_the_real_kill_of_a_writing_process_leaves_a_readable_journal(path):
    script = (
        "import os, sys\n"
        "from orkeon_transitions.machines import AgentStatus\n"
        "from orkeon_transitions.store import JsonlJournal\n"
        "journal = JsonlJournal(sys.argv[1])\n"
        "agent = AgentStatus(machine_id='a')\n"
        "journal.record(agent)\n"
        "agent.initialize()\n"
        "agent.on_transition(lambda result: os.kill(os.getpid(), 9) if result.ordinal == 50 else None)\n"
        "while True:\n"
        "    agent.assign_task(), agent.complete_task()\n"
    )
    assert subprocess.run([sys.executable, "-c", script, path], timeout=60, check=False).returncode == -9
    back = replay(path, machine_definition("agent_status"))
    assert len(back.steps) == 50
    assert back.final_state == "busy"


def test_machines_of_different_kinds_may_share_a_name(path):
    with JsonlJournal(path) as journal:
        status, execution = TaskStatus(machine_id="collect"), TaskExecution(machine_id="collect")
        journal.record(status)
        journal.record(execution)
        status.start()
        execution.begin_execution()
    assert replay(path, DEFINITION).final_state == "executing"
    assert replay(path, machine_definition("task_status"), machine_id="collect").final_state == "in_progress"
