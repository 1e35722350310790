"""A database that other hands have changed is told of in one sentence, whatever stands in it."""

import sqlite3
import warnings
from contextlib import closing, suppress

import pytest

from orkeon_transitions.errors import JournalError, OrkeonError
from orkeon_transitions.machines import TaskExecution, machine_definition
from orkeon_transitions.store import MachineStore, replay

ODD = [None, "abc", "{}", "[1]", b"\xff\x00", -1, 10**18, 1e300, float("inf")]
COLUMNS = {
    "orkeon_machines": [
        "version", "ordinal", "state", "is_terminal", "is_broken", "machine", "definition", "created_at",
        "updated_at", "snapshot",
    ],
    "orkeon_runs": ["status", "turn", "owner", "note", "ending", "began_at", "updated_at"],
    "orkeon_run_machines": ["place", "note"],
    "orkeon_journal": ["version", "line"],
}  # fmt: skip


@pytest.fixture
def stored(tmp_path):
    """A database with a machine that has moved, and a run with one."""
    path = tmp_path / "m.db"
    with MachineStore(f"sqlite:///{path}") as store:
        store.create(TaskExecution, machine_id="t1").begin_execution()
        facts = []
        machine = TaskExecution(machine_id="r1/a")
        machine.attach_commit(lambda fact, snapshot: facts.append((fact, snapshot, {"task": "a"})))
        machine.begin_execution()
        store.runs.begin("r1", {"crew": "c"}).record(facts)
    return path


def looks(path):
    """Everything that only reads; and what goes on."""
    url = f"sqlite:///{path}"
    with MachineStore(url) as store:
        yield lambda: store.machines()
        yield lambda: store.journal("t1")
        yield lambda: store.load(TaskExecution, "t1").state
        yield lambda: replay(url, machine_definition("task_execution"), machine_id="t1")
        yield lambda: store.runs.listed()
        yield lambda: store.runs.read("r1")
        yield lambda: store.runs.take_up("r1", take_over=True)


@pytest.mark.parametrize(("table", "column"), [(t, c) for t, columns in COLUMNS.items() for c in columns])
def test_whatever_stands_in_a_column_no_other_error_comes_than_ours(stored, table, column):
    original = stored.read_bytes()
    for value in ODD:
        stored.write_bytes(original)
        with closing(sqlite3.connect(stored)) as connection:
            try:
                connection.execute(f"UPDATE {table} SET {column} = ?", (value,))
            except sqlite3.IntegrityError:  # NOT NULL and the like: this damage cannot be
                continue
            connection.commit()
        for look in looks(stored):
            with warnings.catch_warnings(), suppress(OrkeonError):
                warnings.simplefilter("ignore")
                look()


@pytest.mark.parametrize(
    ("change", "look", "words"),
    [
        (
            "UPDATE orkeon_machines SET version = 'abc'",
            "load",
            r"machine 't1' in .*m\.db.*'abc' is no whole number",
        ),
        ("UPDATE orkeon_machines SET created_at = 'x' WHERE machine_id = 't1'", "machines", "'x' is no time"),
        ("UPDATE orkeon_machines SET state = x'ff' WHERE machine_id = 't1'", "machines", "is no text"),
        ("UPDATE orkeon_runs SET note = '[1]'", "runs", r"run 'r1' in .*m\.db.*no JSON object"),
    ],
)
def test_what_is_damaged_and_where_is_told(stored, change, look, words):
    with closing(sqlite3.connect(stored)) as connection:
        connection.execute(change)
        connection.commit()
    with MachineStore(f"sqlite:///{stored}") as store:
        doing = {
            "load": lambda: store.load(TaskExecution, "t1"),
            "machines": store.machines,
            "runs": store.runs.listed,
        }
        with pytest.raises(JournalError, match=words):
            doing[look]()
