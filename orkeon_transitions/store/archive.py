"""A machine's journal as a file of JSON lines, and back.

An exported file is a journal like any other: the facts, and at its end one record that says where the machine
is, with its snapshot. With that, an import makes the machine anew; without, there is only its past.
"""

from __future__ import annotations

import contextlib
import json
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from orkeon_transitions.errors import JournalError
from orkeon_transitions.facts import Snapshot
from orkeon_transitions.store.arguments import check_name
from orkeon_transitions.store.records import (
    RECORDING,
    JournalRecord,
    begins_a_record,
    parse_line,
    read_record,
    recording_line,
)


@dataclass(slots=True)
class Archived:
    """What a file tells of one machine.

    Attributes:
        lines: Its journal.
        last: The last record.
        snapshot: As JSON text, if the file has one.
        is_terminal: Whether it has ended, where the file says so.
    """

    last: JournalRecord
    lines: list[str] = field(default_factory=list)
    snapshot: str | None = None
    is_terminal: bool = False

    def row(self) -> dict[str, Any]:
        """The machine's row in a database."""
        record, at = self.last, self.last.timestamp.timestamp()
        return {
            "machine_id": record.machine_id,
            "version": len(self.lines),
            "ordinal": record.ordinal or 0,
            "state": record.to_state,
            "is_terminal": int(self.is_terminal),
            "is_broken": int(record.broken),
            "machine": record.machine or "",
            "definition": record.definition or "",
            "created_at": at,
            "updated_at": at,
            "snapshot": self.snapshot,
        }


def write_archive(path: Path, lines: Sequence[str], snapshot: Snapshot | None, *, is_terminal: bool) -> None:
    """Writes a journal to a new file, whole or not at all.

    Args:
        path: The file.
        lines: The journal.
        snapshot: Where the machine is, or None if that is not known.
        is_terminal: Whether it has ended.

    Raises:
        JournalError: There is such a file already, or it cannot be written.
    """
    text = "".join(f"{line}\n" for line in lines)
    if snapshot is not None:
        closing = json.loads(recording_line(snapshot)) | {
            "is_terminal": is_terminal,
            "snapshot": snapshot.model_dump(mode="json"),
        }
        text += json.dumps(closing) + "\n"
    try:
        number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    except FileExistsError:
        raise JournalError(
            f"cannot export to {path}: there is such a file already, name another one"
        ) from None
    except OSError as error:
        raise JournalError(f"cannot export to {path}: {error.strerror}") from None
    try:
        with os.fdopen(number, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
    except BaseException as error:
        with contextlib.suppress(OSError):
            path.unlink()
        if isinstance(error, OSError):
            raise JournalError(f"cannot export to {path}: {error.strerror}") from None
        raise


def read_archive(path: Path) -> dict[str, Archived]:
    """Reads a journal: what it tells of each machine, in the order in which they appear.

    A torn last line costs one `UserWarning` with `file:line` and is left out.

    Raises:
        JournalError: It cannot be read, or a line is damaged.
    """
    machines: dict[str, Archived] = {}
    for number, data in _lines(path):
        record = read_record(data, str(path), number)
        if record is None:
            continue
        check_name(record.machine_id)
        archived = machines.setdefault(record.machine_id, Archived(record))
        archived.last = record
        archived.snapshot = _snapshot_of(data, record, f"{path}:{number}")
        archived.is_terminal = data.get("is_terminal") is True
        if archived.snapshot is None:
            archived.lines.append(json.dumps(data))
    return machines


def _snapshot_of(data: Mapping[str, Any], record: JournalRecord, place: str) -> str | None:
    """The snapshot of a record that closes an export."""
    if record.fact != RECORDING or "snapshot" not in data:
        return None
    try:
        snapshot = Snapshot.model_validate(data["snapshot"])
    except ValueError as error:
        raise JournalError(f"{place}: the snapshot is damaged: {str(error).splitlines()[0]}") from None
    if (snapshot.machine_id, snapshot.state) != (record.machine_id, record.to_state):
        raise JournalError(
            f"{place}: the snapshot is not that of '{record.machine_id}' in '{record.to_state}'"
        )
    return snapshot.model_dump_json()


def _lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    torn: tuple[int, bytes, ValueError] | None = None
    try:
        with path.open("rb") as file:
            for number, raw in enumerate(file, 1):
                if torn is not None and raw.strip():
                    raise JournalError(f"{path}:{torn[0]}: not a journal record: {torn[2]}")
                try:
                    data = parse_line(raw)
                except ValueError as error:
                    torn = number, raw, error
                    continue
                if data is not None:
                    yield number, data
    except OSError as error:
        raise JournalError(f"cannot read the journal {path}: {error.strerror}") from None
    if torn is None:
        return
    if not begins_a_record(torn[1]):
        raise JournalError(f"{path}:{torn[0]}: not a journal record: {torn[2]}")
    warnings.warn(f"{path}:{torn[0]}: the last line is torn and was left out", UserWarning, stacklevel=4)
