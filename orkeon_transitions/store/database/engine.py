"""A database that is open: its connections, and who may write when."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Literal

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool, PoolProxiedConnection, StaticPool

from orkeon_transitions.errors import JournalError, MissingExtraError
from orkeon_transitions.store.database import schema
from orkeon_transitions.store.database.trouble import tells_of_loss, translated
from orkeon_transitions.store.database.urls import (
    SQLITE,
    file_of,
    identity_of,
    is_memory,
    lies_still,
    read_url,
    shown,
)

Synchronous = Literal["NORMAL", "FULL"]

# PostgreSQL lets several threads write; SQLite one at a time, so one thread is enough.
_WRITERS = 4
_POLL = 0.01


class ConnectionLostError(Exception):
    """The server has gone away; whether it has done what it was asked for is not known."""


# All databases of this process whose writing has to pause while it is forked.
_OPEN: weakref.WeakSet[Database] = weakref.WeakSet()
_PAUSED: list[threading.Lock] = []
# A thread that forks while it writes itself would wait for itself.
_LONGEST_PAUSE = 5.0


def _pause_writing() -> None:
    """Before a fork: SQLite's own locks, held by another thread just then, would stay shut in the child."""
    for database in list(_OPEN):
        turn = database._turn
        if turn.acquire(timeout=_LONGEST_PAUSE):
            _PAUSED.append(turn)


def _go_on_writing() -> None:
    while _PAUSED:
        _PAUSED.pop().release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_pause_writing, after_in_parent=_go_on_writing, after_in_child=_go_on_writing)


