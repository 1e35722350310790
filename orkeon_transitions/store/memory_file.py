"""Leaves one entry about a session in a Hermes agent's `MEMORY.md`, among entries that are others'.

The file's format is Hermes': UTF-8, no header, trimmed entries joined by a line with `§` alone, nothing at
either end, no entry twice, at most 2,200 characters. It is changed under a lock on `MEMORY.md.lock`, which
Hermes takes too, and replaced in one step. A file that is not exactly in this format would be changed by
being rewritten, so it is left as it is, and an error says why.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orkeon_transitions.errors import JournalError
from orkeon_transitions.store.disk import lock_file, replace_file
from orkeon_transitions.store.memory_entry import SessionPointer, entry_prefix, entry_text, read_entry

if TYPE_CHECKING:
    from orkeon_transitions.machines import AsyncHermesAgentFSM, HermesAgentFSM

SEPARATOR = "§"
BETWEEN = f"\n{SEPARATOR}\n"
MOST_CHARACTERS = 2_200
BOM = "\ufeff"


def remember(
    agent: HermesAgentFSM | AsyncHermesAgentFSM,
    path: str | os.PathLike[str],
    *,
    store_url: str | None = None,
    lock_timeout: float = 30.0,
) -> str:
    """Writes down where a session was left: one entry, in the place of the session's former one.

    To be called where a session begins or ends; no transition calls it. Everybody else's entries stay byte
    for byte as they are.

    Args:
        agent: The session.
        path: The `MEMORY.md`; made if it is not there. Of a link, the file that it leads to is written.
        store_url: Where the session is kept; no password in it is written down.
        lock_timeout: Seconds to wait for whoever is writing the file.

    Returns:
        The entry.

    Raises:
        TypeError: It is no session.
        JournalError: The file is not exactly in Hermes' format, or would become too long, or cannot be read
            or written, or somebody else holds its lock. It is then as it was.
        OrkeonError: The session's name is too long.
    """
    session_id = getattr(agent, "session_id", None)
    if not isinstance(session_id, str) or not callable(getattr(agent, "snapshot", None)):
        raise TypeError(f"a session is remembered, such as a HermesAgentFSM; {_kind(agent)} is none")
    entry = entry_text(session_id, agent.snapshot(), store_url)
    path = Path(path)
    with _told(path, "write"):
        target = path.resolve()
        with contextlib.ExitStack() as locks:
            # Others lock the name that they know the file by.
            for name in dict.fromkeys((_absolute(path), target)):
                locks.enter_context(lock_file(name.with_name(name.name + ".lock"), lock_timeout))
            content, like = _read(target)
            changed = _changed(_text_of(content, path), entry, entry_prefix(session_id), path).encode()
            if changed != content:
                _refuse_if_read_only(target, like)
                replace_file(target, changed, like)
    return entry


def recall(path: str | os.PathLike[str], session_id: str) -> SessionPointer | None:
    """Says where a session was left.

    Args:
        path: The `MEMORY.md`; it is read whatever its line ends, and whoever has edited it.
        session_id: The session.

    Returns:
        What its entry says, or None if there is none, or no such file.

    Raises:
        JournalError: The file cannot be read.
    """
    return next((pointer for pointer in recall_all(path) if pointer.session_id == session_id), None)


def recall_all(path: str | os.PathLike[str]) -> list[SessionPointer]:
    """Says where all sessions that a memory tells of were left, in the file's order; as `recall`."""
    path = Path(path)
    with _told(path, "read"):
        content, _ = _read(path)
    lines = re.split(r"\r\n|\r|\n", content.decode("utf-8", errors="replace").removeprefix(BOM))
    return [pointer for entry in _blocks(lines) if (pointer := read_entry(entry)) is not None]


def _blocks(lines: Sequence[str]) -> Iterator[str]:
    """The entries between separators, however many blanks stand around them."""
    block: list[str] = []
    for line in [*lines, SEPARATOR]:
        if line.strip() == SEPARATOR:
            yield "\n".join(block).strip()
            block = []
        else:
            block.append(line)


def _changed(text: str, entry: str, prefix: str, path: Path) -> str:
    """The file's text with an entry added, or in the place of the one that begins alike."""
    entries = _entries(text, path)
    own = [number for number, former in enumerate(entries) if former.startswith(prefix)]
    if len(own) > 1:
        raise _left(path, f"it has {len(own)} entries that begin with '{prefix}': remove all but one")
    place = own[0] if own else len(entries)
    entries[place : place + 1] = [entry]
    changed = BETWEEN.join(entries)
    if len(changed) > MOST_CHARACTERS:
        raise _left(
            path,
            f"with this entry it would have {len(changed):,} characters, and at most {MOST_CHARACTERS:,} are "
            "allowed: remove what is no longer needed",
        )
    return changed


def _entries(text: str, path: Path) -> list[str]:
    """The entries of a text that is exactly in the format."""
    if not text:
        return []
    seen: set[str] = set()
    line = 1
    entries = text.split(BETWEEN)
    for entry in entries:
        if SEPARATOR in entry.split("\n") or not entry:
            raise _left(path, f"line {line}: an entry is missing beside a separator")
        if entry != entry.strip():
            raise _left(path, f"line {line}: an entry has blanks or newlines around it")
        if entry in seen:
            raise _left(path, f"line {line}: an entry is there twice")
        seen.add(entry)
        line += entry.count("\n") + 2
    return entries


def _text_of(content: bytes, path: Path) -> str:
    """The text of a file, if it reads the same in every way in which Hermes may read it."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise _left(path, f"line {line}: not UTF-8") from None
    if text.startswith(BOM):
        raise _left(path, "it begins with a byte order mark")
    if "\r" in text:
        line = text.count("\n", 0, text.index("\r")) + 1
        raise _left(path, f"line {line}: a carriage return, as in line ends of Windows")
    return text


def _read(path: Path) -> tuple[bytes, os.stat_result | None]:
    """A file's content and status; nothing where there is no file yet."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return b"", None
    if not stat.S_ISREG(status.st_mode):
        raise OSError(None, "it is no regular file")
    return path.read_bytes(), status


def _refuse_if_read_only(path: Path, status: os.stat_result | None) -> None:
    """A file that may not be written could still be replaced; that is not what its owner meant."""
    if status is not None and not (status.st_mode & 0o222 and os.access(path, os.W_OK)):
        raise OSError(None, "it is read-only")


def _absolute(path: Path) -> Path:
    """The path with its folder resolved, but not itself."""
    return path.parent.resolve() / path.name


def _left(path: Path, why: str) -> JournalError:
    return JournalError(f"{path} is left as it is: {why}")


@contextlib.contextmanager
def _told(path: Path, verb: str) -> Iterator[None]:
    """Turns the system's errors into sentences that name the file."""
    try:
        yield
    except (OSError, RuntimeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        if isinstance(error, FileNotFoundError) and not path.parent.exists():
            reason = f"the folder '{path.parent}' does not exist"
        raise JournalError(f"cannot {verb} {path}: {reason}") from error


def _kind(value: Any) -> str:
    return value.__name__ if isinstance(value, type) else f"an object of {type(value).__name__}"
