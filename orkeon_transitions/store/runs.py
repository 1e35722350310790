"""Runs of crews in a store: what a crew's `run_log` needs, and a list of them.

Each machine of a run is a machine of the store like any other, with its journal. Beside it stands what the
run noted with its last fact, written in the same transaction. A run is worked on by one process at a time;
the number of its turn tells those apart that had it once.
"""

from __future__ import annotations

import json
import os
import threading
import time
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from orkeon_transitions.definition import nearest
from orkeon_transitions.errors import OrkeonError, StaleMachineError
from orkeon_transitions.facts import Fact, Snapshot, TransitionResult
from orkeon_transitions.machines import machine_definition, machine_names
from orkeon_transitions.store.arguments import check_name, checked_limit, moment_before
from orkeon_transitions.store.database import runs as rows
from orkeon_transitions.store.database.values import moment, reading_row, whole, words
from orkeon_transitions.store.loading import read_journal, read_snapshot
from orkeon_transitions.store.owners import Owner
from orkeon_transitions.store.records import TRANSITION, JournalRecord, fact_line

if TYPE_CHECKING:
    from orkeon_transitions.store.database.engine import Database

RUNNING = "running"
INTERRUPTED = "interrupted"

Entry = tuple[Fact | None, Snapshot, Mapping[str, Any] | None]


