"""What a run remembers of its way: everything, or the last so many."""

from __future__ import annotations

from typing import Generic, TypeVar

from orkeon_transitions.facts import TransitionResult

T = TypeVar("T")


class Kept(Generic[T]):
    """Things in order, of which a limit keeps the last. Adding one costs the same however many there were.

    Args:
        limit: How many are kept; None: all.

    Attributes:
        count: How many were added.
    """

    __slots__ = ("_items", "_limit", "count")

    def __init__(self, limit: int | None) -> None:
        self.count = 0
        self._limit = limit
        self._items: list[T] = []

    def add(self, item: T) -> None:
        """Adds one."""
        self.count += 1
        self._items.append(item)
        # The older half goes at once, so that not every addition moves the others.
        if self._limit is not None and len(self._items) > 2 * self._limit:
            del self._items[: len(self._items) - self._limit]

    def last(self, until: int | None = None) -> tuple[T, ...]:
        """What is kept, as it was after so many additions; what has gone since is missing."""
        gone = self.count - len(self._items)
        end = self.count if until is None else until
        begin = gone if self._limit is None else max(gone, end - self._limit)
        return tuple(self._items[begin - gone : max(end - gone, 0)])


class Trail:
    """The way of one run.

    Args:
        end: The state in which a run ends well: a step into any other one runs a node.
        limit: How many of the last nodes, and of the last steps, are kept; None: all.

    Attributes:
        nodes: The names of the nodes that were run.
        steps: The steps of the machine.
    """

    __slots__ = ("_end", "nodes", "steps")

    def __init__(self, end: str, limit: int | None) -> None:
        self.nodes: Kept[str] = Kept(limit)
        self.steps: Kept[TransitionResult] = Kept(limit)
        self._end = end

    def add(self, step: TransitionResult) -> None:
        """Takes a step down."""
        self.steps.add(step)
        if step.to_state != self._end:
            self.nodes.add(step.to_state)
