"""One file, several journals: what one of them leaves behind costs the others nothing."""

import errno

import pytest

from orkeon_transitions.errors import JournalError
from orkeon_transitions.machines import TaskExecution, machine_definition
from orkeon_transitions.store import JsonlJournal, replay
from tests.store.journals import lines_of

DEFINITION = machine_definition("task_execution")
FRAGMENT = b'{"timestamp": "2026-03-01T12:00:0'


class FailingFile:
    """The journal's file; its next write, or a part of it, is followed by an error."""

    def __init__(self, file, error, part=None, may_cut=True):
        self._file, self._error, self._part, self._may_cut = file, error, part, may_cut

    def __getattr__(self, name):
        return getattr(self._file, name)

    def write(self, data):
        self._file.write(data[: self._part])
        raise self._error

    def truncate(self, size):
        if not self._may_cut:
            raise OSError(errno.EIO, "Input/output error")
        return self._file.truncate(size)


def machine(journal, name):
    fsm = TaskExecution(machine_id=name)
    journal.record(fsm)
    return fsm


def failing(journal, fsm, error, **options):
    """Lets one transition of the machine fail as its fact is written."""
    file, journal._file = journal._file, FailingFile(journal._file, error, **options)
    with pytest.raises((JournalError, type(error))):
        fsm.submit_for_validation()
    journal._file = file
    assert fsm.state == "executing"


def triggers_of(path, name):
    again = replay(path, DEFINITION, machine_id=name)
    assert again.anomalies == []
    return [step.trigger for step in again.steps]


def test_a_line_that_another_process_left_torn_does_not_swallow_the_next_one(path):
    with JsonlJournal(path) as journal:
        fsm = machine(journal, "one")
        fsm.begin_execution()
        with path.open("ab") as dying:
            dying.write(FRAGMENT)
        with pytest.warns(UserWarning, match=r":2: the last line is torn; it was moved to .*\.torn"):
            fsm.submit_for_validation()
        fsm.validation_passed()
    assert triggers_of(path, "one") == ["begin_execution", "submit_for_validation", "validation_passed"]
    assert path.with_name(path.name + ".torn").read_bytes() == FRAGMENT + b"\n"


def test_lines_of_others_are_no_torn_ones(path):
    with JsonlJournal(path) as first, JsonlJournal(path) as second:
        one, two = machine(first, "one"), machine(second, "two")
        for fsm in (one, two):
            fsm.begin_execution()
        for fsm in (two, one):
            fsm.submit_for_validation()
    for name in ("one", "two"):
        assert triggers_of(path, name) == ["begin_execution", "submit_for_validation"]
    assert not path.with_name(path.name + ".torn").exists()


@pytest.mark.parametrize("part", [None, 20, 0], ids=["whole", "part", "none"])
@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(errno.ENOSPC, "No space left on device")])
def test_what_a_failed_write_left_is_cut_off_at_once_and_nothing_else_ever(path, error, part):
    with JsonlJournal(path) as first, JsonlJournal(path) as second:
        one, two = machine(first, "one"), machine(second, "two")
        one.begin_execution()
        failing(first, one, error, part=part)
        assert len(lines_of(path)) == 1
        two.begin_execution()
        one.fail()
    assert triggers_of(path, "one") == ["begin_execution", "fail"]
    assert triggers_of(path, "two") == ["begin_execution"]


def test_what_could_not_be_cut_off_is_set_apart_when_another_one_writes(path):
    with JsonlJournal(path) as first, JsonlJournal(path) as second:
        one, two = machine(first, "one"), machine(second, "two")
        one.begin_execution()
        failing(first, one, KeyboardInterrupt(), part=20, may_cut=False)
        with pytest.warns(UserWarning, match="torn"):
            two.begin_execution()
        one.fail()
    assert triggers_of(path, "one") == ["begin_execution", "fail"]
    assert triggers_of(path, "two") == ["begin_execution"]