@dataclass(frozen=True, slots=True)
class StoredRunMachine:
    """A machine of a run.

    Attributes:
        machine_id: Its own name.
        snapshot: Where it is.
        note: What was noted beside its last fact.
        history: Its transitions, in order.
    """

    machine_id: str
    snapshot: Snapshot
    note: Mapping[str, Any]
    history: Sequence[TransitionResult]


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run, as a list shows it.

    Attributes:
        run_id: The run's own name.
        status: `running`, `interrupted` (nobody works on it any more), or how it ended.
        note: What it began with.
        ending: What it ended with, or nothing.
        owner: The process that works on it, for people; None: nobody.
        began_at: When it began, in UTC.
        updated_at: When it was written last, in UTC.
        states: The states of its machines, by machine id, in the order of their first facts.
    """

    run_id: str
    status: str
    note: Mapping[str, Any]
    ending: Mapping[str, Any]
    owner: str | None
    began_at: datetime
    updated_at: datetime
    states: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class WholeRun(StoredRun):
    """A run with all that is known of it.

    Attributes:
        machines: Its machines, in the order of their first facts.
    """

    machines: Sequence[StoredRunMachine]


class StoredRuns:
    """The runs of a store; `MachineStore.runs` gives it.

    Args:
        database: Where they are.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._process = os.getpid()
        self._holds: weakref.WeakSet[RunHold] = weakref.WeakSet()

    def _held(self, turn: rows.Turn, places: Mapping[str, rows.Place]) -> RunHold:
        hold = RunHold(self._database, turn, places)
        self._holds.add(hold)
        return hold

    def leave(self) -> None:
        """Says of the runs that this process still works on that they are interrupted: the store closes."""
        if self._process != os.getpid():  # they are the parent's, which goes on
            return
        for hold in list(self._holds):
            hold.leave()

    def begin(self, run_id: str, note: Mapping[str, Any]) -> RunHold:
        """Writes a new run down.

        Args:
            run_id: Its own name.
            note: What it begins with: JSON data.

        Raises:
            OrkeonError: There is a run of that name, or none can have it.
            JournalError: It cannot be written.
        """
        # Machines of the run may be called by its name.
        check_name(run_id)
        owner = str(Owner.this())
        if not rows.add(self._database, run_id, note=json.dumps(note), owner=owner, status=RUNNING):
            raise OrkeonError(
                f"{self._database.place} has a run '{run_id}' already: resume it, or give the new one "
                "another name"
            )
        return self._held(rows.Turn(run_id, 1), {})

    def read(self, run_id: str) -> WholeRun:
        """Gives a run with its machines.

        Raises:
            OrkeonError: There is none of that name.
            JournalError: It cannot be read.
        """
        found, place = self._found(run_id), self._database.place
        machines = []
        for row, lines in rows.machines_of(self._database, run_id):
            snapshot = read_snapshot(row.snapshot, row.machine_id, place)
            history = tuple(_transitions(read_journal(lines, row.machine_id, place)))
            with reading_row(f"machine '{row.machine_id}'", place):
                machines.append(StoredRunMachine(row.machine_id, snapshot, _noted(row.note), history))
        states = {machine.machine_id: machine.snapshot.state for machine in machines}
        return WholeRun(**_told(found, states, place), machines=tuple(machines))

    def take_up(
        self, run_id: str, *, take_over: bool = False, note: Mapping[str, Any] | None = None
    ) -> RunHold:
        """Gets the right to go on with a run.

        A process of this computer that has ended is noticed. Whether one of another computer lives cannot be
        known.

        Args:
            run_id: The run.
            take_over: Whether to do so though another process seems to work on it: it then stops at its next
                transition.
            note: What the run goes on with; None: as before.

        Raises:
            StaleMachineError: Another process works on it, or was quicker.
            OrkeonError: There is none of that name, or it has ended.
            JournalError: It cannot be written.
        """
        found = self._found(run_id)
        if found.status not in (RUNNING, INTERRUPTED):
            raise OrkeonError(f"run '{run_id}' has ended ({found.status})")
        with reading_row(f"run '{run_id}'", self._database.place):
            owner = None if found.owner is None else Owner.read(found.owner)
            whole(found.turn)
            moment(found.updated_at)
        if owner is not None and not owner.has_ended and not take_over:
            passed = max(0, time.time() - found.updated_at)
            raise StaleMachineError(
                f"run '{run_id}' is being worked on by {owner.words}, which wrote {passed:.0f} s ago: if it "
                "is gone, say so with take_over=True (--take-over)"
            )
        changed = {} if note is None else {"note": json.dumps(note)}
        if not rows.take(self._database, found, owner=str(Owner.this()), status=RUNNING, **changed):
            raise StaleMachineError(f"run '{run_id}' was taken up by another process, which was quicker")
        turn = rows.Turn(run_id, found.turn + 1)
        return self._held(turn, rows.places_of(self._database, run_id))

    def listed(self, *, limit: int | None = None) -> list[StoredRun]:
        """Gives the runs, the last written first; at most `limit`."""
        found, states = rows.listed(self._database, checked_limit(limit))
        place = self._database.place
        return [StoredRun(**_told(row, states.get(row.run_id, {}), place)) for row in found]

    def prune(self, *, idle_for: timedelta | float, ended_only: bool = True) -> int:
        """Deletes runs that were not written for a while, with their machines.

        Args:
            idle_for: For how long; a number is seconds.
            ended_only: Whether only those that have ended; False: those that were interrupted, too.

        Returns:
            How many.

        Raises:
            JournalError: The database cannot be written.
        """
        before = datetime.fromtimestamp(moment_before(idle_for) or 0.0, UTC)
        kept = (RUNNING, INTERRUPTED) if ended_only else (RUNNING,)
        idle = [run for run in self.listed() if run.updated_at <= before and run.status not in kept]
        return sum(rows.remove(self._database, run.run_id) for run in idle)

    def delete(self, run_id: str) -> None:
        """Deletes a run with its machines and their journals.

        Raises:
            OrkeonError: There is none of that name.
        """
        if not rows.remove(self._database, run_id):
            raise self._unknown(run_id)

    def _found(self, run_id: str) -> Any:
        found = rows.find(self._database, run_id)
        if found is None:
            raise self._unknown(run_id)
        return found

    def _unknown(self, run_id: str) -> OrkeonError:
        hint = nearest(run_id, rows.names(self._database))
        meant = f", did you mean '{hint}'?" if hint else ""
        return OrkeonError(f"{self._database.place} has no run '{run_id}'{meant}")


