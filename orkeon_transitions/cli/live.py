"""Progress on standard error: a table that moves on a terminal, a line for each start and end in a pipe."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from orkeon_transitions.cli.screen import STATUS_STYLES, Screen, visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from orkeon_transitions.cli.board import Board, TaskLine

FRAMES_A_SECOND = 8
GAUGE = 8
LINES_AROUND = 6
NARROW = 100


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
        yield


@contextmanager
def _live_table(screen: Screen, board: Board) -> Iterator[None]:
    from rich.live import Live

    console = screen.console(sys.stderr)
    with Live(
        get_renderable=lambda: draw(board, console),
        console=console,
        refresh_per_second=FRAMES_A_SECOND,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=True,
    ):
        yield


def _plain_line(line: TaskLine) -> str:
    who = f" ({line.agent})" if line.agent else ""
    if line.result is None:
        return visible(f"{line.task}{who}: started")
    took = "" if line.took is None else f" in {seconds(line.took)}"
    why = f": {line.result.error.splitlines()[0]}" if line.result.error else ""
    return visible(f"{line.task}{who}: {line.status}{took}{why}")


def draw(board: Board, console: Console) -> Table:
    """The board as a table that fits the terminal."""
    from rich.box import ROUNDED
    from rich.table import Table
    from rich.text import Text

    wide = console.width >= NARROW
    lines = list(board.lines.values())
    shown, before, after = _window(lines, console.height - LINES_AROUND)
    done = sum(line.result is not None for line in lines)
    table = Table(
        box=ROUNDED,
        border_style="dim",
        header_style="bold",
        title=f"{visible(board.crew)}  {done} of {len(lines)} tasks  {seconds(board.elapsed)}",
        title_justify="left",
        title_style="bold",
    )
    table.add_column("task", no_wrap=True, ratio=None, max_width=28 if wide else 20)
    if wide:
        table.add_column("agent", no_wrap=True, max_width=22)
    table.add_column("state", no_wrap=True, min_width=12, max_width=23 if wide else 14)
    table.add_column("tools", no_wrap=True, justify="right", min_width=5)
    table.add_column("retries", no_wrap=True, justify="right", min_width=7)
    table.add_column("transitions", no_wrap=True, min_width=GAUGE + 8)
    table.add_column("time", no_wrap=True, justify="right", min_width=9)
    blanks = [""] * (len(table.columns) - 1)
    if before:
        table.add_row(Text(f"… {before} above", style="dim"), *blanks)
    for line in shown:
        cells = [
            Text(visible(line.task)),
            _state(line),
            *_budgets(line, ascii_only=console.options.ascii_only),
        ]
        if wide:
            cells.insert(1, Text(visible(line.agent), style="dim"))
        table.add_row(*cells)
    if after:
        table.add_row(Text(f"… {after} below", style="dim"), *blanks)
    return table


def _window(lines: Sequence[TaskLine], room: int) -> tuple[Sequence[TaskLine], int, int]:
    """As many lines as there is room for, around those that run, and how many are left out on each side."""
    room = max(room, 3)
    if len(lines) <= room:
        return lines, 0, 0
    running = next((n for n, line in enumerate(lines) if line.result is None), len(lines))
    first = min(max(0, running - room // 3), len(lines) - room)
    return lines[first : first + room], first, len(lines) - room - first


def _state(line: TaskLine) -> Text:
    from rich.text import Text

    style = "cyan" if line.status == "running" else STATUS_STYLES.get(line.status, "dim")
    return Text(visible(line.state.replace("_", " ")), style=style)


def _budgets(line: TaskLine, *, ascii_only: bool) -> list[Text]:
    """Tool calls, retries and transitions against what is allowed, and the time that is left."""
    from rich.text import Text

    if line.machine is None:
        return [Text(""), Text(""), Text(""), Text("")]
    used, status = line.machine.guard_context, line.machine.circuit_status
    style = "" if line.status == "running" else "dim"
    if line.took is not None:
        left = seconds(line.took)
    else:
        left = "" if status.remaining is None else f"{seconds(status.remaining.total_seconds())} left"
    return [
        Text(f"{used.tool_call_count}/{used.max_tool_calls_per_round}", style=style),
        Text(f"{used.retry_count}/{used.max_retries}", style=style),
        gauge(status.total_transitions, status.policy.max_transitions, ascii_only=ascii_only),
        Text(left, style=style),
    ]


def gauge(used: int, most: int, *, ascii_only: bool = False) -> Text:
    """A bar that fills up, green, then yellow, then red; without a limit only the number."""
    from rich.text import Text

    if most == 0:
        return Text(f"{used}")
    full, empty = ("#", "-") if ascii_only else ("━", "─")
    share = min(1.0, used / most)
    filled = min(GAUGE, -(-used * GAUGE // most))
    color = "green" if share < 0.6 else "yellow" if share < 0.9 else "red"
    return Text.assemble((full * filled, color), (empty * (GAUGE - filled), "dim"), f" {used}/{most}")


def seconds(amount: float) -> str:
    """A time for people: `5 ms`, `0.4 s`, `12 s`, `2:05`, `1:02:03`."""
    if amount < 0.1:
        return f"{amount * 1000:.0f} ms"
    if amount < 10:
        return f"{amount:.1f} s"
    if amount < 60:
        return f"{amount:.0f} s"
    minutes, rest = divmod(int(amount), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
