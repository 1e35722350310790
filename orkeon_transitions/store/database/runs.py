"""Runs of crews as rows: who works on one, and its machines with what was noted beside them."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, bindparam, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from orkeon_transitions.errors import StaleMachineError
from orkeon_transitions.store.database.engine import Database
from orkeon_transitions.store.database.tables import journal, machines, run_machines, runs


class Turn(NamedTuple):
    """Who has a run.

    Attributes:
        run_id: The run.
        number: How often it was begun or taken up by then: with a later number, this one writes no more.
    """

    run_id: str
    number: int


class Place(NamedTuple):
    """What a hold knows of a machine's row.

    Attributes:
        version: The version that it has, 0 before the first fact.
        number: Its place among the machines of the run.
    """

    version: int
    number: int


@dataclass(frozen=True, slots=True)
class Line:
    """One thing to write.

    Attributes:
        machine_id: The machine.
        values: Its row as it will be, but its name and version; None: only the note is another one.
        text: The journal's line.
        note: What is noted beside it, as JSON text; None: as before.
    """

    machine_id: str
    values: Mapping[str, Any] | None
    text: str | None
    note: str | None


_OURS = (runs.c.run_id == bindparam("our_run")) & (runs.c.turn == bindparam("our_turn"))
_STILL_OURS = update(runs).where(_OURS, runs.c.owner.is_not(None)).values(updated_at=bindparam("now"))
_RELEASE = _STILL_OURS.values(owner=None)
_MOVE = update(machines).where(
    machines.c.machine_id == bindparam("our_machine"), machines.c.version == bindparam("known")
)
_NOTE = (
    update(run_machines)
    .where(
        run_machines.c.run_id == bindparam("our_run"), run_machines.c.machine_id == bindparam("our_machine")
    )
    .values(note=bindparam("as_note"))
)


def add(database: Database, run_id: str, **values: str) -> bool:
    """Adds a run with its note, owner and status; says whether there was none of its name."""
    now = time.time()
    with database.writing(f"begin run '{run_id}'") as connection:
        if connection.execute(select(runs.c.run_id).where(runs.c.run_id == run_id)).one_or_none() is not None:
            return False
        try:
            connection.execute(
                insert(runs).values(run_id=run_id, turn=1, began_at=now, updated_at=now, **values)
            )
        except IntegrityError:
            connection.rollback()
            return False
    return True


def find(database: Database, run_id: str) -> Row[Any] | None:
    """A run's row, or None."""
    with database.reading(f"read run '{run_id}'") as connection:
        return connection.execute(select(runs).where(runs.c.run_id == run_id)).one_or_none()


def take(database: Database, found: Row[Any], **values: str) -> bool:
    """Takes a run up, with another owner, status or note; says whether it was still as it was found."""
    query = (
        update(runs)
        .where(runs.c.run_id == found.run_id, runs.c.turn == found.turn, runs.c.status == found.status)
        .values(turn=found.turn + 1, updated_at=time.time(), **values)
    )
    with database.writing(f"take up run '{found.run_id}'") as connection:
        return connection.execute(query).rowcount == 1


def listed(database: Database, limit: int | None) -> tuple[list[Row[Any]], dict[str, dict[str, str]]]:
    """The rows of runs, the last written first, and the states of each one's machines in their order."""
    query = select(runs).order_by(runs.c.updated_at.desc(), runs.c.run_id).limit(limit)
    of_machines = (
        select(run_machines.c.run_id, run_machines.c.machine_id, machines.c.state)
        .join(machines, machines.c.machine_id == run_machines.c.machine_id)
        .order_by(run_machines.c.run_id, run_machines.c.place)
    )
    states: dict[str, dict[str, str]] = {}
    with database.reading("list the runs") as connection:
        rows = list(connection.execute(query))
        for row in connection.execute(of_machines):
            states.setdefault(row.run_id, {})[row.machine_id] = row.state
    return rows, states


def names(database: Database) -> list[str]:
    """The names of all runs."""
    with database.reading("list the runs") as connection:
        return list(connection.execute(select(runs.c.run_id)).scalars())


def machines_of(database: Database, run_id: str) -> list[tuple[Any, list[tuple[int, str]]]]:
    """The machines of a run in their order, each with the lines of its journal."""
    of_run = run_machines.c.run_id == run_id
    query = (
        select(
            run_machines.c.machine_id,
            run_machines.c.note,
            run_machines.c.place,
            machines.c.version,
            machines.c.snapshot,
        )
        .join(machines, machines.c.machine_id == run_machines.c.machine_id)
        .where(of_run)
        .order_by(run_machines.c.place)
    )
    of_journal = (
        select(journal.c.machine_id, journal.c.version, journal.c.line)
        .join(run_machines, journal.c.machine_id == run_machines.c.machine_id)
        .where(of_run)
        .order_by(journal.c.machine_id, journal.c.version)
    )
    lines: dict[str, list[tuple[int, str]]] = {}
    with database.reading(f"read run '{run_id}'") as connection:
        found = list(connection.execute(query))
        for row in connection.execute(of_journal):
            lines.setdefault(row.machine_id, []).append((row.version, row.line))
    return [(row, lines.get(row.machine_id, [])) for row in found]


