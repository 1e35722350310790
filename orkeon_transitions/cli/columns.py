"""The columns of the live table: what each says of a task, and which of them have room."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from orkeon_transitions.cli.tables import AROUND, fitting
from orkeon_transitions.cli.words import STATUS_STYLES, amount, seconds, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.text import Text

    from orkeon_transitions.breaker import CircuitBreakerStatus
    from orkeon_transitions.cli.board import TaskLine

GAUGE = 8
# A blank on each side of a column, where there is no frame.
AROUND_BARE = 2
CALM, TIGHT = 0.6, 0.9  # how much of a limit may be used until its color changes


class Column(NamedTuple):
    """A column of the table.

    Attributes:
        name: What stands at its top.
        least: How narrow it may become, so that the table does not jump.
        justify: Where its cells stand.
        most: How wide it may become; None: as wide as its cells are.
    """

    name: str
    least: int = 0
    justify: Literal["left", "right"] = "left"
    most: int | None = None


COLUMNS = (
    Column("task"),
    Column("agent"),
    Column("state", least=12),
    Column("tools", least=5, justify="right"),
    Column("tokens", least=6, justify="right"),
    Column("retries", least=7, justify="right"),
    Column("transitions", least=GAUGE + 8),
    Column("time", least=5, justify="right"),
    Column("left", least=5, justify="right"),
)
# What a terminal does without, the first one first; the frame goes before the second of these.
NICE, USEFUL = ("retries", "transitions"), ("time", "agent", "tokens", "left", "tools")

# Names that are longer are cut before something else is left out for them.
SHORTENED = {"task": 13, "agent": 9}

Cells = dict[str, "Text"]


def columns_for(rows: Sequence[Cells], width: int) -> tuple[list[Column], bool]:
    """The columns that have room, and whether a frame has; what a task is called and its state go last."""
    needs = {
        column.name: max(
            column.least,
            len(column.name),
            *(cells[column.name].cell_len for cells in rows if column.name in cells),
        )
        for column in COLUMNS
    }
    for around in (AROUND, AROUND_BARE):
        kept = fitting(needs, NICE, width, around=around)
        if _room(needs, kept, around, width) >= 0:
            return [column for column in COLUMNS if column.name in kept], around == AROUND
    cut = needs | {name: min(needs[name], most) for name, most in SHORTENED.items()}
    width += AROUND_BARE + 1  # a line without a frame ends with its last cell
    kept = fitting(_without(cut, NICE), USEFUL, width, around=AROUND_BARE)
    for name in SHORTENED:
        # What is left over is for these names.
        more = min(needs[name] - cut[name], _room(cut, kept, AROUND_BARE, width))
        cut[name] += max(0, more)
    return [
        column._replace(most=cut[column.name]) if column.name in SHORTENED else column
        for column in COLUMNS
        if column.name in kept
    ], False


def _without(needs: dict[str, int], names: Sequence[str]) -> dict[str, int]:
    return {name: width for name, width in needs.items() if name not in names}


def _room(needs: dict[str, int], kept: Sequence[str], around: int, width: int) -> int:
    """How much room is left, or, below 0, lacks."""
    return width - sum(needs[name] + around for name in kept) - 1


def cells_of(line: TaskLine, now: float, *, ascii_only: bool) -> Cells:
    """What is known of a task, by column: its budgets as soon as it has a machine."""
    from rich.text import Text

    is_running = line.status == "running"
    style = "cyan" if is_running else STATUS_STYLES.get(line.status, "dim")
    cells = {
        "task": Text(visible(line.task)),
        "agent": Text(visible(line.agent), style="dim"),
        "state": Text(visible(_state(line, now)), style=style),
    }
    if line.machine is None:
        return cells
    used, status = line.machine.guard_context, line.machine.circuit_status
    quiet = "" if is_running else "dim"
    taken = line.took if line.took is not None or line.began is None else now - line.began
    most_tools = used.max_tool_calls_per_round
    return cells | {
        "tools": Text(
            f"{used.tool_call_count}/{most_tools}", _color(used.tool_call_count, most_tools, quiet)
        ),
        "tokens": _tokens(line, status, quiet),
        "retries": Text(f"{used.retry_count}/{used.max_retries}", style=quiet),
        "transitions": gauge(status.total_transitions, status.policy.max_transitions, ascii_only=ascii_only),
        "time": Text("" if taken is None else seconds(taken), style=quiet),
        "left": _left(status, quiet) if is_running else Text(""),
    }


def _state(line: TaskLine, now: float) -> str:
    """The machine's state, and whether it waits for its turn."""
    state = line.state.replace("_", " ")
    if line.status == "running" and line.waits_until > now:
        return f"{state}, waits {seconds(line.waits_until - now)}"
    return state


def _tokens(line: TaskLine, status: CircuitBreakerStatus, quiet: str) -> Text:
    """How many so far, against the meter where there is one."""
    from rich.text import Text

    tokens, most = line.usage.tokens, status.policy.meters.get("tokens")
    if most:
        return Text(f"{amount(tokens)}/{amount(most)}", _color(tokens, most, quiet))
    return Text(amount(tokens) if tokens else "", style=quiet)


def _left(status: CircuitBreakerStatus, quiet: str) -> Text:
    """How long until the breaker's clock that is nearer to its end trips."""
    from rich.text import Text

    if status.remaining is None:
        return Text("")
    left = status.remaining.total_seconds()
    used = min(status.time_in_current_state, status.total_elapsed).total_seconds()
    return Text(seconds(left), _color(used, used + left, quiet))


def _color(used: float, most: float, quiet: str) -> str:
    """Yellow and then red as a limit comes near."""
    if quiet or not most or used < CALM * most:
        return quiet
    return "yellow" if used < TIGHT * most else "red"


def gauge(used: int, most: int, *, ascii_only: bool = False) -> Text:
    """A bar that fills up, green, then yellow, then red; without a limit only the number."""
    from rich.text import Text

    if most == 0:
        return Text(f"{used}")
    full, empty = ("#", "-") if ascii_only else ("━", "─")
    filled = min(GAUGE, -(-used * GAUGE // most))
    color = _color(used, most, "") or "green"
    return Text.assemble((full * filled, color), (empty * (GAUGE - filled), "dim"), f" {used}/{most}")
