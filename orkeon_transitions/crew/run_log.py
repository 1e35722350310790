"""Where a run is written down, so that another process can go on with it: a small port, and one in memory.

A run is the facts of its machines. With each fact of a task's machine goes a note of what the task had come
to by then (its output so far, what was spent), in one write: what was written is never half of it. Everything
else, such as which task is next, follows from that.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Protocol, runtime_checkable

from orkeon_transitions.definition import nearest
from orkeon_transitions.errors import OrkeonError, StaleMachineError
from orkeon_transitions.facts import Fact, Snapshot, TransitionResult

RUNNING = "running"
INTERRUPTED = "interrupted"
ENDED = frozenset({"completed", "degraded", "failed"})
LONGEST_RUN_ID = 200

Entry = tuple[Fact | None, Snapshot, Mapping[str, Any] | None]
"""A fact, the machine as it will be after it, and what is noted beside it in place of the last note.

Without a fact, only the note is another one; without a note, it stays.
"""


def own_name(run_id: str | None, *, is_kept: bool) -> str:
    """A run's own name.

    Args:
        run_id: What it was given; None: one is made up.
        is_kept: Whether the run is written down, among others: then what is made up is longer.

    Raises:
        TypeError: It is no text.
        OrkeonError: It is empty, too long, or has something in it that cannot be printed.
    """
    if run_id is None:
        return uuid.uuid4().hex[: 12 if is_kept else 8]
    if not isinstance(run_id, str):
        raise TypeError(f"a run's name is a text, not {run_id!r:.40}")
    if not run_id.strip() or not run_id.isprintable():
        raise OrkeonError(f"a run's name must be a text that can be printed, not {run_id!r:.40}")
    if len(run_id) > LONGEST_RUN_ID:
        raise OrkeonError(f"a run's name has at most {LONGEST_RUN_ID} characters, not {len(run_id)}")
    return run_id


class RecordedMachine(Protocol):
    """What a log knows of one machine of a run."""

    @property
    def machine_id(self) -> str:
        """The machine's own name."""
        ...

    @property
    def snapshot(self) -> Snapshot:
        """The machine after its last fact."""
        ...

    @property
    def note(self) -> Mapping[str, Any]:
        """What was noted last beside a fact of it."""
        ...

    @property
    def history(self) -> Sequence[TransitionResult]:
        """Its transitions, in order."""
        ...


class RecordedRun(Protocol):
    """What a log knows of a run."""

    @property
    def run_id(self) -> str:
        """The run's own name."""
        ...

    @property
    def status(self) -> str:
        """`running`, `interrupted` (nobody works on it any more), or how it ended."""
        ...

    @property
    def note(self) -> Mapping[str, Any]:
        """What was noted at its beginning."""
        ...

    @property
    def machines(self) -> Sequence[RecordedMachine]:
        """Its machines, in the order of their first facts."""
        ...


class RunHold(Protocol):
    """The right to write a run down: one process has it at a time."""

    def record(self, entries: Sequence[Entry]) -> None:
        """Writes facts down, all of them or none.

        Raises:
            StaleMachineError: Another process goes on with the run meanwhile.
            JournalError: They cannot be written.
        """
        ...

    def release(
        self, status: str, entries: Sequence[Entry] = (), note: Mapping[str, Any] | None = None
    ) -> None:
        """Writes the last facts down, and that nobody works on the run any more. Errors as for `record`.

        Args:
            status: `interrupted`, or how the run ended.
            entries: As for `record`.
            note: How it ended: JSON data.
        """
        ...


@runtime_checkable
class RunLog(Protocol):
    """Keeps runs. What it is given as notes is JSON data. Its functions may be called in any thread."""

    def begin(self, run_id: str, note: Mapping[str, Any]) -> RunHold:
        """Writes a new run down.

        Raises:
            OrkeonError: There is a run of that name.
        """
        ...

    def read(self, run_id: str) -> RecordedRun:
        """Gives a run.

        Raises:
            OrkeonError: There is none of that name.
        """
        ...

    def take_up(
        self, run_id: str, *, take_over: bool = False, note: Mapping[str, Any] | None = None
    ) -> RunHold:
        """Gets the right to go on with a run.

        Args:
            run_id: The run.
            take_over: Whether to do so though another process seems to work on it.
            note: What is noted of the run from now on; None: as before.

        Raises:
            StaleMachineError: Another process works on it, or was quicker.
            OrkeonError: There is none of that name, or it has ended.
        """
        ...


