"""One agent's session, task after task (seed 004): the machine, what it remembers and what it logs.

The names of attributes and methods are the seed's. What differs from it: a refused guard raises, a transition
is logged when its state is really written, and stamps carry their offset.
"""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from orkeon_transitions.breaker import CircuitBreakerPolicy, StateClock
from orkeon_transitions.facts import TransitionResult
from orkeon_transitions.machines.hermes_names import AgentState, AgentTrigger, StateContext
from orkeon_transitions.machines.shipped import ShippedMachine, whole_number
from orkeon_transitions.runtime import AsyncStateMachine, AsyncTrigger, StateMachine, Trigger, TriggerEvent

agent_logger = logging.getLogger("orkeon_transitions.agent")
error_logger = logging.getLogger("orkeon_transitions.agent.errors")

UNKNOWN_ERROR = "Unknown error"
LOG_VERSION = 1


class _HermesRules(ShippedMachine[AgentState, AgentTrigger]):
    """Guards, actions and memory, written once for both kinds of machine."""

    MACHINE = "hermes_agent"
    STATES = AgentState
    TRIGGERS = AgentTrigger
    budget_starts = frozenset({AgentTrigger.RECEIVE_TASK.value})
    persisted = (
        "session_id",
        "max_retries",
        "wait_timeout",
        "retry_count",
        "task_description",
        "plan_steps",
        "current_step",
        "current_tool",
        "last_result",
        "final_result",
        "registered_tools",
        "error_type",
        "error_message",
    )

    def __init__(
        self, session_id: str, max_retries: int = 3, *, wait_timeout: float = 30.0, **options: Any
    ) -> None:
        if not isinstance(session_id, str) or not session_id:
            raise ValueError(f"session_id must be a text that is not empty, not {session_id!r}")
        self.session_id = session_id
        self.max_retries = whole_number("max_retries", max_retries)
        self.wait_timeout = _seconds("wait_timeout", wait_timeout)
        self.retry_count = 0
        self.task_description: str | None = None
        self.plan_steps: list[str] = []
        self.current_step = 0
        self.current_tool: str | None = None
        self.last_result: Any = None
        self.final_result: Any = None
        self.registered_tools: set[str] = set()
        self.state_history: list[dict[str, Any]] = []
        self.error_type: str | None = None
        self.error_message: str | None = None
        self._remembered: tuple[TriggerEvent, dict[str, Any]] | None = None
        self._last_result: TransitionResult | None = None
        if options.get("machine_id") is None and options.get("snapshot") is None:
            options["machine_id"] = session_id
        super().__init__(**options)
        self.entered_at = datetime.now(UTC) - self.circuit_status.time_in_current_state

    # ---------------------------------------------------------------------------------------------- guards
    def is_task_valid(self, event: TriggerEvent) -> bool:
        """Guard of `receive_task`: `task` is a text that is not empty."""
        task = event.kwargs.get("task")
        return isinstance(task, str) and bool(task.strip())

    def has_valid_plan(self, event: TriggerEvent) -> bool:  # noqa: ARG002  (a guard takes the event)
        """Guard of `plan_ready`: the plan has a step."""
        return len(self.plan_steps) > 0

    def is_tool_registered(self, event: TriggerEvent) -> bool:
        """Guard of `call_tool`: `tool_name` was registered."""
        name = event.kwargs.get("tool_name")
        return isinstance(name, str) and name in self.registered_tools

    def can_retry(self, event: TriggerEvent) -> bool:  # noqa: ARG002  (a guard takes the event)
        """Guard of `retry`: the task has a retry left."""
        return self.retry_count < self.max_retries

    def has_next_step(self, event: TriggerEvent) -> bool:  # noqa: ARG002  (a guard takes the event)
        """Guard of `skip_step`: the plan has a step after the current one."""
        return self.current_step + 1 < len(self.plan_steps)

    # --------------------------------------------------------------------------------------------- actions
    def initialize_context(self, event: TriggerEvent) -> Any:
        """Action of `receive_task`: a new task with all its retries."""
        self._remember(
            event,
            task_description=event.kwargs.get("task"),
            retry_count=0,
            error_type=None,
            error_message=None,
        )

    def record_tool_call(self, event: TriggerEvent) -> Any:
        """Action of `call_tool`."""
        self._remember(event, current_tool=event.kwargs.get("tool_name"))

    def inject_result(self, event: TriggerEvent) -> Any:
        """Action of `tool_result_received`: keeps `result`."""
        self._remember(event, last_result=event.kwargs.get("result"))

    def compile_results(self, event: TriggerEvent) -> Any:
        """Action of `finish_execution`: keeps `result`."""
        self._remember(event, final_result=event.kwargs.get("result"))

    def increment_retry(self, event: TriggerEvent) -> Any:
        """Action of `retry`."""
        self._remember(event, retry_count=self.retry_count + 1)

    def advance_step(self, event: TriggerEvent) -> Any:
        """Action of `skip_step`: goes on with the next step of the plan."""
        self._remember(event, current_step=self.current_step + 1)

    def cleanup_resources(self, event: TriggerEvent) -> Any:
        """Action of `abort` and `reset`: forgets the plan and the tool."""
        self._remember(event, plan_steps=[], current_step=0, current_tool=None)

    # ------------------------------------------------------------------------------------------- callbacks
    def on_enter_idle(self, event: TriggerEvent) -> Any:
        """Runs after `idle` was entered; a place to override."""

    def on_enter_planning(self, event: TriggerEvent) -> Any:  # noqa: ARG002  (a callback takes the event)
        """Runs after `planning` was entered."""
        agent_logger.debug("[%s] planning: %s", self.session_id, self.task_description)

    def on_enter_executing(self, event: TriggerEvent) -> Any:
        """Runs after `executing` was entered; a place to override."""

    def on_enter_waiting(self, event: TriggerEvent) -> Any:  # noqa: ARG002  (a callback takes the event)
        """Runs after `waiting` was entered."""
        agent_logger.debug("[%s] waiting for %s", self.session_id, self.current_tool)

    def on_exit_waiting(self, event: TriggerEvent) -> Any:  # noqa: ARG002  (a callback takes the event)
        """Runs before `waiting` is left."""
        agent_logger.debug("[%s] waited %.2f s", self.session_id, self.context.time_in_state())

    def on_enter_error(self, event: TriggerEvent) -> Any:
        """Runs after `error` was entered: one record for the error log."""
        record = {
            "timestamp": self.entered_at.isoformat(),
            "session_id": self.session_id,
            "state_when_error": str(event.from_state),
            "error": self.error_message,
            "retry_count": self.retry_count,
            "v": LOG_VERSION,
            "fact": "agent_error",
            "error_type": self.error_type,
        }
        error_logger.error(json.dumps(record))

    def on_enter_completed(self, event: TriggerEvent) -> Any:  # noqa: ARG002  (a callback takes the event)
        """Runs after `completed` was entered."""
        agent_logger.debug("[%s] task completed", self.session_id)

    def log_transition(self, event: TriggerEvent) -> Any:
        """Writes the record of the transition whose state has just been written to log and history."""
        result = self._last_result
        if result is None:
            return
        record = {
            "timestamp": result.timestamp.isoformat(),
            "session_id": self.session_id,
            "trigger": str(event.trigger),
            "from_state": str(result.from_state),
            "to_state": str(result.to_state),
            "v": LOG_VERSION,
            "fact": "transition",
            "machine": self.definition.name,
            "ordinal": result.ordinal,
            "transition_count": result.transition_count,
        }
        self.state_history.append(record)
        agent_logger.info(json.dumps(record))

    # ------------------------------------------------------------------------------------- the seed's rest
    def register_tool(self, tool_name: str) -> None:
        """Lets the agent call a tool.

        Args:
            tool_name: The tool's name, as `call_tool(tool_name=...)` will give it.
        """
        self.registered_tools.add(tool_name)

    def get_state_summary(self) -> dict[str, Any]:
        """The session in four figures: `session_id, current_state, retry_count, total_transitions`."""
        return {
            "session_id": self.session_id,
            "current_state": str(self.state),
            "retry_count": self.retry_count,
            "total_transitions": self.snapshot().ordinal,
        }

    @property
    def context(self) -> StateContext:
        """The session as it is now, frozen."""
        status, now = self.circuit_status, self._clock()
        return StateContext(
            state=self.state,
            entered_at=self.entered_at,
            task_description=self.task_description,
            plan_steps=tuple(self.plan_steps),
            current_step_index=self.current_step,
            current_tool=self.current_tool,
            waiting_for=self.current_tool if self.state is AgentState.WAITING else None,
            timeout_seconds=self.wait_timeout,
            error_type=self.error_type,
            error_message=self.error_message,
            retry_count=self.retry_count,
            max_retries=self.max_retries,
            result=self.final_result,
            total_tokens_used=status.spent.get("tokens", 0),
            session_id=self.session_id,
            _entered=now - status.time_in_current_state.total_seconds(),
            _clock=self._clock,
        )

    # --------------------------------------------------------------------------------- what the runtime asks
    def _remember(self, event: TriggerEvent, **changes: Any) -> None:
        """Keeps changes until the state is written; if it never is, they are forgotten."""
        if self._remembered is None or self._remembered[0] is not event:
            self._remembered = (event, {})
        self._remembered[1].update(changes)

    def _fields_after(self, event: TriggerEvent) -> Mapping[str, Any]:
        changes = dict(super()._fields_after(event))
        if self._remembered is not None and self._remembered[0] is event:
            changes |= self._remembered[1]
        if event.to_state is AgentState.ERROR:
            changes |= _error_fields(event)
        return changes

    def _written(self, event: TriggerEvent, result: TransitionResult) -> None:
        super()._written(event, result)
        self._remembered = None
        self._last_result = result
        self.entered_at = result.timestamp
        self.log_transition(event)

    def _default_policy(self) -> CircuitBreakerPolicy:
        return CircuitBreakerPolicy.permissive()

    def _state_clock(self, state: str) -> StateClock:
        return StateClock(self.wait_timeout) if state == AgentState.WAITING else super()._state_clock(state)


