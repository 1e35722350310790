"""One fact, one line: how facts become journal records, and how any record is read back.

A transition's record begins with the five keys of the seed's structured log (004), so that one reader serves
our journals, the Hermes log and logs that have only those five.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from operator import itemgetter
from typing import Any, NamedTuple

from orkeon_transitions.errors import JournalError
from orkeon_transitions.facts import (
    BreakerReset,
    CircuitBroken,
    Fact,
    Snapshot,
    TransitionFailed,
    TransitionResult,
    error_text,
)
from orkeon_transitions.runtime.naming import text_of

FORMAT_VERSION = 1

TRANSITION = "transition"
FAILED = "transition_failed"
BROKEN = "circuit_broken"
RESET = "breaker_reset"
RECORDING = "recording"
AGENT_ERROR = "agent_error"

LONGEST_ERROR = 500

_decode = json.JSONDecoder().raw_decode

# The seed's agent writes sentences such as "[s1] Entering PLANNING state" between its records. Only this
# shape is passed over: anything else that is no record may be a damaged one.
_SENTENCE = re.compile(r"\[[^\]\s]+\] \S")


class JournalRecord(NamedTuple):
    """One line of a journal, read.

    Attributes:
        line: Where it stands, counted from 1.
        fact: `transition`, `transition_failed`, `circuit_broken`, `breaker_reset`, or `recording` (a machine
            that had already moved joined the journal).
        timestamp: Wall time with an offset; a stamp without one is read as UTC.
        machine_id: The machine's own name.
        machine: The name of its definition, or None in a foreign log.
        definition: The content hash of its definition, or None in a foreign log.
        trigger: What was fired; None when a clock ran out by itself, and where nothing was.
        from_state: The state before; for every fact but a transition the state in which the machine was.
        to_state: The state after, likewise.
        ordinal: The transition's number, or None in a foreign log.
        transition_count: What the budget had used after it, or None in a foreign log.
        degraded: Whether the breaker moved the machine; None if the record does not say.
        internal: Whether the state was kept without leaving it; None if the record does not say.
        broken: Whether the circuit was broken after it.
        visits: Entries by state, where the fact tells them all; else None.
        reason: Why the breaker tripped, or None.
        error: What a callback raised, as text, or None.
    """

    line: int
    fact: str
    timestamp: datetime
    machine_id: str
    machine: str | None
    definition: str | None
    trigger: str | None
    from_state: str
    to_state: str
    ordinal: int | None
    transition_count: int | None
    degraded: bool | None
    internal: bool | None
    broken: bool
    visits: Mapping[str, int] | None
    reason: str | None
    error: str | None


def fact_line(fact: Fact, snapshot: Snapshot) -> bytes:
    """The line for a fact, with its newline.

    Args:
        fact: What happened.
        snapshot: The machine as it will be after it.
    """
    match fact:
        case TransitionResult():
            data = _transition_data(fact, snapshot)
        case TransitionFailed(ordinal=ordinal, error=error):
            told = _shortened(error_text(error))
            data = _head(fact.timestamp, snapshot, FAILED) | {"ordinal": ordinal, "error": told}
        case CircuitBroken():
            data = _broken_data(fact, snapshot)
        case BreakerReset():
            data = _head(fact.timestamp, snapshot, RESET)
    return _line(data)


def recording_line(snapshot: Snapshot) -> bytes:
    """The line that says where a machine was when it joined a journal after it had already moved."""
    data = _head(snapshot.taken_at, snapshot, RECORDING) | {"visits": dict(snapshot.visits)}
    if snapshot.trip is not None:
        data["reason"] = snapshot.trip.reason
    return _line(data)


def _line(data: Mapping[str, Any]) -> bytes:
    return json.dumps(data).encode() + b"\n"


def _ours(snapshot: Snapshot, fact: str) -> dict[str, Any]:
    """The keys that every line of ours has."""
    return {
        "v": FORMAT_VERSION,
        "fact": fact,
        "machine": snapshot.machine,
        "definition": snapshot.definition_hash,
        "ordinal": snapshot.ordinal,
        "transition_count": snapshot.transition_count,
        "broken": snapshot.trip is not None,
    }


def _head(timestamp: datetime, snapshot: Snapshot, fact: str) -> dict[str, Any]:
    return {
        "timestamp": stamp_text(timestamp),
        "session_id": snapshot.machine_id,
        "state": snapshot.state,
    } | _ours(snapshot, fact)


def _transition_data(fact: TransitionResult, snapshot: Snapshot) -> dict[str, Any]:
    data: dict[str, Any] = {
        "timestamp": stamp_text(fact.timestamp),
        "session_id": snapshot.machine_id,
        "trigger": None if fact.trigger is None else text_of(fact.trigger),
        "from_state": text_of(fact.from_state),
        "to_state": text_of(fact.to_state),
    }
    data |= _ours(snapshot, TRANSITION)
    data |= {
        "ordinal": fact.ordinal,
        "transition_count": fact.transition_count,
        "accepted": fact.accepted,
        "degraded": fact.degraded,
        "internal": fact.internal,
    }
    if fact.refusal is not None:
        data["reason"] = fact.refusal.message
    return data


def _broken_data(fact: CircuitBroken, snapshot: Snapshot) -> dict[str, Any]:
    status = fact.status
    return _head(fact.timestamp, snapshot, BROKEN) | {
        "state": text_of(fact.state),
        "trigger": None if fact.trigger is None else text_of(fact.trigger),
        "limit": str(fact.limit),
        "reason": fact.reason,
        "policy": status.policy.model_dump(mode="json"),
        "time_in_state": status.time_in_current_state.total_seconds(),
        "total_elapsed": status.total_elapsed.total_seconds(),
        "visits": dict(status.state_visit_histogram),
        "spent": dict(status.spent),
    }


def stamp_text(timestamp: datetime) -> str:
    """A wall time as text, always with its offset."""
    return _aware(timestamp).isoformat()


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_ERROR else text[:LONGEST_ERROR] + "..."


def _aware(timestamp: datetime) -> datetime:
    return timestamp.replace(tzinfo=UTC) if timestamp.tzinfo is None else timestamp


def begins_a_record(line: bytes) -> bool:
    """Whether a damaged line may be what is left of a record: the beginning of an object."""
    return line.removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"{")


def parse_line(raw: bytes) -> dict[str, Any] | None:
    """Reads the text of one line.

    Returns:
        The record's data, or None for a line that holds no record (blank, or one of the seed's sentences).

    Raises:
        ValueError: The line is no JSON object.
    """
    text = raw.decode("utf-8").strip()
    if not text.startswith("{"):
        text = text.removeprefix("\ufeff").lstrip()
        if not text or _SENTENCE.match(text):
            return None
    try:
        data, end = _decode(text)
        if end != len(text):
            json.loads(text)  # says what is too much
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not isinstance(data, dict):
        raise ValueError("not a JSON object")
    return data


def read_record(data: dict[str, Any], file: str, line: int) -> JournalRecord | None:
    """Reads the data of one line.

    Returns:
        The record, or None for an error line of an agent's log, which moves nothing.

    Raises:
        JournalError: Something is missing, of a wrong type, or of a newer format.
    """
    shape = _SHAPES.get(len(data))
    usual = shape.record(data, line) if shape is not None else None
    return usual or _Reader(data, f"{file}:{line}", line).record()


_FIELD_NAMES = {"session_id": "machine_id", "timestamp": "text of the timestamp"}


class _Shape:
    """Lines with the same keys, all of the usual types: they are read in one go.

    Args:
        own: The keys that only our lines have, with their types.
    """

    __slots__ = ("is_ours", "places", "types", "values")

    def __init__(self, **own: type) -> None:
        kinds = {"v": int, "fact": str, "ordinal": int, "transition_count": int} if own else {}
        kinds |= dict.fromkeys(("timestamp", "session_id", "trigger", "from_state", "to_state"), str) | own
        self.is_ours = bool(own)
        self.types = tuple(kinds.values())
        self.values = itemgetter(*kinds)
        # What a line gives stands behind what is known of every line, and counts in its place.
        named = (_FIELD_NAMES.get(key, key) for key in kinds)
        given = ("line", "timestamp", "fact", "broken", None, *named)
        places = {name: place for place, name in enumerate(given)}
        self.places = itemgetter(*(places.get(name, places[None]) for name in JournalRecord._fields))

    def record(self, data: Mapping[str, Any], line: int) -> JournalRecord | None:
        """The record of a transition; None for every other line, also a wrong one."""
        try:
            values = self.values(data)
            if tuple(map(type, values)) != self.types:
                return None
            if self.is_ours:
                version, fact, ordinal, count, stamp = values[:5]
                if version != FORMAT_VERSION or fact != TRANSITION or ordinal < 0 or count < 0:
                    return None
            else:
                stamp = values[0]
            when = datetime.fromisoformat(stamp)
        except (KeyError, ValueError):
            return None
        if when.tzinfo is None:
            when = _aware(when)
        return JournalRecord._make(self.places((line, when, TRANSITION, False, None, *values)))


_FLAGS = dict.fromkeys(("broken", "accepted", "degraded", "internal"), bool)
_SHAPES = {
    5: _Shape(),  # the seed's log
    10: _Shape(machine=str),  # an agent's log
    15: _Shape(machine=str, definition=str, **_FLAGS),  # a journal
}


class _Reader:
    """One line's data, with the place that its problems name."""

    def __init__(self, data: Mapping[str, Any], place: str, line: int) -> None:
        self._data = data
        self._place = place
        self._line = line

    def record(self) -> JournalRecord | None:
        self._check_version()
        fact = self._data.get("fact", TRANSITION)
        if fact == AGENT_ERROR or "state_when_error" in self._data:
            return None
        if fact not in (TRANSITION, FAILED, BROKEN, RESET, RECORDING):
            raise self._problem(f"unknown fact {fact!r}")
        moved = fact == TRANSITION
        return JournalRecord(
            line=self._line,
            fact=fact,
            timestamp=self._timestamp(),
            machine_id=self._text("session_id"),
            machine=self._optional("machine", str),
            definition=self._optional("definition", str),
            trigger=self._trigger(required=moved),
            from_state=self._text("from_state" if moved else "state"),
            to_state=self._text("to_state" if moved else "state"),
            ordinal=self._count("ordinal"),
            transition_count=self._count("transition_count"),
            degraded=self._optional("degraded", bool),
            internal=self._optional("internal", bool),
            broken=self._optional("broken", bool) or False,
            visits=self._visits() if fact == RECORDING else None,
            reason=self._optional("reason", str),
            error=self._optional("error", str),
        )

    def _problem(self, message: str) -> JournalError:
        return JournalError(f"{self._place}: {message}")

    def _check_version(self) -> None:
        version = self._data.get("v", FORMAT_VERSION)
        if type(version) is not int or version < 1:
            raise self._problem(f"'v' must be a version number, not {version!r}")
        if version > FORMAT_VERSION:
            raise self._problem(
                f"written in format {version}, which is newer than format {FORMAT_VERSION} that this version"
                " of orkeon_transitions reads"
            )

    def _timestamp(self) -> datetime:
        text = self._text("timestamp")
        try:
            return _aware(datetime.fromisoformat(text))
        except ValueError:
            raise self._problem(f"'timestamp' is no ISO 8601 time: {text!r}") from None

    def _trigger(self, *, required: bool) -> str | None:
        if required and "trigger" not in self._data:
            raise self._problem("no 'trigger'")
        trigger: str | None = self._optional("trigger", str)
        return trigger

    def _text(self, key: str) -> str:
        value: str | None = self._optional(key, str)
        if value is None:
            raise self._problem(f"no '{key}'")
        return value

    def _optional(self, key: str, kind: type[Any]) -> Any:
        value = self._data.get(key)
        if value is not None and type(value) is not kind:
            raise self._problem(f"'{key}' must be {_KINDS[kind]}, not {value!r}")
        return value

    def _count(self, key: str) -> int | None:
        value: int | None = self._optional(key, int)
        if value is not None and value < 0:
            raise self._problem(f"'{key}' must not be negative")
        return value

    def _visits(self) -> Mapping[str, int]:
        visits = self._optional("visits", dict) or {}
        if not all(type(times) is int for times in visits.values()):
            raise self._problem("'visits' must be whole numbers by state")
        return dict(visits)


_KINDS = {str: "a text", bool: "true or false", int: "a whole number", dict: "a mapping"}
