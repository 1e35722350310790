"""Journals of a store as files of JSON lines, and back."""

import json

import pytest

from orkeon_transitions.breaker import CircuitBreakerPolicy
from orkeon_transitions.definition import load_definition
from orkeon_transitions.errors import JournalError, OrkeonError
from orkeon_transitions.runtime import StateMachine
from orkeon_transitions.store import JsonlJournal, MachineStore, replay
from tests.store.stored_machines import LAMP, Lamp

DEFINITION = load_definition(LAMP)


@pytest.fixture
def store(tmp_path):
    with MachineStore(f"sqlite:///{tmp_path / 'machines.db'}") as store:
        yield store


@pytest.fixture(params=["sqlite", "postgres"])
def other(request):
    url = request.getfixturevalue("postgres_url") if request.param == "postgres" else "sqlite://"
    with MachineStore(url) as store:
        yield store


@pytest.fixture
def file(tmp_path):
    return tmp_path / "l1.jsonl"


def test_a_machine_moves_from_one_store_to_another(store, other, file):
    lamp = store.create(Lamp, "red", machine_id="l1", policy=CircuitBreakerPolicy(max_transitions=9))
    lamp.fire("switch_on")
    lamp.places = {"hall"}
    store.save(lamp)
    lamp.fire("switch_off")
    store.export_journal("l1", file)
    assert other.import_journal(file) == ["l1"]
    was, now = store.load(Lamp, "l1").snapshot(), other.load(Lamp, "l1").snapshot()
    varying = {"taken_at", "time_in_state", "active_time"}
    assert now.model_dump(exclude=varying) == was.model_dump(exclude=varying)
    assert [record._replace(line=0) for record in other.journal("l1")] == [
        record._replace(line=0) for record in store.journal("l1")
    ]
    other.load(Lamp, "l1").fire("drop")
    (row,) = other.machines()
    assert (row.version, row.is_terminal, row.ordinal) == (3, True, 3)


def test_replay_reads_what_was_exported(store, file):
    lamp = store.create(Lamp, machine_id="l1")
    for trigger in ("switch_on", "switch_off", "drop"):
        lamp.fire(trigger)
    store.export_journal("l1", file)
    told = replay(file, DEFINITION)
    assert (told.final_state, len(told.steps), told.anomalies) == ("broken", 3, [])
    assert told.histogram == lamp.circuit_status.state_visit_histogram


def test_what_has_ended_or_is_broken_comes_back_so(store, other, file, tmp_path):
    store.create(Lamp, machine_id="l1").fire("drop")
    lamp = store.create(Lamp, machine_id="l2", policy=CircuitBreakerPolicy(max_transitions=1))
    lamp.fire("switch_on")
    lamp.try_fire("switch_off")
    store.export_journal("l1", file)
    store.export_journal("l2", tmp_path / "l2.jsonl")
    other.import_journal(file)
    other.import_journal(tmp_path / "l2.jsonl")
    assert [row.machine_id for row in other.machines(is_terminal=True)] == ["l1"]
    assert [row.machine_id for row in other.machines() if row.is_broken] == ["l2"]
    assert other.load(Lamp, "l2").is_circuit_broken


def test_a_machine_that_never_moved_is_exported(store, other, file):
    store.create(Lamp, machine_id="l1")
    store.export_journal("l1", file)
    other.import_journal(file)
    assert other.load(Lamp, "l1").state == "off"
    assert other.journal("l1") == []


def test_a_journal_of_lines_is_imported_with_its_past_alone(other, file):
    with JsonlJournal(file) as journal:
        for name in ("l1", "l2"):
            lamp = Lamp(machine_id=name)
            journal.record(lamp)
            lamp.fire("switch_on")
    assert other.import_journal(file) == ["l1", "l2"]
    (one, two) = sorted(other.machines(), key=lambda row: row.machine_id)
    assert (one.state, one.version, one.is_loadable) == ("on", 1, False)
    assert two.definition_hash == DEFINITION.content_hash
    assert [record.trigger for record in other.journal("l2")] == ["switch_on"]
    with pytest.raises(JournalError, match="only its journal was imported"):
        other.load(Lamp, "l1")
    again = file.with_name("again.jsonl")
    other.export_journal("l1", again)
    assert again.read_text() == file.read_text().splitlines(keepends=True)[0]


