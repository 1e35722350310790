"""The versions of the tables, and the way from each to the next.

A step that was released never changes: a new version is a new step. Steps are plain SQL that both kinds of
database understand, so that what they do does not follow later changes of `tables`.
"""

from __future__ import annotations

from sqlalchemy import Connection, inspect, select

from orkeon_transitions.errors import JournalError
from orkeon_transitions.store.database import tables

STEPS: tuple[tuple[str, ...], ...] = (
    (
        "CREATE TABLE orkeon_schema (version INTEGER NOT NULL)",
        "INSERT INTO orkeon_schema (version) VALUES (0)",
        """CREATE TABLE orkeon_machines (
            machine_id TEXT NOT NULL PRIMARY KEY,
            version BIGINT NOT NULL,
            ordinal BIGINT NOT NULL,
            state TEXT NOT NULL,
            is_terminal INTEGER NOT NULL,
            is_broken INTEGER NOT NULL,
            machine TEXT NOT NULL,
            definition TEXT NOT NULL,
            created_at DOUBLE PRECISION NOT NULL,
            updated_at DOUBLE PRECISION NOT NULL,
            snapshot TEXT
        )""",
        """CREATE TABLE orkeon_journal (
            machine_id TEXT NOT NULL,
            version BIGINT NOT NULL,
            line TEXT NOT NULL,
            PRIMARY KEY (machine_id, version)
        )""",
    ),
    (
        """CREATE TABLE orkeon_runs (
            run_id TEXT NOT NULL PRIMARY KEY,
            status TEXT NOT NULL,
            turn BIGINT NOT NULL,
            owner TEXT,
            note TEXT NOT NULL,
            ending TEXT,
            began_at DOUBLE PRECISION NOT NULL,
            updated_at DOUBLE PRECISION NOT NULL
        )""",
        """CREATE TABLE orkeon_run_machines (
            run_id TEXT NOT NULL,
            machine_id TEXT NOT NULL,
            place BIGINT NOT NULL,
            note TEXT NOT NULL,
            PRIMARY KEY (run_id, machine_id)
        )""",
    ),
)
"""What leads from each version to the next; the first one from an empty database to version 1."""

CURRENT = len(STEPS)

# Any number will do, if no other program takes it: PostgreSQL's name of the lock under which steps are made.
_LOCK = 0x6F726B65


def version_of(connection: Connection, place: str) -> int:
    """The version of a database's schema; 0: it has none of our tables.

    Raises:
        JournalError: It has some of our tables, and does not say of which version.
    """
    looking, name = inspect(connection), tables.schema_version.name
    # Asked first: a process that makes the tables just now makes them all at once.
    has_machines = looking.has_table(tables.machines.name)
    if looking.has_table(name):
        found = connection.execute(select(tables.schema_version.c.version)).scalar()
        if isinstance(found, int):
            return found
    if not has_machines:
        return 0
    raise JournalError(
        f"{place} has tables of a store, but its table '{name}' does not say of which version: restore the "
        f"database from a copy, or, if only that was lost, make the table with one row, {CURRENT} for this "
        "release"
    )


def refuse_newer(version: int, place: str) -> None:
    """Refuses a database that a later release has changed.

    Raises:
        JournalError: It is newer than what this release knows.
    """
    if version > CURRENT:
        raise JournalError(
            f"{place} has schema version {version}, and this release of orkeon-transitions knows {CURRENT}: "
            "upgrade orkeon-transitions, or use another database"
        )


def migrate(connection: Connection, place: str) -> None:
    """Makes the steps that are missing, in the transaction that is open.

    Raises:
        JournalError: The schema is newer than what this release knows.
    """
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_LOCK})")
    # Looked at again: another process may have made the steps while this one waited.
    version = version_of(connection, place)
    refuse_newer(version, place)
    for step in STEPS[version:]:
        for statement in step:
            connection.exec_driver_sql(statement)
    if version < CURRENT:
        connection.execute(tables.schema_version.update().values(version=CURRENT))
