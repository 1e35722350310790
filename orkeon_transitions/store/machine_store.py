"""The store: machines that survive their process, and that several processes may share."""

from __future__ import annotations

import os
import weakref
from typing import TYPE_CHECKING, Any, Self, TypeVar

from orkeon_transitions.definition import nearest
from orkeon_transitions.errors import JournalError, OrkeonError, StaleMachineError
from orkeon_transitions.facts import Snapshot
from orkeon_transitions.runtime import AsyncStateMachine
from orkeon_transitions.runtime.base import MachineBase
from orkeon_transitions.store.committing import AsyncStoreCommit, StoreCommit, row_of
from orkeon_transitions.store.database import machines as rows
from orkeon_transitions.store.database.engine import Database, Synchronous
from orkeon_transitions.store.memory_entry import SessionPointer
from orkeon_transitions.store.memory_file import recall, remember
from orkeon_transitions.store.records import JournalRecord, parse_line, read_record, recording_line

if TYPE_CHECKING:
    from orkeon_transitions.machines import AsyncHermesAgentFSM, HermesAgentFSM

Machine = MachineBase[Any, Any]
M = TypeVar("M", bound=Machine)

_PATIENCE = 30.0


class MachineStore:
    """Keeps machines in a database.

    ::

        with MachineStore("sqlite:///machines.db") as store:
            fsm = store.create(TaskExecution, machine_id="t1")
            fsm.begin_execution()
        with MachineStore("sqlite:///machines.db") as store:
            fsm = store.load(TaskExecution, "t1")       # executing, with the counts and the time it had
    """

    def __init__(
        self,
        url: str,
        *,
        synchronous: Synchronous = "NORMAL",
        busy_timeout: float = 30.0,
        must_exist: bool = False,
    ) -> None:
        self._database = Database(
            url, synchronous=synchronous, busy_timeout=busy_timeout, must_exist=must_exist
        )
        self._hooks: weakref.WeakValueDictionary[int, StoreCommit] = weakref.WeakValueDictionary()

    @property
    def url(self) -> str:
        """The database, without the password."""
        return self._database.place

    @property
    def closed(self) -> bool:
        """Whether the store takes no more facts."""
        return self._database.closed

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.url!r}{', closed' if self.closed else ''})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the database."""
        self._database.close()

    def create(self, kind: type[M], /, *args: Any, machine_id: str | None = None, **options: Any) -> M:
        """Makes a new machine that is saved at every transition."""
        if machine_id is not None:
            options["machine_id"] = machine_id
        machine = kind(*args, **options)
        if not self._add(machine):
            raise OrkeonError(
                f"{self.url} has a machine '{machine.machine_id}' already: load it, "
                f"store.load({kind.__name__}, ..., {machine.machine_id!r}), or give another machine_id"
            )
        return machine

    def load(self, kind: type[M], /, *args: Any, **options: Any) -> M:
        """Makes a machine that goes on where the stored one is."""
        *given, machine_id = args
        found = self._found(machine_id)
        snapshot = Snapshot.model_validate_json(found.snapshot or "")
        machine = kind.restore(*given, snapshot, **options)
        self._attach(machine, snapshot, found.version)
        return machine

    def record(self, machine: Machine) -> None:
        """Saves an existing machine from now on."""
        if self._add(machine):
            return
        found = self._found(machine.machine_id)
        snapshot = machine.snapshot()
        stored = Snapshot.model_validate_json(found.snapshot or "")
        if (stored.machine, stored.state, stored.ordinal) != (
            snapshot.machine,
            snapshot.state,
            snapshot.ordinal,
        ):
            raise StaleMachineError(f"{self.url} has machine '{machine.machine_id}' elsewhere: load it")
        self._attach(machine, snapshot, found.version)

    def save(self, machine: Machine) -> None:
        """Saves what was changed outside of a transition."""
        self._hook_of(machine).save(machine.snapshot, _PATIENCE)

    def remember(
        self, agent: HermesAgentFSM | AsyncHermesAgentFSM, path: str | os.PathLike[str], **options: Any
    ) -> str:
        """Writes down in a `MEMORY.md` where a session was left, and that it is kept here.

        Arguments, result and errors as in `orkeon_transitions.store.remember`.

        Raises:
            OrkeonError: The session is not in this store, so there would be nothing to go back to.
        """
        if isinstance(agent, MachineBase):
            self._hook_of(agent)
        return remember(agent, path, store_url=self.url, **options)

    def recall(self, path: str | os.PathLike[str], session_id: str) -> SessionPointer | None:
        """Says where a session was left, according to a `MEMORY.md`.

        What it gives names the machine to load: `store.load(HermesAgentFSM, pointer.machine_id)`. Arguments
        and errors as in `orkeon_transitions.store.recall`.
        """
        return recall(path, session_id)

    def journal(self, machine_id: str) -> list[JournalRecord]:
        """Reads the facts of a machine, in order."""
        lines = rows.lines(self._database, machine_id)
        if not lines:
            self._found(machine_id)
        place = f"{self.url}, machine '{machine_id}'"
        records = []
        for version, line in lines:
            record = read_record(parse_line(line.encode()) or {}, place, version)
            if record is not None:
                records.append(record)
        return records

    # ------------------------------------------------------------------------------------------------ inside
    def _add(self, machine: Machine) -> bool:
        snapshot = machine.snapshot()
        hook = self._attach(machine, snapshot, 0)
        moved = snapshot.ordinal or snapshot.trip or snapshot.state != machine.definition.initial
        line = recording_line(snapshot)[:-1].decode() if moved else None
        row = row_of(snapshot, machine, 0)
        if not moved:
            row = row._replace(version=0)
        added = False
        try:
            added = rows.add(self._database, row, line)
        finally:
            if not added:
                hook.give_up()
        hook.begin_at(row.version)
        return added

    def _attach(self, machine: Machine, snapshot: Snapshot, version: int) -> StoreCommit:
        kind = AsyncStoreCommit if isinstance(machine, AsyncStateMachine) else StoreCommit
        hook = kind(self._database, machine, snapshot, version)
        machine.attach_commit(hook)
        self._hooks[id(machine)] = hook
        return hook

    def _hook_of(self, machine: Machine) -> StoreCommit:
        hook = self._hooks.get(id(machine))
        if hook is None or not hook.belongs_to(machine):
            raise OrkeonError(f"machine '{machine.machine_id}' is not in this store: record it first")
        return hook

    def _found(self, machine_id: str) -> rows.Found:
        found = rows.find(self._database, machine_id)
        if found is None:
            near = nearest(machine_id, rows.names(self._database))
            meant = f" (did you mean '{near}'?)" if near else ""
            raise JournalError(f"{self.url} has no machine '{machine_id}'{meant}")
        return found
