"""One task of one run: its machine, the attempts at it, its result."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field

from orkeon_transitions.crew.config import AgentConfig, TaskConfig
from orkeon_transitions.crew.executors import AgentExecutor, TaskContext
from orkeon_transitions.crew.observing import CrewObserver, TaskMoved, TaskStarted, tell
from orkeon_transitions.crew.results import TaskOutcome, TaskResult, TaskRunStatus
from orkeon_transitions.errors import CircuitBrokenError, StateLeftError
from orkeon_transitions.facts import TransitionResult
from orkeon_transitions.machines import AsyncTaskExecution, TaskState

log = logging.getLogger(__name__)

EMPTY_OUTPUT = "The output was empty. Answer with the expected output."

_STATUS_OF: Mapping[TaskState, TaskRunStatus] = {
    TaskState.COMPLETED: TaskRunStatus.COMPLETED,
    TaskState.DEGRADED: TaskRunStatus.DEGRADED,
    TaskState.CANCELLED: TaskRunStatus.CANCELLED,
}


@dataclass(slots=True)
class TaskRun:
    """Drives a task's machine from `assigned` to its end.

    Attributes:
        task: What is to be done, inputs filled in.
        agent: Who works.
        executor: Does each attempt.
        context: What the executor is given, with the machine.
        observer: Who watches.
    """

    task: TaskConfig
    agent: AgentConfig
    executor: AgentExecutor
    context: TaskContext
    observer: CrewObserver
    _history: list[TransitionResult] = field(default_factory=list, init=False)
    _output: str = field(default="", init=False)
    _error: str | None = field(default=None, init=False)

    @property
    def _machine(self) -> AsyncTaskExecution:
        return self.context.machine

    async def perform(self) -> None:
        """Works on the task until its machine has ended or lets nothing more happen.

        Raises:
            CancelledError: The run was cancelled; the machine then is in `cancelled`.
            Exception: What the journal raises: no fact may be lost.
        """
        stop_listening = self._machine.on_transition(self._moved)
        tell(self.observer.task_started, TaskStarted(self.task.id, self.agent.id, self._machine))
        try:
            await self._drive()
        except asyncio.CancelledError:
            await self._cancel()
            raise
        finally:
            stop_listening()

    def result(self) -> TaskResult:
        """The result as it stands."""
        state = self._machine.state
        status = _STATUS_OF.get(state, TaskRunStatus.FAILED)
        return TaskResult(
            id=self.task.id,
            status=status,
            output=self._output or self.context.partial,
            error=None if status is TaskRunStatus.COMPLETED else self._why(),
            attempts=self.context.attempt,
            history=tuple(self._history),
            agent=self.agent.id,
            usage=self.context.usage,
            machine_id=self._machine.machine_id,
            state=str(state),
        )

    async def _drive(self) -> None:
        """Each turn makes one step of the machine; a step that it refuses ends the task."""
        going_on = await self._fire("begin_execution")
        while going_on and not self.context.is_over:
            match self._machine.state:
                case TaskState.EXECUTING:
                    going_on = await self._work()
                case TaskState.FAILED:
                    going_on = await self._fire("retry")
                case _:
                    going_on = False

    async def _work(self) -> bool:
        """One turn of the executor, and what the machine makes of it."""
        try:
            outcome = await self.executor.execute_task(self.agent, self.task, self.context)
        except (CircuitBrokenError, StateLeftError):
            # The machine knows why, and the result shows it.
            return True
        self._output = outcome.output
        self.context.feedback = None
        if self.context.is_over:
            return True
        if outcome.success:
            return await self._validate(outcome)
        self._error = outcome.error or "the executor failed without saying why"
        if self._machine.state is not TaskState.EXECUTING:
            return True
        return await self._fire("fail")

    async def _validate(self, outcome: TaskOutcome) -> bool:
        """In this version an output is valid if there is any."""
        if not await self._fire("submit_for_validation"):
            return False
        if outcome.output.strip():
            self._error = None
            return await self._fire("validation_passed")
        self._error = outcome.error or "the output is empty"
        self.context.feedback = EMPTY_OUTPUT
        return await self._fire("validation_failed") or await self._fire("fail")

    async def _fire(self, trigger: str) -> bool:
        """Fires; True if it was made."""
        made = bool(await self._machine.try_fire(trigger))
        if made and trigger in {"begin_execution", "retry"}:
            self.context.attempt += 1
        return made

    async def _cancel(self) -> None:
        try:
            await self._machine.try_fire("cancel")
        except Exception:  # the cancellation goes on, whatever a journal says to it
            log.exception("Task '%s' could not be marked as cancelled", self.task.id)

    def _moved(self, transition: TransitionResult) -> None:
        self._history.append(transition)
        moved = TaskMoved(self.task.id, transition, self._machine.circuit_status)
        tell(self.observer.task_moved, moved)

    def _why(self) -> str:
        if reason := self._machine.circuit_status.broken_reason:
            return f"circuit breaker: {reason}"
        if self._machine.state is TaskState.CANCELLED:
            return "cancelled"
        return self._error or f"stopped in '{self._machine.state}'"
