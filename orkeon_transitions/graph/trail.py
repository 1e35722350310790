"""What a run remembers of its way: every step, or the last so many."""

from __future__ import annotations

from orkeon_transitions.facts import TransitionResult


class Trail:
    """The steps of a run, in order. With a limit, neither its size nor the cost of a step grows with the run.

    Args:
        end: The state in which a run ends well: a step into any other runs a node.
        limit: How many of the last steps are kept; None: all.

    Attributes:
        nodes: How many nodes the machine has stepped into.
    """

    __slots__ = ("_end", "_kept", "_limit", "_most", "_steps", "nodes")

    def __init__(self, end: str, limit: int | None) -> None:
        self.nodes = 0
        self._end = end
        self._limit = limit
        # Twice as many are kept before the older half goes: so each step costs the same.
        self._most = None if limit is None else 2 * limit
        self._kept: list[TransitionResult] = []
        self._steps = 0

    def add(self, step: TransitionResult) -> None:
        """Adds a step that was made."""
        self._steps += 1
        if step.to_state != self._end:
            self.nodes += 1
        self._kept.append(step)
        if self._most is not None and len(self._kept) > self._most:
            del self._kept[: len(self._kept) - (self._limit or 0)]

    def steps(self, until: int | None = None) -> tuple[TransitionResult, ...]:
        """The steps as they were after so many of them; those that are no longer kept are missing."""
        gone = self._steps - len(self._kept)
        last = self._steps if until is None else until
        first = gone if self._limit is None else max(gone, last - self._limit)
        return tuple(self._kept[first - gone : max(last - gone, 0)])

    def names(self, until: int | None = None) -> tuple[str, ...]:
        """The nodes of these steps."""
        return tuple(step.to_state for step in self.steps(until) if step.to_state != self._end)
