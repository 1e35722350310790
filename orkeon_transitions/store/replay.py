"""Reads a journal back: where a machine ended, how it got there, and what is odd about it.

Replay is reading and folding. It makes no machine, runs no guard and fires no callback.
"""

from __future__ import annotations

import os
import re
import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import closing
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orkeon_transitions.definition import MachineDefinition, nearest
from orkeon_transitions.errors import JournalError
from orkeon_transitions.store.fold import Replay, fold
from orkeon_transitions.store.records import JournalRecord, begins_a_record, parse_line, read_record

if TYPE_CHECKING:
    from orkeon_transitions.store.machine_store import MachineStore

    Source = str | os.PathLike[str] | MachineStore

_machine_of = attrgetter("machine")
_URL = re.compile(r"[a-zA-Z][a-zA-Z0-9+]*://")


def replay(source: Source, definition: MachineDefinition, machine_id: str | None = None) -> Replay:
    """Reads a journal, or a log in the seed's format (004), and says what one machine did.

    A torn last line, as a crash leaves it, costs one `UserWarning` with `file:line` and is left out.

    Args:
        source: The file, a journal, a store, or a store's URL.
        definition: What was allowed.
        machine_id: Which machine (`session_id` in a file); not needed where there is only one, or only one
            that was recorded with a definition of this name.

    Raises:
        JournalError: The source cannot be read, a line other than the last is damaged, the format is newer,
            several machines may be meant and none was named, or there is no machine of that name.
        MissingExtraError: For a store's URL, SQLAlchemy is not installed.
    """
    with closing(_opened(source)) as log:
        if machine_id is None:
            machine_id = _only_one(log, definition)
        return fold(_chosen(log, definition, machine_id), definition, machine_id)


def replay_each(source: Source, machines: Iterable[tuple[str, MachineDefinition]]) -> list[Replay]:
    """Says what several machines did, reading the journal once.

    Args:
        source: As for `replay`.
        machines: Each machine's own name, and what was allowed.

    Raises:
        JournalError: As `replay`; a machine that is not in the journal made no step.
    """
    with closing(_opened(source)) as log:
        kinds = log.kinds()
        return [
            fold(_chosen(log, definition, machine_id) if machine_id in kinds else [], definition, machine_id)
            for machine_id, definition in machines
        ]


def recorded_machines(source: Source) -> list[tuple[str, str | None]]:
    """Says which machines a journal tells of.

    Args:
        source: As for `replay`.

    Returns:
        Each machine's own name and that of its definition, once, in the order in which they appear; a log in
        the seed's format (004) names no definition.

    Raises:
        JournalError: The source cannot be read, a line other than the last is damaged, the format is newer.
    """
    with closing(_opened(source)) as log:
        return [(machine_id, name) for machine_id, names in log.kinds().items() for name in names]


def is_store_url(source: object) -> bool:
    """Whether a text names a store rather than a file."""
    return isinstance(source, str) and _URL.match(source) is not None


class _FileLog:
    """A file of JSON lines, read once."""

    def __init__(self, path: Path) -> None:
        self.name = str(path)
        self._records: defaultdict[str | None, list[JournalRecord]] = defaultdict(list)
        for number, data in _lines(path):
            record = read_record(data, self.name, number)
            if record is not None:
                self._records[record.machine_id].append(record)

    def kinds(self) -> dict[str, list[str | None]]:
        """The names of the definitions by machine."""
        return {
            machine_id: list(dict.fromkeys(map(_machine_of, records)))
            for machine_id, records in self._records.items()
            if machine_id is not None
        }

    def records(self, machine_id: str | None) -> list[JournalRecord]:
        """What is recorded of a machine."""
        return self._records.get(machine_id, [])

    def close(self) -> None:
        """Nothing is open any more."""


class _StoreLog:
    """A store: a machine's journal is read when it is asked for."""

    def __init__(self, store: MachineStore, *, is_ours: bool) -> None:
        self.name = store.url
        self._store = store
        self._is_ours = is_ours

    def kinds(self) -> dict[str, list[str | None]]:
        """The names of the definitions by machine, the oldest machine first."""
        stored = sorted(self._store.machines(), key=lambda machine: machine.created_at)
        return {machine.machine_id: [machine.machine or None] for machine in stored}

    def records(self, machine_id: str | None) -> list[JournalRecord]:
        """What is recorded of a machine."""
        return [] if machine_id is None else self._store.journal(machine_id)

    def close(self) -> None:
        """Closes the store, if it was opened for this."""
        if self._is_ours:
            self._store.close()


def _opened(source: Source) -> _FileLog | _StoreLog:
    if is_store_url(source):
        from orkeon_transitions.store import MachineStore  # noqa: PLC0415 (only a store's URL needs SQLAlchemy)

        return _StoreLog(MachineStore(str(source), must_exist=True), is_ours=True)
    if isinstance(source, str | os.PathLike):
        return _FileLog(Path(source))
    return _StoreLog(source, is_ours=False)


def _lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The records' data with their line numbers.

    A damaged line is only forgiven if nothing follows it, and if it may be what is left of a record.
    """
    damaged: tuple[int, ValueError] | None = None
    may_be_torn = False
    try:
        with path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                if damaged is not None and line.strip():
                    raise JournalError(f"{path}:{damaged[0]}: not a journal record: {damaged[1]}")
                try:
                    data = parse_line(line)
                except ValueError as error:
                    damaged = (number, error)
                    may_be_torn |= begins_a_record(line)
                    continue
                if data is not None:
                    may_be_torn = True
                    yield number, data
                elif line.strip():  # a sentence of the seed's
                    may_be_torn = True
    except OSError as error:
        raise JournalError(f"cannot read the journal {path}: {error.strerror}") from error
    if damaged is not None and not may_be_torn:
        raise JournalError(f"{path}:{damaged[0]}: not a journal record: {damaged[1]}")
    if damaged is not None:
        warnings.warn(
            f"{path}:{damaged[0]}: the last line is torn and was left out", UserWarning, stacklevel=5
        )


def _chosen(
    log: _FileLog | _StoreLog, definition: MachineDefinition, machine_id: str | None
) -> list[JournalRecord]:
    """The records of the one machine that is meant."""
    records = log.records(machine_id)
    if not records and machine_id is not None and (kinds := log.kinds()) and machine_id not in kinds:
        near = nearest(machine_id, kinds)
        hint = f"did you mean '{near}'?" if near else f"it has {_listed(kinds)}"
        raise JournalError(f"{log.name} has no machine '{machine_id}' ({hint})")
    # A task's status and its execution may share a name; the definition says which is meant.
    names = set(map(_machine_of, records))
    if definition.name in names and names - {None, definition.name}:
        return [record for record in records if record.machine in (None, definition.name)]
    return records


def _only_one(log: _FileLog | _StoreLog, definition: MachineDefinition) -> str | None:
    """The machine that is meant where none was named: the only one, or the only one of this definition."""
    kinds = log.kinds()
    of_kind = [name for name, names in kinds.items() if definition.name in names]
    candidates = of_kind or list(kinds)
    if len(candidates) > 1:
        raise JournalError(
            f"{log.name} has several machines, so machine_id must name one of them: {_listed(candidates)}"
        )
    return candidates[0] if candidates else None


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)
