"""Journals in trouble: closed ones, what cannot be written, torn files, killed processes."""

import errno
import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from transitions import Machine

from orkeon_transitions.breaker import CircuitBreakerPolicy
from orkeon_transitions.errors import JournalError
from orkeon_transitions.machines import (
    TaskExecution,
    TaskState,
    machine_definition,
)
from orkeon_transitions.runtime import CircuitBreakerMixin
from orkeon_transitions.store import JsonlJournal, replay
from tests.store.journals import lines_of

DEFINITION = machine_definition("task_execution")


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
    with pytest.raises(JournalError, match="closed: let an open one record the machine") as raised:
        fsm.begin_execution()
    assert f"JsonlJournal({str(path)!r}).record(machine)" in str(raised.value)
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


@pytest.mark.parametrize("content", ["name: mine\nstates: [a, b]", "\n- a\n", "# Notes", "[1]\n"])
def test_a_file_of_somebody_else_is_neither_repaired_nor_written(path, content):
    path.write_text(content)
    with pytest.raises(JournalError, match="is no journal and is left as it is"):
        JsonlJournal(path)
    assert path.read_text() == content
    assert [file.name for file in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize(
    "content", [b"\xef\xbb\xbf", b"\n \n", b"[s1] Entering PLANNING state\n", b'{"times']
)
def test_what_may_be_a_journal_is_gone_on_with(path, content):
    path.write_bytes(content)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with JsonlJournal(path) as journal:
            fsm = TaskExecution()
            journal.record(fsm)
            fsm.begin_execution()
    assert path.read_bytes().endswith(b"}\n")


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


def test_a_file_that_cannot_be_repaired_is_an_error(path):
    path.write_bytes(b'{"half')
    Path(f"{path}.torn").mkdir()
    with pytest.raises(JournalError, match=r"cannot repair .*Is a directory"):
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


# ------------------------------------------------------------------------------------- what is no machine
class GuardedMachine(CircuitBreakerMixin, Machine):
    pass


@pytest.mark.parametrize(
    ("what", "named"),
    [
        (Machine(states=["a"], initial="a"), "an object of Machine"),
        (GuardedMachine(states=["a"], initial="a"), "an object of GuardedMachine"),
        (TaskExecution, "TaskExecution"),
        (DEFINITION, "an object of MachineDefinition"),
        (None, "an object of NoneType"),
    ],
)
def test_only_machines_that_ask_before_they_move_are_recorded(path, what, named):
    told = f"a StateMachine or an AsyncStateMachine, {named} is neither"
    with JsonlJournal(path) as journal, pytest.raises(TypeError, match=told):
        journal.record(what)
    assert path.read_bytes() == b""
