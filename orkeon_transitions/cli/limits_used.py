"""How much of its limits a task's last machine had used, for a report."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from orkeon_transitions.cli.words import amount, seconds

if TYPE_CHECKING:
    from collections.abc import Iterable

    from orkeon_transitions.breaker import CircuitBreakerPolicy
    from orkeon_transitions.cli.board import TaskLine
    from orkeon_transitions.crew import TaskResult
    from orkeon_transitions.facts import TransitionResult

Row = dict[str, str]


def limits_used(tasks: Iterable[tuple[TaskResult, TaskLine]]) -> tuple[list[str], list[Row]]:
    """A row for each task that had a machine.

    Args:
        tasks: Each with its line on the board.

    Returns:
        The names of the columns, and the rows by these names; of meters only those that somebody has.
    """
    rows = [_used(task, line) for task, line in tasks if line.machine is not None]
    return list(dict.fromkeys(name for row in rows for name in row)), rows


def _used(task: TaskResult, line: TaskLine) -> Row:
    status, used = line.machine.circuit_status, line.machine.guard_context
    policy = status.policy
    visits = max(status.state_visit_histogram.values(), default=0)
    own = (one.history for one in task.machines if one.machine_id == line.machine.machine_id)
    history = next(own, task.history)
    row = {
        "task": line.task,
        "transitions": _of(status.total_transitions, policy.max_transitions),
        "most visits of a state": _of(visits, policy.max_state_visits),
        "longest in a state": _time(_longest(history, line.machine.definition), policy.state_timeout),
        "in all": _time(status.total_elapsed, policy.max_total_duration),
        "retries": f"{used.retry_count} of {used.max_retries}",
        "tool calls in a round": f"{used.tool_call_count} of {used.max_tool_calls_per_round}",
        "outputs sent back": f"{used.validation_attempts} of {used.max_validation_retries}",
    }
    return row | _meters(status.spent, policy)


def _meters(spent: Any, policy: CircuitBreakerPolicy) -> Row:
    return {
        meter: f"{amount(spent.get(meter, 0)) if most >= 1000 else format(spent.get(meter, 0), 'g')} of "
        f"{amount(most) if most >= 1000 else format(most, 'g')}"
        for meter, most in policy.meters.items()
    }


def _longest(history: Iterable[TransitionResult], definition: Any) -> timedelta:
    """The longest stay in a state that has the policy's time: those that wait for others have their own."""
    stays = (
        after.timestamp - before.timestamp
        for before, after in pairwise(history)
        if definition.states_by_name[str(before.to_state)].timeout is None
    )
    return max(stays, default=timedelta())


def _of(used: int, most: int) -> str:
    return f"{used} of {most}" if most else f"{used}, no limit"


def _time(used: timedelta, most: timedelta) -> str:
    words = seconds(max(0.0, used.total_seconds()))
    return f"{words} of {seconds(most.total_seconds())}" if most else f"{words}, no limit"
