"""Reads a journal back: where a machine ended, how it got there, and what is odd about it.

Replay is reading and folding. It makes no machine, runs no guard and fires no callback.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from orkeon_transitions.definition import MachineDefinition, nearest
from orkeon_transitions.errors import JournalError
from orkeon_transitions.store.fold import Replay, fold
from orkeon_transitions.store.records import JournalRecord, begins_a_record, parse_line, read_record


def replay(
    source: str | os.PathLike[str], definition: MachineDefinition, machine_id: str | None = None
) -> Replay:
    """Reads a journal, or a log in the seed's format (004), and says what one machine did.

    A torn last line, as a crash leaves it, costs one `UserWarning` with `file:line` and is left out.

    Args:
        source: The file, or a journal.
        definition: What was allowed.
        machine_id: Which machine (`session_id` in the file); not needed where the file has only one, or only
            one that was recorded with a definition of this name.

    Raises:
        JournalError: The file cannot be read, a line other than the last is damaged, the format is newer,
            several machines may be meant and none was named, or there is no machine of that name.
    """
    path = Path(source)
    records = _chosen(_records(path), definition, machine_id, path)
    return fold(records, definition, machine_id)


def replay_each(
    source: str | os.PathLike[str], machines: Iterable[tuple[str, MachineDefinition]]
) -> list[Replay]:
    """Says what several machines did, reading the journal once.

    Args:
        source: The file, or a journal.
        machines: Each machine's own name, and what was allowed.

    Raises:
        JournalError: As `replay`; a machine that is not in the journal made no step.
    """
    path = Path(source)
    records_by_id: dict[str, list[JournalRecord]] = {}
    for record in _records(path):
        records_by_id.setdefault(record.machine_id, []).append(record)
    return [
        fold(_chosen(records_by_id.get(machine_id, []), definition, machine_id, path), definition, machine_id)
        for machine_id, definition in machines
    ]


def recorded_machines(source: str | os.PathLike[str]) -> list[tuple[str, str | None]]:
    """Says which machines a journal tells of.

    Args:
        source: The file, or a journal.

    Returns:
        Each machine's own name and that of its definition, once, in the order in which they appear; a log in
        the seed's format (004) names no definition.

    Raises:
        JournalError: The file cannot be read, a line other than the last is damaged, or the format is newer.
    """
    records = _records(Path(source))
    return list(dict.fromkeys((record.machine_id, record.machine) for record in records))


def _records(path: Path) -> list[JournalRecord]:
    records = []
    for number, data in _lines(path):
        record = read_record(data, str(path), number)
        if record is not None:
            records.append(record)
    return records


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
            f"{path}:{damaged[0]}: the last line is torn and was left out", UserWarning, stacklevel=4
        )


def _chosen(
    records: Sequence[JournalRecord], definition: MachineDefinition, machine_id: str | None, path: Path
) -> list[JournalRecord]:
    """The records of the one machine that is meant."""
    kinds_by_id: dict[str, set[str | None]] = {}
    for record in records:
        kinds_by_id.setdefault(record.machine_id, set()).add(record.machine)
    if machine_id is None:
        machine_id = _only_one(kinds_by_id, definition, path)
    elif kinds_by_id and machine_id not in kinds_by_id:
        near = nearest(machine_id, kinds_by_id)
        hint = f"did you mean '{near}'?" if near else f"it has {_listed(kinds_by_id)}"
        raise JournalError(f"{path} has no machine '{machine_id}' ({hint})")
    own = [record for record in records if record.machine_id == machine_id]
    # A task's status and its execution may share a name; the definition says which is meant.
    if any(record.machine == definition.name for record in own):
        return [record for record in own if record.machine in (None, definition.name)]
    return own


def _only_one(
    kinds_by_id: Mapping[str, set[str | None]], definition: MachineDefinition, path: Path
) -> str | None:
    """The machine that is meant where none was named: the only one, or the only one of this definition."""
    of_kind = [name for name, kinds in kinds_by_id.items() if definition.name in kinds]
    candidates = of_kind or list(kinds_by_id)
    if len(candidates) > 1:
        raise JournalError(
            f"{path} has several machines, so machine_id must name one of them: {_listed(candidates)}"
        )
    return candidates[0] if candidates else None


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)
