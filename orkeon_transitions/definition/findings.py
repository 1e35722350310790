"""What can be said of a definition that loads: a finding, with its place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Finding:
    """Something worth knowing about a definition that can be used all the same.

    Attributes:
        severity: `warning`: probably a mistake; `note`: accepted, and without effect here.
        code: What kind of finding, such as `unreachable`.
        path: Where in the data, such as `transitions[2]`.
        line: The line, counted from 1; None where the definition came from no text.
        message: One sentence without a full stop.
        column: The column, counted from 1; None where it is not known.
        file: The file's name, where it is known: a crew may be of several files.
    """

    severity: Literal["warning", "note"]
    code: str
    path: str
    line: int | None
    message: str
    column: int | None = None
    file: str | None = None

    def __str__(self) -> str:
        place = f"line {self.line}: " if self.line is not None else ""
        if self.file is not None:
            place = f"{self.file}:{self.line}: " if self.line is not None else f"{self.file}: "
        return f"{place}{self.severity}: {self.path}: {self.message} [{self.code}]"
