"""One `circuitBreaker` block of a crew file, as it is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from orkeon_transitions.definition.fields import read_count
from orkeon_transitions.definition.places import Path, Source
from orkeon_transitions.definition.policy import read_policy_block

GUARD_LIMITS = ("max_retries", "max_tool_calls_per_round", "max_validation_retries", "max_questions")


@dataclass(frozen=True, slots=True)
class BreakerBlock:
    """What one `circuitBreaker` block says, and no more than it says.

    Attributes:
        preset: The preset's name, or None.
        fields: The policy's fields that are written out.
        limits: The guard limits that are written out.
    """

    preset: str | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)
    limits: Mapping[str, int] = field(default_factory=dict)


def read_breaker_block(source: Source, value: Any, path: Path) -> BreakerBlock | None:
    """Reads a `circuitBreaker` block of a crew file; problems go to the source."""
    block = read_policy_block(source, value, path, further=GUARD_LIMITS)
    if block is None:
        return None
    limits = {}
    for name in GUARD_LIMITS:
        written = block.rest.get(name)
        if written is not None and (count := read_count(source, written, block.rest.at(name))) is not None:
            limits[name] = count
    return BreakerBlock(block.preset, block.fields, limits)
