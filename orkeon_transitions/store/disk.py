"""What makes a file's content last, and what keeps other processes out while it is changed."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows has no advisory locks of this kind.
    fcntl = None  # type: ignore[assignment]  # the module's absence is the value

_PAUSE = 0.02


def sync_folder(folder: Path) -> None:
    """Makes the names of a folder's files last, too. Not every system opens folders."""
    with contextlib.suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


@contextlib.contextmanager
def lock_file(path: Path, timeout: float) -> Iterator[None]:
    """Holds a lock file, which stays behind: who removes one may have two writers at once.

    Where the system has no such locks (Windows), nobody is kept out.

    Args:
        path: The lock file; made if it is not there.
        timeout: Seconds to wait for whoever holds it.

    Raises:
        TimeoutError: Somebody else holds it for longer.
        OSError: It cannot be opened, or the file system knows no locks.
    """
    number = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        _take(number, path, time.monotonic() + timeout)
        yield
    finally:
        os.close(number)  # lets go of the lock


def _take(number: int, path: Path, end: float) -> None:
    while fcntl is not None:
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= end:
                raise TimeoutError(f"another process holds {path.name}") from None
            time.sleep(_PAUSE)
        else:
            return


def replace_file(path: Path, content: bytes, like: os.stat_result | None) -> None:
    """Puts a new content in the place of a file: whole, on the disk, in one step; or changes nothing.

    To be called by one at a time: a draft that is there was left by a process that died, and goes.

    Args:
        path: The file; a link here would be replaced by a file.
        content: What it will hold.
        like: Whose permissions it gets, and whose owner as far as that is allowed; None: for us alone.

    Raises:
        OSError: The folder cannot be written, the disk is full, ...
    """
    draft = path.with_name(f".{path.name}.draft")
    draft.unlink(missing_ok=True)
    number = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(number, "wb") as file:
            file.write(content)
            file.flush()
            if like is not None:
                _give_away(draft, like)
            os.fsync(file.fileno())
        draft.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            draft.unlink()
        raise
    sync_folder(path.parent)


def _give_away(path: Path, like: os.stat_result) -> None:
    own = path.stat()
    if (own.st_uid, own.st_gid) != (like.st_uid, like.st_gid):
        with contextlib.suppress(OSError):  # only root gives files away
            os.chown(path, like.st_uid, like.st_gid)
    path.chmod(like.st_mode & 0o7777)
