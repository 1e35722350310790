"""A journal as chapters: what it says of one machine, and the way that this machine went."""

from __future__ import annotations

import json
import os
import re
import warnings
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orkeon_transitions.definition import (
    MachineDefinition,
    StateDefinition,
    TransitionDefinition,
    load_definition,
    nearest,
)
from orkeon_transitions.errors import JournalError
from orkeon_transitions.explorer.showing import stamp
from orkeon_transitions.explorer.way import Kind, Row, Way
from orkeon_transitions.machines import machine_definition, machine_names
from orkeon_transitions.store import recorded_machines, replay_each
from orkeon_transitions.store.records import FORMAT_VERSION, TRANSITION, parse_line
from orkeon_transitions.store.replay import is_store_url

if TYPE_CHECKING:
    from orkeon_transitions.store import MachineStore, Replay, Step

UNKNOWN = "machine"
# `file:line: message`, as what is said of a journal has it.
PLACED = re.compile(r"(?P<file>.+?):(?P<line>[0-9]+): (?P<message>.+)", re.DOTALL)


@dataclass(slots=True)
class Chapter:
    """What a journal says of one machine.

    Attributes:
        id: What tells it from the others of the journal.
        definition: What was allowed; if nobody knows, what was done.
        replay: What happened.
        log: Where that is written, for places: a file's name, a store's URL without its password.
        is_drawn: Whether the definition was drawn from the record itself.
        warnings: What was said of the file when it was read, such as of a torn last line.
    """

    id: str
    definition: MachineDefinition
    replay: Replay
    log: str
    is_drawn: bool = False
    warnings: tuple[str, ...] = ()
    _way: Way | None = field(default=None, repr=False)

    @property
    def steps(self) -> list[Step]:
        """The steps, in order, of every machine of this name."""
        return self.replay.steps

    @property
    def way(self) -> Way:
        """The way that the machine went."""
        if self._way is None:
            self._way = _way_of(self.replay)
        return self._way

    def place(self, line: int) -> str:
        """Where something stands: a line of a file, or a version of a machine in a store."""
        if is_store_url(self.log):
            return f"{self.log} {self.replay.machine_id}, version {line}"
        return f"{self.log}:{line}"

    def anomalies(self) -> list[dict[str, Any]]:
        """What is odd, as the page shows it."""
        lines = [step.line for step in self.steps]
        shown = [
            {
                "code": anomaly.code,
                "message": anomaly.message,
                "place": self.place(anomaly.line),
                "position": bisect_right(lines, anomaly.line),
            }
            for anomaly in self.replay.anomalies
            # Of a definition that was drawn from the record nothing can have changed.
            if not (self.is_drawn and anomaly.code == "definition-changed")
        ]
        for warning in self.warnings:
            place, message = placed(warning)
            shown.append({"code": "torn", "message": message, "place": place, "position": len(lines)})
        return shown

    def lines(self) -> list[bytes]:
        """The journal's lines of this machine: as they stand in a file, or as a store's steps are written."""
        if not is_store_url(self.log):
            return [line for line in _raw_lines(Path(self.log)) if self._is_of(line)]
        return [self._line(step) for step in self.steps]

    def _is_of(self, line: bytes) -> bool:
        try:
            data = parse_line(line)
        except ValueError:
            return False
        if data is None or data.get("session_id") != self.replay.machine_id:
            return False
        return self.is_drawn or data.get("machine") in (None, self.definition.name)

    def _line(self, step: Step) -> bytes:
        data = {
            "timestamp": step.timestamp.isoformat(),
            "session_id": self.replay.machine_id,
            "trigger": step.trigger,
            "from_state": step.from_state,
            "to_state": step.to_state,
            "v": FORMAT_VERSION,
            "fact": TRANSITION,
            "machine": self.definition.name,
            "definition": self.definition.content_hash,
            "ordinal": step.ordinal,
            "transition_count": step.transition_count,
            "broken": step.degraded,
            "accepted": not step.degraded,
            "degraded": step.degraded,
            "internal": step.internal,
        }
        return json.dumps(data).encode() + b"\n"


def _raw_lines(path: Path) -> list[bytes]:
    try:
        return [line.rstrip(b"\r\n") + b"\n" for line in path.read_bytes().splitlines()]
    except OSError as error:
        raise JournalError(f"cannot read the journal {path}: {error.strerror}") from error


