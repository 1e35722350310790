"""The tables and their versions."""

import multiprocessing
import sqlite3

import pytest
from sqlalchemy import inspect

from orkeon_transitions.errors import JournalError
from orkeon_transitions.store import MachineStore
from orkeon_transitions.store.database import schema
from orkeon_transitions.store.database.engine import Database
from orkeon_transitions.store.database.tables import metadata
from tests.store.stored_machines import Lamp


@pytest.fixture(params=["sqlite", "postgres"])
def url(request, tmp_path):
    if request.param == "postgres":
        return request.getfixturevalue("postgres_url")
    return f"sqlite:///{tmp_path / 'machines.db'}"


def columns_of(url):
    database = Database(url)
    with database.reading("test") as connection:
        looking = inspect(connection)
        found = {
            (table, column["name"], column["nullable"])
            for table in looking.get_table_names()
            for column in looking.get_columns(table)
        }
        keys = {table: looking.get_pk_constraint(table)["constrained_columns"] for table in metadata.tables}
    database.close()
    return found, keys


def test_the_steps_lead_to_the_tables_that_are_used(url):
    found, keys = columns_of(url)
    assert found == {
        (table.name, column.name, bool(column.nullable))
        for table in metadata.tables.values()
        for column in table.columns
    }
    assert keys == {
        table.name: [column.name for column in table.primary_key] for table in metadata.tables.values()
    }


def test_a_database_of_each_former_version_is_brought_up_to_date(url, monkeypatch):
    steps = schema.STEPS
    for version in range(1, schema.CURRENT):
        monkeypatch.setattr(schema, "STEPS", steps[:version])
        monkeypatch.setattr(schema, "CURRENT", version)
        MachineStore(url).close()
        assert version_of(url) == version
    monkeypatch.undo()
    with MachineStore(url) as store:
        store.create(Lamp, machine_id="l1").fire("switch_on")
    assert version_of(url) == schema.CURRENT
    assert columns_of(url)[0] >= {("orkeon_machines", "snapshot", True)}


def version_of(url):
    database = Database(url)
    with database.reading("test") as connection:
        version = schema.version_of(connection, "here")
    database.close()
    return version


def test_what_is_kept_survives_a_new_version(url, monkeypatch):
    with MachineStore(url) as store:
        store.create(Lamp, machine_id="l1").fire("switch_on")
    monkeypatch.setattr(schema, "STEPS", (*schema.STEPS, ("CREATE TABLE orkeon_more (a INTEGER)",)))
    monkeypatch.setattr(schema, "CURRENT", schema.CURRENT + 1)
    with MachineStore(url) as store:
        assert store.load(Lamp, "l1").state == "on"
    monkeypatch.undo()
    with pytest.raises(
        JournalError, match=rf"schema version {schema.CURRENT + 1}.* knows {schema.CURRENT}: up"
    ):
        MachineStore(url)


def test_a_step_that_fails_leaves_the_version_before(url, monkeypatch):
    MachineStore(url).close()
    broken = ("CREATE TABLE orkeon_more (a INTEGER)", "CREATE TABLE orkeon_machines (a INTEGER)")
    with monkeypatch.context() as patched:
        patched.setattr(schema, "STEPS", (*schema.STEPS, broken))
        patched.setattr(schema, "CURRENT", schema.CURRENT + 1)
        with pytest.raises(JournalError, match=r"cannot open the store in .*already exists"):
            MachineStore(url)
    assert version_of(url) == schema.CURRENT
    assert not any(table == "orkeon_more" for table, *_ in columns_of(url)[0])


def _open(url, barrier, said):
    barrier.wait()
    try:
        with MachineStore(url) as store:
            store.create(Lamp)
    except Exception as error:
        said.put(str(error))
    else:
        said.put(None)


def test_processes_that_open_a_new_database_at_once_make_one_schema(url):
    spawn = multiprocessing.get_context("spawn")
    barrier, said = spawn.Barrier(4), spawn.Queue()
    workers = [spawn.Process(target=_open, args=(url, barrier, said)) for _ in range(4)]
    for worker in workers:
        worker.start()
    assert [said.get(timeout=60) for _ in workers] == [None] * 4
    for worker in workers:
        worker.join(20)
    with MachineStore(url) as store:
        assert len(store.machines()) == 4


def test_other_tables_in_the_database_are_left_alone(tmp_path):
    path = tmp_path / "app.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE mine (a INTEGER)")
    connection.execute("INSERT INTO mine VALUES (1)")
    connection.commit()
    with MachineStore(f"sqlite:///{path}") as store:
        store.create(Lamp)
        assert connection.execute("SELECT a FROM mine").fetchall() == [(1,)]
    connection.close()


@pytest.mark.parametrize("what", ["no file", "no tables", "memory"])
def test_a_program_that_only_looks_makes_no_database(tmp_path, what):
    path = tmp_path / "machines.db"
    if what == "no tables":
        sqlite3.connect(path).close()
        path.touch()
    url = "sqlite://" if what == "memory" else f"sqlite:///{path}"
    with pytest.raises(JournalError, match=r"no such database|no tables of a store"):
        MachineStore(url, must_exist=True)
    assert path.exists() == (what == "no tables")


def test_a_program_that_only_looks_opens_what_is_there(url):
    with MachineStore(url) as store:
        store.create(Lamp, machine_id="l1")
    with MachineStore(url, must_exist=True) as store:
        assert [row.machine_id for row in store.machines()] == ["l1"]


@pytest.mark.parametrize(
    "loss",
    ["DELETE FROM orkeon_schema", "DROP TABLE orkeon_schema", "UPDATE orkeon_schema SET version = 'abc'"],
)
def test_a_version_that_was_lost_is_told_and_nothing_is_made_anew(tmp_path, loss):
    url = f"sqlite:///{tmp_path / 'm.db'}"
    with MachineStore(url) as store:
        store.create(Lamp, machine_id="l1")
    with sqlite3.connect(tmp_path / "m.db") as connection:
        connection.execute(loss)
    connection.close()
    for must_exist in (False, True):
        with pytest.raises(JournalError, match=r"'orkeon_schema' does not say of which version: restore"):
            MachineStore(url, must_exist=must_exist)
