"""The store: machines that survive their process, and that several processes may share."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Self, TypeVar

from orkeon_transitions.errors import MachineBusyError, OrkeonError
from orkeon_transitions.runtime import AsyncStateMachine
from orkeon_transitions.runtime.base import MachineBase
from orkeon_transitions.store.archive import read_archive, write_archive
from orkeon_transitions.store.arguments import (
    asked_for,
    check_machine,
    check_name,
    checked_limit,
    is_in_loop,
    moment_before,
    new_machine,
    state_name,
)
from orkeon_transitions.store.database import machines as rows
from orkeon_transitions.store.database.engine import Database, Synchronous
from orkeon_transitions.store.keeping import Keeper
from orkeon_transitions.store.loading import Migration, read_journal, read_snapshot, restore
from orkeon_transitions.store.memory_entry import SessionPointer
from orkeon_transitions.store.memory_file import recall, remember
from orkeon_transitions.store.records import JournalRecord
from orkeon_transitions.store.runs import StoredRuns
from orkeon_transitions.store.stored import StoredMachine

if TYPE_CHECKING:
    from orkeon_transitions.machines import AsyncHermesAgentFSM, HermesAgentFSM

Machine = MachineBase[Any, Any]
M = TypeVar("M", bound=Machine)
T = TypeVar("T")

# Seconds that `save` waits for a transition which another thread makes.
_PATIENCE = 30.0
_MOMENT = 0.001


class MachineStore:
    """Keeps machines in a database: each transition is saved before its new state becomes visible.

    ::

        with MachineStore("sqlite:///machines.db") as store:
            fsm = store.create(TaskExecution, machine_id="t1")
            fsm.begin_execution()
        with MachineStore("sqlite:///machines.db") as store:
            fsm = store.load(TaskExecution, "t1")   # executing, with the counts and the time it had

    A machine's snapshot and the journal's record of the fact are written together, if the machine in the
    database is still the one that the writer knew. Of several writers of one machine, in any thread, process
    or host, exactly one wins a transition; the others get `StaleMachineError`, keep their state, and may load
    the machine again. A transition that cannot be saved is not made.

    One store may be shared by threads and by any number of machines. An async machine is saved in a thread of
    the store's own, so that its loop goes on meanwhile; `create_async`, `load_async` and `save_async` are for
    use inside of a loop. A process that was forked off may go on using a store in a file or on a server: it
    gets connections of its own. A store is not copied or pickled.

    Args:
        url: `sqlite:///machines.db` (a file, made if it is not there), `sqlite://` (in memory, for this
            process alone) or `postgresql+psycopg://user:password@host/database`.
        synchronous: How SQLite writes: `NORMAL` loses nothing when a process is killed, `FULL` nothing when
            the power fails either, and waits for the disk at every transition.
        busy_timeout: Seconds to wait for another writer.
        must_exist: Whether a database that is not there is an error, for programs that only look.

    Raises:
        JournalError: The database cannot be opened, is none, or was changed by a newer release.
        MissingExtraError: psycopg is not installed.
    """

    def __init__(
        self,
        url: str,
        *,
        synchronous: Synchronous = "NORMAL",
        busy_timeout: float = 30.0,
        must_exist: bool = False,
    ) -> None:
        self._database = Database(url, synchronous, busy_timeout, must_exist=must_exist)
        self._runs = StoredRuns(self._database)
        self._keeper = Keeper(self._database)

    @property
    def url(self) -> str:
        """The database; a password is not shown."""
        return self._database.place

    @property
    def closed(self) -> bool:
        """Whether the store takes no more facts; its machines may then be given another store."""
        return self._database.closed

    @property
    def runs(self) -> StoredRuns:
        """The runs of crews that are written down here: `crew.run(..., run_log=store.runs)`."""
        return self._runs

    def close(self) -> None:
        """Closes the database: its machines move no more until another store records them, its runs stop."""
        self._runs.leave()
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.url!r}{', closed' if self.closed else ''})"

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise TypeError("a MachineStore cannot be copied or pickled: open another one with MachineStore(url)")

    # --------------------------------------------------------------------------------------- making machines
    def create(self, kind: type[M], /, *args: Any, **options: Any) -> M:
        """Makes a new machine that is saved at every transition.

        Args:
            kind: The machine's class, plain or async.
            *args: What its constructor takes first: the definition, for a class that needs one.
            **options: The constructor's options, such as `machine_id` (otherwise a random one) and `policy`.

        Returns:
            The machine.

        Raises:
            OrkeonError: There is a machine of this name already.
            JournalError: It cannot be saved.
        """
        machine = new_machine(kind, args, options)
        if not self._keeper.add(machine):
            raise self._keeper.taken(machine)
        return machine

    async def create_async(self, kind: type[M], /, *args: Any, **options: Any) -> M:
        """The same as `create`, without holding up the loop while the database works."""
        machine = new_machine(kind, args, options)
        if not await self._in_thread(partial(self._keeper.add, machine)):
            raise self._keeper.taken(machine)
        return machine

    def load(self, kind: type[M], /, *args: Any, migrate: Migration | None = None, **options: Any) -> M:
        """Makes a new machine that goes on where the stored one is: state, counts, policy and time spent.

        The time in which no process had the machine does not count, and no budget is fresh. Inside of a loop
        the timer of an async machine is running again.

        A machine whose definition has changed since it was saved goes on with a `UserWarning` if its state is
        still there. `migrate` says how it is meant; it is applied once, to a machine of another definition,
        and noted in the journal: a mapping from old to new names of states (`{}`: nothing to rename), or a
        function that is given the `Snapshot` and gives the one to go on from.

        Args:
            kind: The machine's class, plain or async.
            *args: What its constructor takes first, and last the machine's own name:
                `load(TaskExecution, "t1")`, `load(StateMachine, definition, "t1")`.
            migrate: The way from another definition, or None.
            **options: The constructor's options; a `policy` replaces the saved one.

        Returns:
            The machine.

        Raises:
            JournalError: There is no such machine, its snapshot is damaged, or the database has trouble.
            DefinitionError: The definition has no such state any more.
            OrkeonError: The machine is of another kind.
            StaleMachineError: Another writer moved the machine while it was migrated.
        """
        given, machine_id = asked_for(kind, args, options)
        found = self._keeper.found(machine_id)
        snapshot = read_snapshot(found.snapshot, machine_id, self.url)
        machine, was_migrated = restore(kind, given, snapshot, options, migrate)
        hook = self._keeper.attach(machine, found.version)
        if was_migrated:
            hook.note(machine.snapshot())
        return machine

    async def load_async(
        self, kind: type[M], /, *args: Any, migrate: Migration | None = None, **options: Any
    ) -> M:
        """The same as `load`, without holding up the loop while the database works."""
        given, machine_id = asked_for(kind, args, options)
        found = await self._in_thread(partial(self._keeper.found, machine_id))
        snapshot = read_snapshot(found.snapshot, machine_id, self.url)
        machine, was_migrated = restore(kind, given, snapshot, options, migrate)
        hook = self._keeper.attach(machine, found.version)
        if was_migrated:
            await self._in_thread(partial(hook.note, machine.snapshot()))
        return machine

    def record(self, machine: Machine) -> None:
        """Saves an existing machine, now and at every transition from now on.

        A machine that the store has already, and exactly where this one is, goes on from there; so a machine
        outlives the store that it had.

        Args:
            machine: The machine.

        Raises:
            StaleMachineError: The store has a machine of this name that is elsewhere.
            OrkeonError: The machine has another commit hook.
            JournalError: It cannot be saved.
            TypeError: It is no machine.
        """
        check_machine(machine)
        self._keeper.take_over(machine)

    def save(self, machine: Machine) -> None:
        """Saves what has changed since the last transition: fields, time spent and meters.

        Args:
            machine: A machine of this store.

        Raises:
            StaleMachineError: Another writer has moved it.
            MachineBusyError: It is making a transition: of an async machine, `save_async` waits for that.
            JournalError: It cannot be saved.
            OrkeonError: It is not a machine of this store.
        """
        in_loop = isinstance(machine, AsyncStateMachine) and is_in_loop()
        self._keeper.hook_of(machine).save(machine.snapshot, 0 if in_loop else _PATIENCE)

    async def save_async(self, machine: Machine) -> None:
        """The same as `save`, in a loop: it goes on while the database works, or a transition is made."""
        hook, until = self._keeper.hook_of(machine), time.monotonic() + _PATIENCE
        while True:
            snapshot = machine.snapshot()
            try:
                return await self._in_thread(partial(hook.save_if_still, snapshot))
            except MachineBusyError:
                if time.monotonic() >= until:
                    raise
            await asyncio.sleep(_MOMENT)

    def remember(self, agent: HermesAgentFSM | AsyncHermesAgentFSM, path: str | os.PathLike[str]) -> str:
        """Leaves one entry about a session in a Hermes agent's `MEMORY.md`: where it stands, and this store.

        To be called where a session begins or ends. Everybody else's entries stay byte for byte as they are.

        Args:
            agent: The session.
            path: The file; made if it is not there.

        Returns:
            The entry.

        Raises:
            JournalError: The file is not exactly in Hermes' format, would become too long, or cannot be
                written. It is then as it was.
            OrkeonError: It is not a machine of this store, so there would be nothing to go back to.
            TypeError: It is no session.
        """
        if isinstance(agent, MachineBase):
            self._keeper.hook_of(agent)
        return remember(agent, path, store_url=self.url)

    def recall(self, path: str | os.PathLike[str], session_id: str) -> SessionPointer | None:
        """Reads the entry about a session back; None: there is none.

        Raises:
            JournalError: The file cannot be read.
        """
        return recall(path, session_id)

    # -------------------------------------------------------------------------------------- looking at them
    def machines(
        self,
        *,
        state: Any = None,
        machine: str | None = None,
        is_terminal: bool | None = None,
        idle_for: timedelta | float | None = None,
        limit: int | None = None,
    ) -> list[StoredMachine]:
        """Lists machines, the last written first.

        Args:
            state: Only those in this state: its name or its Enum member.
            machine: Only those of the definition of this name.
            is_terminal: Only those that have ended, or only those that have not.
            idle_for: Only those that were not written for so long; a number is seconds.
            limit: At most so many.

        Raises:
            JournalError: The database cannot be read.
        """
        wanted = rows.Wanted(machine, state_name(state), is_terminal, moment_before(idle_for))
        return rows.search(self._database, wanted, checked_limit(limit))

    def journal(self, machine_id: str) -> list[JournalRecord]:
        """Reads the facts of a machine, in order; a record's `line` is the version that it made.

        Raises:
            JournalError: There is no such machine, or the database cannot be read.
        """
        check_name(machine_id)
        lines = rows.lines(self._database, machine_id)
        if not lines:
            self._keeper.found(machine_id)
        return read_journal(lines, machine_id, self.url)

    def delete(self, machine_id: str) -> None:
        """Deletes a machine with its journal. Whoever has it loaded gets `StaleMachineError`.

        Raises:
            JournalError: There is no such machine, or the database cannot be written.
            OrkeonError: It is a machine of a run, which would not go on without it: for those `runs.delete`.
        """
        check_name(machine_id)
        try:
            was_there = rows.remove_one(self._database, machine_id)
        except rows.OfRunError as of:
            raise self._keeper.needed(machine_id, of.run_id) from None
        if not was_there:
            raise self._keeper.unknown(machine_id)

    def prune(
        self,
        *,
        idle_for: timedelta | float,
        machine: str | None = None,
        state: Any = None,
        ended_only: bool = True,
    ) -> int:
        """Deletes machines not written for a while, with their journals; for those of runs: `runs.prune`.

        Args:
            idle_for: For how long; a number is seconds.
            machine: Only those of the definition of this name.
            state: Only those in this state: its name or its Enum member.
            ended_only: Whether only those that have ended; False: also those that wait.

        Returns:
            How many.

        Raises:
            JournalError: The database cannot be written.
        """
        is_terminal = True if ended_only else None
        wanted = rows.Wanted(machine, state_name(state), is_terminal, moment_before(idle_for))
        return rows.remove(self._database, wanted)

    # ------------------------------------------------------------------------------------------ to and from
    def export_journal(self, machine_id: str, path: str | os.PathLike[str]) -> None:
        """Writes a machine's journal to a new file of JSON lines, which `replay` reads as any other.

        After the facts comes one record that says where the machine is, with its snapshot, so that
        `import_journal` makes a machine of it that can be loaded.

        Raises:
            JournalError: There is no such machine, or the file is there already or cannot be written.
        """
        check_name(machine_id)
        found = self._keeper.found(machine_id)
        known = [line for version, line in rows.lines(self._database, machine_id) if version <= found.version]
        snapshot = None
        if found.snapshot is not None:
            snapshot = read_snapshot(found.snapshot, machine_id, self.url)
        write_archive(Path(path), known, snapshot, is_terminal=found.is_terminal)

    def import_journal(self, path: str | os.PathLike[str]) -> list[str]:
        """Adds the machines of a file of JSON lines, all or none.

        A machine whose record in the file ends with a snapshot, as `export_journal` leaves it, can be loaded
        and goes on; of any other only the past is there, for `journal`, `machines` and replay.

        Returns:
            The machines' own names, in the order in which they appear.

        Raises:
            OrkeonError: The store has one of them already.
            JournalError: The file or the database has trouble.
        """
        machines = read_archive(Path(path))
        values = [(archived.row(), archived.lines) for archived in machines.values()]
        try:
            rows.add(self._database, values, f"import {path}")
        except rows.TakenError as taken:
            there = f"{self.url} has a machine '{taken.machine_id}' already"
            raise OrkeonError(f"cannot import {path}: {there}; nothing was imported") from None
        return list(machines)

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._database.executor, work)
