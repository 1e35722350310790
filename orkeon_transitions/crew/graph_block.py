"""The `graphConfig` block of a crew file, as it is written (seed 002)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from orkeon_transitions.definition.fields import read_count
from orkeon_transitions.definition.places import Path, Source
from orkeon_transitions.definition.policy import read_policy_block

GRAPH_LIMITS = ("max_transitions", "max_state_visits", "max_total_duration")
RETRY_CYCLES = "max_retry_cycles"
ALIASES = {"circuit_breaker_preset": "preset"}


@dataclass(frozen=True, slots=True)
class GraphBlock:
    """What a `graphConfig` block says, and no more than it says.

    Attributes:
        preset: The preset's name, or None.
        fields: The policy's fields that are written out.
        max_retry_cycles: How often failed tasks are queued again, or None.
    """

    preset: str | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)
    max_retry_cycles: int | None = None

    @property
    def limits_anything(self) -> bool:
        """Whether it says anything of the breaker."""
        return self.preset is not None or bool(self.fields)


def read_graph_block(source: Source, value: Any, path: Path) -> GraphBlock | None:
    """Reads a `graphConfig` block; problems go to the source."""
    block = read_policy_block(
        source, value, path, further=(RETRY_CYCLES,), limits=GRAPH_LIMITS, aliases=ALIASES
    )
    if block is None:
        return None
    written = block.rest.get(RETRY_CYCLES)
    cycles = None if written is None else read_count(source, written, block.rest.at(RETRY_CYCLES))
    return GraphBlock(block.preset, block.fields, cycles)
