"""Words for people: how they are spelled, colored, counted, and wrapped at a terminal's edge."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Callable

    from orkeon_transitions.crew import CrewResult, Decision

SEVERITY_STYLES = {"error": "red", "warning": "yellow", "note": "cyan"}
STATUS_STYLES = {
    "completed": "green",
    "degraded": "yellow",
    "failed": "red",
    "cancelled": "magenta",
    "skipped": "dim",
}
NUMBER = re.compile(r"[-+]?[\d.:]*( m?s)?")


def visible(text: str) -> str:
    """The text with control characters spelled out, so that no file can steer the terminal."""
    return "".join(c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in text)


def counted(number: int, noun: str) -> str:
    """`1 state`, `3 states`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def seconds(amount: float) -> str:
    """A time for people: `5 ms`, `0.4 s`, `12 s`, `2:05`, `1:02:03`."""
    if amount < 0.0995:
        return f"{amount * 1000:.0f} ms"
    if amount < 59.5:
        return f"{amount:.1f} s" if amount < 9.95 else f"{amount:.0f} s"
    minutes, rest = divmod(round(amount), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def amount(number: float) -> str:
    """A number in little room: `812`, `1.2k`, `16k`, `2.5M`."""
    if number < 1000:
        return f"{number:.0f}"
    for unit in ("k", "M"):
        number /= 1000
        if number < 9.95:
            return f"{number:.1f}{unit}"
        if number < 999.5:
            break
    return f"{number:.0f}{unit}"


def work_done(result: CrewResult) -> tuple[str, ...]:
    """How many tasks, model requests and tool calls a run had."""
    return (
        counted(len(result.tasks), "task"),
        _requests(result.usage.requests, result.usage.failed_requests),
        counted(result.usage.tool_calls, "tool call"),
    )


def _requests(number: int, failed: int) -> str:
    """`3 model requests`, `3 model requests, 1 failed`."""
    words = counted(number, "model request")
    if not failed:
        return words
    return f"{words}, {failed} failed"


def decided(decision: Decision) -> str:
    """`t: review 2 by boss: sent back (more sugar)`."""
    number = f" {decision.round}" if decision.round > 1 else ""
    who = f" by {decision.by}" if decision.by else ""
    why = f" ({' '.join(decision.why.split())})" if decision.why else ""
    return visible(f"{decision.task}: {decision.kind}{number}{who}: {decision.choice}{why}")


def wrapped(text: str, width: int, measure: Callable[[str], int] = len) -> str:
    """The text with lines that are no longer than `width`, as far as words allow; none is broken.

    Lines that fit stay as they are, and so do the blanks inside of a line. What is wrapped stands below the
    first word of its line, or of its item in a list.

    Args:
        text: Any text; colors take no room.
        width: In cells.
        measure: How many cells a text takes.
    """

    def cells(words: str) -> int:
        return measure(click.unstyle(words))

    lines = []
    for line in text.split("\n"):
        if cells(line) <= width or not line.strip():
            lines.append(line)
            continue
        margin, first, *parts = re.findall(r"^\s*(?:[-*] +)?|\s*\S+", line)
        begun = margin + first
        for part in parts:
            if cells(begun + part) > width:
                lines.append(begun)
                begun = " " * len(margin) + part.lstrip()
            else:
                begun += part
        lines.append(begun)
    return "\n".join(lines)