def test_a_log_of_the_seed_is_imported(other, file):
    line = {
        "timestamp": "2026-01-01T00:00:00Z",
        "session_id": "s1",
        "trigger": "go",
        "from_state": "a",
        "to_state": "b",
    }
    file.write_text("[s1] Entering A\n\n" + json.dumps(line))
    assert other.import_journal(file) == ["s1"]
    (row,) = other.machines()
    assert (row.machine, row.definition_hash, row.state, row.updated_at.year) == ("", "", "b", 2026)


def test_an_import_takes_all_machines_or_none(store, file):
    with JsonlJournal(file) as journal:
        for name in ("l1", "l2"):
            lamp = Lamp(machine_id=name)
            journal.record(lamp)
            lamp.fire("switch_on")
    store.create(Lamp, machine_id="l2")
    with pytest.raises(OrkeonError, match=r"has a machine 'l2' already; nothing was imported"):
        store.import_journal(file)
    assert [row.machine_id for row in store.machines()] == ["l2"]


def test_a_file_that_is_there_is_not_written_over(store, file):
    store.create(Lamp, machine_id="l1")
    file.write_text("mine")
    with pytest.raises(JournalError, match="such a file already"):
        store.export_journal("l1", file)
    assert file.read_text() == "mine"


def test_an_export_to_nowhere_is_told(store, tmp_path):
    store.create(Lamp, machine_id="l1")
    with pytest.raises(JournalError, match=r"cannot export to .*No such file or directory"):
        store.export_journal("l1", tmp_path / "none" / "l1.jsonl")
    with pytest.raises(JournalError, match="no machine 'l2'"):
        store.export_journal("l2", tmp_path / "l2.jsonl")
    assert list(tmp_path.glob("l2*")) == []


def test_an_export_that_fails_leaves_no_file(store, file, monkeypatch):
    store.create(Lamp, machine_id="l1")

    def full(number):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(JournalError, match=r"cannot export to .*No space left"):
        store.export_journal("l1", file)
    assert not file.exists()


def test_an_import_from_nowhere_is_told(store, file):
    with pytest.raises(JournalError, match="cannot read the journal"):
        store.import_journal(file)


def exported(store, file):
    store.create(StateMachine, LAMP, machine_id="l1").fire("switch_on")
    store.export_journal("l1", file)
    return file.read_text()


def test_a_torn_tail_is_left_out_with_a_warning(store, other, file):
    text = exported(store, file)
    file.write_text(text[:-20])
    with pytest.warns(UserWarning, match="l1.jsonl:2: the last line is torn"):
        assert other.import_journal(file) == ["l1"]
    assert not other.machines()[0].is_loadable


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda text: "{oops\n" + text, r"l1\.jsonl:1: not a journal record"),
        (lambda text: text + "oops", r"l1\.jsonl:3: not a journal record"),
        (
            lambda text: text.replace('"snapshot": {"version": 1', '"snapshot": {"version": 7'),
            ":2: the snapshot",
        ),
        (
            lambda text: text.replace('"state": "on", "ordinal"', '"state": "off", "ordinal"'),
            "not that of 'l1'",
        ),
        (lambda text: text.replace('"v": 1', '"v": 2'), "newer"),
    ],
)
def test_a_damaged_file_is_refused_and_nothing_is_imported(store, other, file, damage, message):
    text = exported(store, file)
    changed = damage(text)
    assert changed != text
    file.write_text(changed)
    with pytest.raises(JournalError, match=message):
        other.import_journal(file)
    assert other.machines() == []


def test_what_no_agent_log_tells_of_a_machine_is_passed_over(other, file):
    error = {"timestamp": "2026-01-01T00:00:00Z", "session_id": "s1", "state_when_error": "a", "error": "x"}
    file.write_text(json.dumps(error) + "\n")
    assert other.import_journal(file) == []


def test_an_interrupted_export_leaves_no_file(store, file, monkeypatch):
    store.create(Lamp, machine_id="l1")

    def stop(number):
        raise KeyboardInterrupt

    monkeypatch.setattr("os.fsync", stop)
    with pytest.raises(KeyboardInterrupt):
        store.export_journal("l1", file)
    assert not file.exists()
