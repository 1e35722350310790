"""How things look: results on standard output, everything else on standard error.

A person at a terminal gets tables and colors; a pipe gets plain lines that are never cut or wrapped; a
program gets one JSON document. rich is imported for a terminal only.
"""

from __future__ import annotations

import io
import json
import os
import re
import sys
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, TextIO

import click
from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console

SEVERITY_STYLES = {"error": "red", "warning": "yellow", "note": "cyan"}
STATUS_STYLES = {
    "completed": "green",
    "degraded": "yellow",
    "failed": "red",
    "cancelled": "magenta",
    "skipped": "dim",
}


LONGEST_KEY = 28
NUMBER = re.compile(r"[-+]?[\d.:]*( m?s)?")


class Mistake(click.ClickException):
    """Something that the user can put right: said in one line, exit code 2."""

    exit_code = 2

    @override
    def show(self, file: Any = None) -> None:
        """Says it on standard error."""
        current_screen().say("error", self.message)


class Screen:
    """Where a command's words go, and how they look.

    Attributes:
        quiet: Leaves out notes and progress.
        plain: No colors, whatever the terminal can do.
        debug: Shows a traceback for an unexpected error.
    """

    def __init__(self) -> None:
        self.quiet = False
        self.plain = bool(os.environ.get("NO_COLOR"))
        self.debug = bool(os.environ.get("ORKEON_DEBUG"))
        self._hushed: TextIO | None = None
        self._warned: set[str] = set()

    def result(self, text: str = "", *, style: str | None = None) -> None:
        """Writes one line of the result."""
        self._write(self.colored(text, style) + "\n")

    def json(self, document: Any) -> None:
        """Writes the result as the one JSON document on standard output."""
        text = json.dumps(document, indent=2, ensure_ascii=False, default=_plain)
        if not _is_writable(text):
            # Escapes of JSON's own, so that the document stays one.
            text = json.dumps(document, indent=2, default=_plain)
        self._write(text + "\n")

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        """Writes a table: drawn for a terminal, aligned columns for a pipe."""
        rows = [tuple(row) for row in rows]
        if self.draws(sys.stdout):
            self._write(self._drawn(columns, rows))
        else:
            self._write("".join(line + "\n" for line in _aligned([tuple(columns), *rows])))

    def say(self, severity: str, text: str, *, place: str = "") -> None:
        """Writes an error, a warning or a note to standard error, its place in front where it has one."""
        if severity == "note" and self.quiet:
            return
        label = self.styled(f"{severity}:", SEVERITY_STYLES[severity], sys.stderr)
        self.message(f"{visible(place)}{': ' if place else ''}{label} {visible(text)}")

    def hint(self, text: str) -> None:
        """Writes what a person may want to do next; a program is not told."""
        if self.draws(sys.stderr):
            self.say("note", text)

    def warn(self, text: str) -> None:
        """Writes a warning, once."""
        if text not in self._warned:
            self._warned.add(text)
            self.say("warning", text)

    def message(self, text: str) -> None:
        """Writes one line to standard error; there is nobody to tell when that fails."""
        if sys.stderr is None:
            return
        with suppress(OSError, ValueError):
            print(text, file=sys.stderr, flush=True)  # noqa: T201 - the one place that writes messages

    def draws(self, stream: TextIO | None) -> bool:
        """Whether a person looks at this stream."""
        return stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"

    def colored(self, text: str, style: str | None) -> str:
        """The text in a color, where standard output shows colors."""
        return self.styled(text, style, sys.stdout)

    def styled(self, text: str, style: str | None, stream: TextIO | None) -> str:
        """The text in a color, where the stream shows colors."""
        if style is None or self.plain or not self.draws(stream):
            return text
        if style == "dim":
            return click.style(text, dim=True)
        return click.style(text, fg=style)

    def console(self, stream: TextIO) -> Console:
        """A rich console on a stream."""
        from rich.console import Console

        return Console(file=stream, no_color=self.plain, highlight=False, soft_wrap=False)

    def finish(self) -> None:
        """Flushes standard output, so that a fault there is met here and not at the interpreter's end."""
        self._write("")

    def _drawn(self, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
        from rich.box import ROUNDED
        from rich.table import Table
        from rich.text import Text

        table = Table(box=ROUNDED, header_style="bold", border_style="dim")
        for number, column in enumerate(columns):
            cells = [row[number] for row in rows]
            numeric = any(cells) and all(map(NUMBER.fullmatch, cells))
            # What a row is about stays whole; the other columns make room.
            whole = number == 0 and max(map(len, cells), default=0) <= LONGEST_KEY
            justify: Literal["left", "right"] = "right" if numeric else "left"
            table.add_column(column, overflow="fold", justify=justify, no_wrap=whole)
        for row in rows:
            table.add_row(*(Text(visible(cell), style=STATUS_STYLES.get(cell, "")) for cell in row))
        console = self.console(sys.stdout)
        with console.capture() as captured:
            console.print(table)
        return captured.get()

    def _write(self, text: str) -> None:
        """Writes to standard output; a reader that has gone (`| head`) is no fault of the work."""
        if sys.stdout is None or sys.stdout is self._hushed:
            return
        if not _is_writable(text):
            text = text.encode(sys.stdout.encoding, "backslashreplace").decode(sys.stdout.encoding)
        try:
            sys.stdout.write(text)
            sys.stdout.flush()
        except BrokenPipeError:
            self._hush()
        except OSError as error:
            self._hush()
            raise Mistake(f"cannot write to standard output: {error.strerror or error}") from error

    def _hush(self) -> None:
        """Points standard output at nothing, so that nobody writes there again, the interpreter neither."""
        self._hushed = sys.stdout
        with suppress(OSError, ValueError, io.UnsupportedOperation):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, sys.stdout.fileno())
            os.close(nowhere)


def visible(text: str) -> str:
    """The text with control characters spelled out, so that no file can steer the terminal."""
    return "".join(c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in text)


def _is_writable(text: str) -> bool:
    """Whether standard output can encode the text."""
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _plain(value: object) -> str:
    """What JSON has no type for: a time as ISO 8601, anything else as its text."""
    return value.isoformat() if isinstance(value, datetime) else str(value)


def counted(number: int, noun: str) -> str:
    """`1 state`, `3 states`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def current_screen() -> Screen:
    """The screen of the command that is running."""
    context = click.get_current_context(silent=True)
    if context is None:
        return Screen()
    screen: Screen = context.ensure_object(Screen)
    return screen


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows as lines, each column as wide as its widest cell; the header says `NAME` in capitals."""
    head, *body = rows
    lines = [
        tuple(name.upper() for name in head),
        *(tuple(" ".join(visible(c).split()) for c in row) for row in body),
    ]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]
