"""Which machines are a store's, by which hook, and at which version."""

from __future__ import annotations

import weakref
from typing import Any

from orkeon_transitions.definition import nearest
from orkeon_transitions.errors import JournalError, OrkeonError, StaleMachineError
from orkeon_transitions.facts import Snapshot
from orkeon_transitions.runtime import AsyncStateMachine
from orkeon_transitions.runtime.base import MachineBase
from orkeon_transitions.store.arguments import check_name
from orkeon_transitions.store.committing import AsyncStoreCommit, StoreCommit, row_of
from orkeon_transitions.store.database import machines as rows
from orkeon_transitions.store.database.engine import Database
from orkeon_transitions.store.loading import read_snapshot
from orkeon_transitions.store.records import recording_line

Machine = MachineBase[Any, Any]


class Keeper:
    """Gives machines their commit hooks; holds neither.

    Args:
        database: Where the machines are.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._hooks: weakref.WeakValueDictionary[int, StoreCommit] = weakref.WeakValueDictionary()

    def add(self, machine: Machine) -> bool:
        """Adds a machine and becomes its hook; says whether there was none of its name."""
        check_name(machine.machine_id)
        snapshot = machine.snapshot()
        has_moved = snapshot.ordinal or snapshot.trip or snapshot.state != machine.definition.initial
        lines = [recording_line(snapshot)[:-1].decode()] if has_moved else []
        hook = self.attach(machine, len(lines))
        try:
            row = rows.values_of(row_of(snapshot, machine, len(lines) - 1))
            rows.add(self._database, [(row, lines)], f"add machine '{machine.machine_id}'")
        except BaseException as error:
            hook.give_up()
            if isinstance(error, rows.TakenError):
                return False
            raise
        return True

    def take_over(self, machine: Machine) -> None:
        """Adds a machine, or becomes its hook where the stored one is exactly where it is."""
        machine_id, place = machine.machine_id, self._database.place
        check_name(machine_id)
        found = rows.find(self._database, machine_id)
        if found is None and self.add(machine):
            return
        found, snapshot = found or self.found(machine_id), machine.snapshot()
        stored = read_snapshot(found.snapshot, machine_id, place)
        if _where(stored) != _where(snapshot):
            raise StaleMachineError(
                f"machine '{machine_id}' is elsewhere in {place} ({_told(stored)}; this one: "
                f"{_told(snapshot)}): load it, or give this one another machine_id"
            )
        self.attach(machine, found.version)

    def attach(self, machine: Machine, version: int) -> StoreCommit:
        """Becomes the hook of a machine that the database has in that version."""
        kind = AsyncStoreCommit if isinstance(machine, AsyncStateMachine) else StoreCommit
        hook = kind(self._database, machine, machine.snapshot(), version)
        machine.attach_commit(hook)
        self._hooks[id(machine)] = hook
        return hook

    def hook_of(self, machine: Machine) -> StoreCommit:
        """The hook of a machine of this store."""
        hook = self._hooks.get(id(machine))
        if hook is None or not hook.belongs_to(machine):
            raise OrkeonError(
                f"machine '{machine.machine_id}' is not saved in {self._database.place}: let it be recorded "
                "there first, store.record(machine)"
            )
        return hook

    def found(self, machine_id: str) -> rows.Found:
        """A machine's row."""
        found = rows.find(self._database, machine_id)
        if found is None:
            raise self.unknown(machine_id)
        return found

    def unknown(self, machine_id: str) -> JournalError:
        """The error for a machine that is not there."""
        near = nearest(machine_id, rows.names(self._database))
        meant = f" (did you mean '{near}'?)" if near else ""
        return JournalError(f"{self._database.place} has no machine '{machine_id}'{meant}")

    def needed(self, machine_id: str, run_id: str) -> OrkeonError:
        """The error for a machine that a run does not go on without."""
        return OrkeonError(
            f"machine '{machine_id}' belongs to run '{run_id}', which would not go on without it: "
            f"store.runs.delete({run_id!r}) deletes the run with its machines"
        )

    def taken(self, machine: Machine) -> OrkeonError:
        """The error for a machine whose name is in use."""
        kind, machine_id = type(machine).__name__, machine.machine_id
        return OrkeonError(
            f"{self._database.place} has a machine '{machine_id}' already: go on with it, "
            f"store.load({kind}, ..., {machine_id!r}), or give another machine_id"
        )


def _where(snapshot: Snapshot) -> tuple[Any, ...]:
    is_broken = snapshot.trip is not None
    return snapshot.machine, snapshot.state, snapshot.ordinal, snapshot.transition_count, is_broken


def _told(snapshot: Snapshot) -> str:
    return f"'{snapshot.machine}' in '{snapshot.state}' after {snapshot.ordinal} transitions"
