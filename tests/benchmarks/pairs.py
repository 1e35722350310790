"""How two sides are measured: in turns, in CPU time, as the median of the ratios of neighbours.

A computer that is busy slows both sides of a pair alike, so that their ratio tells more than either figure.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial


class AbsentError(Exception):
    """A peer is not installed, or refuses to work; the text names it."""


@dataclass(frozen=True)
class Effort:
    """How long is measured.

    Attributes:
        rounds: How many pairs.
        seconds: How long one side of a pair takes, roughly.
        machines: How many machines are made where many are.
        factor: How much smaller than the row says the large things are.
    """

    rounds: int
    seconds: float
    machines: int
    factor: int = 1


FULL = Effort(rounds=15, seconds=0.05, machines=10_000)
QUICK = Effort(rounds=5, seconds=0.02, machines=1_000, factor=4)
TINY = Effort(rounds=1, seconds=0.0001, machines=20, factor=50)


@dataclass(frozen=True)
class Figures:
    """What came of a row.

    Attributes:
        ratio: The median of the paired ratios.
        spread: The ratios' quartiles.
        ours: The median of our figures: for one of whatever is counted.
        theirs: The median of the peer's.
        unit: What the two are: `s` or `B`.
    """

    ratio: float
    spread: tuple[float, float]
    ours: float
    theirs: float
    unit: str = "s"


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Attributes:
        name: What `--only` takes.
        measure: Ours, and what is counted.
        peer: What it is compared with.
        run: Measures.
        at_most: The ratio that must hold, or None: it is only told.
        aim: The ratio that is aimed at, or None.
    """

    name: str
    measure: str
    peer: str
    run: Callable[[Effort], Figures]
    at_most: float | None = None
    aim: float | None = None


@dataclass
class Pairs:
    """The figures of both sides, pair by pair."""

    ours: list[float] = field(default_factory=list)
    theirs: list[float] = field(default_factory=list)

    def add(self, ours: float, theirs: float) -> None:
        """Puts a pair down."""
        self.ours.append(ours)
        self.theirs.append(theirs)

    def figures(self, unit: str = "s") -> Figures:
        """What the pairs say."""
        ratios = [ours / theirs for ours, theirs in zip(self.ours, self.theirs, strict=True)]
        low, middle, high = (
            statistics.quantiles(ratios, n=4, method="inclusive") if len(ratios) > 1 else ratios * 3
        )
        return Figures(
            middle, (low, high), statistics.median(self.ours), statistics.median(self.theirs), unit
        )


def cpu(work: Callable[[], object]) -> float:
    """The seconds of CPU that some work takes; what others left behind is collected before, not meanwhile."""
    gc.collect()
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        start = time.process_time()
        work()
        return time.process_time() - start
    finally:
        if was_enabled:
            gc.enable()


def compare(
    ours: Callable[[int], object], theirs: Callable[[int], object], effort: Effort, *, least: int = 1
) -> Figures:
    """Measures two sides that each do so many of the same thing.

    Args:
        ours: Ours, given how many.
        theirs: The peer's, given how many.
        effort: How long.
        least: How many at least, for sides that have something to do first.
    """
    sides = (ours, theirs)
    counts = [_fitting(side, effort, least) for side in sides]
    pairs = Pairs()
    for number in range(effort.rounds):
        taken = [0.0, 0.0]
        # In turns, so that neither side always comes first.
        for side in (0, 1) if number % 2 else (1, 0):
            taken[side] = cpu(partial(sides[side], counts[side])) / counts[side]
        pairs.add(*taken)
    return pairs.figures()


def _fitting(side: Callable[[int], object], effort: Effort, least: int) -> int:
    """How many fill the time that one side has. This warms it up, too."""
    count = least
    while (taken := cpu(partial(side, count))) < effort.seconds / 2:
        count = max(count + 1, min(count * 10, int(count * effort.seconds / max(taken, 1e-6))))
    return count
