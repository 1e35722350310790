"""Connections: whose they are, who waits for whom, and how they end."""

import asyncio
import multiprocessing
import os
import sqlite3
import threading
import time

import pytest

from orkeon_transitions.breaker import CircuitBreakerPolicy
from orkeon_transitions.errors import JournalError, MissingExtraError
from orkeon_transitions.store import MachineStore
from orkeon_transitions.store.database import engine as room
from tests.store.stored_machines import AsyncLamp, Lamp


@pytest.fixture
def path(tmp_path):
    return tmp_path / "machines.db"


@pytest.fixture
def url(path):
    return f"sqlite:///{path}"


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"synchronous": "OFF"}, "synchronous must be 'NORMAL' or 'FULL', not 'OFF'"),
        ({"synchronous": "normal; --"}, "synchronous must be"),
        ({"busy_timeout": -1}, "busy_timeout must not be negative"),
    ],
)
def test_an_option_that_makes_no_sense_is_refused(url, path, option, message):
    with pytest.raises(ValueError, match=message):
        MachineStore(url, **option)
    assert not path.exists()


@pytest.mark.parametrize(("synchronous", "number"), [("NORMAL", 1), ("FULL", 2)])
def test_sqlite_writes_ahead_as_durably_as_was_asked(url, synchronous, number):
    with MachineStore(url, synchronous=synchronous) as store:
        with store._database.reading("test") as connection:
            assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
            assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == number
        writer = store._database.take_writer()
        try:
            assert writer.execute("PRAGMA synchronous").fetchone() == (number,)
        finally:
            store._database.leave_writer()


def test_a_closed_store_leaves_one_file(url, path):
    with MachineStore(url) as store:
        store.create(Lamp, machine_id="l1").fire("switch_on")
        store.machines()
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_a_folder_that_is_not_there_is_told(tmp_path):
    with pytest.raises(JournalError, match=r"there is no folder '.*none'"):
        MachineStore(f"sqlite:///{tmp_path / 'none' / 'm.db'}")


def test_without_psycopg_the_extra_is_named(monkeypatch):
    def missing(*args, **options):
        raise ModuleNotFoundError("No module named 'psycopg'")

    monkeypatch.setattr(room, "create_engine", missing)
    with pytest.raises(MissingExtraError, match=r"orkeon-transitions\[postgres\]") as error:
        MachineStore("postgresql://user:secret@localhost/d")
    assert "secret" not in str(error.value)


def test_a_thread_that_writes_for_too_long_is_told_to_the_others(url):
    with MachineStore(url, busy_timeout=0.05) as store:
        lamp = store.create(Lamp, machine_id="l1")
        with store._database.writing("hold the database"):
            errors = []

            def fire():
                try:
                    lamp.fire("switch_on")
                except JournalError as error:
                    errors.append(str(error))

            thread = threading.Thread(target=fire)
            thread.start()
            thread.join()
        assert "is busy: other threads of this program write for longer than 0.05 s" in errors[0]
        assert lamp.state == "off"
        lamp.fire("switch_on")


def test_a_store_that_is_closed_while_others_wait_refuses_them(url):
    store = MachineStore(url)
    lamp = store.create(Lamp, machine_id="l1")
    errors, waiting = [], threading.Event()

    def fire():
        waiting.set()
        try:
            lamp.fire("switch_on")
        except JournalError as error:
            errors.append(str(error))

    with store._database.writing("hold the database"):
        thread = threading.Thread(target=fire)
        thread.start()
        waiting.wait(5)
        closing = threading.Thread(target=store.close)
        closing.start()
    thread.join()
    closing.join()
    assert store.closed
    with MachineStore(url) as again:
        assert again.load(Lamp, "l1").state == lamp.state
    assert errors == [] or "is closed" in errors[0]


def test_what_fails_inside_of_a_transaction_has_not_happened(url):
    with MachineStore(url) as store:
        store.create(Lamp, machine_id="l1")
        with pytest.raises(ZeroDivisionError), store._database.writing("test") as connection:
            connection.exec_driver_sql("DELETE FROM orkeon_machines")
            raise ZeroDivisionError
        assert len(store.machines()) == 1


def test_an_error_that_is_no_database_s_stays_what_it_is(url):
    with MachineStore(url) as store, pytest.raises(KeyError), store._database.reading("test"):
        raise KeyError("mine")


def test_a_connection_that_somebody_killed_is_told(url):
    with MachineStore(url) as store:
        lamp = store.create(Lamp, machine_id="l1")
        lamp.fire("switch_on")
        writer = store._database.take_writer()
        store._database.leave_writer()
        writer.close()
        with pytest.raises((JournalError, sqlite3.ProgrammingError)):
            lamp.fire("switch_off")
        assert lamp.state == "on"


forking = pytest.mark.skipif(not hasattr(os, "fork"), reason="the system does not fork")


def in_child(work):
    """What a forked process says of its work: its error, or None."""
    context = multiprocessing.get_context("fork")
    said = context.SimpleQueue()

    def tell():
        error = None
        try:
            work()
        except BaseException as raised:
            error = raised
        said.put(str(error))

    child = context.Process(target=tell)
    child.start()
    answer = said.get()
    child.join(20)
    assert child.exitcode == 0
    return answer


