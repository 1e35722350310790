"""What is drawn, before any format: nodes, arrows, the words on them.

Everything here is plain data made from a definition and a run; the formats only choose how it looks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from orkeon_transitions.definition.models import SAME_STATE
from orkeon_transitions.diagrams.effort import BEST, Effort
from orkeon_transitions.diagrams.names import distinct, printable, safe_names
from orkeon_transitions.diagrams.run import BREAKER_ROW, Run, Step, is_from_anywhere, row_target

if TYPE_CHECKING:
    from orkeon_transitions.definition.models import MachineDefinition, StateDefinition, TransitionDefinition

BREAKER_WORDS = "circuit breaker trips"


class ArrowKind(Enum):
    """Why there is an arrow."""

    ROW = "row"
    ANYWHERE = "anywhere"
    BREAKER = "breaker"
    STRAY = "stray"
    ORDER = "order"


@dataclass(frozen=True, slots=True)
class Node:
    """A state.

    Attributes:
        key: A safe word, distinct in the picture; part of the ids in SVG.
        label: The state's name.
        notes: Short remarks in small type.
        description: For a tooltip.
        final: Whether the machine ends here.
        degraded: Whether a tripped machine moves here.
        current: Whether the machine is here.
        visits: Entries, 0 where none is known.
        unvisited: Whether a trace shows that the run was never here.
        known: False for a state that only a trace names.
    """

    key: str
    label: str
    notes: tuple[str, ...] = ()
    description: str | None = None
    final: bool = False
    degraded: bool = False
    current: bool = False
    visits: int = 0
    unvisited: bool = False
    known: bool = True


@dataclass(frozen=True, slots=True)
class Line:
    """One row's words on an arrow.

    Attributes:
        trigger: What is fired.
        guards: What must hold, in words: `can_retry`, `not is_empty`.
        notes: Short remarks: `internal`, `from 7 of 7`, `past any limit`.
        times: How often the run took it here.
        last: Whether it was the run's last step.
    """

    trigger: str
    guards: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    times: int = 0
    last: bool = False


@dataclass(frozen=True, slots=True)
class Arrow:
    """All rows between one pair of states.

    Attributes:
        key: A safe word, distinct in the picture.
        kind: Why there is an arrow.
        source: The key of the node that it leaves; None: it stands for many states.
        dest: The key of the node at which it ends; None: the state that it leaves, whichever that is.
        lines: What is written on it, in file order.
        internal: Whether every row on it keeps its state without leaving it.
        unvisited: Whether a trace shows that the run never went this way.
    """

    key: str
    kind: ArrowKind
    source: str | None
    dest: str | None
    lines: tuple[Line, ...]
    internal: bool = False
    unvisited: bool = False

    @property
    def times(self) -> int:
        """How often the run went this way."""
        return sum(line.times for line in self.lines)

    @property
    def last(self) -> bool:
        """Whether the run's last step went this way."""
        return any(line.last for line in self.lines)


@dataclass(frozen=True, slots=True)
class Picture:
    """A machine as it is drawn.

    Attributes:
        definition: The machine; None: what is drawn is none.
        title: Its name.
        caption: What the run says, a sentence or none.
        warning: Why the circuit is broken, or None.
        initial: The key of the state in which a machine starts, or None.
        nodes: In file order.
        arrows: In file order.
        effort: How it is laid out.
        bare: Whether it goes into a page that has a heading and a ground of its own.
    """

    definition: MachineDefinition | None
    title: str
    caption: str | None
    warning: str | None
    initial: str | None
    nodes: tuple[Node, ...]
    arrows: tuple[Arrow, ...]
    effort: Effort = BEST
    bare: bool = False

    @property
    def direction(self) -> str:
        """`LR` for a few states, `TB` for more: what fits the width of a page."""
        return "LR" if len(self.nodes) <= 4 else "TB"


def make_picture(definition: MachineDefinition, run: Run) -> Picture:
    """Lays out what is to be drawn.

    Args:
        definition: The machine.
        run: What is known of a run; `Run()` for the bare definition.
    """
    strangers = [
        name
        for step in run.steps
        for name in (step.source, step.dest)
        if name not in definition.states_by_name
    ]
    keys = safe_names([*definition.states_by_name, *dict.fromkeys(strangers)])
    nodes = [_node(state, keys[state.name], definition, run) for state in definition.states]
    nodes += [_unknown_node(name, keys[name], run) for name in dict.fromkeys(strangers)]
    return Picture(
        definition=definition,
        title=printable(definition.name),
        caption=_caption(run),
        warning=None if run.trip is None else printable(run.trip),
        initial=keys[definition.initial],
        nodes=tuple(nodes),
        arrows=tuple(_arrows(definition, run, keys)),
    )


def _node(state: StateDefinition, key: str, definition: MachineDefinition, run: Run) -> Node:
    return Node(
        key=key,
        label=printable(state.name),
        notes=tuple(_state_notes(state)),
        description=state.description and printable(state.description),
        final=state.final,
        degraded=state.name == definition.degraded,
        current=state.name == run.current,
        visits=run.visits.get(state.name, 0),
        unvisited=run.traced and state.name != run.current and not run.visits.get(state.name),
    )


def _unknown_node(name: str, key: str, run: Run) -> Node:
    """A state of the trace that the definition does not have (it may have had it when the run was made)."""
    return Node(
        key=key,
        label=printable(name),
        notes=("not in the definition",),
        current=name == run.current,
        visits=run.visits.get(name, 0),
        known=False,
    )


