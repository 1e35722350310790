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

from orkeon_transitions.store.database.engine import Database
from orkeon_transitions.store.database.trouble import sqlstate, translated

_ATTEMPTS: Final = 8
# Serialization failure, deadlock, lock not available: the same statement may well succeed a moment later.
_TRY_AGAIN: Final = frozenset({"40001", "40P01", "55P03"})
_UNIQUE: Final = "23505"


class Written(NamedTuple):
    """A machine's row as it will be.

    Attributes:
        version: What it will be; only a row of the version before moves.
        ordinal: The last transition's number.
        state: The state's name.
        is_terminal: Whether the machine has ended.
        is_broken: Whether its circuit is broken.
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
    is_terminal: bool
    is_broken: bool
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


def swap(database: Database, row: Written, line: str | None) -> bool:
    """Writes a machine's row, and a journal's line if there is one.

    Returns:
        Whether the row was still of the version that the writer knew; if not, nothing was written.

    Raises:
        JournalError: It cannot be written; then nothing was.
    """
    with translated(database.place, f"save machine '{row.machine_id}'"):
        if database.is_sqlite:
            return _swap_in_sqlite(database, row, line)
        return _swap_in_postgresql(database, row, line)


def _swap_in_sqlite(database: Database, row: Written, line: str | None) -> bool:
    with database.writer() as connection:
        execute = connection.execute
        execute("BEGIN IMMEDIATE")
        try:
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
    return True


def _swap_in_postgresql(database: Database, row: Written, line: str | None) -> bool:
    statement, values = (_MOVE, row) if line is None else (_MOVE_AND_NOTE, (*row, line))
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            with database.session() as connection:
                moved: int = connection.execute(statement, values).rowcount
        except Exception as error:
            state = sqlstate(error)
            if state == _UNIQUE:
                return False
            if state not in _TRY_AGAIN or attempt == _ATTEMPTS:
                raise
            time.sleep(random.uniform(0, 0.002 * 2**attempt))  # noqa: S311 (jitter, no secret)
        else:
            return moved == 1
    raise AssertionError("the last attempt returns or raises")
