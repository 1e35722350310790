"""The commit hook of a stored machine: what was written last, and how the next fact is written."""

from __future__ import annotations

import asyncio
import threading
import time
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from pydantic_core import PydanticSerializationError

from orkeon_transitions.errors import JournalError, MachineBusyError, StaleMachineError
from orkeon_transitions.facts import Fact, Snapshot, TransitionResult
from orkeon_transitions.store.database.machines import find
from orkeon_transitions.store.database.swap import Written, is_written, swap
from orkeon_transitions.store.records import fact_line, recording_line

if TYPE_CHECKING:
    from orkeon_transitions.runtime.base import MachineBase
    from orkeon_transitions.store.database.engine import Database

    Machine = MachineBase[Any, Any]

# A transition is made visible a moment after it was written.
_MOMENT: Final = 0.001


class StoreCommit:
    """Writes each fact of one machine before it becomes visible.

    Args:
        database: Where to.
        machine: Whose; held weakly, as the machine holds its hook.
        snapshot: What the database has of it.
        version: The version of that.
    """

    __slots__ = (
        "__weakref__",
        "_database",
        "_given_up",
        "_last",
        "_lock",
        "_machine",
        "_version",
        "_written",
    )

    def __init__(self, database: Database, machine: Machine, snapshot: Snapshot, version: int) -> None:
        self._database = database
        self._machine = weakref.ref(machine)
        self._lock = threading.Lock()
        self._version = version
        self._last = _place(snapshot)
        self._given_up = False
        self._written: Fact | None = None

    @property
    def closed(self) -> bool:
        """Whether it writes no more; its machine may then be given another hook."""
        return self._given_up or self._database.closed

    @property
    def version(self) -> int:
        """The version that the database had when this hook last wrote or read it."""
        return self._version

    def give_up(self) -> None:
        """Writes no more."""
        self._given_up = True

    def belongs_to(self, machine: object) -> bool:
        """Whether it is this machine's hook."""
        return self._machine() is machine

    def __call__(self, fact: Fact, snapshot: Snapshot) -> Any:
        """Writes one fact and the snapshot as it will be: the commit hook itself.

        Raises:
            StaleMachineError: Another writer was first.
            JournalError: It cannot be written; then nothing was.
        """
        self.commit(fact, snapshot)

    def commit(self, fact: Fact, snapshot: Snapshot) -> None:
        """Writes one fact and the snapshot as it will be."""
        if self._given_up:
            raise JournalError(
                f"machine '{snapshot.machine_id}' is not saved in {self._database.place} any more: "
                "let a store record it, store.record(machine)"
            )
        line = fact_line(fact, snapshot)[:-1].decode()
        with self._lock:
            if snapshot.ordinal != self._last[0] + isinstance(fact, TransitionResult):
                # Two interrupts came between the writing and the moving.
                raise self._stale(snapshot)
            self._write(snapshot, line, fact)

    def has_written(self, fact: Fact) -> bool:
        """Whether a fact was the last to be written: a machine asks after an interrupt."""
        return self._written is fact

    def note(self, snapshot: Snapshot) -> None:
        """Writes where the machine is, and a line that says so, though no transition led there.

        Raises:
            StaleMachineError: Another writer was first.
            JournalError: It cannot be written; then nothing was.
        """
        with self._lock:
            self._write(snapshot, recording_line(snapshot)[:-1].decode())

    def save(self, take: Callable[[], Snapshot], patience: float) -> None:
        """Writes the machine as it is, without a fact.

        Args:
            take: Gives the snapshot.
            patience: Seconds to wait for a transition under way.

        Raises:
            MachineBusyError: A transition is under way for longer than that.
            StaleMachineError: Another writer was first.
            JournalError: It cannot be written; then nothing was.
        """
        until = time.monotonic() + patience
        while True:
            try:
                self.save_if_still(take())
            except MachineBusyError:
                if time.monotonic() >= until:
                    raise
            else:
                return
            time.sleep(_MOMENT)

    def save_if_still(self, snapshot: Snapshot) -> None:
        """Writes a snapshot without a fact, if it is where the machine was written last.

        Raises:
            MachineBusyError: It is not: the machine is making a transition.
            StaleMachineError: Another writer was first.
            JournalError: It cannot be written; then nothing was.
        """
        with self._lock:
            if _place(snapshot) != self._last:
                raise MachineBusyError(
                    f"machine '{snapshot.machine_id}' is making a transition: save it afterwards"
                )
            self._write(snapshot, None)

    def _write(self, snapshot: Snapshot, line: str | None, fact: Fact | None = None) -> None:
        row = row_of(snapshot, self._machine(), self._version)
        place = _place(snapshot)
        try:
            is_done = swap(self._database, row, line)
            if is_done:
                self._version, self._last, self._written = row.version, place, fact
        except Exception:
            raise
        except BaseException:
            # An interrupt: the database knows whether it came before the commit or after it.
            if is_written(self._database, row, line):
                self._version, self._last, self._written = row.version, place, fact
            raise
        if not is_done:
            raise self._stale(snapshot)

    def _stale(self, snapshot: Snapshot) -> StaleMachineError:
        machine_id = snapshot.machine_id
        found = find(self._database, machine_id)
        if found is None:
            return StaleMachineError(f"machine '{machine_id}' was deleted from {self._database.place}")
        return StaleMachineError(
            f"machine '{machine_id}' was moved on by another writer: it is at version {found.version} in "
            f"{self._database.place}, and this one knows version {self._version}; load it again and try again"
        )


class AsyncStoreCommit(StoreCommit):
    """The same for an async machine: awaited, and written in a thread, so that the loop goes on."""

    __slots__ = ()

    async def __call__(self, fact: Fact, snapshot: Snapshot) -> None:
        """Writes one fact and the snapshot as it will be: the commit hook itself.

        Raises:
            StaleMachineError: Another writer was first.
            JournalError: It cannot be written; then nothing was.
        """
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._database.executor, self.commit, fact, snapshot)


def row_of(snapshot: Snapshot, machine: Machine | None, known: int) -> Written:
    """The row for a snapshot.

    Args:
        snapshot: The snapshot.
        machine: Its machine, which knows which states are final.
        known: The version that the writer knows.

    Raises:
        JournalError: The snapshot is no text, as a lone half of a character in one of its fields makes it.
    """
    try:
        text = snapshot.model_dump_json()
    except PydanticSerializationError as error:
        raise JournalError(
            f"machine '{snapshot.machine_id}' cannot be saved: its snapshot is no text ({error})"
        ) from None
    return Written(
        version=known + 1,
        ordinal=snapshot.ordinal,
        state=snapshot.state,
        is_terminal=int(machine is not None and snapshot.state in machine.definition.final_states),
        is_broken=int(snapshot.trip is not None),
        machine=snapshot.machine,
        definition=snapshot.definition_hash,
        updated_at=snapshot.taken_at.timestamp(),
        snapshot=text,
        machine_id=snapshot.machine_id,
        known=known,
    )


def _place(snapshot: Snapshot) -> tuple[int, int, bool]:
    """What tells a machine that has moved from one that has not."""
    return snapshot.ordinal, snapshot.transition_count, snapshot.trip is not None
