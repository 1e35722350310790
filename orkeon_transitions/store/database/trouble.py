"""What a database complains of, in one sentence that says what to do."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from orkeon_transitions.errors import JournalError

# SQLite tells what is wrong by its own codes, whose names are the same in every release.
_SQLITE = {
    "SQLITE_FULL": "the disk is full, or the database has reached its largest size: make room and try again",
    "SQLITE_READONLY": "it cannot be written: look at the permissions of the file and its folder",
    "SQLITE_BUSY": "another program has locked it for too long: try again, or give a longer busy_timeout",
    "SQLITE_LOCKED": "another connection of this program has locked it: try again",
    "SQLITE_CANTOPEN": "it cannot be opened: look at its folder and its permissions",
    "SQLITE_NOTADB": "the file is no SQLite database: name another one",
    "SQLITE_CORRUPT": "the file is damaged: restore it from a copy",
    "SQLITE_IOERR": "the disk failed: look at it and try again",
    "SQLITE_PERM": "access is not permitted: look at the permissions of the file and its folder",
}

# PostgreSQL's by classes (two characters) and codes (five).
_POSTGRESQL = {
    "3D000": "there is no such database: make it first, createdb does",
    "28": "it does not let this user in: look at the user's name and password",
    "42501": "the user may not do that: ask for the permission on the schema",
    "25006": "it is read-only: connect to the primary server",
    "53100": "the server's disk is full: make room and try again",
    "53300": "the server has no connection left: close some, or try again",
    "55P03": "another session has locked it for too long: try again",
    "57014": "the server cancelled the statement: try again",
    "57P": "the server is shutting down or starting: try again",
    "08": "the connection to the server was lost: try again",
}


@contextmanager
def translated(place: str, doing: str) -> Iterator[None]:
    """Turns what the database complains of into a `JournalError`.

    Args:
        place: The database, as it may be shown.
        doing: What was being done, such as `open the store`.
    """
    try:
        yield
    except Exception as error:
        told = translation(error, place, doing)
        if told is None:
            raise
        raise told from None


def translation(error: Exception, place: str, doing: str) -> JournalError | None:
    """The error to raise for what SQLAlchemy or a driver has raised; None: it is no database's."""
    if isinstance(error, PoolTimeoutError):
        return JournalError(f"cannot {doing} in {place}: all connections are in use for too long, try again")
    if isinstance(error, DBAPIError) and error.orig is not None:
        return trouble(error.orig, place, doing)
    # Drivers' own errors where SQLAlchemy does not stand between; psycopg may be missing, and is not asked.
    if isinstance(error, SQLAlchemyError | sqlite3.Error) or hasattr(error, "sqlstate"):
        return trouble(error, place, doing)
    return None


def trouble(error: BaseException, place: str, doing: str) -> JournalError:
    """The error to raise for what a driver has raised."""
    told = str(error).strip().splitlines()
    said = told[0].rstrip(":") if told else type(error).__name__
    advice = _advice(error)
    return JournalError(f"cannot {doing} in {place}: {advice or said}" + (f" ({said})" if advice else ""))


def _advice(error: BaseException) -> str | None:
    name = getattr(error, "sqlite_errorname", None)
    if isinstance(name, str):
        return next((advice for code, advice in _SQLITE.items() if name.startswith(code)), None)
    state = sqlstate(error)
    if state is None:
        return None
    return next((advice for code, advice in _POSTGRESQL.items() if state.startswith(code)), None)


def sqlstate(error: BaseException | None) -> str | None:
    """PostgreSQL's five characters for what is wrong, if it is PostgreSQL that complains."""
    state: Any = getattr(error, "sqlstate", None)
    return state if isinstance(state, str) else None


def tells_of_loss(error: BaseException | None) -> bool:
    """Whether the server says that it ends the session, which the driver only notices afterwards."""
    return (sqlstate(error) or "").startswith(("57P", "08"))
