"""Folders that a crew may touch, and the one way in.

A mount shows a folder of the host under a virtual path: `./code:/code:ro`. Tools speak virtual paths only.
Every name on the way is opened without following links, one directory at a time, relative to the one before:
what was checked is what is opened, also when somebody swaps a folder for a link in between. Where the system
has no handles of directories (Windows), each name is looked at just before it is used instead.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from orkeon_transitions.crew.tool import ToolError
from orkeon_transitions.definition.fields import shown

MOST_BYTES = 1_000_000
MOST_ENTRIES = 1_000

_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
# Without it, opening a named pipe would wait for whoever writes to it.
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)
_DIRECTORY = getattr(os, "O_DIRECTORY", 0)
_BINARY = getattr(os, "O_BINARY", 0)
HAS_DIRECTORY_HANDLES = os.open in os.supports_dir_fd

# A handle, or the path where there are no handles of directories.
Directory = int | Path


@dataclass(frozen=True, slots=True)
class Mount:
    """One folder and what may be done with it.

    Attributes:
        host: The folder on this computer.
        virtual: What tools call it; begins with `/`.
        mode: `ro` or `rw`.
    """

    host: Path
    virtual: str
    mode: Literal["ro", "rw"] = "ro"

    @property
    def writable(self) -> bool:
        """Whether files may be written here."""
        return self.mode == "rw"

    @property
    def is_there(self) -> bool:
        """Whether the folder exists."""
        try:
            return self.host.is_dir()
        except OSError:  # such as a name that is too long
            return False


@dataclass(frozen=True, slots=True)
class MountSpec:
    """A mount as a crew file writes it: the host folder is not placed yet."""

    host: str
    virtual: str
    mode: Literal["ro", "rw"]

    @classmethod
    def parse(cls, text: Any) -> MountSpec:
        """Reads `host:/virtual:ro|rw`; without a mode, `ro`.

        Raises:
            ValueError: The text is nothing of the kind; the message says what is wrong.
        """
        if not isinstance(text, str):
            raise ValueError(f"must be a text such as './code:/code:ro', not {shown(text)}")
        shape = "must look like 'host:/virtual:ro' or 'host:/virtual:rw'"
        head, colon, mode = text.rpartition(":")
        if colon and mode.startswith("/"):
            host, virtual, mode = head, mode, "ro"
        else:
            host, _, virtual = head.rpartition(":")
        if not host or not virtual:
            raise ValueError(f"mount '{text}' {shape}")
        if mode not in {"ro", "rw"}:
            raise ValueError(f"mount '{text}': mode '{mode}' is neither 'ro' nor 'rw'")
        if not virtual.startswith("/") or ".." in PurePosixPath(virtual).parts or "\0" in text:
            raise ValueError(f"mount '{text}': '{virtual}' must be an absolute path without '..'")
        try:
            Path(host).expanduser()
        except RuntimeError:
            raise ValueError(f"mount '{text}': '{host}' is no user's home") from None
        return cls(host, "/" + "/".join(_names(virtual)), "rw" if mode == "rw" else "ro")

    def placed(self, folder: Path) -> Mount:
        """The mount itself: a relative host folder lies in the given one, `~` is the user's home."""
        return Mount(folder / Path(self.host).expanduser(), self.virtual, self.mode)


