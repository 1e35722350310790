"""Which process works on something, and whether it still lives: known for the processes of this computer."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import NamedTuple


class Owner(NamedTuple):
    """A process.

    Attributes:
        host: The computer's name.
        pid: The process's number.
        started: What tells it from a later process of that number; empty where the system does not say.
    """

    host: str
    pid: int
    started: str

    @classmethod
    def this(cls) -> Owner:
        """The process that asks."""
        return cls.of(os.getpid())

    @classmethod
    def of(cls, pid: int) -> Owner:
        """A process of this computer."""
        return cls(socket.gethostname(), pid, _started(pid))

    @classmethod
    def read(cls, text: str) -> Owner:
        """Reads what `str` gave."""
        host, pid, started = text.rsplit("/", 2)
        return cls(host, int(pid), started)

    def __str__(self) -> str:
        return f"{self.host}/{self.pid}/{self.started}"

    @property
    def words(self) -> str:
        """The process, for people."""
        return f"process {self.pid} on {self.host}"

    @property
    def has_ended(self) -> bool:
        """Whether it is known to live no more."""
        if self.host != socket.gethostname() or os.name != "posix":
            return False
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return True
        except PermissionError:  # somebody else's, so it lives
            return self.started != _started(self.pid)
        return self.started != _started(self.pid)


def _started(pid: int) -> str:
    """When a process was started, in the system's own unit, and in which boot."""
    try:
        # The second field is the program's name in parentheses, which may hold blanks.
        fields = (
            Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        )
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""
    is_zombie = fields[0] in {"Z", "X"}
    return "ended" if is_zombie else f"{fields[19]}@{boot[:8]}"
