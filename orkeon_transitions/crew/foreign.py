"""Files that are no crew, told by what they look like."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from pathlib import PurePath
from typing import Any

from orkeon_transitions.definition.names import nearest, snake_case

MOST_LISTED = 8
MOST_COMPARED = 100
_OF_A_CREW = frozenset({"agents", "tasks", "crew", "process", "graph_config", "manager_agent"})
_OF_A_MACHINE = frozenset({"states", "transitions"})
_OF_AN_AGENT = frozenset({"role", "backstory"})
_OF_A_TASK = frozenset({"description", "expected_output"})
_USE_CASE = "usecase"


def foreign(data: Mapping[str, Any], file: str | None) -> str | None:
    """Says what a mapping is if it is no crew, or None if it may be one.

    Args:
        data: What stands in the file.
        file: The file's name, or None.
    """
    keys = dict.fromkeys(map(snake_case, data)).keys()
    if keys & _OF_A_MACHINE and not keys & {"agents", "tasks"}:
        return "is no crew: it looks like a machine, which has 'states' and 'transitions'"
    meant = (nearest(key, ("agents", "tasks")) for key in itertools.islice(keys, MOST_COMPARED))
    if keys & _OF_A_CREW or not keys or any(meant):
        return None
    advice = "load the folder of its crew, or put them below"
    if _is_of(data.values(), _OF_AN_AGENT):
        return f"is no crew: it looks like the agents of one; {advice} 'agents'"
    if _is_of(data.values(), _OF_A_TASK):
        return f"is no crew: it looks like the tasks of one; {advice} 'tasks'"
    if any(_USE_CASE in name for name in map(_folded, (PurePath(file or "").stem, *keys))):
        return "is no crew: it looks like the description of a use case; load its crew's own file"
    listed = ", ".join(list(data)[:MOST_LISTED])
    more = ", ..." if len(data) > MOST_LISTED else ""
    return f"is no crew: a crew has 'agents' and 'tasks', and the keys here are {listed}{more}"


def _is_of(members: Iterable[Any], keys: frozenset[str]) -> bool:
    return all(
        isinstance(member, Mapping) and keys & {snake_case(str(key)) for key in member} for member in members
    )


def _folded(name: str) -> str:
    return name.casefold().replace("_", "").replace("-", "").replace(" ", "")