def places_of(database: Database, run_id: str) -> dict[str, Place]:
    """What a hold must know of the machines of a run."""
    query = (
        select(run_machines.c.machine_id, run_machines.c.place, machines.c.version)
        .join(machines, machines.c.machine_id == run_machines.c.machine_id)
        .where(run_machines.c.run_id == run_id)
    )
    with database.reading(f"read run '{run_id}'") as connection:
        return {row.machine_id: Place(row.version, row.place) for row in connection.execute(query)}


def write(
    database: Database, turn: Turn, lines: Sequence[Line], places: Mapping[str, Place]
) -> dict[str, Place]:
    """Writes facts down, all or none, if the run is still ours.

    Returns:
        What is to be known of the machines from now on.

    Raises:
        StaleMachineError: The run, or one of its machines, was moved on by somebody else.
    """
    with database.writing(f"write run '{turn.run_id}' down") as connection:
        if connection.execute(_STILL_OURS, _keys(turn)).rowcount != 1:
            raise _taken_over(turn.run_id)
        return _written(connection, turn.run_id, lines, places)


def release(
    database: Database, turn: Turn, lines: Sequence[Line], places: Mapping[str, Place], **values: str | None
) -> None:
    """Writes the last facts down, and that nobody works on the run any more; errors as for `write`.

    Args:
        database: Where to.
        turn: Ours.
        lines: The facts.
        places: What is known of the machines.
        **values: `status` and `ending` of the run.
    """
    query = _RELEASE.values(**values)
    with database.writing(f"end run '{turn.run_id}'") as connection:
        if connection.execute(query, _keys(turn)).rowcount != 1:
            raise _taken_over(turn.run_id)
        _written(connection, turn.run_id, lines, places)


def remove(database: Database, run_id: str) -> bool:
    """Deletes a run with its machines and their journals; says whether there was one."""
    with database.writing(f"delete run '{run_id}'") as connection:
        theirs = select(run_machines.c.machine_id).where(run_machines.c.run_id == run_id)
        connection.execute(delete(journal).where(journal.c.machine_id.in_(theirs)))
        connection.execute(delete(machines).where(machines.c.machine_id.in_(theirs)))
        connection.execute(delete(run_machines).where(run_machines.c.run_id == run_id))
        return connection.execute(delete(runs).where(runs.c.run_id == run_id)).rowcount == 1


def _keys(turn: Turn) -> dict[str, Any]:
    return {"our_run": turn.run_id, "our_turn": turn.number, "now": time.time()}


def _written(
    connection: Connection, run_id: str, lines: Sequence[Line], places: Mapping[str, Place]
) -> dict[str, Place]:
    known = dict(places)
    for line in lines:
        if line.values is not None:
            place = known.get(line.machine_id)
            number = len(known) if place is None else place.number
            version = 1 if place is None else place.version + 1
            add_or_move = _add if place is None else _move
            add_or_move(connection, run_id, line, Place(version, number))
            values = {"machine_id": line.machine_id, "version": version, "line": line.text}
            connection.execute(insert(journal).values(values))
            known[line.machine_id] = Place(version, number)
        if line.note is not None:
            noted = {"our_run": run_id, "our_machine": line.machine_id, "as_note": line.note}
            connection.execute(_NOTE, noted)
    return known


def _add(connection: Connection, run_id: str, line: Line, place: Place) -> None:
    row = {**(line.values or {}), "machine_id": line.machine_id, "version": place.version}
    try:
        connection.execute(insert(machines).values(created_at=row["updated_at"], **row))
    except IntegrityError:
        raise StaleMachineError(
            f"there is a machine '{line.machine_id}' that is not one of run '{run_id}'"
        ) from None
    values = {"run_id": run_id, "machine_id": line.machine_id, "place": place.number, "note": "{}"}
    connection.execute(insert(run_machines).values(values))


def _move(connection: Connection, run_id: str, line: Line, place: Place) -> None:
    query = _MOVE.values(version=place.version, **(line.values or {}))
    keys = {"our_machine": line.machine_id, "known": place.version - 1}
    if connection.execute(query, keys).rowcount != 1:
        raise StaleMachineError(
            f"machine '{line.machine_id}' of run '{run_id}' was moved on by another writer"
        )


def _taken_over(run_id: str) -> StaleMachineError:
    return StaleMachineError(
        f"run '{run_id}' was taken up by another process, which goes on with it: this one stops"
    )
