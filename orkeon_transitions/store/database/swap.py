"""The write that every transition makes: compare, swap and note, all of it or nothing.

A row moves only if its version is the one that the writer knew. The journal's key holds the same version, so
that a second row for it is a lost race too. Written as plain SQL and run past SQLAlchemy: this is the one
place where that is worth it.
"""

from __future__ import annotations

import random
import sqlite3
import time
from typing import Final, NamedTuple

from orkeon_transitions.store.database.engine import ConnectionLostError, Database
from orkeon_transitions.store.database.trouble import sqlstate, translation, trouble

_ATTEMPTS: Final = 8
_JITTER: Final = 0.002
# Serialization failure, deadlock: the same statement may well succeed a moment later.
_TRY_AGAIN: Final = frozenset({"40001", "40P01"})
_UNIQUE: Final = "23505"


class Written(NamedTuple):
    """A machine's row as it will be.

    Attributes:
        version: What it will be; only a row of the version before moves.
        ordinal: The last transition's number.
        state: The state's name.
        is_terminal: Whether the machine has ended: 1 or 0.
        is_broken: Whether its circuit is broken: 1 or 0.
        machine: The name of its definition.
        definition: Its content hash.
        updated_at: Seconds since the epoch.
        snapshot: As JSON text.
        machine_id: The machine's own name.
        known: The version that the writer knew.
    """

    version: int
    ordinal: int
    state: str
    is_terminal: int
    is_broken: int
    machine: str
    definition: str
    updated_at: float
    snapshot: str
    machine_id: str
    known: int


_UPDATE = """UPDATE orkeon_machines SET version = ?, ordinal = ?, state = ?, is_terminal = ?, is_broken = ?,
machine = ?, definition = ?, updated_at = ?, snapshot = ? WHERE machine_id = ? AND version = ?"""

_INSERT = "INSERT INTO orkeon_journal (machine_id, version, line) VALUES (?, ?, ?)"

# One statement, so that it is one round trip and holds the row for a moment only.
_MOVE = _UPDATE.replace("?", "%s")
_MOVE_AND_NOTE = (
    f"WITH moved AS ({_MOVE} RETURNING machine_id, version) "  # noqa: S608 (a text of ours, no value is in it)
    "INSERT INTO orkeon_journal (machine_id, version, line) SELECT machine_id, version, %s FROM moved"
)

_WRITTEN = """SELECT m.snapshot, j.line FROM orkeon_machines m LEFT JOIN orkeon_journal j
ON j.machine_id = m.machine_id AND j.version = m.version WHERE m.machine_id = %s AND m.version = %s"""


def swap(database: Database, row: Written, line: str | None) -> bool:
    """Writes a machine's row, and a journal's line if there is one.

    Returns:
        Whether the row was still of the version that the writer knew; if not, nothing was written.

    Raises:
        JournalError: It cannot be written; then nothing was.
    """
    try:
        if database.is_sqlite:
            return _swap_in_sqlite(database, row, line)
        return _swap_in_postgresql(database, row, line)
    except Exception as error:
        told = translation(error, database.place, f"save machine '{row.machine_id}'")
        if told is None:
            raise
        raise told from None


def _swap_in_sqlite(database: Database, row: Written, line: str | None) -> bool:
    connection = database.take_writer()
    try:
        execute = connection.execute
        execute("BEGIN IMMEDIATE")
        if execute(_UPDATE, row).rowcount != 1:
            execute("ROLLBACK")
            return False
        if line is not None:
            execute(_INSERT, (row.machine_id, row.version, line))
        execute("COMMIT")
    except BaseException as error:
        # SQLite may have rolled back by itself, as it does when the disk is full.
        connection.rollback()
        if isinstance(error, sqlite3.IntegrityError):
            return False
        raise
    finally:
        database.leave_writer()
    return True


def _swap_in_postgresql(database: Database, row: Written, line: str | None) -> bool:
    was_lost = False
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            return _moves(database, row, line) or (was_lost and _found(database, row, line))
        except ConnectionLostError as error:
            was_lost = True
            if attempt == _ATTEMPTS:
                doing = f"save machine '{row.machine_id}'"
                raise trouble(error.__cause__ or error, database.place, doing) from None
        except Exception as error:
            if sqlstate(error) not in _TRY_AGAIN or attempt == _ATTEMPTS:
                raise
        time.sleep(random.uniform(0, _JITTER * 2**attempt))  # noqa: S311 (jitter, no secret)
    raise AssertionError("the last attempt returns or raises")


def _moves(database: Database, row: Written, line: str | None) -> bool:
    statement, values = (_MOVE, row) if line is None else (_MOVE_AND_NOTE, (*row, line))
    with database.session() as connection:
        try:
            rows: int = connection.execute(statement, values).rowcount
        except Exception as error:
            if sqlstate(error) == _UNIQUE:
                return False
            raise
    return rows == 1


def is_written(database: Database, row: Written, line: str | None) -> bool:
    """Whether a write that an interrupt cut short was made all the same; not, if the database is silent."""
    try:
        if not database.is_sqlite:
            return _found(database, row, line)
        connection = database.take_writer()
        try:
            query = _WRITTEN.replace("%s", "?")
            found: tuple[str, str] | None = connection.execute(
                query, (row.machine_id, row.version)
            ).fetchone()
        finally:
            database.leave_writer()
    except Exception:  # noqa: BLE001 (the interrupt goes on)
        return False
    return found is not None and found == (row.snapshot, line)


def _found(database: Database, row: Written, line: str | None) -> bool:
    """Whether the attempt whose answer was lost had been made after all."""
    with database.session() as connection:
        found = connection.execute(_WRITTEN, (row.machine_id, row.version)).fetchone()
    return found is not None and found == (row.snapshot, line)