@forking
def test_a_child_that_closes_the_store_leaves_the_parent_s_open(url):
    with MachineStore(url) as store:
        lamp = store.create(Lamp, machine_id="l1")

        def close():
            store.close()
            assert store.closed

        assert in_child(close) == "None"
        lamp.fire("switch_on")
        assert store.load(Lamp, "l1").state == "on"


@forking
def test_a_child_writes_async_machines_in_threads_of_its_own(url):
    with MachineStore(url) as store:

        async def move(trigger):
            lamp = await store.load_async(AsyncLamp, "l1")
            await lamp.fire(trigger)

        store.create(Lamp, machine_id="l1")
        asyncio.run(move("switch_on"))
        assert in_child(lambda: asyncio.run(move("switch_off"))) == "None"
        asyncio.run(move("drop"))
        assert store.machines()[0].version == 3


@forking
def test_a_child_uses_a_server_with_connections_of_its_own(postgres_url):
    with MachineStore(postgres_url) as store:
        lamp = store.create(Lamp, machine_id="l1")
        lamp.fire("switch_on")
        assert in_child(lambda: store.load(Lamp, "l1").fire("switch_off")) == "None"
        assert store.load(Lamp, "l1").state == "off"
        assert len(store.journal("l1")) == 2


# Said of a process that is none, so that what a child does is also seen where children are not measured.
def as_child(monkeypatch):
    own = os.getpid()
    monkeypatch.setattr("os.getpid", lambda: own + 1)


def test_a_child_begins_anew(url, monkeypatch):
    with MachineStore(url) as store:
        lamp = store.create(Lamp, machine_id="l1")
        lamp.fire("switch_on")
        with monkeypatch.context() as patched:
            as_child(patched)
            lamp.fire("switch_off")
            assert store.load(Lamp, "l1").state == "off"
        assert len(store.journal("l1")) == 2


def test_a_child_has_no_share_in_a_memory_and_may_close_the_store(monkeypatch):
    with MachineStore("sqlite://") as store:
        as_child(monkeypatch)
        with pytest.raises(JournalError, match="is the memory of the process that opened it"):
            store.machines()
        store.close()
        assert store.closed


def test_reading_goes_on_when_the_server_has_ended_the_sessions(postgres_url, postgres):
    with MachineStore(postgres_url) as store:
        store.create(Lamp, machine_id="l1")
        postgres.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()",
            postgres_url.rpartition("/")[2],
        )
        assert [row.machine_id for row in store.machines()] == ["l1"]


def test_a_new_file_that_another_program_has_locked_is_waited_for(url, path):
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("CREATE TABLE theirs (a INTEGER)")
    other.execute("BEGIN IMMEDIATE")
    timer = threading.Timer(0.1, other.execute, ("COMMIT",))
    timer.start()
    with MachineStore(url) as store:
        store.create(Lamp, machine_id="l1")
    timer.join()
    other.close()


def test_a_new_file_that_stays_locked_is_told(url, path):
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("CREATE TABLE theirs (a INTEGER)")
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(JournalError, match=r"another program has locked it for too long.*busy_timeout"):
        MachineStore(url, busy_timeout=0.05)
    other.close()


def test_a_shared_memory_of_sqlite_s_own_is_no_file():
    with MachineStore("sqlite:///file:shared?mode=memory&cache=shared&uri=true") as store:
        store.create(Lamp, machine_id="l1").fire("switch_on")
        assert store.load(Lamp, "l1").state == "on"


@forking
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_process_that_is_forked_while_another_thread_writes_can_write(tmp_path):
    url = f"sqlite:///{tmp_path / 'm.db'}"
    may_end = threading.Event()
    children = []
    with MachineStore(url) as store:
        policy = CircuitBreakerPolicy(max_transitions=0, max_state_visits=0)
        counter = store.create(Lamp, machine_id="parent", policy=policy)

        def write():
            while not may_end.is_set():
                counter.fire("switch_off" if counter.state == "on" else "switch_on")

        writer = threading.Thread(target=write)
        writer.start()
        try:
            for number in range(6):
                time.sleep(0.02)
                child = os.fork()
                if child == 0:
                    code = 1
                    try:
                        with MachineStore(url, busy_timeout=5) as own:
                            own.create(Lamp, machine_id=f"child {number}").fire("switch_on")
                        code = 0
                    finally:
                        os._exit(code)
                children.append(child)
        finally:
            may_end.set()
            writer.join()
        assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0] * 6
        assert len(store.machines()) == 7


@pytest.mark.parametrize("is_replaced", [False, True])
def test_a_file_that_was_taken_away_is_not_read_either(url, path, tmp_path, is_replaced):
    with MachineStore(url) as store:
        store.create(Lamp, machine_id="l1")
        for file in tmp_path.iterdir():
            file.unlink()
        if is_replaced:
            MachineStore(url).close()
        for look in (store.machines, lambda: store.load(Lamp, "l1"), lambda: store.journal("l1")):
            with pytest.raises(JournalError, match="was removed or replaced while it was open"):
                look()
