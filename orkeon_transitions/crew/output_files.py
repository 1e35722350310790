"""`output_file`, as CrewAI's tasks have it: the deliverable by a path below the crew's folder for output.

That folder is the one that is mounted at `/output`, else the first mount that may be written; a crew that has
neither gets `./output`, beside its files. So a task's file never lies elsewhere, whatever its path says.
"""

from __future__ import annotations

from collections.abc import Sequence

from orkeon_transitions.crew.mounts import MountSpec

OUTPUT = "/output"
OUTPUT_MOUNT = f"./output:{OUTPUT}:rw"


class OutputFolder:
    """Where the files of tasks with `output_file` go.

    Args:
        mounts: What the crew file mounts.
    """

    def __init__(self, mounts: Sequence[MountSpec]) -> None:
        self._mounts = tuple(mounts)
        writable = [mount.virtual for mount in mounts if mount.mode == "rw"]
        self._root = OUTPUT if OUTPUT in writable or not writable else writable[0]
        self._is_lacking = not writable and all(mount.virtual != OUTPUT for mount in mounts)
        self._is_used = False

    @property
    def mounts(self) -> tuple[MountSpec, ...]:
        """The mounts of the crew, the one for output among them if a task needs it."""
        lacks_it = self._is_used and self._is_lacking
        return (*self._mounts, MountSpec.parse(OUTPUT_MOUNT)) if lacks_it else self._mounts

    def virtual(self, written: str) -> str:
        """The virtual path of a task's file; a path that begins with `/` is one already.

        Raises:
            ValueError: It is no path of a file below the folder.
        """
        self._is_used = True
        if written.startswith(("~", "$")):
            raise ValueError(f"'{written}' is not expanded: name a file below '{self._root}'")
        if written.endswith("/"):
            raise ValueError(f"'{written}' is a folder: name a file below '{self._root}'")
        return written if written.startswith("/") else f"{self._root.rstrip('/')}/{written}"
