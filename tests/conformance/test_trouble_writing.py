"""A SQLite database that takes nothing: one clear error, nothing half-written, and all goes on afterwards."""

import asyncio
import contextlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from sqlalchemy import event
from sqlalchemy.pool import Pool

from orkeon_transitions.errors import JournalError
from orkeon_transitions.store import MachineStore
from tests.conformance.troubled import assert_plain, assert_whole
from tests.conformance.worker import WORK, AsyncWork, Work, at_rest

KINDS = pytest.mark.parametrize("kind", [Work, AsyncWork])


@pytest.fixture
def path(tmp_path):
    return tmp_path / "machines.db"


@pytest.fixture
def url(path):
    return f"sqlite:///{path}"


# ------------------------------------------------------------------------------------------------ a full disk
@pytest.fixture
def smallest():
    """Makes the database unable to grow, on all connections that are open."""
    connections = []

    def opened(connection, _record):
        connections.append(connection)

    def limit(pages):
        for connection in connections:
            with contextlib.suppress(sqlite3.ProgrammingError):  # it was closed meanwhile
                connection.execute(f"PRAGMA max_page_count = {pages}")

    event.listen(Pool, "connect", opened)
    yield limit
    event.remove(Pool, "connect", opened)


@KINDS
def test_a_full_disk_stops_the_machine_until_there_is_room(url, kind, run, smallest):
    told = []
    with MachineStore(url) as store:
        fsm = store.create(kind, WORK, machine_id="w")
        run(fsm.fire("begin"))
        fsm.title = "x" * 1000
        fsm.on_transition(told.append)
        smallest(1)  # no smaller than it is
        with pytest.raises(JournalError, match="disk is full") as error:
            for _ in range(1000):
                run(fsm.fire("again"))
        assert_plain(error)
        before = at_rest(fsm.snapshot())
        assert before["ordinal"] == 1 + len(told)
        for trigger in ("again", "pause", "stop"):
            with pytest.raises(JournalError, match="disk is full"):
                fsm.title = "y" * 10_000
                run(fsm.fire(trigger))
        fsm.title = "x" * 1000
        assert at_rest(fsm.snapshot()) == before
        assert assert_whole(store) == before["ordinal"]
        smallest(100_000)
        run(fsm.fire("again"))
        run(fsm.fire("stop"))
        assert assert_whole(store) == before["ordinal"] + 2


def test_a_machine_that_no_longer_fits_is_not_there(url, smallest):
    with MachineStore(url) as store:
        store.create(Work, WORK, machine_id="w")
        smallest(1)
        with pytest.raises(JournalError, match="disk is full") as error:
            for number in range(1000):
                store.create(Work, WORK, machine_id=f"{'n' * 200}{number}")
        assert_plain(error)
        smallest(100_000)
        assert all(store.load(Work, WORK, each.machine_id).state == "waiting" for each in store.machines())
        store.create(Work, WORK, machine_id="one more").fire("begin")


FAILING_DISK = """
import json, resource, signal, sys
from orkeon_transitions.errors import JournalError
from tests.conformance.worker import WORK, Work
from orkeon_transitions.store import JsonlJournal, MachineStore

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
place = sys.argv[1]
told = {"made": 0, "error": None, "after": 0}
journal = None
if place.startswith("sqlite"):
    store = MachineStore(place)
    fsm = store.create(Work, WORK, machine_id="w")
else:
    journal = JsonlJournal(place)
    fsm = Work(WORK, machine_id="w")
    journal.record(fsm)
fsm.fire("begin")
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY))
try:
    for _ in range(5000):
        fsm.fire("again")
except JournalError as error:
    told["error"] = str(error)
told["made"] = fsm.transition_count
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
fsm.fire("again")
fsm.fire("stop")
told["after"] = fsm.transition_count
print(json.dumps(told))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="limits of files are POSIX")
@pytest.mark.parametrize("kind", ["sqlite", "jsonl"])
def test_a_file_that_may_not_grow_stops_the_machine_until_it_may(tmp_path, path, url, kind):
    lines = tmp_path / "run.jsonl"
    done = subprocess.run(
        [sys.executable, "-c", FAILING_DISK, url if kind == "sqlite" else str(lines)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=Path(__file__).parent.parent.parent,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert "cannot" in told["error"]
    assert told["after"] == told["made"] + 2
    if kind == "sqlite":
        with MachineStore(url) as store:
            assert assert_whole(store) == told["after"]
    else:
        kept = [json.loads(line)["ordinal"] for line in lines.read_text().splitlines()]
        assert kept == list(range(1, told["after"] + 1))


# ----------------------------------------------------------------------------------------- not to be written
@contextlib.contextmanager
def as_nobody():
    """Root may write everything, so root becomes somebody else for a moment."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def shown():
    """A folder that everybody may look into."""
    folder = Path(tempfile.mkdtemp(prefix="orkeon-"))
    folder.chmod(0o755)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="permissions are POSIX")
