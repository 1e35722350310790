"""What a snapshot and a trace say about a definition: where the machine is, and how it came there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from orkeon_transitions.definition.models import ANY_STATE, SAME_STATE
from orkeon_transitions.diagrams.names import plain_name
from orkeon_transitions.errors import OrkeonError

if TYPE_CHECKING:
    from orkeon_transitions.definition.models import MachineDefinition, TransitionDefinition

BREAKER_ROW = -1
UNKNOWN_ROW = -2
_RowIndex = dict[tuple[str, str, str], list[int]]


class TraceStep(Protocol):
    """One step of a trace: a `TransitionResult`, or a step of a replay."""

    @property
    def from_state(self) -> Any:
        """The state before, a name or an Enum member."""

    @property
    def trigger(self) -> Any:
        """What was fired; None when a clock moved the machine."""

    @property
    def to_state(self) -> Any:
        """The state after, a name or an Enum member."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step that was really made.

    Attributes:
        source: The state before.
        dest: The state after.
        trigger: The trigger's name, or None.
        row: The index of the definition's row, `BREAKER_ROW` or `UNKNOWN_ROW`.
        internal: Whether the state was kept without leaving it.
    """

    source: str
    dest: str
    trigger: str | None
    row: int
    internal: bool


@dataclass(frozen=True, slots=True)
class Run:
    """A machine's run as far as it is known.

    Attributes:
        current: The state in which the machine is, or None.
        visits: Entries by state name.
        steps: The steps in their order; empty without a trace.
        traced: Whether there was a trace, so that a state outside of it is known to be unvisited.
        transition_count: What the budget has used, or None without a snapshot.
        trip: Why the circuit is broken, or None.
    """

    current: str | None = None
    visits: Mapping[str, int] = field(default_factory=dict)
    steps: tuple[Step, ...] = ()
    traced: bool = False
    transition_count: int | None = None
    trip: str | None = None


def read_run(definition: MachineDefinition, snapshot: Any, trace: Iterable[TraceStep] | None) -> Run:
    """Reads a snapshot and a trace against a definition.

    Args:
        definition: The machine.
        snapshot: A `Snapshot`, the same as a mapping, or None.
        trace: Steps in their order, or None. Steps that moved nothing are left out.

    Raises:
        OrkeonError: The snapshot's state is none of this machine.
    """
    rows = _index_rows(definition)
    steps = tuple(_read_step(definition, rows, step) for step in trace or () if _was_made(step))
    walked = _visits(steps)
    if snapshot is None:
        current = steps[-1].dest if steps else None
        return Run(current=current, visits=walked, steps=steps, traced=trace is not None)
    plain = snapshot if isinstance(snapshot, Mapping) else snapshot.model_dump(mode="json")
    current = plain_name(plain["state"])
    if current not in definition.states_by_name:
        raise OrkeonError(f"the snapshot's state '{current}' is not a state of machine '{definition.name}'")
    trip = plain.get("trip")
    return Run(
        current=current,
        visits={plain_name(name): times for name, times in (plain.get("visits") or walked).items()},
        steps=steps,
        traced=trace is not None,
        transition_count=plain.get("transition_count"),
        trip=trip["reason"] if trip else None,
    )


def row_target(row: TransitionDefinition, source: str) -> str:
    """Where a row leads from a state."""
    return source if row.dest in (None, SAME_STATE) else str(row.dest)


def is_from_anywhere(definition: MachineDefinition, row: TransitionDefinition) -> bool:
    """Whether a row is drawn once: it is written with `*`, or lists every state of a larger machine."""
    if row.source == (ANY_STATE,):
        return True
    running = len(definition.states) - len(definition.final_states)
    return running > 3 and len(definition.sources_of(row)) == running


def _was_made(step: TraceStep) -> bool:
    return bool(getattr(step, "accepted", True) or getattr(step, "degraded", False))


def _read_step(definition: MachineDefinition, rows: _RowIndex, step: TraceStep) -> Step:
    source, dest = plain_name(step.from_state), plain_name(step.to_state)
    trigger = None if step.trigger is None else plain_name(step.trigger)
    internal = bool(getattr(step, "internal", False)) and source == dest
    found = [] if trigger is None else rows.get((source, trigger, dest), [])
    if getattr(step, "degraded", False) or (not found and dest == definition.degraded):
        return Step(source, dest, trigger, BREAKER_ROW, internal=False)
    if not found:
        return Step(source, dest, trigger, UNKNOWN_ROW, internal)
    # Of several rows the first; where a state was kept, rather one that keeps it in the same way.
    alike = [index for index in found if (definition.transitions[index].dest is None) == internal]
    row = (alike or found)[0]
    return Step(source, dest, trigger, row, internal=definition.transitions[row].dest is None)


def _index_rows(definition: MachineDefinition) -> _RowIndex:
    """The indices of the rows by what a step of theirs looks like."""
    rows: _RowIndex = {}
    for index, row in enumerate(definition.transitions):
        for source in definition.sources_of(row):
            rows.setdefault((source, row.trigger, row_target(row, source)), []).append(index)
    return rows


def _visits(steps: tuple[Step, ...]) -> Mapping[str, int]:
    """Entries by state name; where the trace begins counts as entered once."""
    visits = Counter(step.dest for step in steps if not step.internal)
    if steps:
        visits[steps[0].source] += 1
    return visits
