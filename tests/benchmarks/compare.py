"""Measures us beside stock `transitions` and other libraries, and prints the table that the README shows.

    python -m tests.benchmarks.compare                    all rows, some minutes
    python -m tests.benchmarks.compare --quick            the same with fewer rounds, for the desk
    python -m tests.benchmarks.compare --readme           what the README shows
    python -m tests.benchmarks.compare --only fire,async  these rows only (`--only graph`: all that begin so)

Everything is CPU time, measured in one run: the two sides take turns, and the ratio is the median of the
ratios of neighbours. The peers come with `pip install -e '.[bench]'`; one that is absent is left out, and the
table says so. The exit code is 1 if a ratio is above what must hold.
"""

from __future__ import annotations

import argparse
import logging
import os
import platform
import sys
from collections.abc import Sequence
from importlib import metadata

from tests.benchmarks import files, graphs, many, rings, stored
from tests.benchmarks.pairs import FULL, QUICK, AbsentError, Effort, Figures, Row

TABLE: list[Row] = [*rings.TABLE, *many.TABLE, *graphs.TABLE, *files.TABLE, *stored.TABLE]
README = (
    *("fire", "fire-locked", "fire-python-statemachine", "async", "memory", "creating"),
    *("graph-langgraph", "graph-burr", "graph-pydantic-graph", "stored-langgraph"),
    *("replay", "load", "import"),
)
PEERS = ("transitions", "python-statemachine", "langgraph", "apache-burr", "pydantic-graph")


def chosen(only: Sequence[str]) -> list[Row]:
    """The rows of that name, or whose names begin so.

    Raises:
        ValueError: There is none.
    """
    if not only:
        return TABLE
    for name in only:
        if not any(_is_meant(row, name) for row in TABLE):
            raise ValueError(f"there is no row '{name}': there are {', '.join(row.name for row in TABLE)}")
    return [row for row in TABLE if any(_is_meant(row, name) for name in only)]


def _is_meant(row: Row, name: str) -> bool:
    exact = any(each.name == name for each in TABLE)
    return row.name == name if exact else row.name.startswith(f"{name}-")


def measured(rows: Sequence[Row], effort: Effort) -> tuple[list[tuple[Row, Figures]], list[str]]:
    """What came of each row, and what was left out."""
    results, left_out = [], []
    for row in rows:
        try:
            figures = row.run(effort)
        except AbsentError as absent:
            left_out.append(f"{row.name} ({absent} is not installed)")
            continue
        results.append((row, figures))
        print(verdict(row, figures), file=sys.stderr, flush=True)
    return results, left_out


def is_kept(row: Row, figures: Figures) -> bool:
    """Whether a row's bound holds."""
    return row.at_most is None or figures.ratio <= row.at_most


def markdown(results: Sequence[tuple[Row, Figures]], left_out: Sequence[str], effort: Effort) -> str:
    """The table."""
    lines = ["| measured | beside | ratio | ours | theirs |", "|---|---|---:|---:|---:|"]
    for row, figures in results:
        amounts = (_amount(each, figures.unit) for each in (figures.ours, figures.theirs))
        lines.append(f"| {' | '.join([row.measure, row.peer, f'**{_ratio(figures.ratio)}**', *amounts])} |")
    return "\n".join([*lines, "", *(f"Left out: {each}." for each in left_out), surroundings(effort)])


def verdict(row: Row, figures: Figures) -> str:
    """One row in a line, and whether what must hold does."""
    low, high = (_ratio(each) for each in figures.spread)
    told = f"{row.name}: {_ratio(figures.ratio)} ({low} to {high})"
    if row.at_most is None:
        return told
    aim = "" if row.aim is None else f", aim {row.aim:g}{'' if figures.ratio <= row.aim else ' (missed)'}"
    return f"{told}, at most {row.at_most:g}{'' if is_kept(row, figures) else ' (BROKEN)'}{aim}"


def surroundings(effort: Effort) -> str:
    """What it was measured with, and how."""
    versions = []
    for name in PEERS:
        try:
            versions.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            versions.append(f"no {name}")
    size = (
        ""
        if effort.factor == 1
        else f"; quick: large things are {effort.factor} times smaller than the rows say"
    )
    python = f"{platform.python_implementation()} {platform.python_version()}"
    computer = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    return f"{python} on {computer}; {', '.join(versions)}. CPU time; medians of paired ratios{size}."


def _bound(bound: float | None) -> str:
    return "" if bound is None else f"{bound:g}"


def _ratio(ratio: float) -> str:
    return f"{ratio:.1f}" if ratio >= 10 else f"{ratio:.2f}" if ratio >= 0.2 else f"{ratio:.3f}"


def _amount(amount: float, unit: str) -> str:
    if unit == "B":
        return f"{amount:,.0f} B"
    for factor, name in ((1, "s"), (1e3, "ms"), (1e6, "µs")):
        if amount * factor >= 1 or name == "µs":
            return f"{amount * factor:.3g} {name}"
    raise AssertionError


def show(results: Sequence[tuple[Row, Figures]], left_out: Sequence[str], effort: Effort) -> None:
    """The table on a terminal."""
    from rich.console import Console
    from rich.table import Table

    table = Table("ours", "beside", "ratio", "at most", "aim", "ours", "theirs", "row")
    for row, figures in results:
        reached = row.aim is None or figures.ratio <= row.aim
        colour = "red" if not is_kept(row, figures) else "green" if reached else "yellow"
        ratio = f"[{colour}]{_ratio(figures.ratio)}[/]" if row.at_most is not None else _ratio(figures.ratio)
        amounts = (_amount(each, figures.unit) for each in (figures.ours, figures.theirs))
        texts = (_plain(row.measure), _plain(row.peer))
        table.add_row(*texts, ratio, _bound(row.at_most), _bound(row.aim), *amounts, row.name)
    console = Console()
    console.print(table)
    for each in left_out:
        console.print(f"Left out: {each}.")
    console.print(surroundings(effort), highlight=False)


def _plain(text: str) -> str:
    return text.replace("`", "")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures and prints."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.compare", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--quick", action="store_true", help="fewer rounds, smaller sizes")
    parser.add_argument("--only", action="append", default=[], metavar="NAME,...", help="these rows only")
    parser.add_argument("--readme", action="store_true", help="the rows that the README shows")
    parser.add_argument("--list", action="store_true", help="name the rows and stop")
    parser.add_argument("--markdown", action="store_true", help="Markdown on a terminal, too")
    given = parser.parse_args(arguments)
    if given.list:
        for row in TABLE:
            print(f"{row.name:26} {row.measure} / {row.peer}")
        return 0
    try:
        names = [name for each in given.only for name in each.split(",")]
        rows = [row for row in chosen(names) if row.name in README or not given.readme]
    except ValueError as error:
        parser.error(str(error))
    effort = QUICK if given.quick else FULL
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        results, left_out = measured(rows, effort)
    finally:
        logging.disable(before)
    if sys.stdout.isatty() and not given.markdown:
        show(results, left_out, effort)
    else:
        print(markdown(results, left_out, effort))
    return 0 if all(is_kept(row, figures) for row, figures in results) else 1


if __name__ == "__main__":
    sys.exit(main())
