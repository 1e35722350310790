"""From the blocks of a crew file to what one task, and the graph over the tasks, is allowed.

A task (seed 000): the base is the task's preset, else the crew's, else `strict`; the crew's explicit fields
go over it, then the task's. The guard limits are resolved the same way, field by field. A graph (seed 002):
`graphConfig`, field by field over its own preset; the crew's `circuitBreaker` counts where `graphConfig` says
nothing of limits.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import timedelta
from types import MappingProxyType
from typing import Any

from orkeon_transitions.breaker import CircuitBreakerPolicy
from orkeon_transitions.crew.breaker_block import GUARD_LIMITS, BreakerBlock, read_breaker_block
from orkeon_transitions.crew.config import CrewConfig, TaskConfig
from orkeon_transitions.crew.graph_block import GraphBlock, read_graph_block
from orkeon_transitions.definition.plain import plain_source
from orkeon_transitions.errors import CrewDefinitionError
from orkeon_transitions.machines import TaskExecution, TaskExecutionGuardContext

MOST_REPEATS = 4
RETRY_CYCLES = 2
QUESTION: Mapping[str, int] = MappingProxyType(
    {"max_retries": 2, "max_tool_calls_per_round": 0, "max_validation_retries": 2, "max_questions": 0}
)
_NO_TIMEOUT = timedelta(0)

AnyBlock = BreakerBlock | Mapping[str, Any] | None
AnyGraphBlock = GraphBlock | Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class TaskLimits:
    """Everything that a task's machine is made with.

    Attributes:
        policy: The breaker's policy.
        guards: The guard limits, by the names of the machine's options.
        origins: Where each limit comes from, by its name: `task`, `crew`, `preset strict`, `widened`,
            `default`, `graph process`.
    """

    policy: CircuitBreakerPolicy
    guards: Mapping[str, int]
    origins: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class GraphLimits:
    """What the graph process is allowed.

    Attributes:
        policy: The policy of the graph. It has no state timeout: the task in a node has its own.
        max_retry_cycles: How often failed tasks are queued again.
        origins: Where each limit comes from, by its name: `graphConfig`, `crew`, `preset strict`, `widened`,
            `default`.
    """

    policy: CircuitBreakerPolicy
    max_retry_cycles: int
    origins: Mapping[str, str]


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


def resolve_graph_policy(
    graph_config: AnyGraphBlock,
    crew_block: AnyBlock,
    fallback: CircuitBreakerPolicy | None = None,
) -> CircuitBreakerPolicy:
    """Works out the policy of a graph over the tasks, in the order of seed 002.

    The explicit fields of `graphConfig` go over its preset. The crew's block counts only where `graphConfig`
    is absent or says nothing of limits (`maxRetryCycles` is none). Failing both, the fallback counts.

    Args:
        graph_config: The crew's `graphConfig` block, in either spelling, or None.
        crew_block: The crew's `circuitBreaker` block, or None.
        fallback: What counts where nothing is said; `strict` if left out.

    Raises:
        CrewDefinitionError: As in `resolve_policy`.
    """
    block, _ = _graph_base(_read_graph(graph_config), _read(crew_block))
    base = CircuitBreakerPolicy.preset(block.preset) if block.preset else fallback
    return (base or CircuitBreakerPolicy.strict()).model_copy(update=dict(block.fields))


def running_limits(config: CrewConfig, task: TaskConfig) -> TaskLimits:
    """Works out the limits under which a crew's run puts a task.

    No healthy task is cut short by a preset: visits and transitions that no block writes out are widened to
    what the task's own budgets allow. Equal tool calls in a row are limited to 4 unless a block says
    otherwise. In the graph process the graph retries, so a task's machine has no retries of its own unless
    `maxRetries` is written out. An explicit value always wins.
    """
    crew, own = _read(config.circuit_breaker), _read(task.circuit_breaker)
    guards, origins = _running_guards(config, crew, own)
    policy = resolve_policy(crew, own)
    needed = TaskExecution.default_policy(**guards)
    preset = f"preset {own.preset or crew.preset or 'strict'}"
    origins = dict.fromkeys(CircuitBreakerPolicy.model_fields, preset) | origins
    origins |= dict.fromkeys(crew.fields, "crew") | dict.fromkeys(own.fields, "task")
    explicit = crew.fields.keys() | own.fields.keys()
    wanted = {name: getattr(needed, name) for name in ("max_transitions", "max_state_visits")}
    update = _widened(policy, wanted, explicit, origins)
    if "max_repeats" not in explicit:
        update["max_repeats"] = MOST_REPEATS
        origins["max_repeats"] = "default"
    return TaskLimits(policy.model_copy(update=update), guards, origins)


def question_limits(config: CrewConfig) -> TaskLimits:
    """Works out the limits of a question that a process asks an agent besides the tasks.

    It has no tools, two retries and two further answers in place of one that cannot be read; its counts are
    those that this needs. Its times are the crew's, those of `strict` where the crew says nothing, and a trip
    never raises.
    """
    crew = _read(config.circuit_breaker)
    needed = TaskExecution.default_policy(**QUESTION)
    update = {name: getattr(needed, name) for name in ("max_transitions", "max_state_visits")}
    policy = resolve_policy(crew, None).model_copy(update={**update, "use_degraded_mode": True})
    return TaskLimits(policy, QUESTION, dict.fromkeys(CircuitBreakerPolicy.model_fields, "question"))


def graph_limits(config: CrewConfig) -> GraphLimits:
    """Works out the limits under which a crew's run puts its graph.

    What a preset says is widened to what the tasks and the retry cycles need: as many visits of a node as
    there can be attempts, two transitions for each, and the preset's total duration once for each task. An
    explicit value always wins.
    """
    graph, crew = config.graph_config or GraphBlock(), _read(config.circuit_breaker)
    block, level = _graph_base(graph, crew)
    policy = resolve_graph_policy(graph, crew)
    cycles = RETRY_CYCLES if graph.max_retry_cycles is None else graph.max_retry_cycles
    visits = len(config.tasks) * (1 + cycles)
    wanted = {
        "max_state_visits": visits,
        "max_transitions": 2 * visits + 1,
        "max_total_duration": policy.max_total_duration * len(config.tasks),
    }
    origins = dict.fromkeys(CircuitBreakerPolicy.model_fields, f"preset {block.preset or 'strict'}")
    origins |= dict.fromkeys(block.fields, level)
    origins["max_retry_cycles"] = "default" if graph.max_retry_cycles is None else "graphConfig"
    update = _widened(policy, wanted, block.fields.keys(), origins)
    return GraphLimits(policy.model_copy(update={**update, "state_timeout": _NO_TIMEOUT}), cycles, origins)


def _graph_base(graph: GraphBlock, crew: BreakerBlock) -> tuple[GraphBlock, str]:
    """The block that limits the graph, and its name in the file."""
    if graph.limits_anything:
        return graph, "graphConfig"
    return GraphBlock(crew.preset, crew.fields), "crew"


def _widened(
    policy: CircuitBreakerPolicy,
    wanted: Mapping[str, Any],
    explicit: Collection[str],
    origins: dict[str, str],
) -> dict[str, Any]:
    """What is widened of the limits that nobody wrote out, noted among the origins."""
    wider = {
        name: value
        for name, value in wanted.items()
        # A limit that is switched off is wide enough.
        if name not in explicit and getattr(policy, name) and value > getattr(policy, name)
    }
    origins.update(dict.fromkeys(wider, "widened"))
    return wider


def _running_guards(
    config: CrewConfig, crew: BreakerBlock, task: BreakerBlock
) -> tuple[dict[str, int], dict[str, str]]:
    """The guard limits of a task in a run, and where each comes from."""
    guards = _guard_limits(crew, task)
    origins = dict.fromkeys(guards, "default")
    if config.process == "graph":
        guards["max_retries"] = {"max_retries": 0, **crew.limits, **task.limits}["max_retries"]
        origins["max_retries"] = "graph process"
    return guards, origins | dict.fromkeys(crew.limits, "crew") | dict.fromkeys(task.limits, "task")


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


def _read_graph(block: AnyGraphBlock) -> GraphBlock:
    if block is None:
        return GraphBlock()
    if isinstance(block, GraphBlock):
        return block
    source = plain_source(block, error=CrewDefinitionError)
    made = read_graph_block(source, source.data, ())
    source.raise_problems()
    return made or GraphBlock()
