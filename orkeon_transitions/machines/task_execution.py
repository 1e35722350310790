"""The execution of one task (seed 000): the machine, its guards and the counters that they judge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from orkeon_transitions.breaker import CircuitBreakerPolicy
from orkeon_transitions.machines.shipped import ShippedMachine, whole_number
from orkeon_transitions.runtime import AsyncStateMachine, AsyncTrigger, StateMachine, Trigger, TriggerEvent


class TaskState(StrEnum):
    """The states of a task's execution; the last three are final."""

    ASSIGNED = "assigned"
    PLANNING = "planning"
    EXECUTING = "executing"
    TOOL_CALLING = "tool_calling"
    VALIDATING = "validating"
    WAITING_FOR_HUMAN_INPUT = "waiting_for_human_input"
    FAILED = "failed"
    COMPLETED = "completed"
    CANCELLED = "cancelled"
    DEGRADED = "degraded"


class TaskTrigger(StrEnum):
    """What can happen to a task's execution."""

    START_PLANNING = "start_planning"
    BEGIN_EXECUTION = "begin_execution"
    REQUEST_TOOL_CALL = "request_tool_call"
    TOOL_CALL_COMPLETED = "tool_call_completed"
    TOOL_CALL_FAILED = "tool_call_failed"
    SKIP_TOOL_CALL = "skip_tool_call"
    SUBMIT_FOR_VALIDATION = "submit_for_validation"
    VALIDATION_PASSED = "validation_passed"
    VALIDATION_FAILED = "validation_failed"
    REQUEST_HUMAN_INPUT = "request_human_input"
    HUMAN_INPUT_RECEIVED = "human_input_received"
    FAIL = "fail"
    RETRY = "retry"
    CANCEL = "cancel"


@dataclass(frozen=True, slots=True)
class TaskExecutionGuardContext:
    """What the guards of a task's execution judge (seed 000). Frozen.

    Attributes:
        retry_count: How often the task was retried after a failure.
        max_retries: How often it may be.
        tool_call_count: Tool calls in this round.
        max_tool_calls_per_round: How many a round may have.
        validation_attempts: How often the validation sent the output back.
        max_validation_retries: How often it may.
        is_tool_registered: Whether the agent has the tool that it asks for.
        question_count: Questions that a human was asked.
        max_questions: How many may be asked.
    """

    retry_count: int = 0
    max_retries: int = 3
    tool_call_count: int = 0
    max_tool_calls_per_round: int = 10
    validation_attempts: int = 0
    max_validation_retries: int = 3
    is_tool_registered: bool = True
    question_count: int = 0
    max_questions: int = 10

    @property
    def can_call_tool(self) -> bool:
        """Whether the round has a tool call left and the agent has that tool."""
        return self.tool_call_count < self.max_tool_calls_per_round and self.is_tool_registered

    @property
    def can_retry(self) -> bool:
        """Whether a retry is left."""
        return self.retry_count < self.max_retries

    @property
    def can_retry_validation(self) -> bool:
        """Whether the output may be sent back once more."""
        return self.validation_attempts < self.max_validation_retries

    @property
    def can_ask_human(self) -> bool:
        """Whether a question is left."""
        return self.question_count < self.max_questions


# Which counter a trigger adds to.
_COUNTED = {
    TaskTrigger.REQUEST_TOOL_CALL: "tool_call_count",
    TaskTrigger.RETRY: "retry_count",
    TaskTrigger.VALIDATION_FAILED: "validation_attempts",
    TaskTrigger.REQUEST_HUMAN_INPUT: "question_count",
}


