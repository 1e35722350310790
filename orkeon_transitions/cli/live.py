"""Progress on standard error: a table that moves on a terminal, a line for each start and end in a pipe."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal, NamedTuple

from orkeon_transitions.cli.screen import Screen
from orkeon_transitions.cli.tables import fitting
from orkeon_transitions.cli.words import STATUS_STYLES, visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from orkeon_transitions.cli.board import Board, TaskLine
    from orkeon_transitions.crew import TaskResult

FRAMES_A_SECOND = 8
GAUGE = 8
LINES_AROUND = 8  # the title, the frame, the two lines for what is left out, and one to spare


class Column(NamedTuple):
    """A column of the table.

    Attributes:
        name: What stands at its top.
        least: How narrow it may become, so that the table does not jump.
        justify: Where its cells stand.
    """

    name: str
    least: int = 0
    justify: Literal["left", "right"] = "left"


COLUMNS = (
    Column("task"),
    Column("agent"),
    Column("state", least=12),
    Column("tools", least=5, justify="right"),
    Column("retries", least=7, justify="right"),
    Column("transitions", least=GAUGE + 8),
    Column("time", least=9, justify="right"),
)
SPARE = ("agent", "retries", "tools", "time")


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
    if line.retried is not None:
        count = f"{line.retried.retry} of {line.retried.max_retries}"
        return visible(
            f"{line.task}{who}: failed, to be retried ({count}): {_first_line(line.retried.result)}"
        )
    if line.result is None:
        return visible(f"{line.task}{who}: {'goes on' if line.is_restored else 'started'}")
    took = " before" if line.took is None and line.is_restored else ""
    took = took if line.took is None else f" in {seconds(line.took)}"
    why = f": {_first_line(line.result)}" if line.result.error else ""
    return visible(f"{line.task}{who}: {line.status}{took}{why}")


def _first_line(result: TaskResult) -> str:
    return (result.error or "").partition("\n")[0]


def draw(board: Board, console: Console) -> Table:
    """The board as a table that fits the terminal."""
    from rich.box import ROUNDED
    from rich.table import Table
    from rich.text import Text

    lines = list(board.lines.values())
    shown, above, below = _window(lines, console.height - LINES_AROUND)
    done = sum(line.result is not None for line in lines)
    table = Table(
        box=ROUNDED,
        border_style="dim",
        header_style="bold",
        title=Text(f"{visible(board.crew)}  {done} of {len(lines)} tasks  {seconds(board.elapsed)}", "bold"),
        title_justify="left",
    )
    rows = [_cells(line, ascii_only=console.options.ascii_only) for line in shown]
    columns = _fitting_columns(rows, console.width)
    for column in columns:
        table.add_column(column.name, no_wrap=True, justify=column.justify, min_width=column.least)
    if above:
        table.add_row(Text(f"… {above} above", style="dim"))
    for cells in rows:
        table.add_row(*(cells.get(column.name, Text("")) for column in columns))
    if below:
        table.add_row(Text(f"… {below} below", style="dim"))
    return table


def _fitting_columns(rows: Sequence[dict[str, Text]], width: int) -> list[Column]:
    """The columns that have room; what a task is called and its state go last."""
    needs = {
        column.name: max(
            column.least,
            len(column.name),
            *(cells[column.name].cell_len for cells in rows if column.name in cells),
        )
        for column in COLUMNS
    }
    kept = fitting(needs, SPARE, width)
    return [column for column in COLUMNS if column.name in kept]


def _window(lines: Sequence[TaskLine], room: int) -> tuple[Sequence[TaskLine], int, int]:
    """As many lines as there is room for, around those that run, and how many are left out on each side."""
    room = max(room, 3)
    if len(lines) <= room:
        return lines, 0, 0
    running = next((n for n, line in enumerate(lines) if line.result is None), len(lines))
    first = min(max(0, running - room // 3), len(lines) - room)
    return lines[first : first + room], first, len(lines) - room - first


def _cells(line: TaskLine, *, ascii_only: bool) -> dict[str, Text]:
    """What is known of a task, by column: its budgets as soon as it has a machine."""
    from rich.text import Text

    style = "cyan" if line.status == "running" else STATUS_STYLES.get(line.status, "dim")
    cells = {
        "task": Text(visible(line.task)),
        "agent": Text(visible(line.agent), style="dim"),
        "state": Text(visible(line.state.replace("_", " ")), style=style),
    }
    if line.machine is None:
        return cells
    used, status = line.machine.guard_context, line.machine.circuit_status
    quiet = "" if line.status == "running" else "dim"
    if line.took is not None:
        time = seconds(line.took)
    else:
        time = "" if status.remaining is None else f"{seconds(status.remaining.total_seconds())} left"
    return cells | {
        "tools": Text(f"{used.tool_call_count}/{used.max_tool_calls_per_round}", style=quiet),
        "retries": Text(f"{used.retry_count}/{used.max_retries}", style=quiet),
        "transitions": gauge(status.total_transitions, status.policy.max_transitions, ascii_only=ascii_only),
        "time": Text(time, style=quiet),
    }


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
    if amount < 0.0995:
        return f"{amount * 1000:.0f} ms"
    if amount < 59.5:
        return f"{amount:.1f} s" if amount < 9.95 else f"{amount:.0f} s"
    minutes, rest = divmod(round(amount), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