def _state_notes(state: StateDefinition) -> Iterator[str]:
    if state.timeout and state.on_timeout:
        yield f"after {_seconds(state.timeout)}: {printable(state.on_timeout)}"
    elif state.timeout:
        yield f"at most {_seconds(state.timeout)}"
    elif state.on_timeout:
        yield f"when its time is up: {printable(state.on_timeout)}"


def _seconds(seconds: float) -> str:
    minutes, rest = divmod(seconds, 60)
    return f"{minutes:g} min" if minutes and not rest else f"{seconds:g} s"


def _caption(run: Run) -> str | None:
    words = []
    if run.current is not None:
        words.append(f"in {printable(run.current)}")
    if run.traced:
        words.append(_counted(len(run.steps), "step"))
    elif run.transition_count is not None:
        words.append(_counted(run.transition_count, "transition"))
    return ", ".join(words) or None


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _arrows(definition: MachineDefinition, run: Run, keys: Mapping[str, str]) -> Iterator[Arrow]:
    """First the rows in file order, then what the breaker and the run add."""
    taken = Counter((step.source, step.dest, step.row) for step in run.steps)
    last = run.steps[-1] if run.steps else None
    grouped: dict[tuple[ArrowKind, str | None, str | None], list[tuple[Line, bool]]] = {}
    for index, row in enumerate(definition.transitions):
        for kind, source, dest in _ways(definition, row, index, taken):
            times = 0 if source is None or dest is None else taken[source, dest, index]
            line = _line(definition, row, kind, times, last=_is(last, source, dest, index))
            grouped.setdefault((kind, source, dest), []).append((line, row.dest is None))
    tripped = any(step.row == BREAKER_ROW for step in run.steps)
    if definition.degraded in definition.states_by_name and not tripped:
        grouped[ArrowKind.BREAKER, None, definition.degraded] = [(Line(BREAKER_WORDS), False)]
    for step, times in Counter(step for step in run.steps if step.row < 0).items():
        kind = ArrowKind.BREAKER if step.row == BREAKER_ROW else ArrowKind.STRAY
        line = _off_table(step, times, last=step == last)
        grouped.setdefault((kind, step.source, step.dest), []).append((line, step.internal))
    words = distinct(_arrow_word(*way, keys) for way in grouped)
    for word, ((kind, source, dest), lines) in zip(words, grouped.items(), strict=True):
        merged = _merged(line for line, _ in lines)
        yield Arrow(
            key=word,
            kind=kind,
            source=None if source is None else keys[source],
            dest=None if dest is None else keys[dest],
            lines=merged,
            internal=all(internal for _, internal in lines),
            unvisited=run.traced and not any(line.times for line in merged),
        )


def _ways(
    definition: MachineDefinition,
    row: TransitionDefinition,
    index: int,
    taken: Mapping[tuple[str, str, int], int],
) -> Iterator[tuple[ArrowKind, str | None, str | None]]:
    """The arrows of a row: one for each source, or one for all of them and those that the run took."""
    if not is_from_anywhere(definition, row):
        for source in definition.sources_of(row):
            yield ArrowKind.ROW, source, row_target(row, source)
        return
    yield ArrowKind.ANYWHERE, None, None if row.dest in (None, SAME_STATE) else row.dest
    for source in definition.sources_of(row):
        if (source, row_target(row, source), index) in taken:
            yield ArrowKind.ROW, source, row_target(row, source)


def _line(
    definition: MachineDefinition, row: TransitionDefinition, kind: ArrowKind, times: int, *, last: bool
) -> Line:
    notes = []
    if row.dest is None:
        notes.append("internal")
    elif row.dest == SAME_STATE:
        notes.append("re-enters")
    if kind is ArrowKind.ANYWHERE:
        running = len(definition.states) - len(definition.final_states)
        notes.append(f"from {len(definition.sources_of(row))} of {running}")
    if row.always:
        notes.append("past any limit")
    guards = [*row.conditions, *(f"not {name}" for name in row.unless)]
    return Line(printable(row.trigger), tuple(map(printable, guards)), tuple(notes), times, last)


def _off_table(step: Step, times: int, *, last: bool) -> Line:
    """The words of a step that no row of the definition describes."""
    if step.row == BREAKER_ROW:
        return Line(BREAKER_WORDS, times=times, last=last)
    trigger = "(no trigger)" if step.trigger is None else printable(step.trigger)
    return Line(trigger, notes=("no such row",), times=times, last=last)


def _merged(lines: Iterable[Line]) -> tuple[Line, ...]:
    """The lines, those that read the same put together: twice the same row, or trips at several triggers."""
    merged: dict[tuple[str, tuple[str, ...], tuple[str, ...]], Line] = {}
    for line in lines:
        words = line.trigger, line.guards, line.notes
        before = merged.get(words, Line(*words))
        merged[words] = Line(*words, times=before.times + line.times, last=before.last or line.last)
    return tuple(merged.values())


def _is(step: Step | None, source: str | None, dest: str | None, row: int) -> bool:
    return step is not None and (step.source, step.dest, step.row) == (source, dest, row)


def _arrow_word(kind: ArrowKind, source: str | None, dest: str | None, keys: Mapping[str, str]) -> str:
    start = kind.value if source is None else keys[source]
    return f"{start}-{'same' if dest is None else keys[dest]}"