class _TaskRules(ShippedMachine[TaskState, TaskTrigger]):
    """Guards, counters and limits, written once for both kinds of machine."""

    MACHINE = "task_execution"
    STATES = TaskState
    TRIGGERS = TaskTrigger
    persisted = (
        "retry_count",
        "tool_call_count",
        "validation_attempts",
        "question_count",
        "max_retries",
        "max_tool_calls_per_round",
        "max_validation_retries",
        "max_questions",
    )

    def __init__(
        self,
        *,
        policy: CircuitBreakerPolicy | None = None,
        max_retries: int = 3,
        max_tool_calls_per_round: int = 10,
        max_validation_retries: int = 3,
        max_questions: int = 10,
        **options: Any,
    ) -> None:
        self.max_retries = whole_number("max_retries", max_retries)
        self.max_tool_calls_per_round = whole_number("max_tool_calls_per_round", max_tool_calls_per_round)
        self.max_validation_retries = whole_number("max_validation_retries", max_validation_retries)
        self.max_questions = whole_number("max_questions", max_questions)
        self.retry_count = 0
        self.tool_call_count = 0
        self.validation_attempts = 0
        self.question_count = 0
        super().__init__(policy=policy, **options)

    @classmethod
    def default_policy(
        cls,
        *,
        max_retries: int = 3,
        max_tool_calls_per_round: int = 10,
        max_validation_retries: int = 3,
        max_questions: int = 10,
        **limits: Any,
    ) -> CircuitBreakerPolicy:
        """The policy for a task's budgets: strict, with both counts wide enough to use them up.

        A task enters `executing` once per round and once per tool call of a round, and a round begins at the
        start and with each retry, validation and answer. The five visits of the strict preset would end a
        healthy task at its fifth tool call.

        Args:
            max_retries: Retries after a failure.
            max_tool_calls_per_round: Tool calls in one round.
            max_validation_retries: How often the validation may send the output back.
            max_questions: Questions to a human.
            **limits: Fields of the policy that replace what is sized here, such as `max_repeats=3`.
        """
        rounds = 1 + max_retries + max_validation_retries + max_questions
        visits = rounds * (1 + max_tool_calls_per_round)
        # Two transitions per visit, and the way in and out: more than three only for a single visit.
        transitions = max(3 * visits, 2 * visits + 2)
        sized = {"max_state_visits": visits, "max_transitions": transitions}
        return CircuitBreakerPolicy(**{**dict(CircuitBreakerPolicy.strict()), **sized, **limits})

    @property
    def guard_context(self) -> TaskExecutionGuardContext:
        """The machine's own counters and limits, as its guards judge them."""
        return TaskExecutionGuardContext(
            retry_count=self.retry_count,
            max_retries=self.max_retries,
            tool_call_count=self.tool_call_count,
            max_tool_calls_per_round=self.max_tool_calls_per_round,
            validation_attempts=self.validation_attempts,
            max_validation_retries=self.max_validation_retries,
            question_count=self.question_count,
            max_questions=self.max_questions,
        )

    def can_call_tool(self, event: TriggerEvent) -> bool:
        """Guard of `request_tool_call`."""
        return self._judged(event).can_call_tool

    def can_retry(self, event: TriggerEvent) -> bool:
        """Guard of `retry`."""
        return self._judged(event).can_retry

    def can_retry_validation(self, event: TriggerEvent) -> bool:
        """Guard of `validation_failed`."""
        return self._judged(event).can_retry_validation

    def can_ask_human(self, event: TriggerEvent) -> bool:
        """Guard of `request_human_input`."""
        return self._judged(event).can_ask_human

    def _judged(self, event: TriggerEvent) -> TaskExecutionGuardContext:
        if event.context is None:
            return self.guard_context
        if isinstance(event.context, TaskExecutionGuardContext):
            return event.context
        raise TypeError(
            f"the context must be a {TaskExecutionGuardContext.__name__}, not {type(event.context).__name__}"
        )

    def _default_policy(self) -> CircuitBreakerPolicy:
        return self.default_policy(
            max_retries=self.max_retries,
            max_tool_calls_per_round=self.max_tool_calls_per_round,
            max_validation_retries=self.max_validation_retries,
            max_questions=self.max_questions,
        )

    def _fields_after(self, event: TriggerEvent) -> Mapping[str, Any]:
        changes: dict[str, Any] = dict(super()._fields_after(event))
        if counter := _COUNTED.get(event.trigger):
            changes[counter] = getattr(self, counter) + 1
        if event.to_state is TaskState.EXECUTING and event.from_state is not TaskState.TOOL_CALLING:
            changes["tool_call_count"] = 0
        return changes


class TaskExecution(_TaskRules, StateMachine[TaskState, TaskTrigger]):
    """The execution of one task.

    `fire(trigger, TaskExecutionGuardContext(...))` judges the context that it is given; without one, the
    machine judges its own counters, which its own transitions keep. A round of tool calls begins whenever
    `executing` is entered other than from a tool call.

    Args:
        policy: Counts as it stands. Without one, `default_policy` of the limits below.
        max_retries: Retries after a failure.
        max_tool_calls_per_round: Tool calls in one round.
        max_validation_retries: How often the validation may send the output back.
        max_questions: Questions to a human.
        **options: Those of `StateMachine`, but the definition.

    Raises:
        ValueError: A limit is no whole number, or negative.

    Attributes:
        retry_count: Retries so far.
        tool_call_count: Tool calls in this round.
        validation_attempts: How often the validation sent the output back.
        question_count: Questions so far.
    """

    start_planning: Trigger
    begin_execution: Trigger
    request_tool_call: Trigger
    tool_call_completed: Trigger
    tool_call_failed: Trigger
    skip_tool_call: Trigger
    submit_for_validation: Trigger
    validation_passed: Trigger
    validation_failed: Trigger
    request_human_input: Trigger
    human_input_received: Trigger
    fail: Trigger
    retry: Trigger
    cancel: Trigger


class AsyncTaskExecution(_TaskRules, AsyncStateMachine[TaskState, TaskTrigger]):
    """The execution of one task, on an async machine; everything else is as in `TaskExecution`."""

    start_planning: AsyncTrigger
    begin_execution: AsyncTrigger
    request_tool_call: AsyncTrigger
    tool_call_completed: AsyncTrigger
    tool_call_failed: AsyncTrigger
    skip_tool_call: AsyncTrigger
    submit_for_validation: AsyncTrigger
    validation_passed: AsyncTrigger
    validation_failed: AsyncTrigger
    request_human_input: AsyncTrigger
    human_input_received: AsyncTrigger
    fail: AsyncTrigger
    retry: AsyncTrigger
    cancel: AsyncTrigger
