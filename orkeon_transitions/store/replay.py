"""Reads a journal back: where a machine ended, how it got there, and what is odd about it.

Replay is reading and folding. It makes no machine, runs no guard and fires no callback.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from orkeon_transitions.definition import MachineDefinition, nearest
from orkeon_transitions.errors import JournalError
from orkeon_transitions.store.fold import Replay, fold
from orkeon_transitions.store.records import JournalRecord, parse_line, read_record


def replay(
    source: str | os.PathLike[str], definition: MachineDefinition, machine_id: str | None = None
) -> Replay:
    """Reads a journal, or a log in the seed's format (004), and says what one machine did.

    A torn last line, as a crash leaves it, costs one `UserWarning` with `file:line` and is left out.

    Args:
        source: The file, or a journal.
        definition: What was allowed.
        machine_id: Which machine (`session_id` in the file); not needed where the file has only one.

    Raises:
        JournalError: The file cannot be read, a line other than the last is damaged, the format is newer,
            there are several machines and none was named, or there is no machine of that name.
    """
    path = Path(source)
    records = _chosen(list(_records(path)), definition, machine_id, path)
    return fold(records, definition, machine_id)


def _records(path: Path) -> Iterator[JournalRecord]:
    for number, data in _lines(path):
        record = read_record(data, str(path), number)
        if record is not None:
            yield record


def _lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The records' data with their line numbers; a damaged line is only forgiven if nothing follows it."""
    damaged: tuple[int, ValueError] | None = None
    try:
        with path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                if not line.strip():
                    continue
                if damaged is not None:
                    raise JournalError(f"{path}:{damaged[0]}: not a journal record: {damaged[1]}")
                try:
                    data = parse_line(line)
                except ValueError as error:
                    damaged = (number, error)
                    continue
                if data is not None:
                    yield number, data
    except OSError as error:
        raise JournalError(f"cannot read the journal {path}: {error.strerror}") from error
    if damaged is not None:
        warnings.warn(
            f"{path}:{damaged[0]}: the last line is torn and was left out", UserWarning, stacklevel=4
        )


def _chosen(
    records: Sequence[JournalRecord], definition: MachineDefinition, machine_id: str | None, path: Path
) -> list[JournalRecord]:
    """The records of the one machine that is meant."""
    found = list(dict.fromkeys((record.machine_id, record.machine) for record in records))
    meant = [key for key in found if machine_id is None or key[0] == machine_id]
    if len(meant) > 1:
        # A status and an execution may share a name, and a crew's journal holds machines of many kinds.
        meant = [key for key in meant if key[1] in (None, definition.name)] or meant
    if len(meant) > 1:
        names = ", ".join(f"'{name}'" for name, _ in meant)
        raise JournalError(f"{path} has several machines, so machine_id must name one of them: {names}")
    if found and not meant:
        ids = [name for name, _ in found]
        near = nearest(str(machine_id), ids)
        hint = f"did you mean '{near}'?" if near else "it has " + ", ".join(f"'{name}'" for name in ids)
        raise JournalError(f"{path} has no machine '{machine_id}' ({hint})")
    return [record for record in records if (record.machine_id, record.machine) in meant]
