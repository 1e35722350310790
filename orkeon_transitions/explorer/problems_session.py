"""A file that cannot be used: what is wrong with it, each with its place and the lines around it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from orkeon_transitions.definition.source import is_text
from orkeon_transitions.errors import DefinitionError, OrkeonError, Problem, place_text
from orkeon_transitions.explorer.chapters import PLACED
from orkeon_transitions.explorer.orders import BadOrderError, Order
from orkeon_transitions.explorer.session import Session
from orkeon_transitions.explorer.showing import source_shown

AROUND = 2
LONGEST_FILE = 4_000_000
LONGEST_LINE = 400


class ProblemsSession(Session):
    """Shows what is wrong with a file.

    Args:
        error: What was raised.
        source: The file, or a text.
    """

    def __init__(self, error: OrkeonError, source: str | os.PathLike[str]) -> None:
        super().__init__()
        texts = _Texts(source)
        found = error.problems if isinstance(error, DefinitionError) else [_problem_of(error)]
        name = texts.name
        count = "1 problem" if len(found) == 1 else f"{len(found)} problems"
        self._publish(
            {
                "page": "problems",
                "title": {
                    "name": name,
                    "machine_id": None,
                    "kind": "problems",
                    "source": name,
                    "note": f"{count}: once the file is mended, read it again",
                },
                "problems": [
                    {
                        "place": place_text(problem.file, problem.line, problem.column),
                        "line": problem.line,
                        "column": problem.column,
                        "message": _message(problem),
                        "hint": problem.hint,
                        "excerpt": texts.excerpt(problem.file, problem.line),
                    }
                    for problem in found
                ],
            }
        )

    def _do(self, order: Order) -> dict[str, Any] | None:
        raise BadOrderError(self._refusal(order))


def _message(problem: Problem) -> str:
    return f"{problem.path}: {problem.message}" if problem.path else problem.message


def _problem_of(error: OrkeonError) -> Problem:
    """An error that is a sentence, with the place that stands before it."""
    placed = PLACED.fullmatch(str(error))
    if placed is None:
        return Problem(None, None, None, "", str(error))
    return Problem(placed["file"], int(placed["line"]), None, "", placed["message"])


class _Texts:
    """The texts of files, each read once, for the lines around a problem."""

    def __init__(self, source: str | os.PathLike[str]) -> None:
        self._lines: dict[str, list[str]] = {}
        self.name = source_shown(os.fspath(source))
        if isinstance(source, str) and is_text(source):
            self.name = "<text>"
            self._lines[self.name] = source.splitlines()

    def excerpt(self, file: str | None, line: int | None) -> list[dict[str, Any]]:
        """The lines around a place; empty where there is no text."""
        if line is None or file is None:
            return []
        lines = self._read(file)
        first = max(1, line - AROUND)
        return [
            {"line": number, "text": text[:LONGEST_LINE], "here": number == line}
            for number, text in enumerate(lines[first - 1 : line + AROUND], first)
        ]

    def _read(self, file: str) -> list[str]:
        if file not in self._lines:
            self._lines[file] = _lines_of(Path(file))
        return self._lines[file]


def _lines_of(path: Path) -> list[str]:
    try:
        with path.open("rb") as text:
            return text.read(LONGEST_FILE).decode("utf-8", "replace").splitlines()
    except (OSError, ValueError):  # the problem itself says that it cannot be read
        return []