class Database:
    """One database, for all threads of one process.

    Everything is read and written in one of two ways: `reading` for queries, `writing` for one transaction.
    What every transition writes goes through `take_writer` or `session`: past SQLAlchemy, on its connections.

    Args:
        url: The URL, with its password.
        synchronous: SQLite's durability: `NORMAL` survives a crash of the process, `FULL` a power cut.
        busy_timeout: Seconds to wait for another writer.
        must_exist: Whether a database that is not there, or has none of our tables, is refused.

    Raises:
        JournalError: It cannot be opened, or is of a newer schema.
        ValueError: An option has no such value.
    """

    def __init__(
        self,
        url: str,
        synchronous: Synchronous = "NORMAL",
        busy_timeout: float = 30.0,
        *,
        must_exist: bool = False,
    ) -> None:
        if synchronous not in ("NORMAL", "FULL"):
            raise ValueError(f"synchronous must be 'NORMAL' or 'FULL', not {synchronous!r}")
        if not busy_timeout >= 0:
            raise ValueError("busy_timeout must not be negative")
        self._url = read_url(url)
        self.place = shown(self._url)
        self.is_sqlite = self._url.get_backend_name() == SQLITE
        self.is_memory = is_memory(self._url)
        self._synchronous = synchronous
        self._busy_timeout = busy_timeout
        self._file = file_of(self._url)
        self._identity: tuple[int, int] | None = None
        self._closed = False
        self._process = os.getpid()
        self._inherited: list[Any] = []
        self._start()
        if self.is_sqlite:
            _OPEN.add(self)
        try:
            self._open(must_exist)
        except BaseException:
            self.close()
            raise

    def _start(self) -> None:
        """Makes what one process needs: no connection is opened yet."""
        # SQLite lets one connection write: threads take turns here, where nobody has to poll.
        self._turn = threading.Lock()
        self._starting = threading.Lock()
        self._held: PoolProxiedConnection | None = None
        self._executor: ThreadPoolExecutor | None = None
        self._engine = self._make_engine()

    def _make_engine(self) -> Engine:
        if not self.is_sqlite:
            return self._make_postgresql_engine()
        options: dict[str, Any] = {"poolclass": StaticPool} if self.is_memory else {}
        archive = self._file if self._file is not None and lies_still(self._file) else None
        if archive is not None:
            options = {"poolclass": NullPool}
        engine = create_engine(
            self._url,
            connect_args={"check_same_thread": False, "timeout": self._busy_timeout, "isolation_level": None},
            **options,
        )
        event.listen(engine, "connect", self._set_pragmas)
        if archive is not None:
            uri = f"{archive.absolute().as_uri()}?immutable=1"
            event.listen(
                engine,
                "do_connect",
                lambda _dialect, _record, _args, given: sqlite3.connect(uri, uri=True, **given),
            )
        return engine

    def _make_postgresql_engine(self) -> Engine:
        milliseconds = max(1, int(self._busy_timeout * 1000))
        try:
            # Transactions are begun by hand, so that one statement is one round trip.
            engine = create_engine(
                self._url, isolation_level="AUTOCOMMIT", pool_size=_WRITERS, max_overflow=2 * _WRITERS
            )
        except ModuleNotFoundError:
            raise MissingExtraError(f"{self.place} needs psycopg.", extra="postgres") from None

        def wait_no_longer(connection: Any, _record: Any) -> None:
            connection.execute(f"SET lock_timeout = {milliseconds}")
            connection.commit()

        event.listen(engine, "connect", wait_no_longer)
        return engine

    def _set_pragmas(self, connection: Any, _record: Any) -> None:
        connection.execute(f"PRAGMA synchronous = {self._synchronous}")
        if self.is_memory or connection.execute("PRAGMA journal_mode").fetchone() == ("wal",):
            return
        until = time.monotonic() + self._busy_timeout
        while True:
            try:
                connection.execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError as error:
                # Several that open a new file at once: SQLite does not wait here by itself.
                if error.sqlite_errorname.startswith("SQLITE_BUSY") and time.monotonic() < until:
                    time.sleep(_POLL)
                    continue
                # A file that cannot be written can still be read.
                if not error.sqlite_errorname.startswith("SQLITE_READONLY"):
                    raise
            return

    def _open(self, must_exist: bool) -> None:
        file = self._file
        if file is not None and not file.parent.is_dir():
            raise JournalError(f"cannot open the store {self.place}: there is no folder '{file.parent}'")
        if must_exist and (self.is_memory or (file is not None and not file.exists())):
            raise JournalError(f"cannot open the store {self.place}: there is no such database")
        with self.reading("open the store") as connection:
            version = schema.version_of(connection, self.place)
        schema.refuse_newer(version, self.place)
        if must_exist and version == 0:
            raise JournalError(f"cannot open the store {self.place}: the database has no tables of a store")
        if version < schema.CURRENT:
            with self.writing("open the store") as connection:
                schema.migrate(connection, self.place)
        self._identity = identity_of(file)

    # ------------------------------------------------------------------------------------------ whose it is
    @property
    def closed(self) -> bool:
        """Whether it takes nothing more."""
        return self._closed

    def close(self) -> None:
        """Closes all connections, when what is being written has been written."""
        if self._process != os.getpid():
            # They are the parent's, which goes on.
            self._closed = True
            return
        with self._turn:
            self._closed = True
            held, self._held = self._held, None
        if self._executor is not None:
            self._executor.shutdown()
        if held is not None:
            held.close()
        self._engine.dispose()

    def _ready(self) -> None:
        """Refuses a closed database, and begins anew in a process that was forked off.

        Raises:
            JournalError: It is closed, or is the memory of another process.
        """
        if self._closed:
            raise JournalError(f"the store {self.place} is closed: open it again with MachineStore(...)")
        if self._process != os.getpid():
            self._begin_in_child()

    def _begin_in_child(self) -> None:
        if self.is_memory:
            raise JournalError(
                f"the store {self.place} is the memory of the process that opened it: a forked process needs "
                "a store in a file or on a server"
            )
        # Neither used nor closed here: both would disturb the parent's connections.
        self._inherited.append((self._engine, self._held, self._executor))
        self._start()
        self._process = os.getpid()

    @property
    def executor(self) -> Executor:
        """The threads in which async machines write."""
        self._ready()
        with self._starting:
            if self._executor is None:
                workers = 1 if self.is_sqlite else _WRITERS
                self._executor = ThreadPoolExecutor(workers, thread_name_prefix="orkeon-store")
            return self._executor

    # ------------------------------------------------------------------------------------------- both ways
    @contextmanager
    def reading(self, doing: str) -> Iterator[Connection]:
        """A connection for queries.

        Args:
            doing: What it is for, in an error's words: `cannot <doing> in <database>`.

        Raises:
            JournalError: The database is closed or complains.
        """
        self._ready()
        self._refuse_if_lost()
        with (
            translated(self.place, doing),
            self._turns(only_memory=True),
            self._connection() as connection,
        ):
            yield connection

    @contextmanager
    def writing(self, doing: str) -> Iterator[Connection]:
        """A connection with one transaction, which is committed at the end or has not happened.

        Args:
            doing: What it is for, in an error's words: `cannot <doing> in <database>`.

        Raises:
            JournalError: The database is closed or complains.
        """
        self._ready()
        with translated(self.place, doing), self._turns(), self._connection() as connection:
            connection.exec_driver_sql("BEGIN IMMEDIATE" if self.is_sqlite else "BEGIN")
            try:
                yield connection
                connection.commit()
            except BaseException:
                connection.rollback()
                raise

    def take_writer(self) -> sqlite3.Connection:
        """SQLite's one writing connection, until `leave_writer`: the quick way, without SQLAlchemy.

        Raises:
            JournalError: The database is closed, or other threads write for too long.
        """
        self._ready()
        self._take_turn()
        try:
            if self._held is None:
                self._held = self._engine.raw_connection()
            connection: Any = self._held.driver_connection
        except BaseException:
            self._turn.release()
            raise
        writer: sqlite3.Connection = connection
        return writer

    def leave_writer(self) -> None:
        """Lets the next thread write."""
        self._turn.release()

    @contextmanager
    def session(self) -> Iterator[Any]:
        """A psycopg connection to PostgreSQL in which each statement is a transaction of its own.

        Raises:
            ConnectionLostError: The server went away meanwhile.
            JournalError: The database is closed.
        """
        self._ready()
        held = self._engine.raw_connection()
        connection: Any = held.driver_connection
        try:
            yield connection
        except Exception as error:
            if not connection.closed and not tells_of_loss(error):
                raise
            held.invalidate()
            # What went away under one connection went away under all of them.
            self._engine.dispose()
            raise ConnectionLostError from error
        finally:
            held.close()

    @contextmanager
    def _connection(self) -> Iterator[Connection]:
        connection = self._engine.connect()
        if not self.is_sqlite:
            try:
                connection.exec_driver_sql("SELECT 1")
            except DBAPIError as error:
                if not error.connection_invalidated and not tells_of_loss(error.orig):
                    raise
                # The server has ended the session since, as when it is started anew: all of them.
                connection.invalidate()
                connection.close()
                self._engine.dispose()
                connection = self._engine.connect()
        with connection:
            yield connection

    @contextmanager
    def _turns(self, *, only_memory: bool = False) -> Iterator[None]:
        """One after another where there is only one connection, or one writer."""
        if not self.is_sqlite or (only_memory and not self.is_memory):
            yield
            return
        self._take_turn()
        try:
            yield
        finally:
            self._turn.release()

    def _take_turn(self) -> None:
        """Waits until no other thread of this process writes."""
        if not self._turn.acquire(timeout=self._busy_timeout):
            raise JournalError(
                f"the store {self.place} is busy: other threads of this program write for longer than "
                f"{self._busy_timeout:g} s"
            )
        try:
            self._ready()
            self._refuse_if_lost()
        except BaseException:
            self._turn.release()
            raise

    def _refuse_if_lost(self) -> None:
        if self._identity is not None and identity_of(self._file) != self._identity:
            raise JournalError(
                f"the file of the store {self.place} was removed or replaced while it was open: what is "
                "written now would be lost, and what is read is not what was there; open the store again"
            )
