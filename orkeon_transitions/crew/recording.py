"""What a run tells its log: each fact of its machines before it becomes visible.

The life cycles only tell what was decided elsewhere. Their facts wait for the next fact of a task or a graph
and are written with it, so that nothing stands still for them; what is lost of them when the process dies
follows from the tasks when the run goes on.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Any

from orkeon_transitions.crew.results import CrewResult
from orkeon_transitions.crew.run_log import INTERRUPTED, Entry, RunHold
from orkeon_transitions.facts import Fact, Snapshot

log = logging.getLogger(__name__)


class RunRecorder:
    """Writes one run down, one write after another.

    Args:
        hold: The right to do so.
    """

    def __init__(self, hold: RunHold) -> None:
        self._hold = hold
        self._waiting: list[Entry] = []
        self._is_left = False
        self._turns = asyncio.Lock()

    def wait(self, fact: Fact | None, snapshot: Snapshot, note: Mapping[str, Any] | None = None) -> None:
        """Commit hook of the life cycles: the fact is written with the next one that is."""
        if not self._is_left:
            self._waiting.append((fact, snapshot, note))

    async def write(self, fact: Fact, snapshot: Snapshot, note: Mapping[str, Any] | None = None) -> None:
        """Writes a fact down, and those that wait, in a thread of its own: nothing stands still meanwhile.

        Raises:
            StaleMachineError: Another process goes on with the run.
            JournalError: It cannot be written.
        """
        async with self._turns:
            count = len(self._waiting)
            entries = [*self._waiting, (fact, snapshot, note)]
            await asyncio.to_thread(self._hold.record, entries)
            del self._waiting[:count]

    def leave(self) -> None:
        """The run is interrupted: that its life cycles end now is no part of its record."""
        self._is_left = True

    def end(self, result: CrewResult) -> None:
        """The run has its result; errors as for `write`."""
        note = {"output": result.output, "error": result.error, "usage": result.usage.to_dict()}
        self._hold.release(result.status.value, self._waiting, note)

    def interrupt(self) -> None:
        """The run ends without a result of its own: another process may go on with it."""
        try:
            self._hold.release(INTERRUPTED, self._waiting)
        except Exception:
            # The record is whole without it, and whoever runs the crew is told what broke the run off.
            log.debug("the log could not be told that its run was interrupted", exc_info=True)


class MachineRecord:
    """The commit hook of one machine of a run.

    Args:
        recorder: Writes the run down.
        note: What is noted beside each fact.
    """

    def __init__(self, recorder: RunRecorder, note: Callable[[], Mapping[str, Any]] | None = None) -> None:
        self._recorder = recorder
        self._note = note
        self._is_left = False

    async def __call__(self, fact: Fact, snapshot: Snapshot) -> None:
        """Writes a fact down."""
        if not self._is_left:
            await self._recorder.write(fact, snapshot, None if self._note is None else self._note())

    def note_down(self, snapshot: Snapshot) -> None:
        """Renews the note that stands beside the machine's last fact, with the next fact that is written."""
        if not self._is_left and self._note is not None:
            self._recorder.wait(None, snapshot, self._note())

    def leave(self) -> None:
        """The work is interrupted: what its machine does now is no part of the record."""
        self._is_left = True