def chapters_of(log: str, machine: MachineDefinition | str | os.PathLike[str] | None) -> list[Chapter]:
    """Reads a journal.

    Args:
        log: The journal's file, or a store's URL.
        machine: What was allowed: a definition, the name of a machine that ships, or a machine file; None:
            what each record names.

    Returns:
        A chapter for each machine, in the order in which they appear.

    Raises:
        JournalError: It cannot be read, or a line other than the last is damaged.
        DefinitionError: The machine's file has problems.
    """
    given = None if machine is None else definition_of(machine)
    with _opened(log) as (source, name), warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", UserWarning)
        recorded = recorded_machines(source)
        if given is not None:
            recorded = [key for key in recorded if key[1] in (None, given.name)] or recorded
        named = [(key, given or _shipped(kind) or _placeholder(kind)) for key, kind in recorded]
        replays = replay_each(source, named)
        # What nobody has defined is drawn as it was done.
        drawn = {
            place: _drawn(replay.steps, definition.name)
            for place, (replay, (_, definition)) in enumerate(zip(replays, named, strict=True))
            if definition.transitions == () and replay.steps
        }
        if drawn:
            again = replay_each(
                source, [(named[place][0], definition) for place, definition in drawn.items()]
            )
            for place, replay in zip(drawn, again, strict=True):
                replays[place] = replay
    names = [key for key, _ in recorded]
    return [
        Chapter(
            key if names.count(key) == 1 else f"{key} ({kind})",
            drawn.get(place, definition),
            replays[place],
            name,
            place in drawn,
            tuple(dict.fromkeys(str(warning.message) for warning in told)),
        )
        for place, ((key, kind), (_, definition)) in enumerate(zip(recorded, named, strict=True))
    ]


def definition_of(machine: MachineDefinition | str | os.PathLike[str]) -> MachineDefinition:
    """The definition that a person names.

    Raises:
        DefinitionError: There is none, or it has problems.
    """
    if isinstance(machine, str) and machine in machine_names():
        return machine_definition(machine)
    return load_definition(machine)


@contextmanager
def _opened(log: str) -> Iterator[tuple[str | MachineStore, str]]:
    """What a name leads to, and how it is shown: a store's URL without its password."""
    if not is_store_url(log):
        yield log, log
        return
    from orkeon_transitions.store import MachineStore  # noqa: PLC0415 (only a store's URL needs SQLAlchemy)

    with MachineStore(log, must_exist=True) as store:
        yield store, store.url


def _shipped(name: str | None) -> MachineDefinition | None:
    return machine_definition(name) if name in machine_names() else None


def _placeholder(name: str | None) -> MachineDefinition:
    """Stands for a definition that nobody knows until its record was read."""
    return MachineDefinition(name=name or UNKNOWN, initial="?", states=(StateDefinition(name="?"),))


def _drawn(steps: Sequence[Step], name: str) -> MachineDefinition:
    """A definition that allows what was done."""
    states = dict.fromkeys(state for step in steps for state in (step.from_state, step.to_state))
    rows = dict.fromkeys(
        (step.trigger, step.from_state, None if step.internal else step.to_state)
        for step in steps
        if step.trigger is not None and not step.degraded
    )
    degraded = next((step.to_state for step in steps if step.degraded), None)
    return MachineDefinition(
        name=name,
        initial=steps[0].from_state,
        states=tuple(StateDefinition(name=state) for state in states),
        transitions=tuple(
            TransitionDefinition(trigger=str(trigger), source=(source,), dest=dest)
            for trigger, source, dest in rows
        ),
        degraded=degraded,
    )


def _way_of(replay: Replay) -> Way:
    way = Way(replay.steps[0].from_state if replay.steps else replay.final_state)
    before: Step | None = None
    for step in replay.steps:
        kind: Kind = "degraded" if step.degraded else "internal" if step.internal else "made"
        time = stamp(step.timestamp)
        way.add(Row(kind, step.trigger, step.from_state, step.to_state, time, _remark(step, before)))
        if step.error:
            way.add(Row("failed", step.trigger, step.to_state, step.to_state, time, step.error))
        before = step
    if replay.is_circuit_broken and not (before is not None and before.degraded):
        state = replay.final_state
        way.add(Row("broken", None, state, state, None, replay.broken_reason))
    return way


def _remark(step: Step, before: Step | None) -> str | None:
    words = [step.reason] if step.reason else []
    if before is not None and before.life != step.life:
        words.append("recorded anew: another machine of this name")
    elif before is not None and step.transition_count == 1:
        words.append("a new budget begins")
    return "; ".join(words) or None


def placed(text: str) -> tuple[str | None, str]:
    """A sentence apart from the `file:line` that stands before it."""
    found = PLACED.fullmatch(text)
    return (f"{found['file']}:{found['line']}", found["message"]) if found else (None, text)


def chapter_named(chapters: Sequence[Chapter], machine_id: str) -> Chapter:
    """The chapter that a person names.

    Raises:
        JournalError: There is none.
    """
    for chapter in chapters:
        if machine_id in (chapter.id, chapter.replay.machine_id):
            return chapter
    near = nearest(machine_id, [chapter.id for chapter in chapters])
    hint = f", did you mean '{near}'?" if near else ""
    raise JournalError(f"the journal has no machine '{machine_id}'{hint}")
