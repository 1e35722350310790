"""From a stored snapshot to a machine: is it whole, is it of this kind, has its definition changed."""

from __future__ import annotations

import inspect
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from orkeon_transitions.definition import MachineDefinition, load_definition, nearest
from orkeon_transitions.errors import DefinitionError, JournalError, OrkeonError, Problem
from orkeon_transitions.facts import Snapshot
from orkeon_transitions.machines import machine_definition
from orkeon_transitions.runtime.base import MachineBase
from orkeon_transitions.runtime.naming import text_of
from orkeon_transitions.store.records import JournalRecord, parse_line, read_record

M = TypeVar("M", bound=MachineBase[Any, Any])
Migration = Mapping[Any, Any] | Callable[[Snapshot], Snapshot]

# Two of these tell two definitions apart as well as all 64 characters do.
_SHOWN = 12


def read_snapshot(text: str | None, machine_id: str, place: str) -> Snapshot:
    """Reads a snapshot's JSON text.

    Raises:
        JournalError: It is damaged, or there is none.
    """
    if text is None:
        raise JournalError(
            f"machine '{machine_id}' cannot be loaded from {place}: only its journal was imported, without a "
            "snapshot; replay tells where it was"
        )
    try:
        snapshot = Snapshot.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        told = f"{where}: {first['msg']}" if where else first["msg"]
        raise JournalError(
            f"the snapshot of machine '{machine_id}' in {place} is damaged ({told}): its journal tells where "
            "it was; delete the machine and make a new one, or restore the database from a copy"
        ) from None
    if snapshot.machine_id != machine_id:
        raise JournalError(
            f"the snapshot of machine '{machine_id}' in {place} is damaged: it is that of "
            f"'{snapshot.machine_id}'"
        )
    return snapshot


def read_journal(lines: Iterable[tuple[int, str]], machine_id: str, place: str) -> list[JournalRecord]:
    """Reads a journal's lines; a record's line is its version.

    Raises:
        JournalError: One is damaged.
    """
    name, records = f"{place}: machine '{machine_id}'", []
    for version, line in lines:
        try:
            data = parse_line(line.encode())
        except (AttributeError, ValueError) as error:
            raise JournalError(f"{name}:{version}: not a journal record: {error}") from None
        record = None if data is None else read_record(data, name, version)
        if record is None:
            raise JournalError(f"{name}:{version}: not a journal record")
        records.append(record)
    return records


def restore(
    kind: type[M],
    given: Sequence[Any],
    snapshot: Snapshot,
    options: Mapping[str, Any],
    migration: Migration | None,
) -> tuple[M, bool]:
    """Makes the machine of a snapshot.

    Args:
        kind: Its class.
        given: What its constructor takes before the options: the definition, for a class that needs one.
        snapshot: The snapshot.
        options: The constructor's.
        migration: The way from a definition that has changed since, or None.

    Returns:
        The machine, and whether it was migrated.

    Raises:
        OrkeonError: The snapshot is another kind's.
        DefinitionError: The definition has no such state any more.
    """
    definition = _definition_of(kind, given, snapshot, options, must_know=migration is not None)
    migrated = False
    if definition is not None and definition.content_hash != snapshot.definition_hash:
        if migration is not None:
            snapshot, migrated = _migrated(snapshot, definition, migration), True
        else:
            _refuse_another_kind(kind, definition.name, snapshot)
            _tell_of_change(definition, snapshot)
        # What there was to say about it has been said.
        snapshot = snapshot.model_copy(update={"definition_hash": definition.content_hash})
    machine: M = kind.restore(*given, snapshot, **options)
    _refuse_another_kind(kind, machine.definition.name, snapshot)
    return machine, migrated


def _definition_of(
    kind: type[MachineBase[Any, Any]],
    given: Sequence[Any],
    snapshot: Snapshot,
    options: Mapping[str, Any],
    *,
    must_know: bool,
) -> MachineDefinition | None:
    """The definition that a machine will have; None if only making it would tell."""
    parameters = inspect.signature(kind).parameters
    if given and next(iter(parameters), None) == "definition":
        return load_definition(given[0])
    shipped = getattr(kind, "MACHINE", None)
    if isinstance(shipped, str):
        return machine_definition(shipped)
    if not must_know:
        return None
    kept = {n: value for n, value in snapshot.fields.items() if n in kind.persisted and n in parameters}
    return kind(*given, **{**kept, **options}).definition


