"""Progress on standard error: a table that moves on a terminal, a line for each start and end in a pipe."""

from __future__ import annotations

import sys
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING

from orkeon_transitions.cli.columns import cells_of, columns_for
from orkeon_transitions.cli.screen import Screen
from orkeon_transitions.cli.words import amount, counted, decided, seconds, visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console, RenderableType
    from rich.live import Live

    from orkeon_transitions.cli.board import Board, TaskLine
    from orkeon_transitions.crew import TaskResult

FRAMES_A_SECOND = 8
LINES_AROUND = 8  # the title, the frame, the lines for what is left out and for text, and one to spare
LEAST_SHOWN = 3


@contextmanager
def progress(screen: Screen, board: Board) -> Iterator[None]:
    """Shows a board while a run goes on."""
    if screen.quiet:
        yield
    elif screen.draws(sys.stderr):
        with _live_table(screen, board):
            yield
    else:
        board.changed = lambda line: screen.message(_plain_line(line))
        board.decided = lambda decision: screen.message(decided(decision))
        yield


@contextmanager
def _live_table(screen: Screen, board: Board) -> Iterator[None]:
    from rich.live import Live

    console = screen.console(sys.stderr)
    board.wants_text = True

    def started() -> Live:
        live = Live(
            get_renderable=lambda: draw(board, console),
            console=console,
            refresh_per_second=FRAMES_A_SECOND,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=True,
        )
        live.start()
        return live

    lives = [started()]

    @contextmanager
    def paused() -> Iterator[None]:
        """Takes the table off the terminal, for a person to be asked something there."""
        lives.pop().stop()
        try:
            yield
        finally:
            # A new one: the one before would take its own height in rows off what was said meanwhile.
            lives.append(started())

    try:
        with screen.pausing(paused):
            yield
    finally:
        for live in lives:
            live.stop()


def _plain_line(line: TaskLine) -> str:
    who = f" ({line.agent})" if line.agent else ""
    if line.retried is not None:
        count = f"{line.retried.retry} of {line.retried.max_retries}"
        return visible(
            f"{line.task}{who}: failed, to be retried ({count}): {_first_line(line.retried.result)}"
        )
    if line.waits:
        return visible(f"{line.task}{who}: waits {seconds(line.waits)} to ask its model (maxRpm)")
    if line.result is None:
        return visible(f"{line.task}{who}: {'goes on' if line.is_restored else 'started'}")
    took = " before" if line.took is None and line.is_restored else ""
    took = took if line.took is None else f" in {seconds(line.took)}"
    why = f": {_first_line(line.result)}" if line.result.error else ""
    return visible(f"{line.task}{who}: {line.status}{took}{why}")


def _first_line(result: TaskResult) -> str:
    return (result.error or "").partition("\n")[0]


def draw(board: Board, console: Console) -> RenderableType:
    """The board as a table that fits the terminal, and the last line that a model has written below it."""
    from rich.box import ROUNDED
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    lines = list(board.lines.values())
    shown = _chosen(lines, console.height - LINES_AROUND - (board.decision is not None))
    now = board.clock()
    rows = [cells_of(line, now, ascii_only=console.options.ascii_only) for line in shown]
    columns, is_framed = columns_for(rows, console.width)
    table = Table(
        box=ROUNDED if is_framed else None,
        border_style="dim",
        header_style="bold",
        pad_edge=is_framed,
        padding=(0, 1) if is_framed else (0, 2, 0, 0),
        title=Text(_title(board), "bold", no_wrap=True, overflow="ellipsis"),
        title_justify="left",
    )
    for column in columns:
        table.add_column(
            column.name,
            no_wrap=True,
            justify=column.justify,
            min_width=column.least,
            max_width=column.most,
        )
    for cells in rows:
        table.add_row(*(cells.get(column.name, Text("")) for column in columns))
    below = [*_left_out(lines, shown), *_last_decision(board), *_last_text(board)]
    return Group(table, *(Text(visible(line), "dim", no_wrap=True, overflow="ellipsis") for line in below))


def _title(board: Board) -> str:
    lines = board.lines.values()
    done = sum(line.result is not None for line in lines)
    tokens = sum(line.usage.tokens for line in lines)
    spent = f"  {amount(tokens)} tokens" if tokens else ""
    return f"{visible(board.crew)}  {done} of {counted(len(lines), 'task')}  {seconds(board.elapsed)}{spent}"


def _left_out(lines: Sequence[TaskLine], shown: Sequence[TaskLine]) -> Iterator[str]:
    """How the tasks stand for which there is no line."""
    tasks = {line.task for line in shown}
    numbers = Counter(line.status for line in lines if line.task not in tasks)
    if numbers:
        yield f"... and {', '.join(f'{number} {status}' for status, number in numbers.items())}"


def _last_decision(board: Board) -> Iterator[str]:
    if board.decision is not None:
        yield decided(board.decision)


def _last_text(board: Board) -> Iterator[str]:
    line = board.writing
    if line is not None and line.last_words:
        yield f"{line.task}: {line.last_words}"


def _chosen(lines: Sequence[TaskLine], room: int) -> Sequence[TaskLine]:
    """As many lines as there is room for: those that run, what ended last, and what comes next."""
    room = max(room, LEAST_SHOWN)
    if len(lines) <= room:
        return lines
    places = {line.task: place for place, line in enumerate(lines)}
    running = [line for line in lines if line.status == "running"][:room]
    waiting = [line for line in lines if line.result is None and line.status != "running"]
    ended = sorted((line for line in lines if line.result is not None), key=lambda line: -line.ended)
    rest = room - len(running)
    latest = ended[: max(rest // 2, rest - len(waiting))]
    chosen = [*running, *latest, *waiting[: rest - len(latest)]]
    return sorted(chosen, key=lambda line: places[line.task])
