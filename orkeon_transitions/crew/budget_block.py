"""The `executionBudget` block of a crew file: what an autonomous crew, or one of its tasks, may use."""

from __future__ import annotations

from typing import Any

from orkeon_transitions.crew.execution_budget import NEEDED, PRESETS, WORDS, BudgetBlock
from orkeon_transitions.definition.fields import Block, read_block, read_count, read_seconds, shown
from orkeon_transitions.definition.places import Path, Source

KEYS = ("preset", *WORDS)
ALIASES = {
    "wall_time_seconds": "wall_time",
    "max_wall_time": "wall_time",
    "max_wall_time_seconds": "wall_time",
    "max_tool_calls": "tool_calls",
    "max_delegation_depth": "delegation_depth",
    "max_tokens": "tokens",
    "max_spawns": "spawns",
}


def read_budget_block(source: Source, value: Any, path: Path) -> BudgetBlock | None:
    """Reads an `executionBudget` block, or a preset's name; problems go to the source."""
    if value is None:
        return None
    if isinstance(value, str):
        return BudgetBlock(_preset(source, value, path))
    if not isinstance(value, dict):
        source.problem(path, f"must be a mapping or a preset's name, not {shown(value)}")
        return None
    block = read_block(source, value, path, KEYS, aliases=ALIASES)
    written = block.name("preset")
    preset = None if written is None else _preset(source, written, block.at("preset"))
    read = {name: _amount(block, name) for name in WORDS if block.get(name) is not None}
    return BudgetBlock(preset, {name: most for name, most in read.items() if most is not None})


def _preset(source: Source, written: str, path: Path) -> str | None:
    folded = written.strip().lower()
    if folded in PRESETS:
        return folded
    valid = ", ".join(f"'{name}'" for name in PRESETS)
    source.problem(path, f"unknown preset '{written}': valid are {valid}", source.hint(folded, PRESETS))
    return None


def _amount(block: Block, name: str) -> float | None:
    read = read_seconds if name == "wall_time" else read_count
    most = read(block.source, block.get(name), block.at(name))
    if most == 0 and name in NEEDED:
        block.problem(name, f"must be more than 0: without {WORDS[name]} nothing would ever begin")
        return None
    return most
