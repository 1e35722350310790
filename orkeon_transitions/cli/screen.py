"""How things look: results on standard output, everything else on standard error.

A person at a terminal gets tables, colors, and lines that are wrapped at words; a pipe gets plain lines that
are never cut or wrapped; a program gets one JSON document. rich is imported for a terminal only.
"""

from __future__ import annotations

import io
import json
import os
import sys
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any, TextIO

import click
from typing_extensions import override

from orkeon_transitions.cli.tables import Table, aligned, drawn
from orkeon_transitions.cli.words import SEVERITY_STYLES, visible, wrapped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from rich.console import Console


LEAST_ROWS = 3


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
        self._pause: Callable[[], AbstractContextManager[None]] = nullcontext
        self._warned: set[str] = set()

    def result(self, text: str = "", *, style: str | None = None) -> None:
        """Writes one line of the result; a terminal gets it wrapped at words."""
        self._write(self._fitted(self.colored(text, style), sys.stdout) + "\n")

    def raw(self, text: str) -> None:
        """Writes a text as it is, whoever looks, such as a file's content."""
        self._write(text)

    def json(self, document: Any) -> None:
        """Writes the result as the one JSON document on standard output."""
        text = json.dumps(document, indent=2, ensure_ascii=False, default=_plain)
        if not _is_writable(text):
            # Escapes of JSON's own, so that the document stays one.
            text = json.dumps(document, indent=2, default=_plain)
        self._write(text + "\n")

    def table(
        self,
        columns: Sequence[str],
        rows: Iterable[Sequence[str]],
        *,
        spare: Sequence[str] = (),
        below: str | None = None,
    ) -> None:
        """Writes a table: aligned columns for a pipe; in a frame for a terminal, as far as there is room.

        Args:
            columns: Their names.
            rows: As many cells each.
            spare: Columns that a narrow terminal does without, the first one first.
            below: A column whose cells become lines below the table where they make it too wide.
        """
        table = Table(columns, [tuple(row) for row in rows], spare, below)
        if self.draws(sys.stdout):
            frame, lines = drawn(table, self.console(sys.stdout))
            self._write(frame)
        else:
            lines = aligned(table)
        for line in lines:
            self.result(line)

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
            text = self._fitted(text, sys.stderr)
            print(text, file=sys.stderr, flush=True)  # noqa: T201 - the one place that writes messages

    def prompt(self, text: str) -> None:
        """Writes the beginning of a line that a person will end."""
        if sys.stderr is not None:
            with suppress(OSError, ValueError):
                print(text, end="", file=sys.stderr, flush=True)  # noqa: T201 - as for `message`

    def first_rows(self, lines: Sequence[str], *, around: Sequence[str]) -> list[str] | None:
        """As many rows of some lines as standard error has room for at once.

        Args:
            lines: Too many of them, perhaps.
            around: What is to be seen together with them.

        Returns:
            The rows; None where all lines have room, or nobody looks.
        """
        if sys.stderr is None or not self.draws(sys.stderr):
            return None
        from rich.cells import cell_len, chop_cells

        width, height = self.console(sys.stderr).size

        def rows(line: str) -> list[str]:
            fitted = wrapped(line, width, cell_len).split("\n")
            return [row for part in fitted for row in (chop_cells(part, width) or [""])]

        room = max(LEAST_ROWS, height - 1 - sum(len(rows(line)) for line in around))
        found = [row for line in lines for row in rows(line)]
        return found[:room] if len(found) > room else None

    def paused(self) -> AbstractContextManager[None]:
        """Takes what moves off the terminal while a person is asked something there."""
        return self._pause()

    @contextmanager
    def pausing(self, pause: Callable[[], AbstractContextManager[None]]) -> Iterator[None]:
        """Says how that is done, while something moves."""
        self._pause = pause
        try:
            yield
        finally:
            self._pause = nullcontext

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

    def _fitted(self, text: str, stream: TextIO | None) -> str:
        """The text for a stream: a terminal would break a long line within a word, so that is done before."""
        if stream is None or not self.draws(stream):
            return text
        from rich.cells import cell_len

        return wrapped(text, self.console(stream).width, cell_len)

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


def current_screen() -> Screen:
    """The screen of the command that is running."""
    context = click.get_current_context(silent=True)
    if context is None:
        return Screen()
    screen: Screen = context.ensure_object(Screen)
    return screen
