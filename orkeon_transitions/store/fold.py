"""What a journal's records say about one machine, folded over its definition.

Pure: no file, no clock, no machine. A record is believed even where it is odd, and what is odd is an anomaly.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime
from typing import Any, Literal, NamedTuple

from orkeon_transitions.definition.models import SAME_STATE, MachineDefinition
from orkeon_transitions.errors import JournalError
from orkeon_transitions.store.records import (
    BROKEN,
    FAILED,
    RECORDING,
    RESET,
    TRANSITION,
    JournalRecord,
)

AnomalyCode = Literal[
    "illegal-step", "many-errors", "many-waits", "gap", "clock-backwards", "definition-changed"
]

MOST_ERRORS = 2
MOST_WAITS = 10
ERROR_STATES = frozenset({"error", "failed"})
WAITING, WAITING_FOR = "waiting", "waiting_"

_Move = tuple[str | None, str, str, bool | None, bool | None]


class Step(NamedTuple):
    """One transition of a journal.

    Attributes:
        ordinal: Its number in the machine's life; in a foreign log, its number in the log.
        timestamp: Wall time with an offset.
        trigger: What was fired; None when a clock degraded the machine by itself.
        from_state: The state before.
        to_state: The state after.
        line: Where it stands in the file, counted from 1; in a store, the version that it made.
        transition_count: What the budget had used after it; 1 begins a new budget.
        degraded: Whether the breaker made it.
        internal: Whether the state was kept without leaving it; None if a foreign log does not say.
        reason: Why the breaker made it, or None.
        error: What a callback raised after the state was written, or None: the transition stands.
        life: Which of the machines of this name it is, counted from 1: a program that runs again may record
            a new one under the old name.
    """

    ordinal: int
    timestamp: datetime
    trigger: str | None
    from_state: str
    to_state: str
    line: int
    transition_count: int
    degraded: bool = False
    internal: bool | None = None
    reason: str | None = None
    error: str | None = None
    life: int = 1


@dataclass(frozen=True, slots=True)
class Anomaly:
    """Something odd about a journal.

    Attributes:
        code: Which kind: `illegal-step` (the definition has no such row), `many-errors` (more than 2 entries
            of a state named error or failed), `many-waits` (more than 10 of a waiting one), `gap` (the step
            does not follow from the one before), `clock-backwards`, `definition-changed` (recorded with
            another content of the definition).
        message: One sentence.
        line: Where it shows, counted from 1.
    """

    code: AnomalyCode
    message: str
    line: int


@dataclass(frozen=True, slots=True)
class Replay:
    """What a journal says about one machine.

    Attributes:
        machine_id: The machine's own name; None if the journal is empty.
        final_state: The state in which it was last.
        steps: Its transitions, in order.
        histogram: Entries by state in the current budget, its first state included, as in the status.
        anomalies: What is odd, in the order of the lines.
        transition_count: What the current budget had used.
        is_circuit_broken: Whether its breaker had tripped.
        broken_reason: Why, or None.
    """

    machine_id: str | None
    final_state: str
    steps: list[Step]
    histogram: dict[str, int]
    anomalies: list[Anomaly]
    transition_count: int
    is_circuit_broken: bool
    broken_reason: str | None
    _records: Sequence[JournalRecord] = field(default=(), repr=False, compare=False)
    _definition: MachineDefinition | None = field(default=None, repr=False, compare=False)

    def _repr_mimebundle_(self, **_limits: Any) -> dict[str, Any]:
        """What Jupyter shows: the path that the machine took."""
        from orkeon_transitions.diagrams import mimebundle  # noqa: PLC0415 (drawing is loaded when needed)

        if self._definition is None:
            return {"text/plain": repr(self)}
        return dict(mimebundle(self._definition, trace=self.steps, text=repr(self)))

    @property
    def lives(self) -> int:
        """How many machines of this name were recorded, one after another; the rest is told of the last."""
        return self.steps[-1].life if self.steps else 1

    def at(self, ordinal: int, life: int | None = None) -> Replay:
        """What the journal said right after a step: state, counts, histogram, trip and what was odd by then.

        Args:
            ordinal: The step's number; 0: before the first step.
            life: Which machine of this name, where there were several; None: the last one.

        Raises:
            JournalError: There is no such step.
        """
        life = self.lives if life is None else life
        own = [step for step in self.steps if step.life == life]
        found = next((step for step in reversed(own) if step.ordinal == ordinal), None)
        if found is not None:
            until = self._end_of(found)
            return self._folded(record for record in self._records if record.line <= until)
        if ordinal == 0 and (own or not self.steps):
            since = max((step.line for step in self.steps if step.life < life), default=-1)
            until = own[0].line if own else sys.maxsize
            return self._folded(record for record in self._records if since < record.line < until)
        raise JournalError(self._no_step(ordinal, life, own))

    def to_dict(self) -> dict[str, Any]:
        """The replay as plain JSON data; times as ISO 8601."""
        shown = [each.name for each in fields(self) if not each.name.startswith("_")]
        return {name: getattr(self, name) for name in shown} | {
            "steps": [step._asdict() | {"timestamp": step.timestamp.isoformat()} for step in self.steps],
            "anomalies": [asdict(anomaly) for anomaly in self.anomalies],
        }

    def _folded(self, records: Iterable[JournalRecord]) -> Replay:
        definition = self._definition
        if definition is None:
            raise JournalError("this replay was not made from a journal, so it has no steps to go back to")
        return fold(records, definition, self.machine_id)

    def _end_of(self, step: Step) -> int:
        """The line that ends a step: its own, or the one that says that a callback failed after it."""
        for record in self._records:
            if record.line > step.line:
                failed = record.fact == FAILED and record.ordinal == step.ordinal
                return record.line if failed else step.line
        return step.line

    def _no_step(self, ordinal: int, life: int, own: Sequence[Step]) -> str:
        whose = f"machine '{self.machine_id}'" + (f" in its life {life}" if self.lives > 1 else "")
        if not own:
            return f"{whose} made no step" if life <= self.lives else f"{whose} was not recorded"
        return f"{whose} made no step {ordinal}: its steps go from {own[0].ordinal} to {own[-1].ordinal}"


def fold(
    records: Iterable[JournalRecord], definition: MachineDefinition, machine_id: str | None = None
) -> Replay:
    """Folds the records of one machine, in order, over its definition."""
    folding = _Fold(definition)
    records = records if isinstance(records, list) else list(records)
    for record in records:
        folding.take(record)
    return folding.result(records[-1].machine_id if records else machine_id, records)


@dataclass(slots=True)
class _Fold:
    """What is known after the records so far."""

    definition: MachineDefinition
    state: str = ""
    life: int = 1
    ordinal: int = 0
    count: int = 0
    visits: dict[str, int] = field(default_factory=dict)
    is_broken: bool = False
    broken_reason: str | None = None
    last: JournalRecord | None = None
    steps: list[Step] = field(default_factory=list)
    anomalies: list[Anomaly] = field(default_factory=list)
    error_lines: list[int] = field(default_factory=list)
    wait_lines: list[int] = field(default_factory=list)
    definitions: set[str | None] = field(default_factory=set)
    judged: dict[_Move, tuple[bool | None, bool]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.state = self.definition.initial
        self.visits = {self.state: 1}
        self.definitions = {None, self.definition.content_hash}

    def take(self, record: JournalRecord) -> None:
        if self.last is not None and record.timestamp < self.last.timestamp:
            self._note(
                "clock-backwards", f"{record.timestamp} comes after {self.last.timestamp}", record.line
            )
        if record.definition not in self.definitions:
            self.definitions.add(record.definition)
            self._note(
                "definition-changed",
                f"recorded with another content of '{record.machine or self.definition.name}'",
                record.line,
            )
        _TAKING[record.fact](self, record)
        self.is_broken = record.broken
        self.broken_reason = (self.broken_reason or record.reason) if record.broken else None
        self.last = record

    def result(self, machine_id: str | None, records: Sequence[JournalRecord]) -> Replay:
        self._look_at_all_entries()
        return Replay(
            machine_id=machine_id,
            final_state=self.state,
            steps=self.steps,
            histogram=dict(self.visits),
            anomalies=sorted(self.anomalies, key=lambda anomaly: anomaly.line),
            transition_count=self.count,
            is_circuit_broken=self.is_broken,
            broken_reason=self.broken_reason,
            _records=records,
            _definition=self.definition,
        )

    def _note(self, code: AnomalyCode, message: str, line: int) -> None:
        self.anomalies.append(Anomaly(code, message, line))

    def _transition(self, record: JournalRecord) -> None:
        ordinal, count = record.ordinal, record.transition_count
        if record.from_state != self.state or ordinal not in (None, self.ordinal + 1):
            self._look_for_gap(record, self.ordinal + 1)
        move = record.trigger, record.from_state, record.to_state, record.internal, record.degraded
        try:
            internal, is_legal = self.judged[move]
        except KeyError:
            internal, is_legal = self.judged[move] = self._judge(record)
        if not is_legal:
            self._note(
                "illegal-step",
                f"'{self.definition.name}' has no transition {record.from_state} --{record.trigger}--> "
                f"{record.to_state}",
                record.line,
            )
        self.ordinal = self.ordinal + 1 if ordinal is None else ordinal
        count = self.count + 1 if count is None else count
        if count == 1:
            self._begin_budget(record.from_state)
        self.count = count
        self.state = record.to_state
        if not internal:
            self._enter(record)
        self.steps.append(
            Step(
                self.ordinal,
                record.timestamp,
                record.trigger,
                record.from_state,
                record.to_state,
                record.line,
                count,
                bool(record.degraded),
                internal,
                record.reason,
                None,
                self.life,
            )
        )

    def _begin_budget(self, state: str) -> None:
        self.count = 0
        self.visits = {state: 1}

    def _enter(self, record: JournalRecord) -> None:
        state = record.to_state
        self.visits[state] = self.visits.get(state, 0) + 1
        if state in ERROR_STATES:
            self.error_lines.append(record.line)
        elif state == WAITING or state.startswith(WAITING_FOR):
            self.wait_lines.append(record.line)

    def _stopped(self, record: JournalRecord) -> None:
        self._look_for_gap(record, self.ordinal)

    def _reset(self, record: JournalRecord) -> None:
        self._look_for_gap(record, self.ordinal)
        self._begin_budget(record.to_state)

    def _failed(self, record: JournalRecord) -> None:
        for place in reversed(range(len(self.steps))):
            if self.steps[place].life != self.life:
                break
            if self.steps[place].ordinal == record.ordinal:
                self.steps[place] = self.steps[place]._replace(error=record.error)
                return
        self._note("gap", f"transition {record.ordinal} failed, but was not recorded", record.line)

    def _joined(self, record: JournalRecord) -> None:
        # Under another definition a machine may have been sent to another state: that is said by itself.
        if self.last is not None and record.definition == self.last.definition:
            self._look_for_gap(record, self.ordinal)
        self.state = record.to_state
        self.ordinal = record.ordinal or 0
        self.count = record.transition_count or 0
        self.visits = dict(record.visits or {self.state: 1})

    def _judge(self, record: JournalRecord) -> tuple[bool | None, bool]:
        """Looks a step up in the definition.

        Returns:
            Whether the step was internal, None if neither the record nor the definition says so; and whether
            there is such a step.
        """
        stayed = record.from_state == record.to_state
        rows = self.definition.rows_by_state.get(record.from_state, ())
        kinds = {
            row.dest is None
            for row in rows
            if row.trigger == record.trigger
            and (row.dest == record.to_state or (stayed and row.dest in (None, SAME_STATE)))
        }
        if record.internal is not None:
            kinds &= {record.internal}
        is_legal = bool(kinds) or self._is_degraded_move(record)
        if record.internal is not None or len(kinds) != 1:
            return record.internal, is_legal
        return kinds.pop(), is_legal

    def _is_degraded_move(self, record: JournalRecord) -> bool:
        """A log that does not tell degraded moves is believed when it ends in the degraded state."""
        legal = record.to_state == self.definition.degraded
        return legal and record.degraded is not False and record.from_state in self.definition.states_by_name

    def _look_for_gap(self, record: JournalRecord, ordinal: int) -> None:
        if self._begins_again(record):
            self._begin_life()
            return
        if record.from_state != self.state:
            message = f"expected the machine in '{self.state}', not in '{record.from_state}'"
        elif record.ordinal not in (None, ordinal):
            message = f"expected transition {ordinal}, not {record.ordinal}"
        else:
            return
        self._note("gap", message, record.line)

    def _begins_again(self, record: JournalRecord) -> bool:
        """Whether a record is the first of a new machine that has the name of the old one."""
        if not self.ordinal or record.from_state != self.definition.initial:
            return False
        if record.ordinal is None:
            return self.state in self.definition.final_states
        return record.ordinal == (1 if record.fact == TRANSITION else 0)

    def _begin_life(self) -> None:
        self._look_at_all_entries()
        self.error_lines, self.wait_lines = [], []
        self.life += 1
        self.ordinal = 0
        self.state = self.definition.initial
        self.broken_reason = None
        self._begin_budget(self.state)

    def _look_at_all_entries(self) -> None:
        self._look_at_entries("many-errors", self.error_lines, MOST_ERRORS, "errors; see the error log")
        self._look_at_entries("many-waits", self.wait_lines, MOST_WAITS, "waits; tools may be timing out")

    def _look_at_entries(self, code: AnomalyCode, lines: list[int], most: int, what: str) -> None:
        if len(lines) > most:
            self._note(code, f"{len(lines)} {what}", lines[most])


_TAKING: dict[str, Callable[[_Fold, JournalRecord], None]] = {
    TRANSITION: _Fold._transition,
    FAILED: _Fold._failed,
    BROKEN: _Fold._stopped,
    RESET: _Fold._reset,
    RECORDING: _Fold._joined,
}
