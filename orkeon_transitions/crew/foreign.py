"""Files that are no crew, told by what they look like."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, KeysView, Mapping
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
    """Says why a mapping is no crew, or None if it may be one.

    Args:
        data: What stands in the file.
        file: The file's name, or None.
    """
    keys = _keys(data)
    meant = (nearest(key, ("agents", "tasks")) for key in itertools.islice(keys, MOST_COMPARED))
    is_machine = bool(keys & _OF_A_MACHINE) and not keys & {"agents", "tasks"}
    if not is_machine and (keys & _OF_A_CREW or not keys or any(meant)):
        return None
    if looks := likeness(data, file):
        return f"is no crew: it looks like {looks}"
    listed = ", ".join(list(data)[:MOST_LISTED])
    more = ", ..." if len(data) > MOST_LISTED else ""
    return f"is no crew: a crew has 'agents' and 'tasks', and the keys here are {listed}{more}"


def likeness(data: Mapping[str, Any], file: str | None) -> str | None:
    """What a mapping that is no crew looks like, with what to do, or None."""
    keys = _keys(data)
    if keys & _OF_A_MACHINE:
        return "a machine, which has 'states' and 'transitions'"
    if _is_of(data.values(), _OF_AN_AGENT):
        return "the agents of a crew: name its folder, or put them below 'agents'"
    if _is_of(data.values(), _OF_A_TASK):
        return "the tasks of a crew: name its folder, or put them below 'tasks'"
    if keys & _OF_AN_AGENT:
        return "one agent of a crew: name the crew's folder"
    if keys >= _OF_A_TASK:
        return "one task of a crew: name the crew's folder"
    if any(_USE_CASE in name for name in map(_folded, (PurePath(file or "").stem, *keys))):
        return "the description of a use case: name its crew's own file"
    return None


def _keys(data: Mapping[str, Any]) -> KeysView[str]:
    """The keys in snake_case, in their order."""
    return dict.fromkeys(map(snake_case, data)).keys()


def _is_of(members: Iterable[Any], keys: frozenset[str]) -> bool:
    return all(
        isinstance(member, Mapping) and keys & {snake_case(str(key)) for key in member} for member in members
    )


def _folded(name: str) -> str:
    return name.casefold().replace("_", "").replace("-", "").replace(" ", "")
