"""What all processes share: the run of a crew, its tasks in order, its results."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from orkeon_transitions.crew.config import CrewConfig, TaskConfig
from orkeon_transitions.crew.executors import AgentExecutor, TaskContext
from orkeon_transitions.crew.observing import CrewObserver, tell
from orkeon_transitions.crew.ordering import in_order
from orkeon_transitions.crew.processes.life_cycles import LifeCycles
from orkeon_transitions.crew.resolution import running_limits
from orkeon_transitions.crew.results import CrewResult, CrewRunStatus, TaskResult, TaskRunStatus, Usage
from orkeon_transitions.crew.task_run import TaskRun
from orkeon_transitions.machines import AsyncTaskExecution

GAVE_SOMETHING = frozenset({TaskRunStatus.COMPLETED, TaskRunStatus.DEGRADED})
# What makes a run end so, the gravest first.
_GRAVEST = (
    (TaskRunStatus.FAILED, CrewRunStatus.FAILED),
    (TaskRunStatus.CANCELLED, CrewRunStatus.CANCELLED),
    (TaskRunStatus.SKIPPED, CrewRunStatus.FAILED),
    (TaskRunStatus.DEGRADED, CrewRunStatus.DEGRADED),
)


class Journal(Protocol):
    """Anything that takes note of a machine's facts, such as a `JsonlJournal`."""

    def record(self, machine: Any, /) -> Any:
        """Becomes the machine's commit hook."""
        ...


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What a run is given by the program.

    Attributes:
        run_id: The run's own name.
        inputs: What fills the placeholders.
        executor: Does each attempt at a task.
        observer: Who watches.
        journal: Takes note of every task's machine, or None.
        clock: The monotonic clock of the machines, in seconds.
    """

    run_id: str
    executor: AgentExecutor
    inputs: Mapping[str, Any] = field(default_factory=dict)
    observer: CrewObserver = field(default_factory=CrewObserver)
    journal: Journal | None = None
    clock: Callable[[], float] = time.monotonic


class CrewRun:
    """One run of a crew, whatever its process. A crew may have many at the same time."""

    def __init__(self, config: CrewConfig, options: RunOptions) -> None:
        self._config = config
        self._options = options
        self._results: dict[str, TaskResult] = {}
        self.order: Sequence[str] = in_order({task.id: task.dependencies for task in config.tasks.values()})
        self.life_cycles = LifeCycles(config)

    async def perform(self, task_id: str) -> None:
        """Does one task, or skips it if a task that it needs gave nothing.

        Raises:
            CancelledError: The run was cancelled; the task's result says so.
            Exception: What the journal raises.
        """
        task = self._config.tasks[task_id]
        missing = [needed for needed in task.dependencies if not self._gave_something(needed)]
        if missing:
            self._end(_skipped(task, missing))
            return
        self.life_cycles.task_began(task)
        run = self._task_run(task)
        try:
            await run.perform()
        except Exception as error:
            self._end(_broken_off(run.result(), error))
            raise
        except BaseException:
            self._end(run.result())
            raise
        self._end(run.result())

    def finish(self, *, cancelled: bool = False, error: BaseException | None = None) -> CrewResult:
        """Puts the result together; tasks that were never begun are marked.

        Args:
            cancelled: Whether the run was cancelled.
            error: What broke the run off, such as a journal that cannot be written.
        """
        for task in self._config.tasks.values():
            if task.id not in self._results:
                why = "the run was cancelled before" if cancelled else "the run was broken off before"
                self._end(TaskResult(task.id, TaskRunStatus.CANCELLED, error=why, agent=task.agent))
        tasks = {task_id: self._results[task_id] for task_id in self._config.tasks}
        status = self._status(cancelled=cancelled, broken_off=error is not None)
        self.life_cycles.run_ended(status)
        result = CrewResult(
            crew=self._config.name,
            status=status,
            output=self._output(),
            error=_why(tasks.values()) if error is None else f"the run was broken off: {error}",
            usage=sum((task.usage for task in tasks.values()), Usage()),
            tasks=tasks,
            run_id=self._options.run_id,
            states=self.life_cycles.states(),
        )
        tell(self._options.observer.crew_finished, result)
        return result

    def _task_run(self, task: TaskConfig) -> TaskRun:
        limits = running_limits(self._config, task)
        machine = AsyncTaskExecution(
            policy=limits.policy,
            machine_id=f"{self._options.run_id}/{task.id}",
            clock=self._options.clock,
            **limits.guards,
        )
        if self._options.journal is not None:
            self._options.journal.record(machine)
        earlier = {
            task_id: self._results[task_id]
            for task_id in self.order
            if task_id in self._results and self._gave_something(task_id)
        }
        return TaskRun(
            task=task,
            agent=self._config.agents[task.agent],
            executor=self._options.executor,
            context=TaskContext(machine, self._options.inputs, earlier),
            observer=self._options.observer,
        )

    def _end(self, result: TaskResult) -> None:
        self._results[result.id] = result
        self.life_cycles.task_ended(result)
        tell(self._options.observer.task_finished, result)

    def _gave_something(self, task_id: str) -> bool:
        result = self._results.get(task_id)
        return result is not None and result.status in GAVE_SOMETHING

    def _status(self, *, cancelled: bool, broken_off: bool) -> CrewRunStatus:
        if cancelled:
            return CrewRunStatus.CANCELLED
        if broken_off:
            return CrewRunStatus.FAILED
        ended = {result.status for result in self._results.values()}
        return next((status for worst, status in _GRAVEST if worst in ended), CrewRunStatus.COMPLETED)

    def _output(self) -> str:
        """The output of the last task that gave one."""
        outputs = (self._results[task_id].output for task_id in reversed(self.order))
        return next(filter(None, outputs), "")


def _skipped(task: TaskConfig, missing: Sequence[str]) -> TaskResult:
    names = ", ".join(f"'{name}'" for name in missing)
    error = f"it needs {names}, which gave nothing"
    return TaskResult(task.id, TaskRunStatus.SKIPPED, error=error, agent=task.agent)


def _broken_off(result: TaskResult, error: Exception) -> TaskResult:
    """A task whose machine could not go on, such as without its journal."""
    return replace(result, status=TaskRunStatus.FAILED, error=f"broken off: {error}")


def _why(results: Iterable[TaskResult]) -> str | None:
    """What went wrong, task by task."""
    reasons = [
        f"task '{result.id}' {result.status}: {result.error}"
        for result in results
        if result.status is not TaskRunStatus.COMPLETED
    ]
    return "; ".join(reasons) or None