def _refuse_another_kind(kind: type, name: str, snapshot: Snapshot) -> None:
    if name != snapshot.machine:
        raise OrkeonError(
            f"machine '{snapshot.machine_id}' is a '{snapshot.machine}', and {kind.__name__} runs '{name}': "
            "load it as what it is, or say with migrate=... how it becomes the other"
        )


def _tell_of_change(definition: MachineDefinition, snapshot: Snapshot) -> None:
    then, now = snapshot.definition_hash[:_SHOWN], definition.content_hash[:_SHOWN]
    changed = (
        f"the definition of '{definition.name}' has changed since machine '{snapshot.machine_id}' was saved"
    )
    if snapshot.state not in definition.states_by_name:
        message = (
            f"{changed} ({then}, now {now}), and has no state '{snapshot.state}' any more: "
            f"load(..., migrate={{'{snapshot.state}': 'another state'}}) says where it goes on"
        )
        near = nearest(snapshot.state, definition.states_by_name)
        raise DefinitionError([Problem(None, None, None, "state", message, near)])
    warnings.warn(
        f"{changed} ({then}, now {now}): it goes on in '{snapshot.state}'; load(..., migrate={{}}) says that "
        "this is meant",
        UserWarning,
        stacklevel=4,
    )


def _migrated(snapshot: Snapshot, definition: MachineDefinition, migration: Migration) -> Snapshot:
    """The snapshot as the new definition understands it.

    Raises:
        DefinitionError: It is in a state, or is sent to one, that the definition does not have.
        TypeError: A function gave no snapshot, or it is no function.
    """
    if not isinstance(migration, Mapping) and not callable(migration):
        raise TypeError(f"migrate must be a mapping or a function, not {type(migration).__name__}")
    if isinstance(migration, Mapping):
        snapshot = _renamed(snapshot, definition, migration)
    else:
        changed: object = migration(snapshot)
        if not isinstance(changed, Snapshot):
            raise TypeError(f"migrate must give a Snapshot, not {type(changed).__name__}")
        # Its name and its place in the journal are the machine's own.
        own = {"machine_id": snapshot.machine_id, "ordinal": snapshot.ordinal}
        snapshot = _checked(changed.model_copy(update=own), definition)
    if snapshot.state not in definition.states_by_name:
        raise _no_such_state(snapshot.state, definition)
    return snapshot.model_copy(update={"machine": definition.name})


def _checked(snapshot: Snapshot, definition: MachineDefinition) -> Snapshot:
    """What a function made of a snapshot, which `model_copy` has not looked at; as it will be read back."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # pydantic's, about what the reading refuses
            text = snapshot.model_dump_json()
        return Snapshot.model_validate_json(text)
    except (ValidationError, PydanticSerializationError) as error:
        place, told = "", str(error)
        if isinstance(error, ValidationError):
            first = error.errors(include_url=False)[0]
            place, told = ".".join(map(str, first["loc"])), first["msg"]
        message = f"the snapshot that the function made for '{definition.name}' is damaged: {place}: {told}"
        raise DefinitionError([Problem(None, None, None, "migrate", message)]) from None


def _renamed(snapshot: Snapshot, definition: MachineDefinition, names: Mapping[Any, Any]) -> Snapshot:
    new_by_old = {text_of(old): text_of(new) for old, new in names.items()}
    for new in new_by_old.values():
        if new not in definition.states_by_name:
            raise _no_such_state(new, definition)
    visits: Counter[str] = Counter()
    for state, times in snapshot.visits.items():
        # Two states that become one: their visits are added, so that no budget is fresh.
        visits[new_by_old.get(state, state)] += times
    repeats = {new_by_old.get(state, state): record for state, record in snapshot.repeats.items()}
    state = new_by_old.get(snapshot.state, snapshot.state)
    return snapshot.model_copy(update={"state": state, "visits": dict(visits), "repeats": repeats})


def _no_such_state(state: str, definition: MachineDefinition) -> DefinitionError:
    near = nearest(state, definition.states_by_name)
    message = f"the definition of '{definition.name}' has no state '{state}'"
    return DefinitionError([Problem(None, None, None, "migrate", message, near)])
