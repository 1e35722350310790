"""The three life cycles of a run: the crew's, each agent's, each task's (seed 000).

They record what was decided elsewhere. A task's execution runs inside of its status `in_progress`.
"""

from __future__ import annotations

from typing import Any

from orkeon_transitions.crew.config import CrewConfig, TaskConfig
from orkeon_transitions.crew.results import CrewRunStatus, TaskResult, TaskRunStatus
from orkeon_transitions.machines import AgentStatus, CrewStatus, TaskStatus

_TRIGGER_OF = {
    TaskRunStatus.COMPLETED: "complete",
    # What it gave is handed on: for whoever waits the task is done.
    TaskRunStatus.DEGRADED: "complete",
    TaskRunStatus.FAILED: "fail",
    TaskRunStatus.CANCELLED: "cancel",
    TaskRunStatus.SKIPPED: "cancel",
}


class LifeCycles:
    """The status machines of one run."""

    def __init__(self, config: CrewConfig) -> None:
        self._crew = CrewStatus()
        self._agents = {agent: AgentStatus() for agent in config.agents}
        self._tasks = {task: TaskStatus() for task in config.tasks}
        self._crew.initialize()
        for agent in self._agents.values():
            agent.initialize()
        for task in config.tasks.values():
            if task.dependencies:
                self._tasks[task.id].block()
        self._crew.ready()
        self._crew.start_execution()

    def task_began(self, task: TaskConfig) -> None:
        """A task's agent sets to work."""
        status, agent = self._tasks[task.id], self._agents[task.agent]
        status.try_fire("unblock")
        status.start()
        agent.try_fire("reset")
        agent.assign_task()

    def task_ended(self, result: TaskResult) -> None:
        """A task has its result, whether it was begun or not."""
        self._tasks[result.id].fire(_TRIGGER_OF[result.status])
        if result.agent is not None and result.machine_id is not None:
            failed = result.status is TaskRunStatus.FAILED
            self._agents[result.agent].fire("fail_task" if failed else "complete_task")

    def run_ended(self, status: CrewRunStatus) -> None:
        """The run has its result."""
        ended = {CrewRunStatus.FAILED: "fail", CrewRunStatus.CANCELLED: "cancel"}
        self._crew.fire(ended.get(status, "complete"))

    def states(self) -> dict[str, Any]:
        """Where each of them is, as plain data."""
        return {
            "crew": str(self._crew.state),
            "agents": {name: str(machine.state) for name, machine in self._agents.items()},
            "tasks": {name: str(machine.state) for name, machine in self._tasks.items()},
        }
