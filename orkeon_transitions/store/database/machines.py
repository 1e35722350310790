"""Machines and their journals as rows: all but the write that every transition makes (`swap`)."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import insert, select
from sqlalchemy.exc import IntegrityError

from orkeon_transitions.store.database.engine import Database
from orkeon_transitions.store.database.swap import Written
from orkeon_transitions.store.database.tables import journal, machines


@dataclass(frozen=True, slots=True)
class Found:
    """A machine's row, as far as loading it needs.

    Attributes:
        version: The version to compare with.
        snapshot: As JSON text; None where only the journal is known.
    """

    version: int
    snapshot: str | None


def add(database: Database, row: Written, line: str | None) -> bool:
    """Adds a machine.

    Returns:
        Whether there was none of this name; if there was, nothing was written.

    Raises:
        JournalError: It cannot be written.
    """
    values = {**row._asdict(), "created_at": row.updated_at}
    del values["known"]
    values["is_terminal"], values["is_broken"] = int(row.is_terminal), int(row.is_broken)
    try:
        with database.writing(f"add machine '{row.machine_id}'") as connection:
            try:
                connection.execute(insert(machines).values(values))
            except IntegrityError:
                raise _TakenError from None
            if line is not None:
                connection.execute(
                    insert(journal).values(machine_id=row.machine_id, version=row.version, line=line)
                )
    except _TakenError:
        return False
    return True


class _TakenError(Exception):
    """There is a machine of this name: leaves the transaction."""


def find(database: Database, machine_id: str) -> Found | None:
    """Reads a machine's row; None: there is none."""
    query = select(machines.c.version, machines.c.snapshot).where(machines.c.machine_id == machine_id)
    with database.reading(f"read machine '{machine_id}'") as connection:
        row = connection.execute(query).one_or_none()
    return None if row is None else Found(row.version, row.snapshot)


def names(database: Database) -> list[str]:
    """The names of all machines."""
    with database.reading("list the machines") as connection:
        return list(connection.execute(select(machines.c.machine_id)).scalars())


def lines(database: Database, machine_id: str) -> list[tuple[int, str]]:
    """A machine's journal: versions and lines, in order."""
    query = select(journal.c.version, journal.c.line).where(journal.c.machine_id == machine_id)
    with database.reading(f"read the journal of '{machine_id}'") as connection:
        return [(row.version, row.line) for row in connection.execute(query.order_by(journal.c.version))]