@pytest.mark.parametrize("folder", [0o777, 0o555])
def test_a_file_that_may_not_be_written_can_be_read(shown, folder):
    path = shown / "machines.db"
    with MachineStore(f"sqlite:///{path}") as store:
        store.create(Work, WORK, machine_id="w").fire("begin")
    path.chmod(0o444)
    shown.chmod(folder)
    with as_nobody(), MachineStore(f"sqlite:///{path}") as store:
        assert [record.trigger for record in store.journal("w")] == ["begin"]
        fsm = store.load(Work, WORK, "w")
        with pytest.raises(JournalError, match="cannot be written") as error:
            fsm.fire("pause")
        with pytest.raises(JournalError, match="cannot be written"):
            store.create(Work, WORK, machine_id="v")
        assert (fsm.state, fsm.transition_count) == ("working", 1)
    assert_plain(error)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="permissions are POSIX")
def test_a_folder_that_may_not_be_written_takes_no_new_store(shown):
    shown.chmod(0o555)
    with as_nobody(), pytest.raises(JournalError, match="cannot open the store") as error:
        MachineStore(f"sqlite:///{shown / 'machines.db'}")
    assert_plain(error)
    assert list(shown.iterdir()) == []


def test_a_url_that_is_read_only_is_kept_to(path, url):
    with MachineStore(url) as store:
        store.create(Work, WORK, machine_id="w").fire("begin")
    with MachineStore(f"sqlite:///file:{path}?mode=ro&uri=true") as store:
        fsm = store.load(Work, WORK, "w")
        with pytest.raises(JournalError, match="cannot be written") as error:
            fsm.fire("pause")
        assert_plain(error)
        assert fsm.state == "working"
        assert assert_whole(store) == 1


# --------------------------------------------------------------------------------------------------- locked
@KINDS
def test_a_locked_database_is_waited_for_and_then_told(path, url, kind, run):
    with MachineStore(url, busy_timeout=0.1) as store:
        fsm = store.create(kind, WORK, machine_id="w")
        run(fsm.fire("begin"))
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(JournalError, match="locked") as error:
                run(fsm.fire("pause"))
            assert_plain(error)
            assert (fsm.state, fsm.transition_count) == ("working", 1)
            assert len(store.journal("w")) == 1  # whoever reads is not in anybody's way
            other.execute("ROLLBACK")
        run(fsm.fire("pause"))
        assert assert_whole(store) == 2


def test_a_lock_that_is_released_in_time_is_no_trouble(path, url):
    async def main():
        with MachineStore(url, busy_timeout=30) as store:
            fsm = store.create(AsyncWork, WORK, machine_id="w")
            with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
                other.execute("BEGIN IMMEDIATE")
                call = asyncio.create_task(fsm.fire("begin"))
                turns = 0
                for _ in range(20):
                    await asyncio.sleep(0.005)
                    turns += 1
                assert not call.done()
                assert fsm.state == "waiting"
                other.execute("ROLLBACK")
                await call
            # The loop went on meanwhile.
            assert turns == 20
            assert fsm.state == "working"

    asyncio.run(main())


def test_a_database_that_is_locked_while_it_is_opened(path, url):
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(JournalError, match="locked") as error:
            MachineStore(url, busy_timeout=0.1)
        assert_plain(error)
        other.execute("ROLLBACK")
    with MachineStore(url) as store:
        store.create(Work, WORK, machine_id="w").fire("begin")
