"""A journal in a file of JSON lines: one line per fact, written before the new state is visible."""

from __future__ import annotations

import contextlib
import os
import stat
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Self

from orkeon_transitions.errors import JournalError
from orkeon_transitions.store.disk import sync_folder
from orkeon_transitions.store.records import begins_a_record, fact_line, parse_line, recording_line

try:
    import fcntl
except ImportError:  # Windows has no advisory locks of this kind; there, one process writes a journal.
    fcntl = None  # type: ignore[assignment]  # the module's absence is the value

if TYPE_CHECKING:
    from orkeon_transitions.facts import Fact, Snapshot
    from orkeon_transitions.runtime import AsyncStateMachine, StateMachine


_LONGEST_LOOK = 1_000


class _Written(threading.local):
    """What each thread has written last."""

    last: Fact | None = None


class JsonlJournal:
    """Writes what machines do to a file, one JSON line per fact.

    ::

        with JsonlJournal("run.jsonl") as journal:
            journal.record(fsm)

    The journal is the machine's commit hook: a fact is written and flushed before the new state becomes
    visible, and a machine whose fact cannot be written does not move. Several machines may share one journal,
    from any thread; several processes may append to one file.

    A file that is removed, rotated or cut short while the journal is open is refused at the next fact: a
    program that rotates its journals closes this one and opens another.

    A file whose last line was torn by a crash is repaired when it is opened, or before the next line is
    written: the fragment goes to `<file>.torn`, with a warning. A whole record that only lacks its newline is
    a record.

    Args:
        path: The file; made if it is not there.
        fsync: Whether to wait until each line has reached the disk, for power cuts.

    Raises:
        JournalError: The file cannot be opened for writing, or not be repaired, or is no journal.
    """

    def __init__(self, path: str | os.PathLike[str], *, fsync: bool = False) -> None:
        self.path = Path(path)
        # Where it is, though the program may go to another folder.
        self._place = self.path.absolute()
        self._fsync = fsync
        self._lock = threading.RLock()
        self._written = _Written()
        # Where the file ended when this journal last wrote; other processes may have gone on from there.
        self._end = 0
        # Where a failed write begins and ends that could not be cut off.
        self._left_over: tuple[int, int] | None = None
        try:
            self._file: IO[bytes] = self.path.open("a+b", buffering=0)
        except OSError as error:
            raise JournalError(f"cannot open the journal {self.path}: {error.strerror}") from error
        try:
            with _file_lock(self._file):
                self._repair()
                self._end = self._size()
            if fsync:
                sync_folder(self.path.parent)
        except OSError as error:
            self._file.close()
            raise JournalError(f"cannot repair the journal {self.path}: {error.strerror}") from error

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self.path)!r}{', closed' if self.closed else ''})"

    def __fspath__(self) -> str:
        return str(self.path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def closed(self) -> bool:
        """Whether the journal takes no more facts; its machines may then be given another one."""
        return self._file.closed

    def close(self) -> None:
        """Closes the file. A machine that is still attached does not move until it has another journal."""
        with self._lock:
            self._file.close()

    def record(self, machine: StateMachine[Any, Any] | AsyncStateMachine[Any, Any]) -> None:
        """Becomes the commit hook of a machine.

        A machine that has already moved gets a line that says where it is, so that replay begins there.

        Args:
            machine: The machine.

        Raises:
            JournalError: The journal is closed, or that line cannot be written.
            OrkeonError: The machine has another commit hook.
            TypeError: It is no machine that asks before it moves.
        """
        if isinstance(machine, type) or not callable(getattr(machine, "attach_commit", None)):
            what = machine.__name__ if isinstance(machine, type) else f"an object of {type(machine).__name__}"
            raise TypeError(f"a journal records a StateMachine or an AsyncStateMachine, {what} is neither")
        # Under the lock no fact of this machine can be written between the hook and the first line.
        with self._lock:
            self._refuse_if_closed()
            machine.attach_commit(self)
            snapshot = machine.snapshot()
            if snapshot.ordinal or snapshot.trip or snapshot.state != machine.definition.initial:
                self._append(recording_line(snapshot))

    def __call__(self, fact: Fact, snapshot: Snapshot) -> None:
        """Writes one fact: the commit hook itself.

        Raises:
            JournalError: The journal is closed, or the line cannot be written.
        """
        line = fact_line(fact, snapshot)
        with self._lock:
            self._refuse_if_closed()
            self._append(line, fact)

    def has_written(self, fact: Fact) -> bool:
        """Whether a fact is the last that this thread has written: a machine asks after an interrupt."""
        return self._written.last is fact

    def _refuse_if_closed(self) -> None:
        if self._file.closed:
            raise JournalError(
                f"the journal {self.path} is closed: let an open one record the machine, "
                f"JsonlJournal({str(self.path)!r}).record(machine) goes on in the same file"
            )

    def _refuse_if_lost(self) -> None:
        """Refuses to write where nobody would look for it, or behind a gap."""
        ours = os.fstat(self._file.fileno())
        try:
            there: os.stat_result | None = os.stat(self._place)  # noqa: PTH116 (for every line: as quick as can be)
        except FileNotFoundError:
            there = None
        if there is None or (there.st_ino, there.st_dev) != (ours.st_ino, ours.st_dev):
            lost = "was removed, renamed or replaced"
        elif ours.st_size < self._end and stat.S_ISREG(ours.st_mode):
            lost = "was cut short"
        else:
            return
        raise JournalError(
            f"the journal {self.path} {lost} while it was open, so what is written now would be lost, or "
            "leave a gap: close it, and let a new one record the machine, which begins where the machine is"
        )

    def _append(self, line: bytes, fact: Fact | None = None) -> None:
        try:
            with _file_lock(self._file):
                self._cut_left_over()
                self._refuse_if_lost()
                if self._is_torn():
                    self._repair()
                start = self._size()
                try:
                    self._write(line)
                    self._written.last = fact
                except BaseException:
                    if fact is None or self._written.last is not fact:
                        # Also for an interrupt, and while the lock is held: later, others have written more.
                        self._left_over = start, self._size()
                        with contextlib.suppress(OSError):
                            self._cut_left_over()
                    raise
                self._end = start + len(line)
        except OSError as error:
            raise JournalError(f"cannot write to the journal {self.path}: {error.strerror}") from error

    def _write(self, line: bytes) -> None:
        """Writes a whole line; a nearly full disk takes only a part of it at first."""
        rest = memoryview(line)
        while rest:
            rest = rest[self._file.write(rest) :]
        if self._fsync:
            os.fsync(self._file.fileno())

    def _size(self) -> int:
        return os.fstat(self._file.fileno()).st_size

    def _cut_left_over(self) -> None:
        """Cuts off what a failed write has left, unless others have written since."""
        if self._left_over is None:
            return
        start, end = self._left_over
        if end > start and self._size() == end:
            self._file.truncate(start)
        self._left_over = None

    def _is_torn(self) -> bool:
        """Whether another process, since this journal last wrote, has died in the middle of a line."""
        size = self._size()
        if size in (0, self._end):
            return False
        self._file.seek(size - 1)
        return self._file.read(1) != b"\n"

    def _repair(self) -> None:
        """Makes the file end with a whole record and its newline."""
        if not stat.S_ISREG(os.fstat(self._file.fileno()).st_mode):
            return
        self._refuse_other_files()
        number, start, last = _last_line(self._file)
        try:
            parse_line(last)
        except ValueError:
            self._set_apart(last, start)
            warnings.warn(
                f"{self.path}:{number}: the last line is torn; it was moved to {self._torn.name}",
                UserWarning,
                stacklevel=3,
            )
            return
        if last and not last.endswith(b"\n"):
            self._write(b"\n")

    def _refuse_other_files(self) -> None:
        """A journal begins with a record, or a part of one: another file is not ours to repair."""
        self._file.seek(0)
        first = next(iter(self._file.read(_LONGEST_LOOK).lstrip().splitlines()), b"")
        if not first or begins_a_record(first):
            return
        try:
            parse_line(first)  # what other logs may have between their records
        except ValueError:
            self._file.close()
            raise JournalError(
                f"{self.path} is no journal and is left as it is: name a file of its own"
            ) from None

    @property
    def _torn(self) -> Path:
        return self.path.with_name(self.path.name + ".torn")

    def _set_apart(self, fragment: bytes, start: int) -> None:
        # The fragment is safe in its new place before it leaves the old one.
        with self._torn.open("ab") as torn:
            torn.write(fragment.rstrip(b"\r\n") + b"\n")
            torn.flush()
            os.fsync(torn.fileno())
        self._file.truncate(start)


def _last_line(file: IO[bytes]) -> tuple[int, int, bytes]:
    """The last line that is not blank: number, start and bytes (empty if there is none)."""
    found, start = (0, 0, b""), 0
    # Not opened by its name, which may have been given to another file meanwhile.
    with os.fdopen(os.dup(file.fileno()), "rb") as lines:
        lines.seek(0)
        for number, line in enumerate(lines, 1):
            if line.strip():
                found = (number, start, line)
            start += len(line)
    return found


@contextlib.contextmanager
def _file_lock(file: IO[bytes]) -> Iterator[None]:
    """Keeps other processes' journals out while a line is written whole or cut off."""
    # Some network file systems know no locks; an interrupt may come when the lock has just been taken.
    try:
        if fcntl is not None:
            with contextlib.suppress(OSError):
                fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        if fcntl is not None and not file.closed:
            with contextlib.suppress(OSError):
                fcntl.flock(file, fcntl.LOCK_UN)
