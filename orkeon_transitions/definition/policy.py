"""The `circuit_breaker` block, in a machine file and in a crew file."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from orkeon_transitions.breaker import CircuitBreakerPolicy
from orkeon_transitions.definition.fields import (
    Block,
    read_block,
    read_count,
    read_flag,
    read_name,
    read_number,
    read_seconds,
    shown,
)
from orkeon_transitions.definition.places import Path, Source

# A crew file says the unit in the key (seed 000).
DURATION_ALIASES = {
    "state_timeout_seconds": "state_timeout",
    "max_total_duration_seconds": "max_total_duration",
}


@dataclass(frozen=True, slots=True)
class PolicyBlock:
    """What a `circuit_breaker` block says, and no more than it says.

    Attributes:
        preset: The preset's name in lower case, or None.
        fields: The policy's fields that are written out.
        rest: The block itself, for the further keys that a crew file has there.
    """

    preset: str | None
    fields: Mapping[str, Any]
    rest: Block = field(compare=False)

    def policy(self) -> CircuitBreakerPolicy:
        """The policy: the preset, or else the default, with the fields over it."""
        base = CircuitBreakerPolicy.preset(self.preset or "default")
        return base.model_copy(update=dict(self.fields))


def read_policy(source: Source, value: Any, path: Path) -> CircuitBreakerPolicy | None:
    """Reads a `circuit_breaker` block as a whole policy.

    Args:
        source: Where problems go.
        value: The block: a mapping with the policy's own field names or a crew file's, or a policy.
        path: Where it is.

    Returns:
        The policy; None for null, and after a problem.
    """
    if isinstance(value, CircuitBreakerPolicy):
        return value
    block = read_policy_block(source, value, path)
    return block.policy() if block is not None else None


def read_policy_block(
    source: Source,
    value: Any,
    path: Path,
    *,
    further: Collection[str] = (),
    limits: Collection[str] | None = None,
    aliases: Mapping[str, str] | None = None,
) -> PolicyBlock | None:
    """Reads a `circuit_breaker` block field by field.

    Args:
        source: Where problems go.
        value: The block.
        path: Where it is.
        further: Keys that may be there besides the policy's, in snake_case; they are left to the caller.
        limits: The policy's fields that may be there; all of them if left out.
        aliases: Other names of the keys, besides those that every block may use.

    Returns:
        What is written there; None for null, and for what is no mapping. Wrong fields are left out.
    """
    if value is None:
        return None
    if not isinstance(value, dict):
        source.problem(path, f"must be a mapping such as {{preset: strict}}, not {shown(value)}")
        return None
    readers = {name: read for name, read in _READERS.items() if limits is None or name in limits}
    known = {"preset", *readers, *further}
    block = read_block(source, value, path, known, aliases={**DURATION_ALIASES, **(aliases or {})})
    fields = {}
    for name, read in readers.items():
        if block.get(name) is not None:
            content = read(source, block.get(name), block.at(name))
            if content is not None:
                fields[name] = content
    return PolicyBlock(_read_preset(block), fields, block)


def _read_preset(block: Block) -> str | None:
    name = block.name("preset")
    if name is None:
        return None
    folded = name.strip().lower()
    valid = CircuitBreakerPolicy.preset_names()
    if folded not in valid:
        hint = block.source.hint(folded, valid)
        block.problem("preset", f"unknown preset '{name}': valid are {', '.join(valid)}", hint)
        return None
    return folded


def _read_duration(source: Source, value: Any, path: Path) -> timedelta | None:
    seconds = read_seconds(source, value, path)
    return None if seconds is None else timedelta(seconds=seconds)


def _read_meters(source: Source, value: Any, path: Path) -> dict[str, float] | None:
    if not isinstance(value, dict):
        source.problem(path, f"must be a mapping of meters to limits, not {shown(value)}")
        return None
    meters = {}
    for name, most in value.items():
        at = (*path, name)
        if read_name(source, name, at) is not None and (limit := read_number(source, most, at)) is not None:
            meters[name] = float(limit)
    return meters


_READERS: Mapping[str, Callable[[Source, Any, Path], Any]] = {
    "max_transitions": read_count,
    "state_timeout": _read_duration,
    "max_state_visits": read_count,
    "max_total_duration": _read_duration,
    "use_degraded_mode": read_flag,
    "meters": _read_meters,
    "max_repeats": read_count,
}
