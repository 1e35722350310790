"""A person at the terminal who is asked while a crew runs, and the options that say whether."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from orkeon_transitions.cli.screen import Screen
from orkeon_transitions.cli.words import counted, visible

if TYPE_CHECKING:
    from orkeon_transitions.crew import AskHuman, HumanQuestion

Command = TypeVar("Command", bound=Callable[..., Any])
REVIEW_PROMPT = "Enter accepts it; or say what should be better: "
QUESTION_PROMPT = "Your answer: "
LEFT_OUT = "  ... this is the beginning; all {lines} are in {path}"


def conduct_options(command: Command) -> Command:
    """Adds `--concurrency` and `--no-input`."""
    command = click.option(
        "--no-input", is_flag=True, help="Ask nobody: a crew that needs a person is refused."
    )(command)
    return click.option(
        "--concurrency",
        type=click.IntRange(min=1),
        metavar="N",
        help="Run so many tasks at once, whatever the file says.",
    )(command)


def person(screen: Screen, *, no_input: bool) -> AskHuman | None:
    """Who can be asked: the person at the terminal, if there is one and they may be."""
    if no_input or sys.stdin is None or sys.stdin.closed or not sys.stdin.isatty():
        return None
    return _Person(screen).ask


class _Person:
    """Asks one question at a time; what moves on the terminal stands still meanwhile."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._turns = asyncio.Lock()

    async def ask(self, question: HumanQuestion) -> str | None:
        """Shows a question and waits for a line; None: there is no more input."""
        async with self._turns:
            with self._screen.paused(), ExitStack() as asking:
                self._show(question, asking)
                line = await _line()
        return None if not line else line.rstrip("\r\n")

    def _show(self, question: HumanQuestion, asking: ExitStack) -> None:
        """Shows who asks, the text or as much of it as a terminal has room for, and what may be answered."""
        is_review = question.kind == "review"
        what = f"the output of {question.agent}" if is_review else f"{question.agent} asks"
        prompt = REVIEW_PROMPT if is_review else QUESTION_PROMPT
        head = visible(f"task {question.task}, {what} ({question.number} of {question.most}):")
        lines = [f"  {visible(line)}" for line in question.text.splitlines()]
        if self._screen.first_rows(lines, around=(head, prompt)) is not None:
            with suppress(OSError):  # without a file for the whole text all of it is shown
                path = asking.enter_context(_kept(question))
                rest = LEFT_OUT.format(lines=counted(len(lines), "line"), path=path)
                shown = self._screen.first_rows(lines, around=(head, rest, prompt))
                lines = [*(shown or lines), rest]
        for line in (head, *lines):
            self._screen.message(line)
        self._screen.prompt(prompt)


@contextmanager
def _kept(question: HumanQuestion) -> Iterator[str]:
    """A file with the whole text, which is there as long as the question."""
    name = "".join(char if char.isalnum() else "-" for char in question.task)[:40]
    number, path = tempfile.mkstemp(prefix=f"orkeon-{name}-", suffix=".txt", text=True)
    try:
        with os.fdopen(number, "w", encoding="utf-8") as file:
            file.write(visible(question.text) + "\n")
        yield path
    finally:
        with suppress(OSError):
            Path(path).unlink()


async def _line() -> str:
    """One line from standard input, without a thread where that can be: one that reads cannot be stopped."""
    loop = asyncio.get_running_loop()
    typed: asyncio.Future[bytes] = loop.create_future()
    got = bytearray()

    def ready() -> None:
        piece = os.read(number, 65_536)
        got.extend(piece)
        if not piece or b"\n" in piece:
            loop.remove_reader(number)
            typed.set_result(bytes(got))

    try:
        number = sys.stdin.fileno()
        loop.add_reader(number, ready)
    except (OSError, ValueError, NotImplementedError):  # no file, or a loop that cannot watch one
        return await _line_in_thread()
    try:
        return (await typed).decode(sys.stdin.encoding or "utf-8", "replace")
    finally:
        loop.remove_reader(number)


async def _line_in_thread() -> str:
    from orkeon_transitions.crew.threads import call_anything

    line: str = await call_anything(sys.stdin.readline)
    return line
