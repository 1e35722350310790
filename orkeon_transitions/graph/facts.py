"""What happened in a run, frozen, and its result."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Generic

from orkeon_transitions.breaker import BreakerLimit, CircuitBreakerStatus
from orkeon_transitions.facts import TransitionResult
from orkeon_transitions.graph.topology import S
from orkeon_transitions.graph.trail import Kept


class GraphStatus(StrEnum):
    """How a run ended; one that did neither has raised."""

    COMPLETED = "completed"
    DEGRADED = "degraded"


@dataclass(frozen=True, slots=True)
class NodeCompleted(Generic[S]):
    """A node has done its work.

    Attributes:
        node_name: The node.
        state: The state as the node left it: the object itself, not a copy.
        ordinal: Numbers the node executions of the run, from 1.
        timestamp: Wall time in UTC, for people.
    """

    node_name: str
    state: S
    ordinal: int
    timestamp: datetime
    # Shared with the run: a copy for each node would cost the square of the run.
    _nodes: Kept[str] = field(repr=False, compare=False)

    @property
    def trace(self) -> tuple[str, ...]:
        """The nodes that were run until then, in order, this one included.

        With a `trace_limit`: the last so many, of which those that have gone meanwhile are missing.
        """
        return self._nodes.last(self.ordinal)


@dataclass(frozen=True, slots=True)
class GraphCircuitBroken(Generic[S]):
    """The circuit breaker stopped a run. Told once, also where a degraded node then runs.

    Attributes:
        reason: Which limit was passed, with both figures.
        limit: The limit.
        node_name: The node that was not run any more, or that was running when the time was up.
        transition_count: How many nodes were run.
        trace: These nodes, in order; the last of them if there is a `trace_limit`.
        state: The state as the last node left it.
        status: Everything that the breaker knew.
    """

    reason: str
    limit: BreakerLimit | None
    node_name: str
    transition_count: int
    trace: tuple[str, ...]
    state: S
    status: CircuitBreakerStatus


@dataclass(frozen=True, slots=True)
class GraphResult(Generic[S]):
    """What a run gave.

    Attributes:
        final_state: The state at the end.
        trace: The nodes that were run, in order, a degraded one included; the last of them if the graph was
            compiled with a `trace_limit`.
        total_transitions: How many were run.
        duration: How long the run took.
        status: `completed`, or `degraded` when a limit was passed and the degraded node ended the run.
        journal: The steps of the run's machine, the one to the end included: a trace for `render`; bounded
            by a `trace_limit` as well.
    """

    final_state: S
    trace: tuple[str, ...]
    total_transitions: int
    duration: timedelta
    status: GraphStatus
    journal: tuple[TransitionResult, ...] = field(repr=False, default=())
