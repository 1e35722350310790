"""The three life cycles that last over days and restarts, beside the task's execution (seed 000)."""

from __future__ import annotations

from enum import StrEnum

from orkeon_transitions.machines.shipped import ShippedMachine
from orkeon_transitions.runtime import AsyncStateMachine, AsyncTrigger, StateMachine, Trigger


class TaskStatusState(StrEnum):
    """What is known of a task; the last two are final."""

    PENDING = "pending"
    BLOCKED = "blocked"
    IN_PROGRESS = "in_progress"
    FAILED = "failed"
    COMPLETED = "completed"
    CANCELLED = "cancelled"


class TaskStatusTrigger(StrEnum):
    """What can happen to a task."""

    BLOCK = "block"
    UNBLOCK = "unblock"
    START = "start"
    COMPLETE = "complete"
    FAIL = "fail"
    RETRY = "retry"
    CANCEL = "cancel"


class AgentStatusState(StrEnum):
    """What is known of an agent; the last one is final."""

    CREATED = "created"
    IDLE = "idle"
    BUSY = "busy"
    UNAVAILABLE = "unavailable"
    ERROR = "error"
    DEACTIVATED = "deactivated"


class AgentStatusTrigger(StrEnum):
    """What can happen to an agent."""

    INITIALIZE = "initialize"
    ASSIGN_TASK = "assign_task"
    COMPLETE_TASK = "complete_task"
    FAIL_TASK = "fail_task"
    SUSPEND = "suspend"
    ACTIVATE = "activate"
    RESET = "reset"
    DEACTIVATE = "deactivate"


class CrewStatusState(StrEnum):
    """What is known of a crew; the last two are final."""

    CREATED = "created"
    INITIALIZING = "initializing"
    IDLE = "idle"
    EXECUTING = "executing"
    PAUSED = "paused"
    FAILED = "failed"
    COMPLETED = "completed"
    CANCELLED = "cancelled"


class CrewStatusTrigger(StrEnum):
    """What can happen to a crew."""

    INITIALIZE = "initialize"
    READY = "ready"
    START_EXECUTION = "start_execution"
    PAUSE = "pause"
    RESUME = "resume"
    COMPLETE = "complete"
    FAIL = "fail"
    RESET = "reset"
    CANCEL = "cancel"


class _TaskStatus(ShippedMachine[TaskStatusState, TaskStatusTrigger]):
    MACHINE = "task_status"
    STATES = TaskStatusState
    TRIGGERS = TaskStatusTrigger


class _AgentStatus(ShippedMachine[AgentStatusState, AgentStatusTrigger]):
    MACHINE = "agent_status"
    STATES = AgentStatusState
    TRIGGERS = AgentStatusTrigger


class _CrewStatus(ShippedMachine[CrewStatusState, CrewStatusTrigger]):
    MACHINE = "crew_status"
    STATES = CrewStatusState
    TRIGGERS = CrewStatusTrigger


class TaskStatus(_TaskStatus, StateMachine[TaskStatusState, TaskStatusTrigger]):
    """A task's status: waiting, worked on, done. Its execution runs inside of `in_progress`.

    A status has no budget of its own: without a `policy`, no limit is set. Options as for `StateMachine`.
    """

    block: Trigger
    unblock: Trigger
    start: Trigger
    complete: Trigger
    fail: Trigger
    retry: Trigger
    cancel: Trigger


class AsyncTaskStatus(_TaskStatus, AsyncStateMachine[TaskStatusState, TaskStatusTrigger]):
    """A task's status on an async machine; everything else is as in `TaskStatus`."""

    block: AsyncTrigger
    unblock: AsyncTrigger
    start: AsyncTrigger
    complete: AsyncTrigger
    fail: AsyncTrigger
    retry: AsyncTrigger
    cancel: AsyncTrigger


class AgentStatus(_AgentStatus, StateMachine[AgentStatusState, AgentStatusTrigger]):
    """An agent's status: ready, busy, out of service.

    A status has no budget of its own: without a `policy`, no limit is set. Options as for `StateMachine`.
    """

    initialize: Trigger
    assign_task: Trigger
    complete_task: Trigger
    fail_task: Trigger
    suspend: Trigger
    activate: Trigger
    reset: Trigger
    deactivate: Trigger


class AsyncAgentStatus(_AgentStatus, AsyncStateMachine[AgentStatusState, AgentStatusTrigger]):
    """An agent's status on an async machine; everything else is as in `AgentStatus`."""

    initialize: AsyncTrigger
    assign_task: AsyncTrigger
    complete_task: AsyncTrigger
    fail_task: AsyncTrigger
    suspend: AsyncTrigger
    activate: AsyncTrigger
    reset: AsyncTrigger
    deactivate: AsyncTrigger


class CrewStatus(_CrewStatus, StateMachine[CrewStatusState, CrewStatusTrigger]):
    """A crew's status: set up, running, paused, done.

    A status has no budget of its own: without a `policy`, no limit is set. Options as for `StateMachine`.
    """

    initialize: Trigger
    ready: Trigger
    start_execution: Trigger
    pause: Trigger
    resume: Trigger
    complete: Trigger
    fail: Trigger
    reset: Trigger
    cancel: Trigger


class AsyncCrewStatus(_CrewStatus, AsyncStateMachine[CrewStatusState, CrewStatusTrigger]):
    """A crew's status on an async machine; everything else is as in `CrewStatus`."""

    initialize: AsyncTrigger
    ready: AsyncTrigger
    start_execution: AsyncTrigger
    pause: AsyncTrigger
    resume: AsyncTrigger
    complete: AsyncTrigger
    fail: AsyncTrigger
    reset: AsyncTrigger
    cancel: AsyncTrigger