class RunHold:
    """The right to write one run down, in any thread.

    Args:
        database: Where to.
        turn: Which turn this is.
        places: What is known of the machines' rows.
    """

    def __init__(self, database: Database, turn: rows.Turn, places: Mapping[str, rows.Place]) -> None:
        self._database = database
        self._turn = turn
        self._places = dict(places)
        self._lock = threading.Lock()
        self._is_released = False

    def record(self, entries: Sequence[Entry]) -> None:
        """Writes facts of machines down, each with a snapshot and a note: all of them or none.

        Raises:
            StaleMachineError: Another process goes on with the run.
            JournalError: They cannot be written.
        """
        with self._lock:
            self._places = rows.write(self._database, self._turn, _lines(entries), self._places)

    def release(
        self, status: str, entries: Sequence[Entry] = (), note: Mapping[str, Any] | None = None
    ) -> None:
        """Writes the last facts down, and that nobody works on the run any more; errors as for `record`.

        Args:
            status: `interrupted`, or how it ended.
            entries: As for `record`.
            note: What it ended with: JSON data.
        """
        ending = None if note is None else json.dumps(note)
        with self._lock:
            rows.release(
                self._database, self._turn, _lines(entries), self._places, status=status, ending=ending
            )
            self._is_released = True

    def leave(self) -> None:
        """Lets the run go as interrupted, if it was not released."""
        if self._is_released:
            return
        with suppress(OrkeonError):  # another process has it, or the database is gone
            self.release(INTERRUPTED)


def _lines(entries: Sequence[Entry]) -> list[rows.Line]:
    lines = []
    for fact, snapshot, note in entries:
        values = text = None
        if fact is not None:
            values, text = _row(snapshot), fact_line(fact, snapshot)[:-1].decode()
        noted = None if note is None else json.dumps(note)
        lines.append(rows.Line(snapshot.machine_id, values, text, noted))
    return lines


def _row(snapshot: Snapshot) -> dict[str, Any]:
    known = snapshot.machine in machine_names()
    final = machine_definition(snapshot.machine).final_states if known else frozenset()
    return {
        "ordinal": snapshot.ordinal,
        "state": snapshot.state,
        "is_terminal": int(snapshot.state in final),
        "is_broken": int(snapshot.trip is not None),
        "machine": snapshot.machine,
        "definition": snapshot.definition_hash,
        "updated_at": snapshot.taken_at.timestamp(),
        "snapshot": snapshot.model_dump_json(),
    }


def _told(row: Any, states: Mapping[str, str], place: str) -> dict[str, Any]:
    with reading_row(f"run '{row.run_id}'", place):
        owner = None if row.owner is None else Owner.read(row.owner)
        is_alone = row.status == RUNNING and owner is not None and owner.has_ended
        return {
            "run_id": words(row.run_id),
            "status": INTERRUPTED if is_alone else words(row.status),
            "note": _noted(row.note),
            "ending": {} if row.ending is None else _noted(row.ending),
            "owner": None if owner is None or is_alone else owner.words,
            "began_at": moment(row.began_at),
            "updated_at": moment(row.updated_at),
            "states": states,
        }


def _noted(text: Any) -> dict[str, Any]:
    data = json.loads(text)
    if not isinstance(data, dict):
        raise TypeError("a note is no JSON object")
    return data


def _transitions(records: Sequence[JournalRecord]) -> Iterator[TransitionResult]:
    for record in records:
        if record.fact == TRANSITION:
            yield TransitionResult(
                from_state=record.from_state,
                to_state=record.to_state,
                trigger=record.trigger,
                ordinal=record.ordinal or 0,
                timestamp=record.timestamp,
                accepted=not record.degraded,
                state_changed=record.from_state != record.to_state,
                degraded=bool(record.degraded),
                internal=bool(record.internal),
                transition_count=record.transition_count or 0,
            )
