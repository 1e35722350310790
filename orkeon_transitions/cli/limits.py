"""What a crew's tasks are allowed, and where each limit comes from, as `orkeon check` shows it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from orkeon_transitions.definition.names import camel_case

if TYPE_CHECKING:
    from orkeon_transitions.crew import CrewConfig, GraphLimits, TaskLimits

WIDTH = 78
_NAMES = {
    "max_transitions": "maxTransitions",
    "state_timeout": "stateTimeoutSeconds",
    "max_state_visits": "maxStateVisits",
    "max_total_duration": "maxTotalDurationSeconds",
    "use_degraded_mode": "useDegradedMode",
    "max_repeats": "maxRepeats",
}
_OF_A_GRAPH = ("max_transitions", "max_state_visits", "max_total_duration")
_LONGEST = max(map(len, _NAMES.values()))


@dataclass(frozen=True, slots=True)
class Limit:
    """One limit as it counts.

    Attributes:
        value: A count, seconds, true or false; 0: no limit.
        origin: `task`, `crew`, `graphConfig`, `preset strict`, `widened`, `default`, `graph process`.
    """

    value: Any
    origin: str


Limits = Mapping[str, Limit]


@dataclass(frozen=True, slots=True)
class CrewLimits:
    """All limits of a crew, under the names that a crew file has for them.

    Attributes:
        tasks: By task.
        graph: Those of the graph over the tasks; None in the other processes.
        is_written: Whether the crew has a `circuitBreaker` block.
    """

    tasks: Mapping[str, Limits]
    graph: Limits | None
    is_written: bool = True


def limits_of(config: CrewConfig) -> CrewLimits:
    """Works out what a run of the crew would allow."""
    from orkeon_transitions.crew import graph_limits, running_limits

    tasks = {task.id: _of_task(running_limits(config, task)) for task in config.tasks.values()}
    graph = _of_graph(graph_limits(config)) if config.process == "graph" else None
    return CrewLimits(tasks, graph, config.circuit_breaker is not None)


def limit_lines(limits: CrewLimits) -> Iterator[str]:
    """The limits as lines for people, tasks that have the same ones together."""
    if not limits.is_written:
        yield "  no circuitBreaker: strict, its counts widened to what a task's budgets need"
    if limits.graph is not None:
        yield "  the graph over the tasks"
        yield from _rows(limits.graph)
    groups: dict[str, list[str]] = {}
    for task, own in limits.tasks.items():
        groups.setdefault(repr(own), []).append(task)
    for names in groups.values():
        title = ("each task: " if len(names) > 1 else "task: ") + ", ".join(names)
        yield from textwrap.wrap(
            title, WIDTH, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False
        )
        yield from _rows(limits.tasks[names[0]])


def _of_task(limits: TaskLimits) -> Limits:
    values = {name: getattr(limits.policy, name) for name in _NAMES} | dict(limits.guards)
    if limits.policy.meters:
        values["meters"] = limits.policy.meters
    return _named(values, limits.origins)


def _of_graph(limits: GraphLimits) -> Limits:
    values = {name: getattr(limits.policy, name) for name in _OF_A_GRAPH}
    return _named({"max_retry_cycles": limits.max_retry_cycles, **values}, limits.origins)


def _named(values: Mapping[str, Any], origins: Mapping[str, str]) -> Limits:
    return {
        _NAMES.get(name, camel_case(name)): Limit(_plain(value), origins[name])
        for name, value in values.items()
    }


def _plain(value: Any) -> Any:
    """Seconds as a number, without a fraction where there is none."""
    if not isinstance(value, timedelta):
        return value
    seconds = value.total_seconds()
    return int(seconds) if seconds.is_integer() else seconds


def _rows(limits: Limits) -> Iterator[str]:
    shown = {name: _shown(name, limit.value) for name, limit in limits.items()}
    widest = max(map(len, shown.values()))
    for name, limit in limits.items():
        yield f"    {name:<{_LONGEST}}  {shown[name]:>{widest}}  {limit.origin}"


def _shown(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{meter} {most:g}" for meter, most in value.items())
    # A budget of none is one; a limit of the breaker that is 0 is switched off.
    return "off" if value == 0 and name in _NAMES.values() else str(value)
