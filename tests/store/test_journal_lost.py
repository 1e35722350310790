"""A journal whose file is taken away while it is open: nothing is written where nobody would find it."""

import os

import pytest

from orkeon_transitions.errors import JournalError
from orkeon_transitions.store import JsonlJournal, replay
from tests.store.stored_machines import Lamp


def replace(path):
    path.rename(path.with_suffix(".1"))
    path.write_bytes(b"")


@pytest.mark.parametrize(
    ("take_away", "told"),
    [
        (lambda path: path.unlink(), "was removed, renamed or replaced"),
        (lambda path: path.rename(path.with_suffix(".1")), "was removed, renamed or replaced"),
        (replace, "was removed, renamed or replaced"),
        (lambda path: os.truncate(path, 0), "was cut short"),
        (lambda path: os.truncate(path, path.stat().st_size // 2), "was cut short"),
    ],
)
def test_a_file_that_is_taken_away_is_refused_and_a_new_journal_goes_on(tmp_path, take_away, told):
    path = tmp_path / "run.jsonl"
    lamp = Lamp(machine_id="l1")
    journal = JsonlJournal(path)
    journal.record(lamp)
    lamp.fire("switch_on")
    take_away(path)
    for _ in range(2):
        with pytest.raises(JournalError, match=told):
            lamp.fire("switch_off")
        assert (lamp.state, lamp.transition_count) == ("on", 1)
    journal.close()
    path.unlink(missing_ok=True)
    with JsonlJournal(path) as another:
        another.record(lamp)
        lamp.fire("switch_off")
    found = replay(path, lamp.definition, "l1")
    assert (found.final_state, found.transition_count) == ("off", 2)
    assert not found.anomalies


def test_a_journal_that_was_taken_away_before_its_first_fact_is_refused(tmp_path):
    path = tmp_path / "run.jsonl"
    path.write_text('{"timestamp": "2026-01-01T00:00:00+00:00", "session_id": "x", "trigger": "t", '
                    '"from_state": "a", "to_state": "b"}\n')  # fmt: skip
    with JsonlJournal(path) as journal:
        os.truncate(path, 0)
        lamp = Lamp(machine_id="l1")
        journal.record(lamp)
        with pytest.raises(JournalError, match="was cut short"):
            lamp.fire("switch_on")


def test_a_program_may_go_to_another_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    lamp = Lamp(machine_id="l1")
    with JsonlJournal("run.jsonl") as journal:
        journal.record(lamp)
        monkeypatch.chdir(tmp_path / "elsewhere")
        lamp.fire("switch_on")
    assert replay(tmp_path / "run.jsonl", lamp.definition, "l1").final_state == "on"


def test_devices_take_facts_as_ever():
    with JsonlJournal("/dev/null") as journal:
        lamp = Lamp()
        journal.record(lamp)
        lamp.fire("switch_on")
        lamp.fire("switch_off")
    assert lamp.state == "off"
