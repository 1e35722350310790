"""The names of an agent's session (seed 004): states, triggers, and the view of its context."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any


class AgentState(StrEnum):
    """The states of an agent's session; none is final, since a session takes task after task."""

    IDLE = "idle"
    PLANNING = "planning"
    EXECUTING = "executing"
    WAITING = "waiting"
    ERROR = "error"
    COMPLETED = "completed"


class AgentTrigger(StrEnum):
    """What can happen in an agent's session."""

    RECEIVE_TASK = "receive_task"
    PLAN_READY = "plan_ready"
    PLANNING_FAILED = "planning_failed"
    CALL_TOOL = "call_tool"
    FINISH_EXECUTION = "finish_execution"
    EXECUTION_ERROR = "execution_error"
    TOOL_RESULT_RECEIVED = "tool_result_received"
    NEEDS_REPLAN = "needs_replan"
    TIMEOUT = "timeout"
    RETRY = "retry"
    SKIP_STEP = "skip_step"
    ABORT = "abort"
    RESET = "reset"


@dataclass(frozen=True, slots=True)
class StateContext:
    """A look at a session (seed 004): what belongs to the state in which it is. Frozen.

    Attributes:
        state: Where the session is.
        entered_at: Wall time in UTC, for people.
        task_description: The task, or None before the first one.
        plan_steps: The plan.
        current_step_index: Where in the plan, counted from 0.
        current_tool: The tool that was called last.
        waiting_for: The tool whose result is awaited, or None in every state but `waiting`.
        timeout_seconds: How long a result is awaited.
        error_type: The type of the task's last error, or the trigger that reported it; None without one.
        error_message: That error's text.
        retry_count: Retries of this task.
        max_retries: How many it may have.
        result: The last finished task's result.
        total_tokens_used: What was reported with `spend(tokens=...)` for this task.
        session_id: The session's name.
    """

    state: AgentState
    entered_at: datetime
    task_description: str | None
    plan_steps: tuple[str, ...]
    current_step_index: int
    current_tool: str | None
    waiting_for: str | None
    timeout_seconds: float
    error_type: str | None
    error_message: str | None
    retry_count: int
    max_retries: int
    result: Any
    total_tokens_used: float
    session_id: str
    _entered: float = field(repr=False, compare=False)
    _clock: Callable[[], float] = field(repr=False, compare=False)

    def time_in_state(self) -> float:
        """Seconds since the state was entered, also after the machine has gone on."""
        return max(self._clock() - self._entered, 0.0)
