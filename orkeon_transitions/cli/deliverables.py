"""Where on this computer a run's deliverables are, and which of them it wrote."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from orkeon_transitions.crew import Crew, Mount


class Deliverables:
    """The files that a crew's tasks promise.

    Make it before the run: what changed since then was written by it.

    Args:
        crew: The crew.
        inputs: What fills the placeholders of its file.
    """

    def __init__(self, crew: Crew, inputs: Mapping[str, str]) -> None:
        from orkeon_transitions.crew.placeholders import fill, names_in

        self._paths: dict[str, Path] = {}
        for task in crew.tasks.values():
            if task.deliverable and set(names_in(task.deliverable)) <= set(inputs):
                path = _on_this_computer(fill(task.deliverable, inputs), crew.mounts)
                if path is not None:
                    self._paths[task.id] = path
        self._before = {task: _trace(path) for task, path in self._paths.items()}

    def count_earlier(self, task: str) -> None:
        """Counts a task's file that is there already as written: it was, before the run was resumed."""
        if task in self._before:
            self._before[task] = None

    def written(self, task: str) -> Path | None:
        """The file that the run wrote for a task, or None."""
        path = self._paths.get(task)
        if path is None or _trace(path) in (None, self._before[task]):
            return None
        return path


def _on_this_computer(virtual: str, mounts: Sequence[Mount]) -> Path | None:
    """The path of the host behind a virtual one; the innermost mount wins, as it does for the tools."""
    names = Path(virtual).parts
    around = [(mount, Path(mount.virtual).parts) for mount in mounts]
    around = [(mount, root) for mount, root in around if names[: len(root)] == root]
    if not around or ".." in names:
        return None
    mount, root = max(around, key=lambda one: len(one[1]))
    return mount.host.joinpath(*names[len(root) :])


def _trace(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
