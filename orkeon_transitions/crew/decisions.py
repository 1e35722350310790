"""What was decided in a run, by whom and why: by a process, or by an agent that it has asked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Decision:
    """One decision of a run. It follows from what agents have answered, so a run that goes on makes it again.

    Attributes:
        kind: What was decided, such as `assignment`, `review`, `ballot`, `consensus`, `fallback`, `claim`,
            `delegation`, `spawn`, `budget`.
        by: The key of the agent that decided, or empty: the process did.
        task: The key of the task that it is about, or empty.
        choice: What was chosen: the key of an agent, `accepted`, a ranking.
        why: The reason that was given.
        round: Which time it was decided, from 1.
    """

    kind: str
    by: str
    task: str
    choice: str
    why: str = ""
    round: int = 1

    def to_dict(self) -> dict[str, Any]:
        """The decision as plain JSON data."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What somebody makes of an output.

    Attributes:
        feedback: What is wrong with it; None: it is accepted.
        is_final: Whether an output that is not accepted is not to be tried again.
    """

    feedback: str | None = None
    is_final: bool = False


Review = Callable[[str, int], Awaitable[Verdict]]
"""Judges an output that is in order otherwise, and is told how often the machine was in `validating`."""
