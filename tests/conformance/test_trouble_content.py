"""A SQLite database that is not what it should be: damaged, of another release, or gone."""

import contextlib
import json
import os
import sqlite3

import pytest

from orkeon_transitions.errors import JournalError, OrkeonError
from orkeon_transitions.runtime import StateMachine
from orkeon_transitions.store import MachineStore
from tests.conformance.contenders import RING, SHARED
from tests.conformance.troubled import assert_plain, assert_whole
from tests.conformance.worker import WORK, Work


@pytest.fixture
def path(tmp_path):
    return tmp_path / "machines.db"


@pytest.fixture
def url(path):
    return f"sqlite:///{path}"


def changed(path, statement, *values):
    """Changes a database behind the store's back."""
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        assert connection.execute(statement, values).rowcount != 0


# --------------------------------------------------------------------------------------- of another release
def test_a_newer_schema_is_left_alone(path, url):
    with MachineStore(url) as store:
        store.create(Work, WORK, machine_id="w").fire("begin")
    (version,) = asked(path, "SELECT version FROM orkeon_schema")
    changed(path, "UPDATE orkeon_schema SET version = 99")
    before = dump(path)
    with pytest.raises(JournalError, match=r"schema version 99.*upgrade") as error:
        MachineStore(url)
    assert_plain(error)
    assert dump(path) == before
    changed(path, "UPDATE orkeon_schema SET version = ?", version)
    with MachineStore(url) as store:
        assert assert_whole(store) == 1


def asked(path, question):
    with contextlib.closing(sqlite3.connect(path)) as connection:
        return connection.execute(question).fetchone()


def dump(path):
    with contextlib.closing(sqlite3.connect(path)) as connection:
        return list(connection.iterdump())


# -------------------------------------------------------------------------------------------------- corrupt
def damaged(snapshot):
    """Snapshots that are none, by what is wrong with them."""
    data = json.loads(snapshot)
    return {
        "no JSON": "{oops",
        "empty": "",
        "not an object": "[1, 2]",
        "cut off": snapshot[: len(snapshot) // 2],
        "a state less": json.dumps({key: value for key, value in data.items() if key != "state"}),
        "negative": json.dumps({**data, "ordinal": -1}),
        "newer": json.dumps({**data, "version": 2}),
        "nowhere": json.dumps({**data, "state": "nowhere"}),
        "of a wrong kind": json.dumps({**data, "visits": "many"}),
    }


@pytest.mark.parametrize("what", damaged('{"version": 1, "state": "a", "ordinal": 1, "visits": {}}'))
def test_a_damaged_snapshot_is_named_and_harms_no_other(path, url, what):
    with MachineStore(url) as store:
        store.create(Work, WORK, machine_id="w").fire("begin")
        store.create(Work, WORK, machine_id="sound").fire("begin")
    (snapshot,) = asked(path, "SELECT snapshot FROM orkeon_machines WHERE machine_id = 'w'")
    changed(path, "UPDATE orkeon_machines SET snapshot = ? WHERE machine_id = 'w'", damaged(snapshot)[what])
    with MachineStore(url) as store:
        with pytest.raises(OrkeonError, match="'w'") as error:
            store.load(Work, WORK, "w")
        assert "\n  " not in str(error.value)  # not pydantic's own report
        assert [record.trigger for record in store.journal("w")] == ["begin"]
        store.load(Work, WORK, "sound").fire("pause")
        assert {each.machine_id for each in store.machines()} == {"w", "sound"}


@pytest.mark.parametrize("line", ["{oops", "", "[]", '{"fact": "transition"}', '{"v": 99}'])
def test_a_damaged_line_of_a_journal_is_named(path, url, line):
    with MachineStore(url) as store:
        fsm = store.create(Work, WORK, machine_id="w")
        for trigger in ("begin", "again", "pause"):
            fsm.fire(trigger)
    changed(path, "UPDATE orkeon_journal SET line = ? WHERE version = 2", line)
    with MachineStore(url) as store:
        with pytest.raises(JournalError, match=r"'w'.*2|2.*'w'") as error:
            store.journal("w")
        assert_plain(error)
        store.load(Work, WORK, "w").fire("begin")


def test_a_file_that_is_no_database_is_left_as_it_is(path, url):
    path.write_text("dear diary, " * 500)
    with pytest.raises(JournalError, match="no SQLite database") as error:
        MachineStore(url)
    assert_plain(error)
    assert path.read_text() == "dear diary, " * 500


def test_a_damaged_file_is_told(path, url):
    with MachineStore(url) as store:
        for number in range(50):
            store.create(Work, WORK, machine_id=f"w{number}").fire("begin")
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xa5" * (len(content) - 4096)
    path.write_bytes(content)
    with pytest.raises(JournalError, match="damaged") as error, MachineStore(url) as store:
        for number in range(50):
            store.load(Work, WORK, f"w{number}").fire("pause")
    assert_plain(error)


def test_tables_that_were_taken_away_are_told(path, url):
    with MachineStore(url) as store:
        fsm = store.create(Work, WORK, machine_id="w")
        fsm.fire("begin")
        changed(path, "DROP TABLE orkeon_journal")
        with pytest.raises(JournalError, match="cannot") as error:
            fsm.fire("pause")
        assert_plain(error)
        assert fsm.state == "working"
        with pytest.raises(JournalError, match="orkeon_journal"):
            store.journal("w")
        assert store.load(Work, WORK, "w").state == "working"  # not half-written


# ---------------------------------------------------------------------------------------------- not there
@pytest.mark.parametrize("where", ["missing/machines.db", ".", "/dev/full", "/dev/null/x.db"])
def test_a_place_where_no_database_can_be_is_one_clear_error(tmp_path, where):
    with pytest.raises(JournalError, match="cannot open the store") as error:
        MachineStore(f"sqlite:///{tmp_path / where}")
    assert_plain(error)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="an open file cannot be removed elsewhere")
@pytest.mark.parametrize("how", ["removed", "replaced"])
def test_a_file_that_is_taken_away_stops_the_machine(path, url, how):
    """What is written to a file without a name is lost: the machine does not go on as if it were kept."""
    with MachineStore(url) as store:
        fsm = store.create(Work, WORK, machine_id="w")
        fsm.fire("begin")
        for name in (path, path.with_name("machines.db-wal"), path.with_name("machines.db-shm")):
            name.unlink(missing_ok=True)
        if how == "replaced":
            MachineStore(url).close()
        with pytest.raises(JournalError, match=r"machines\.db") as error:
            fsm.fire("pause")
        assert_plain(error)
        assert fsm.state == "working"
    with MachineStore(url) as store:
        store.record(fsm)
        fsm.fire("pause")
        assert store.load(Work, WORK, "w").state == "waiting"


def test_a_machine_that_is_deleted_meanwhile_does_not_move(url):
    with MachineStore(url) as store:
        fsm = store.create(StateMachine, RING, machine_id=SHARED)
        fsm.fire("next")
        store.delete(SHARED)
        with pytest.raises(OrkeonError, match="deleted"):
            fsm.fire("next")
        assert fsm.state == "b"
        with pytest.raises(OrkeonError, match=SHARED):
            store.load(StateMachine, RING, SHARED)