# ------------------------------------------------------------------------------------------------ in memory
@dataclass(slots=True)
class _Machine:
    machine_id: str
    snapshot: Snapshot
    note: Mapping[str, Any] = field(default_factory=dict)
    history: list[TransitionResult] = field(default_factory=list)


@dataclass(slots=True)
class _Run:
    run_id: str
    note: Mapping[str, Any]
    status: str = RUNNING
    began_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    turn: int = 1
    by_id: dict[str, _Machine] = field(default_factory=dict)
    ending: Mapping[str, Any] = field(default_factory=dict)

    @property
    def machines(self) -> Sequence[_Machine]:
        return list(self.by_id.values())


class MemoryRunLog:
    """Keeps runs as long as the program lives: for tests, and to go on with what was cancelled."""

    def __init__(self) -> None:
        self._runs: dict[str, _Run] = {}

    def begin(self, run_id: str, note: Mapping[str, Any]) -> RunHold:
        """See `RunLog.begin`."""
        if run_id in self._runs:
            raise run_exists(run_id)
        self._runs[run_id] = _Run(run_id, _as_json(note))
        return _Hold(self._runs[run_id])

    def read(self, run_id: str) -> RecordedRun:
        """See `RunLog.read`."""
        return self._found(run_id)

    def take_up(
        self, run_id: str, *, take_over: bool = False, note: Mapping[str, Any] | None = None
    ) -> RunHold:
        """See `RunLog.take_up`."""
        run = self._found(run_id)
        if run.status in ENDED:
            raise OrkeonError(f"run '{run_id}' has ended ({run.status})")
        if run.status == RUNNING and not take_over:
            raise StaleMachineError(f"run '{run_id}' is being worked on")
        run.turn, run.status = run.turn + 1, RUNNING
        if note is not None:
            run.note = _as_json(note)
        return _Hold(run)

    def _found(self, run_id: str) -> _Run:
        if run_id not in self._runs:
            raise no_such_run(run_id, self._runs)
        return self._runs[run_id]


class _Hold:
    def __init__(self, run: _Run) -> None:
        self._run = run
        self._turn = run.turn

    def record(self, entries: Sequence[Entry]) -> None:
        if self._run.turn != self._turn or self._run.status != RUNNING:
            raise StaleMachineError(f"run '{self._run.run_id}' was taken up by somebody else: this one stops")
        noted = [None if note is None else _as_json(note) for *_, note in entries]
        for (fact, snapshot, _), note in zip(entries, noted, strict=True):
            machine = self._run.by_id.setdefault(snapshot.machine_id, _Machine(snapshot.machine_id, snapshot))
            machine.snapshot = Snapshot.model_validate_json(snapshot.model_dump_json())
            machine.note = machine.note if note is None else note
            if isinstance(fact, TransitionResult):
                machine.history.append(fact)

    def release(
        self, status: str, entries: Sequence[Entry] = (), note: Mapping[str, Any] | None = None
    ) -> None:
        self.record(entries)
        self._run.status = status
        self._run.ending = {} if note is None else _as_json(note)


def _as_json(note: Mapping[str, Any]) -> Mapping[str, Any]:
    read: Mapping[str, Any] = json.loads(json.dumps(note, allow_nan=False))
    return read


def run_exists(run_id: str) -> OrkeonError:
    """What to say where a new run has the name of an old one."""
    return OrkeonError(f"there is a run '{run_id}' already: resume it, or give the new one another run_id")


def no_such_run(run_id: str, names: Sequence[str] | Mapping[str, Any]) -> OrkeonError:
    """What to say where there is no run of a name."""
    hint = nearest(run_id, list(names))
    return OrkeonError(f"there is no run '{run_id}'" + (f", did you mean '{hint}'?" if hint else ""))
