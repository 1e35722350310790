"""Tables: aligned columns for a pipe, and for a terminal a frame with no more columns than have room.

In a frame only prose is wrapped, at words. Names, states and times stay whole: where there are too many of
them for the terminal, columns are left out, or become lines below the table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from orkeon_transitions.cli.words import NUMBER, STATUS_STYLES, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from rich.console import Console

LONGEST_NAME = 28  # longer cells of several words are prose
LEAST_PROSE = 20
LEAST_FIRST = 6  # what the first column is folded to, if it must be
AROUND = 3  # a blank on each side of a cell and the line between two


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under column names.

    Attributes:
        columns: The names.
        rows: As many cells each.
        spare: Columns that a narrow terminal does without, the first one first.
        below: A column whose cells become lines below the table where they make it too wide.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    spare: Sequence[str] = ()
    below: str | None = None

    def cells(self, column: str) -> list[str]:
        """A column's cells, from the top."""
        number = list(self.columns).index(column)
        return [row[number] for row in self.rows]


def aligned(table: Table) -> list[str]:
    """The table as lines, each column as wide as its widest cell; the header says `NAME` in capitals."""
    lines = [
        tuple(name.upper() for name in table.columns),
        *(tuple(" ".join(visible(cell).split()) for cell in row) for row in table.rows),
    ]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]


def fitting(needs: dict[str, int], spare: Iterable[str], width: int, *, around: int = AROUND) -> list[str]:
    """The columns that stay in a frame of some width: spare ones go, one after another, until the rest fits.

    Args:
        needs: How wide each column's cells are.
        spare: Which may go, the first one first.
        width: Of the terminal.
        around: How much room each column takes besides.
    """
    left = dict(needs)
    for name in spare:
        if sum(left.values()) + around * len(left) + 1 <= width:
            break
        left.pop(name, None)
    return list(left)


def drawn(table: Table, console: Console) -> tuple[str, list[str]]:
    """The table in a frame, and the lines that stand below it."""
    from rich.box import ROUNDED
    from rich.cells import cell_len
    from rich.table import Table as Frame
    from rich.text import Text

    wants = {name: max(map(cell_len, [name, *table.cells(name)])) for name in table.columns}
    needs = {
        name: _least_width([name, *table.cells(name)], cell_len) if _is_prose(table.cells(name)) else want
        for name, want in wants.items()
    }
    shown = fitting(needs, [*filter(None, [table.below]), *table.spare], console.width)
    widths = _widths({name: (needs[name], wants[name]) for name in shown}, console.width)
    frame = Frame(box=ROUNDED, header_style="bold", border_style="dim")
    for name in shown:
        cells = table.cells(name)
        numeric = any(cells) and all(map(NUMBER.fullmatch, cells))
        justify: Literal["left", "right"] = "right" if numeric else "left"
        # The first column says what a row is about: as a last resort it is folded, for it to be copied whole.
        fold = _is_prose(cells) or (name == table.columns[0] and needs[name] > LONGEST_NAME)
        overflow: Literal["fold", "ellipsis"] = "fold" if fold else "ellipsis"
        frame.add_column(name, overflow=overflow, justify=justify, no_wrap=not fold, width=widths.get(name))
    for row in zip(*map(table.cells, shown), strict=True):
        frame.add_row(*(Text(visible(cell), style=STATUS_STYLES.get(cell, "")) for cell in row))
    with console.capture() as captured:
        console.print(frame)
    return captured.get(), _lines_below(table) if table.below not in (None, *shown) else []


def _lines_below(table: Table) -> list[str]:
    """What is said of some rows, each with the name of its row: `step 3: ...`."""
    first = table.columns[0]
    said = zip(table.cells(first), table.cells(str(table.below)), strict=True)
    return [f"{first} {visible(cell)}: {visible(words)}" for cell, words in said if words]


def _is_prose(cells: Iterable[str]) -> bool:
    return any(len(cell) > LONGEST_NAME and " " in cell for cell in cells)


def _least_width(cells: Iterable[str], measure: Callable[[str], int]) -> int:
    """How narrow prose may become: its longest word is not broken."""
    return max(LEAST_PROSE, *(measure(word) for cell in cells for word in cell.split()))


def _widths(columns: Mapping[str, tuple[int, int]], width: int) -> dict[str, int]:
    """How wide each column becomes, given what it needs and wants.

    Where the needs do not fit, the first column has what the others leave; where they leave nothing, nobody
    is given any width.
    """
    room = width - sum(needs for needs, _ in columns.values()) - AROUND * len(columns) - 1
    if room < 0:
        first, *others = columns
        left = columns[first][0] + room
        return {first: left} | {name: columns[name][0] for name in others} if left >= LEAST_FIRST else {}
    widths = {}
    modest_first = sorted(columns, key=lambda name: columns[name][1] - columns[name][0])
    for number, name in enumerate(modest_first):
        needs, wants = columns[name]
        more = max(0, min(wants - needs, room // (len(columns) - number)))
        widths[name] = needs + more
        room -= more
    return widths
