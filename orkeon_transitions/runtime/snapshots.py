"""A machine at rest: taken from a machine's record, and put back into a new one."""

from __future__ import annotations

import copy
import inspect
import json
import warnings
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from pydantic import JsonValue, ValidationError
from pydantic_core import ErrorDetails

from orkeon_transitions.breaker import BreakerCounts, Repetition, Trip
from orkeon_transitions.errors import DefinitionError, Problem
from orkeon_transitions.facts import RepetitionRecord, Snapshot, TripRecord

if TYPE_CHECKING:
    from orkeon_transitions.runtime.base import MachineBase


def take(
    machine: MachineBase[Any, Any], counts: BreakerCounts, changed: Mapping[str, Any] | None = None
) -> Snapshot:
    """Describes a machine as it is, or as it will be.

    Args:
        machine: The machine.
        counts: The record to describe.
        changed: Persisted fields that are about to get another value.
    """
    now = machine._clock()
    values = {name: getattr(machine, name) for name in machine.persisted} | dict(changed or {})
    return Snapshot.model_construct(
        version=1,
        machine=machine.definition.name,
        machine_id=machine.machine_id,
        definition_hash=machine.definition.content_hash,
        state=counts.state,
        ordinal=counts.ordinal,
        transition_count=counts.transitions,
        visits=dict(counts.visits),
        time_in_state=counts.time_in_state(now),
        active_time=counts.elapsed(now),
        clock_running=counts.running_since is not None,
        spent=dict(counts.spent),
        repeats={s: RepetitionRecord(digest=r.digest, times=r.times) for s, r in counts.repeats.items()},
        trip=_trip_record(counts.trip),
        policy=machine.policy,
        fields={name: _plain(machine, name, value) for name, value in values.items()},
        taken_at=datetime.now(UTC),
    )


def _trip_record(trip: Trip | None) -> TripRecord | None:
    return None if trip is None else TripRecord(limit=trip.limit, reason=trip.recorded().reason)


def read(snapshot: Snapshot | Mapping[str, Any] | str) -> Snapshot:
    """Reads a snapshot from itself, from its JSON data or from its JSON text.

    Raises:
        DefinitionError: It is damaged, or of a version that this release does not know.
    """
    if isinstance(snapshot, Snapshot):
        return snapshot
    try:
        if isinstance(snapshot, str):
            return Snapshot.model_validate_json(snapshot)
        return Snapshot.model_validate(snapshot)
    except ValidationError as error:
        raise DefinitionError(_problem(details) for details in error.errors()) from None


def _problem(details: ErrorDetails) -> Problem:
    place = ".".join(map(str, details["loc"]))
    if place == "version":
        told = f"it is of version {details['input']!r}, and this release reads version 1"
    else:
        told = str(details["msg"])
    return Problem(None, None, None, place, f"snapshot: {told}")


def counts_of(machine: MachineBase[Any, Any], snapshot: Snapshot) -> BreakerCounts:
    """The running record that a snapshot describes; its clocks go on from now.

    Raises:
        DefinitionError: The definition has no such state.
    """
    name = machine.definition.name
    if snapshot.state not in machine.definition.states_by_name:
        message = f"snapshot of '{snapshot.machine_id}': machine '{name}' has no state '{snapshot.state}'"
        raise DefinitionError([Problem(None, None, None, "state", message)])
    if snapshot.definition_hash != machine.definition.content_hash:
        warnings.warn(
            f"the definition of '{name}' has changed since the snapshot of '{snapshot.machine_id}' was taken",
            stacklevel=2,
        )
    now = machine._clock()
    return BreakerCounts(
        state=snapshot.state,
        entered_at=now - snapshot.time_in_state,
        transitions=snapshot.transition_count,
        ordinal=snapshot.ordinal,
        visits=dict(snapshot.visits),
        active=snapshot.active_time,
        running_since=now if snapshot.clock_running else None,
        spent=dict(snapshot.spent),
        repeats={s: Repetition(r.digest, r.times) for s, r in snapshot.repeats.items()},
        trip=Trip(snapshot.trip.limit, snapshot.trip.reason) if snapshot.trip else None,
    )


def check_fields(
    machine_class: type, snapshot: Snapshot, definition: Sequence[Any], given: Mapping[str, Any]
) -> None:
    """Checks that a constructor gets what it requires before it complains in its own words.

    Raises:
        DefinitionError: It requires something that neither the snapshot nor the program gives.
    """
    required = [
        name
        for name, parameter in inspect.signature(machine_class).parameters.items()
        if parameter.default is parameter.empty
        and parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
    ]
    missing = [name for name in required[len(definition) :] if name not in given]
    if missing:
        told = (
            f"snapshot of machine '{snapshot.machine}': {machine_class.__name__} needs {', '.join(missing)}"
        )
        raise DefinitionError([Problem(None, None, None, missing[0], f"{told}, which it does not keep")])


def put_fields(machine: MachineBase[Any, Any], snapshot: Snapshot) -> None:
    """Sets the persisted fields; a set comes back as a set."""
    for name, value in snapshot.fields.items():
        if name not in machine.persisted:
            continue
        is_set = isinstance(getattr(machine, name, None), set) and isinstance(value, list)
        # A copy: what the machine changes must not change the snapshot.
        own: Any = copy.deepcopy(value)
        setattr(machine, name, set(own) if is_set else own)


def _plain(machine: MachineBase[Any, Any], name: str, value: Any) -> JsonValue:
    """A field's value as JSON data of its own; null, with one warning, where it is none.

    As JSON has it, a tuple comes back as a list, and a number that is a key as a text. A value of which one
    part is no JSON is null as a whole, by design: half a value is none; the warning names the part.
    """
    plain: JsonValue
    kind = type(value)
    # Most fields are JSON data as they stand. What only derives from these kinds is asked of json.
    if value is None or kind is str or kind is bool or (kind is int and value.bit_length() < 64):
        plain = value
        return plain
    if isinstance(value, set | frozenset):
        value = sorted(value, key=repr)
    try:
        plain = json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        if name not in machine._unsaved:
            machine._unsaved = (*machine._unsaved, name)
            told = _odd(value, name)
            where = "" if told == f"{name} is a {kind.__name__}" else f" ({told})"
            warnings.warn(
                f"'{name}' of '{machine.machine_id}' is a {kind.__name__}, no JSON{where}: saved as null",
                stacklevel=2,
            )
        return None
    return plain


def _odd(value: Any, place: str) -> str:
    """Which part of a value is no JSON, in words: it is what a program has to change."""
    try:
        parts: list[tuple[str, Any]] = []
        if isinstance(value, dict):
            keys = [key for key in value if not (key is None or isinstance(key, str | int | float))]
            if keys:
                return f"a key of {place} is a {type(keys[0]).__name__}"
            parts = [(f"{place}[{key!r}]", part) for key, part in value.items()]
        elif isinstance(value, list | tuple):
            parts = [(f"{place}[{number}]", part) for number, part in enumerate(value)]
        for where, part in parts:
            try:
                json.dumps(part, allow_nan=False)
            except (TypeError, ValueError, RecursionError):
                return _odd(part, where)
    except RecursionError:
        return "it is too deep, or holds itself"
    return f"{place} is {value!r}" if isinstance(value, float) else f"{place} is a {type(value).__name__}"
