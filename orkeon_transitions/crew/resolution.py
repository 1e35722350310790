"""From two `circuitBreaker` blocks, the crew's and the task's, to what one task is allowed (seed 000).

The base is the task's preset, else the crew's, else `strict`; the crew's explicit fields go over it, then the
task's. The guard limits are resolved the same way, field by field.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from orkeon_transitions.breaker import CircuitBreakerPolicy
from orkeon_transitions.crew.breaker_block import GUARD_LIMITS, BreakerBlock, read_breaker_block
from orkeon_transitions.definition.plain import plain_source
from orkeon_transitions.errors import CrewDefinitionError
from orkeon_transitions.machines import TaskExecution, TaskExecutionGuardContext

MOST_REPEATS = 4

AnyBlock = BreakerBlock | Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class TaskLimits:
    """Everything that a task's machine is made with.

    Attributes:
        policy: The breaker's policy.
        guards: The guard limits, by the names of the machine's options.
    """

    policy: CircuitBreakerPolicy
    guards: Mapping[str, int]


def resolve_policy(crew_block: AnyBlock, task_block: AnyBlock) -> CircuitBreakerPolicy:
    """Works out the policy of a task.

    Args:
        crew_block: The crew's `circuitBreaker` block, in either spelling, or None.
        task_block: The task's.

    Raises:
        CrewDefinitionError: A block has an unknown preset or key, or a wrong value.
    """
    crew, task = _read(crew_block), _read(task_block)
    base = CircuitBreakerPolicy.preset(task.preset or crew.preset or "strict")
    return base.model_copy(update={**crew.fields, **task.fields})


def resolve_guard_context(crew_block: AnyBlock, task_block: AnyBlock) -> TaskExecutionGuardContext:
    """Works out the guard limits of a task, as the context of a machine that has counted nothing yet.

    Raises:
        CrewDefinitionError: As in `resolve_policy`.
    """
    limits: Mapping[str, Any] = {**_read(crew_block).limits, **_read(task_block).limits}
    return TaskExecutionGuardContext(**limits)


def make_task_machine(crew_block: AnyBlock, task_block: AnyBlock, **options: Any) -> TaskExecution:
    """Makes the machine of a task, with exactly the limits that the two blocks give.

    A crew's run widens the counts that only a preset gives; here they stay as they are.

    Args:
        crew_block: The crew's `circuitBreaker` block, in either spelling, or None.
        task_block: The task's.
        options: Further options of `TaskExecution`.

    Raises:
        CrewDefinitionError: As in `resolve_policy`.
    """
    policy = resolve_policy(crew_block, task_block)
    return TaskExecution(policy=policy, **_guard_limits(crew_block, task_block), **options)


def running_limits(crew_block: AnyBlock, task_block: AnyBlock) -> TaskLimits:
    """Works out the limits under which a crew's run puts a task.

    No healthy task is cut short by a preset: visits and transitions that no block writes out are widened to
    what the task's own budgets allow. Equal tool calls in a row are limited to 4 unless a block says
    otherwise. An explicit value always wins.
    """
    crew, task = _read(crew_block), _read(task_block)
    guards = _guard_limits(crew, task)
    policy = resolve_policy(crew, task)
    needed = TaskExecution.default_policy(**guards)
    explicit = crew.fields.keys() | task.fields.keys()
    widened = {
        name: max(getattr(policy, name), getattr(needed, name))
        for name in ("max_transitions", "max_state_visits")
        if name not in explicit
    }
    if "max_repeats" not in explicit:
        widened["max_repeats"] = MOST_REPEATS
    return TaskLimits(policy.model_copy(update=widened), guards)


def _guard_limits(crew_block: AnyBlock, task_block: AnyBlock) -> dict[str, int]:
    context = resolve_guard_context(crew_block, task_block)
    return {name: getattr(context, name) for name in GUARD_LIMITS}


def _read(block: AnyBlock) -> BreakerBlock:
    if block is None:
        return BreakerBlock()
    if isinstance(block, BreakerBlock):
        return block
    source = plain_source(block, error=CrewDefinitionError)
    made = read_breaker_block(source, source.data, ())
    source.raise_problems()
    return made or BreakerBlock()
