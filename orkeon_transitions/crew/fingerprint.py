"""Whether a crew is still the one that a run began with: what it is made of, in short digests by name.

Only what has an effect counts. A run keeps the digests and not the texts: they tell whether something has
changed, and what, but not how it was.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

from orkeon_transitions.crew.config import AgentConfig, CrewConfig, TaskConfig
from orkeon_transitions.crew.mounts import Mount
from orkeon_transitions.machines import machine_definition

Fingerprint = Mapping[str, Mapping[str, Any]]

# The members of a crew, and the machines that move it; the crew's own fields come with them.
_MEMBERS = ("agents", "tasks", "mounts", "machines")
# Where a crew's file lies, what has no effect, and what only says how fast things go.
_LEFT_OUT = frozenset({"folder", "carried", "agents", "tasks", "mounts", "max_rpm", "max_concurrency"})


def fingerprint(config: CrewConfig, mounts: Sequence[Mount]) -> Fingerprint:
    """What a crew is made of: JSON data, by kind, name and field.

    Args:
        config: The crew, its placeholders not filled: inputs are compared by themselves.
        mounts: Its folders, with their places on this computer.
    """
    machines = ["task_execution", *(["graph_router"] if config.process == "graph" else [])]
    return {
        "crew": _digests(config) | {"order of tasks": _digest(list(config.tasks))},
        "agents": {name: _digests(agent) for name, agent in config.agents.items()},
        "tasks": {name: _digests(task) for name, task in config.tasks.items()},
        "mounts": {mount.virtual: f"{mount.host.absolute()} ({mount.mode})" for mount in mounts},
        "machines": {name: machine_definition(name).content_hash for name in machines},
    }


def changes(before: Fingerprint, now: Fingerprint) -> Iterator[tuple[tuple[str, ...], str]]:
    """Compares two fingerprints.

    Yields:
        What has changed, as its path in the crew file, and how in words.
    """
    same_members = all(_names(before, kind) == _names(now, kind) for kind in ("agents", "tasks"))
    for name in _differing(before.get("crew", {}), now["crew"]):
        if name != "order of tasks":
            yield (name,), "has changed"
        elif same_members:
            yield ("tasks",), "come in another order"
    for kind in _MEMBERS:
        yield from _member_changes(kind, before.get(kind, {}), now[kind])


def _member_changes(
    kind: str, before: Mapping[str, Any], now: Mapping[str, Any]
) -> Iterator[tuple[tuple[str, ...], str]]:
    for name in _differing(before, now):
        if name not in now:
            yield (kind, name), "is gone"
        elif name not in before:
            yield (kind, name), "is new"
        elif isinstance(now[name], Mapping):
            for field in _differing(before[name], now[name]):
                yield (kind, name, field), "has changed"
        elif kind == "mounts":
            yield (kind, name), f"is {now[name]}, and was {before[name]}"
        else:
            yield (kind, name), "has another definition"


def _names(of: Fingerprint, kind: str) -> set[str]:
    return set(of.get(kind, {}))


def _differing(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    return [name for name in {**before, **now} if before.get(name) != now.get(name)]


def _digests(member: CrewConfig | AgentConfig | TaskConfig) -> dict[str, str]:
    """By field; a field that says nothing is left out, so that a later release may have more fields."""
    values = {field.name: getattr(member, field.name) for field in fields(member)}
    return {name: _digest(value) for name, value in values.items() if value and name not in _LEFT_OUT}


def _said(block: Mapping[str, Any]) -> dict[str, Any]:
    """What a block says; fields of which it says nothing are left out, as those of a member are."""
    return {name: value for name, value in block.items() if value is not None}


def _digest(value: Any) -> str:
    data = _said(asdict(value)) if hasattr(value, "__dataclass_fields__") else value
    text = json.dumps(data, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