class Mounts:
    """The mounts of a crew; every path that a tool names goes through here."""

    def __init__(self, mounts: Sequence[Mount] = ()) -> None:
        # The longest virtual path first, so that a mount inside of another one is found before it.
        self._mounts = sorted(mounts, key=lambda mount: len(_names(mount.virtual)), reverse=True)
        self.listed = tuple(mounts)

    def read(self, path: str) -> bytes:
        """Gives a file's content.

        Raises:
            ToolError: The path leads out of the mounts or through a link, is missing, is no plain file, or
                holds more than 1 MB.
        """
        mount, names = self._locate(path)
        with self._opened_parent(mount, names, path) as parent:
            handle = _open_file(names, parent, os.O_RDONLY, path)
            with os.fdopen(handle, "rb") as file:
                try:
                    content = file.read(MOST_BYTES + 1)
                except OSError as error:
                    raise ToolError(f"{path} cannot be read: {error.strerror}") from error
        if len(content) > MOST_BYTES:
            raise ToolError(f"{path} is larger than {MOST_BYTES:,} bytes")
        return content

    def write(self, path: str, content: bytes) -> None:
        """Writes a whole file; folders on the way are made.

        Raises:
            ToolError: The path leads out of the mounts or through a link, is read-only, is no plain file, or
                the content is larger than 1 MB.
        """
        if len(content) > MOST_BYTES:
            raise ToolError(f"the content for {path} is larger than {MOST_BYTES:,} bytes")
        mount, names = self._locate(path)
        if not mount.writable:
            raise ToolError(f"{mount.virtual} is read-only")
        with self._opened_parent(mount, names, path, make=True) as parent:
            # No O_TRUNC: what is no plain file must not be touched before it was looked at.
            handle = _open_file(names, parent, os.O_WRONLY | os.O_CREAT, path)
            # No buffer: closing it would try once more to write what could not be written.
            with os.fdopen(handle, "wb", buffering=0) as file:
                try:
                    file.truncate()
                    rest = memoryview(content)
                    while rest:
                        rest = rest[file.write(rest) :]
                except OSError as error:
                    raise ToolError(f"{path} cannot be written: {error.strerror}") from error

    def trace(self, path: str) -> tuple[int, ...] | None:
        """What changes when a file is written; None where there is no file that may be looked at."""
        try:
            mount, names = self._locate(path)
            with self._opened_parent(mount, names, path) as parent:
                found = (
                    os.stat(names[-1], dir_fd=parent, follow_symlinks=False)
                    if isinstance(parent, int)
                    else _below(names[-1], parent, path).stat()
                )
        except (OSError, ToolError):
            return None
        return found.st_ino, found.st_mtime_ns, found.st_ctime_ns, found.st_size

    def entries(self, path: str) -> list[str]:
        """Lists a directory: names in order, those of directories with a `/` at their end.

        Links are left out: nothing leads through them. A mount that may be written is empty, not missing,
        until its folder is made at the first write.

        Raises:
            ToolError: The path leads out of the mounts or through a link, is missing, or is no directory.
        """
        if not _names(path) and not any(mount.virtual == "/" for mount in self._mounts):
            return sorted({_names(mount.virtual)[0] + "/" for mount in self._mounts})
        mount, names = self._locate(path)
        if mount.writable and not names and not os.path.lexists(mount.host):
            return []
        with self._opened_directory(mount, names, path) as directory:
            return sorted(_shown(entry) for entry in os.scandir(directory) if not entry.is_symlink())

    def _locate(self, path: str) -> tuple[Mount, list[str]]:
        """Which mount a virtual path lies in, and the names below it."""
        if "\0" in path:
            raise ToolError("a path must not hold a null character")
        try:
            os.fsencode(path)
        except UnicodeEncodeError:
            raise ToolError(f"a path must not hold half a character: {path!a}") from None
        names = _names(path)
        if ".." in names:
            raise ToolError(f"{path} is refused: '..' may not be used")
        if not path.startswith("/"):
            raise ToolError(f"{path} is refused: a path begins with one of {self._known()}")
        for mount in self._mounts:
            root = _names(mount.virtual)
            if names[: len(root)] == root:
                return mount, names[len(root) :]
        raise ToolError(f"{path} is refused: it is outside of {self._known()}")

    def _known(self) -> str:
        return ", ".join(mount.virtual for mount in self.listed) or "any mount (there is none)"

    @contextmanager
    def _opened_parent(
        self, mount: Mount, names: list[str], path: str, *, make: bool = False
    ) -> Iterator[Directory]:
        if not names:
            raise ToolError(f"{path} is a directory")
        with self._opened_directory(mount, names[:-1], path, make=make) as parent:
            yield parent

    @contextmanager
    def _opened_directory(
        self, mount: Mount, names: list[str], path: str, *, make: bool = False
    ) -> Iterator[Directory]:
        """A directory, reached from the mount's root name by name."""
        if make:
            _make_root(mount)
        directory = _root_of(mount, path)
        try:
            for name in names:
                if make:
                    _make_directory(name, directory)
                deeper = _enter(name, directory, path)
                _leave(directory)
                directory = deeper
            yield directory
        finally:
            _leave(directory)


