"""The file that a task promises: written by the run where whoever worked has not written it."""

from __future__ import annotations

from dataclasses import dataclass

from orkeon_transitions.crew.mounts import Mounts


@dataclass(frozen=True, slots=True)
class Deliverable:
    """A task's file as it was when the work began.

    Make one with `Deliverable.of`.

    Attributes:
        mounts: The folders that may be written.
        path: The file, as a virtual path.
        before: What was there.
    """

    mounts: Mounts
    path: str
    before: tuple[int, ...] | None

    @classmethod
    def of(cls, mounts: Mounts, path: str) -> Deliverable:
        """Looks at a file before the work begins: what changes after this was done by the work."""
        return cls(mounts, path, mounts.trace(path))

    def complete(self, output: str) -> None:
        """Writes the output into the file, unless the work has written the file.

        Raises:
            ToolError: The file cannot be written.
        """
        if self.mounts.trace(self.path) in (None, self.before):
            self.mounts.write(self.path, output.encode())