def _error_fields(event: TriggerEvent) -> dict[str, str]:
    error = event.kwargs.get("error", UNKNOWN_ERROR)
    is_exception = isinstance(error, BaseException)
    return {
        "error_type": type(error).__name__ if is_exception else str(event.trigger),
        "error_message": _text_of(error),
    }


def _text_of(error: Any) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001 (an error that cannot say what it is must be reported all the same)
        return UNKNOWN_ERROR


def _seconds(name: str, value: Any) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or value < 0 or not math.isfinite(value):
        raise ValueError(f"{name} must be a number of seconds that is not negative, not {value!r}")
    return float(value)


class HermesAgentFSM(_HermesRules, StateMachine[AgentState, AgentTrigger]):
    """One agent's session, task after task.

    Guards and actions may be overridden in the seed's way: they take the event, whose `kwargs` are the
    arguments of the trigger. The actions of a transition run before its state is written, and what they
    remember becomes visible, and is saved, together with it.

    Args:
        session_id: The session's name; also the machine's, unless `machine_id` is given.
        max_retries: Retries of one task.
        wait_timeout: Seconds after which `waiting` fires `timeout`; 0: waits for ever.
        **options: Those of `StateMachine`, but the definition.

    Raises:
        ValueError: The session has no name, or a limit is no number or negative.

    Attributes:
        retry_count: Retries of this task.
        task_description: The task.
        plan_steps: The plan; the program sets it before `plan_ready`.
        current_step: Where in the plan; the program may set it, `skip_step` adds 1.
        current_tool: The tool that was called last.
        last_result: What it gave.
        final_result: The result of the last finished task.
        registered_tools: The names of the tools that may be called.
        state_history: The log's records of this process.
        entered_at: When the state was entered, in UTC.
        error_type: The type of the task's last error, or the trigger that reported it.
        error_message: That error's text.
    """

    receive_task: Trigger
    plan_ready: Trigger
    planning_failed: Trigger
    call_tool: Trigger
    finish_execution: Trigger
    execution_error: Trigger
    tool_result_received: Trigger
    needs_replan: Trigger
    timeout: Trigger
    retry: Trigger
    skip_step: Trigger
    abort: Trigger
    reset: Trigger


class AsyncHermesAgentFSM(_HermesRules, AsyncStateMachine[AgentState, AgentTrigger]):
    """One agent's session, on an async machine; everything else is as in `HermesAgentFSM`."""

    receive_task: AsyncTrigger
    plan_ready: AsyncTrigger
    planning_failed: AsyncTrigger
    call_tool: AsyncTrigger
    finish_execution: AsyncTrigger
    execution_error: AsyncTrigger
    tool_result_received: AsyncTrigger
    needs_replan: AsyncTrigger
    timeout: AsyncTrigger
    retry: AsyncTrigger
    skip_step: AsyncTrigger
    abort: AsyncTrigger
    reset: AsyncTrigger