def _names(path: str) -> list[str]:
    return [name for name in path.split("/") if name not in {"", "."}]


def _shown(entry: os.DirEntry[str]) -> str:
    return entry.name + "/" if entry.is_dir(follow_symlinks=False) else entry.name


def _make_root(mount: Mount) -> None:
    try:
        mount.host.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ToolError(f"the folder of {mount.virtual} cannot be made: {error.strerror}") from error


def _root_of(mount: Mount, path: str) -> Directory:
    """The mount's own folder, whose place is the crew file's word: it may be a link."""
    if HAS_DIRECTORY_HANDLES:
        return _open_or_refuse(os.fspath(mount.host), None, os.O_RDONLY | _DIRECTORY, path)
    root = mount.host.resolve()
    if not root.is_dir():
        raise ToolError(f"{path} does not exist")
    return root


def _enter(name: str, parent: Directory, path: str) -> Directory:
    if isinstance(parent, int):
        return _open_or_refuse(name, parent, os.O_RDONLY | _DIRECTORY | _NO_LINK, path)
    below = _below(name, parent, path)
    if not below.is_dir():
        raise ToolError(f"{path} is refused: '{name}' is no directory")
    return below


def _leave(directory: Directory) -> None:
    if isinstance(directory, int):
        os.close(directory)


def _below(name: str, parent: Path, path: str) -> Path:
    """A name in a folder, for systems without handles: no link, and nothing that leads elsewhere."""
    below = parent / name
    try:
        if below.resolve() != below:
            raise ToolError(f"{path} is refused: '{name}' is a link")
        below.lstat()
    except FileNotFoundError:
        return below
    except (OSError, ValueError) as error:
        raise ToolError(f"{path} is refused: {_reason(name, parent, error)}") from error
    return below


def _make_directory(name: str, parent: Directory) -> None:
    try:
        if isinstance(parent, int):
            os.mkdir(name, dir_fd=parent)
        else:
            (parent / name).mkdir()
    except FileExistsError:
        pass
    except OSError as error:
        raise ToolError(f"the directory '{name}' cannot be made: {error.strerror}") from error


def _open_file(names: list[str], parent: Directory, flags: int, path: str) -> int:
    """A handle of a plain file; anything else is let go of untouched."""
    flags |= _NO_LINK | _NO_WAIT
    if isinstance(parent, int):
        handle = _open_or_refuse(names[-1], parent, flags, path)
    else:
        handle = _open_or_refuse(os.fspath(_below(names[-1], parent, path)), None, flags | _BINARY, path)
    if stat.S_ISREG(os.fstat(handle).st_mode):
        return handle
    os.close(handle)
    raise ToolError(f"{path} is no plain file")


def _open_or_refuse(name: str, parent: int | None, flags: int, path: str) -> int:
    try:
        return os.open(name, flags, 0o644, dir_fd=parent)
    except FileNotFoundError:
        raise ToolError(f"{path} does not exist") from None
    except (OSError, ValueError) as error:
        raise ToolError(f"{path} is refused: {_reason(name, parent, error)}") from error


def _reason(name: str, parent: Directory | None, error: OSError | ValueError) -> str:
    """Why it could not be opened; a link is named as one, whatever the system calls it."""
    try:
        if isinstance(parent, int) and stat.S_ISLNK(os.lstat(name, dir_fd=parent).st_mode):
            return f"'{name}' is a link"
    except (OSError, ValueError):
        pass
    return getattr(error, "strerror", None) or str(error)
