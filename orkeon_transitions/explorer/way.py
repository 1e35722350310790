"""What has happened so far, as a log and as a way through the picture. Plain data: no machine, no clock."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["made", "internal", "degraded", "refused", "failed", "broken", "reset"]
STEPS = frozenset({"made", "internal", "degraded"})
MOST_SHOWN = 200


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the log.

    Attributes:
        kind: What happened; `made`, `internal` and `degraded` are steps.
        trigger: What was fired; None: nothing was, or a clock ran out by itself.
        source: The state before.
        dest: The state after.
        time: Wall time as ISO 8601, or None.
        words: What there is to say beyond that, or None.
    """

    kind: Kind
    trigger: str | None
    source: str
    dest: str
    time: str | None = None
    words: str | None = None


class Way:
    """The rows of a log, and the steps among them.

    Attributes:
        initial: The state before the first step.
        rows: Oldest first.
    """

    def __init__(self, initial: str, visits: Mapping[str, int] | None = None) -> None:
        self.initial = initial
        self.rows: list[Row] = []
        self._visits = dict(visits or {initial: 1})
        # Where in the rows each step is, and how many steps were made when each row was written.
        self._steps: list[int] = []
        self._positions: list[int] = []
        # How many rows were forgotten before the first.
        self._forgotten = 0

    def add(self, row: Row) -> None:
        """Adds a row."""
        if row.kind in STEPS:
            self._steps.append(len(self.rows))
        self.rows.append(row)
        self._positions.append(len(self._steps))

    @property
    def last(self) -> int:
        """How many steps were made."""
        return len(self._steps)

    def step(self, number: int) -> Row:
        """A step by its number, from 1."""
        return self.rows[self._steps[number - 1]]

    def state(self, at: int) -> str:
        """The state after so many steps."""
        return self.step(at).dest if at else self.initial

    def taken_next(self, at: int) -> str | None:
        """The trigger of the step after so many; None: there is none, or a clock made it."""
        return self.step(at + 1).trigger if at < self.last else None

    def forget(self, steps: int) -> None:
        """Forgets the first so many steps and what came between; the rows that stay keep their numbers."""
        rows = self._steps[steps]
        self._visits = self.visits(steps)
        self.initial = self.state(steps)
        self._forgotten += rows
        del self.rows[:rows]
        self._steps = [place - rows for place in self._steps[steps:]]
        self._positions = [position - steps for position in self._positions[rows:]]

    def cut(self, steps: int) -> None:
        """Forgets everything from the step after so many on."""
        if steps < self.last:
            rows = self._steps[steps]
            del self.rows[rows:], self._positions[rows:], self._steps[steps:]

    def drop_last(self, kind: Kind) -> bool:
        """Forgets the last row if it is of a kind and no step; says whether it was."""
        if not self.rows or self.rows[-1].kind != kind or kind in STEPS:
            return False
        self.rows.pop()
        self._positions.pop()
        return True

    def steps(self, at: int) -> list[Row]:
        """The first so many steps."""
        return [self.rows[place] for place in self._steps[:at]]

    def visits(self, at: int) -> dict[str, int]:
        """Entries by state within the first so many steps, the first state's included."""
        visits = Counter(self._visits)
        visits.update(row.dest for row in self.steps(at) if row.kind != "internal")
        return dict(visits)

    def window(self, first: int | None = None, count: int = MOST_SHOWN) -> dict[str, Any]:
        """A part of the log as the page shows it.

        Args:
            first: Its first row, from 0; None: the newest.
            count: How many.
        """
        total = len(self.rows)
        first = max(0, total - count) if first is None else min(first, total)
        rows = enumerate(self.rows[first : first + count], first)
        return {"total": total, "first": first, "rows": [self._shown(place, row) for place, row in rows]}

    def window_at(self, at: int, count: int = MOST_SHOWN) -> dict[str, Any]:
        """The newest part of the log that has the step after so many in it, or the end of the log."""
        if at >= self.last:
            return self.window(count=count)
        place = self._steps[at - 1] if at else 0
        newest = max(0, len(self.rows) - count)
        return self.window(newest if place >= newest else max(0, place - count // 2), count)

    def _shown(self, place: int, row: Row) -> dict[str, Any]:
        return {
            "n": self._forgotten + place + 1,
            "kind": row.kind,
            "trigger": row.trigger,
            "from": row.source,
            "to": row.dest,
            "time": row.time,
            "words": row.words,
            "position": self._positions[place],
        }
