"""Machines and their journals as rows: all but the write that every transition makes (`swap`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, delete, insert, select
from sqlalchemy.exc import IntegrityError

from orkeon_transitions.store.database.engine import Database
from orkeon_transitions.store.database.swap import Written
from orkeon_transitions.store.database.tables import journal, machines, run_machines
from orkeon_transitions.store.database.values import moment, reading_row, whole, words
from orkeon_transitions.store.stored import StoredMachine

# So many values fit into one statement of any database.
_AT_ONCE: Final = 500


@dataclass(frozen=True, slots=True)
class Found:
    """A machine's row, as far as loading it needs.

    Attributes:
        version: The version to compare with.
        snapshot: As JSON text; None where only the journal is known.
        is_terminal: Whether it has ended.
    """

    version: int
    snapshot: str | None
    is_terminal: bool


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which machines are meant; None: any.

    Attributes:
        machine: The name of their definition.
        state: The state's name.
        is_terminal: Whether they have ended.
        before: Seconds since the epoch; they were last written then or earlier.
    """

    machine: str | None = None
    state: str | None = None
    is_terminal: bool | None = None
    before: float | None = None

    def conditions(self) -> list[ColumnElement[bool]]:
        """The same as SQL."""
        conditions: list[ColumnElement[bool]] = []
        if self.machine is not None:
            conditions.append(machines.c.machine == self.machine)
        if self.state is not None:
            conditions.append(machines.c.state == self.state)
        if self.is_terminal is not None:
            conditions.append(machines.c.is_terminal == int(self.is_terminal))
        if self.before is not None:
            conditions.append(machines.c.updated_at <= self.before)
        return conditions


class TakenError(Exception):
    """There is a machine of this name already; nothing was written.

    Attributes:
        machine_id: The name.
    """

    def __init__(self, machine_id: str) -> None:
        self.machine_id = machine_id
        super().__init__(machine_id)


def add(database: Database, rows: Iterable[tuple[Mapping[str, Any], Sequence[str]]], doing: str) -> None:
    """Adds machines with their journals, all or none.

    Args:
        database: Where to.
        rows: Each machine's row, and the lines of its journal: the first is of version 1.
        doing: What it is for, in an error's words.

    Raises:
        TakenError: One is there already.
        JournalError: They cannot be written.
    """
    with database.writing(doing) as connection:
        for row, lines in rows:
            _add(connection, row, lines)


def _add(connection: Connection, row: Mapping[str, Any], lines: Sequence[str]) -> None:
    machine_id = row["machine_id"]
    try:
        connection.execute(insert(machines).values(row))
        if lines:
            facts = [
                {"machine_id": machine_id, "version": version, "line": line}
                for version, line in enumerate(lines, 1)
            ]
            connection.execute(insert(journal), facts)
    except IntegrityError:
        raise TakenError(machine_id) from None


def values_of(row: Written) -> dict[str, Any]:
    """The columns of a new machine."""
    values = row._asdict() | {"created_at": row.updated_at}
    del values["known"]
    return values


def find(database: Database, machine_id: str) -> Found | None:
    """Reads a machine's row; None: there is none."""
    columns = machines.c.version, machines.c.snapshot, machines.c.is_terminal
    query = select(*columns).where(machines.c.machine_id == machine_id)
    with database.reading(f"read machine '{machine_id}'") as connection:
        row = connection.execute(query).one_or_none()
    if row is None:
        return None
    with reading_row(f"machine '{machine_id}'", database.place):
        snapshot = None if row.snapshot is None else words(row.snapshot)
        return Found(whole(row.version), snapshot, bool(row.is_terminal))


def names(database: Database) -> list[str]:
    """The names of all machines."""
    with database.reading("list the machines") as connection:
        return list(connection.execute(select(machines.c.machine_id)).scalars())


def search(database: Database, wanted: Wanted, limit: int | None) -> list[StoredMachine]:
    """Lists machines, the last written first."""
    columns = [column for column in machines.c if column is not machines.c.snapshot]
    query = (
        select(*columns, machines.c.snapshot.is_not(None).label("is_loadable"))
        .where(*wanted.conditions())
        .order_by(machines.c.updated_at.desc(), machines.c.machine_id)
        .limit(limit)
    )
    with database.reading("list the machines") as connection:
        return [_stored(row, database.place) for row in connection.execute(query)]


def _stored(row: Any, place: str) -> StoredMachine:
    with reading_row(f"machine '{row.machine_id}'", place):
        return StoredMachine(
            machine_id=words(row.machine_id),
            machine=words(row.machine),
            definition_hash=words(row.definition),
            state=words(row.state),
            version=whole(row.version),
            ordinal=whole(row.ordinal),
            is_terminal=bool(row.is_terminal),
            is_broken=bool(row.is_broken),
            created_at=moment(row.created_at),
            updated_at=moment(row.updated_at),
            is_loadable=bool(row.is_loadable),
        )


def remove(database: Database, wanted: Wanted) -> int:
    """Deletes machines with their journals, but those of runs, which go with their run; says how many."""
    of_runs = select(run_machines.c.machine_id)
    with database.writing("delete machines") as connection:
        # The machines first: what is deleted is what was still as wanted at that moment.
        query = delete(machines).where(*wanted.conditions(), machines.c.machine_id.not_in(of_runs))
        gone = list(connection.execute(query.returning(machines.c.machine_id)).scalars())
        _remove_journals(connection, gone)
    return len(gone)


class OfRunError(Exception):
    """The machine is one of a run's; nothing was written.

    Attributes:
        run_id: The run.
    """

    def __init__(self, run_id: str) -> None:
        self.run_id = run_id
        super().__init__(run_id)


def remove_one(database: Database, machine_id: str) -> bool:
    """Deletes a machine with its journal; says whether there was one.

    Raises:
        OfRunError: It goes with a run.
    """
    of_run = select(run_machines.c.run_id).where(run_machines.c.machine_id == machine_id)
    with database.writing(f"delete machine '{machine_id}'") as connection:
        run_id = connection.execute(of_run).scalar()
        if run_id is not None:
            raise OfRunError(run_id)
        done = connection.execute(delete(machines).where(machines.c.machine_id == machine_id))
        _remove_journals(connection, [machine_id])
    return done.rowcount == 1


def _remove_journals(connection: Connection, machine_ids: Sequence[str]) -> None:
    for start in range(0, len(machine_ids), _AT_ONCE):
        few = machine_ids[start : start + _AT_ONCE]
        connection.execute(delete(journal).where(journal.c.machine_id.in_(few)))


def lines(database: Database, machine_id: str) -> list[tuple[int, str]]:
    """A machine's journal: versions and lines, in order."""
    query = select(journal.c.version, journal.c.line).where(journal.c.machine_id == machine_id)
    with database.reading(f"read the journal of '{machine_id}'") as connection:
        return [(row.version, row.line) for row in connection.execute(query.order_by(journal.c.version))]
