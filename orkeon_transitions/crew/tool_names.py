"""What a model calls its tools: names that every provider takes, one for each tool."""

from __future__ import annotations

import re
from collections.abc import Iterable

from orkeon_transitions.crew.tool import Tool

LONGEST = 64
_UNFIT = re.compile(r"[^A-Za-z0-9_-]+")


def named_for_models(tools: Iterable[Tool]) -> dict[str, Tool]:
    """Gives each tool a name of letters, digits, `_` and `-`, at most 64 long.

    A name that is fit stays as it is. Any other one has `_` for what does not fit, and a number where two
    would be the same: `weather.next week` becomes `weather_next_week`.

    Returns:
        The tools by these names, in their order.
    """
    listed = list(tools)
    taken = {tool.name for tool in listed if _is_fit(tool.name)}
    named: dict[str, Tool] = {}
    for tool in listed:
        name = tool.name if _is_fit(tool.name) else _free(_fitted(tool.name), taken)
        taken.add(name)
        named[name] = tool
    return named


def _is_fit(name: str) -> bool:
    return len(name) <= LONGEST and not _UNFIT.search(name)


def _fitted(name: str) -> str:
    return _UNFIT.sub("_", name).strip("_")[:LONGEST] or "tool"


def _free(name: str, taken: set[str]) -> str:
    number, found = 1, name
    while found in taken:
        number += 1
        ending = f"_{number}"
        found = name[: LONGEST - len(ending)] + ending
    return found
