"""How agents go about their tasks, as a crew file says it: plans, people, checks, rounds, rates."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from orkeon_transitions.crew.breaker_block import BreakerBlock
from orkeon_transitions.crew.checks import Rule
from orkeon_transitions.crew.checks.block import read_guardrails, read_shape
from orkeon_transitions.definition.fields import Block, read_block, read_count, read_flag, shown


def read_crew_conduct(block: Block) -> dict[str, Any]:
    """What the crew says, by the fields of `CrewConfig`; problems go to the block's source."""
    return {
        "planning": bool(_flag(block, "planning")),
        "human_input": bool(_flag(block, "human_input")),
        "guardrails": _guardrails(block),
        "max_rpm": _count(block, "max_rpm"),
        "max_concurrency": _concurrency(block),
    }


def read_agent_conduct(block: Block) -> dict[str, Any]:
    """What an agent says, by the fields of `AgentConfig`; problems go to the block's source."""
    return {
        "planning": _either(block, ("planning", "reasoning"), _flag),
        "guardrails": _guardrails(block),
        "max_iter": _either(block, ("max_iter", "max_iterations"), _count),
        "max_rpm": _count(block, "max_rpm"),
    }


def read_task_conduct(block: Block) -> dict[str, Any]:
    """What a task says, by the fields of `TaskConfig`; problems go to the block's source."""
    return {
        "planning": _flag(block, "planning"),
        "human_input": _flag(block, "human_input"),
        "guardrails": _guardrails(block),
        "output_shape": read_shape(block),
    }


def with_guardrail_retries(block: Block, breaker: BreakerBlock | None) -> BreakerBlock | None:
    """`guardrailMaxRetries` is another word for the task's `maxValidationRetries`."""
    most = _count(block, "guardrail_max_retries")
    if most is None:
        return breaker
    breaker = breaker or BreakerBlock()
    if breaker.limits.get("max_validation_retries", most) != most:
        block.problem("guardrail_max_retries", "and 'maxValidationRetries' are the same limit, and differ")
    return replace(breaker, limits={**breaker.limits, "max_validation_retries": most})


def _guardrails(block: Block) -> tuple[Rule, ...]:
    both = (
        read_guardrails(block.source, block.get(key), block.at(key)) for key in ("guardrails", "guardrail")
    )
    return tuple(rule for rules in both for rule in rules)


def _concurrency(block: Block) -> int | None:
    direct = _at_least_one(block, "max_concurrency")
    written = block.get("parallel_config")
    if written is None:
        return direct
    if not isinstance(written, dict):
        block.problem("parallel_config", f"must be a mapping with 'maxConcurrency', not {shown(written)}")
        return direct
    inner = read_block(block.source, written, block.at("parallel_config"), ("max_concurrency",))
    nested = _at_least_one(inner, "max_concurrency")
    if None not in (direct, nested) and direct != nested:
        inner.problem("max_concurrency", f"is {nested}, and the crew's own 'maxConcurrency' is {direct}")
    return nested if direct is None else direct


def _at_least_one(block: Block, key: str) -> int | None:
    count = _count(block, key)
    if count == 0:
        block.problem(key, "must be a whole number from 1: with 0 nothing would ever begin")
    return count or None


def _either(block: Block, keys: tuple[str, str], read: Any) -> Any:
    """The value of one of two words for the same thing."""
    first, second = (read(block, key) for key in keys)
    if None not in (first, second) and first != second:
        block.problem(keys[1], f"and '{keys[0]}' are the same key, and their values differ")
    return second if first is None else first


def _flag(block: Block, key: str) -> bool | None:
    value = block.get(key)
    return None if value is None else read_flag(block.source, value, block.at(key))


def _count(block: Block, key: str) -> int | None:
    value = block.get(key)
    return None if value is None else read_count(block.source, value, block.at(key))
