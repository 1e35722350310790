"""The three life cycles of a run: the crew's, each agent's, each task's (seed 000).

They record what was decided elsewhere, and each step of theirs is published. A task's execution runs inside
of its status `in_progress`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from typing import Any

from orkeon_transitions.crew.config import CrewConfig
from orkeon_transitions.crew.observing import LifeCycle, StatusMoved
from orkeon_transitions.crew.results import CrewRunStatus, TaskResult, TaskRunStatus
from orkeon_transitions.facts import TransitionResult
from orkeon_transitions.machines import AgentStatus, AgentStatusState, CrewStatus, TaskStatus

_TRIGGER_OF = {
    TaskRunStatus.COMPLETED: "complete",
    # What it gave is handed on: for whoever waits the task is done.
    TaskRunStatus.DEGRADED: "complete",
    TaskRunStatus.FAILED: "fail",
    TaskRunStatus.CANCELLED: "cancel",
    TaskRunStatus.SKIPPED: "cancel",
}

Publish = Callable[[StatusMoved], None]


class LifeCycles:
    """The status machines of one run.

    Args:
        config: The crew.
        unavailable: Agents that are out of service.
        publish: Told of each transition of each machine.
    """

    def __init__(self, config: CrewConfig, unavailable: Collection[str], publish: Publish) -> None:
        self._crew = CrewStatus()
        self._tasks = {task: TaskStatus() for task in config.tasks}
        self._agents = Agents(config.agents, publish)
        self._crew.on_transition(_publisher(publish, "crew", config.name))
        for name, machine in self._tasks.items():
            machine.on_transition(_publisher(publish, "task", name))
        self._crew.initialize()
        self._agents.initialize(unavailable)
        for task in config.tasks.values():
            if task.dependencies:
                self._tasks[task.id].block()
        self._crew.ready()
        self._crew.start_execution()

    @property
    def agents(self) -> Agents:
        """The agents of the run."""
        return self._agents

    def task_ready(self, task: str) -> None:
        """A task waits for nothing any more but its turn."""
        self._tasks[task].try_fire("unblock")

    def task_began(self, task: str, agent: str) -> None:
        """An agent sets to work on a task, perhaps not for the first time."""
        self._tasks[task].try_fire("retry")
        self._tasks[task].start()
        self._agents.began(agent)

    def attempt_ended(self, result: TaskResult) -> None:
        """What was begun has ended, well or not."""
        self._tasks[result.id].fire(_TRIGGER_OF[result.status])
        agent = result.machines[-1].agent
        self._agents.ended(agent, failed=result.status is TaskRunStatus.FAILED)

    def given_up(self, task: str) -> None:
        """Nobody will begin the task."""
        self._tasks[task].cancel()

    def run_ended(self, status: CrewRunStatus) -> None:
        """The run has its result."""
        ended = {CrewRunStatus.FAILED: "fail", CrewRunStatus.CANCELLED: "cancel"}
        self._crew.fire(ended.get(status, "complete"))

    def states(self) -> dict[str, Any]:
        """Where each of them is, as plain data."""
        return {
            "crew": str(self._crew.state),
            "agents": self._agents.states(),
            "tasks": {name: str(machine.state) for name, machine in self._tasks.items()},
        }


class Agents:
    """The agents' status machines, and whose turn it is.

    An agent may work on several tasks at once. It is busy from the first one until the last one has ended,
    and then in error if one of them failed.
    """

    def __init__(self, names: Collection[str], publish: Publish) -> None:
        self._machines = {name: AgentStatus() for name in names}
        self._names = list(names)
        self._turn = 0
        self._working: Counter[str] = Counter()
        self._failed: set[str] = set()
        for name, machine in self._machines.items():
            machine.on_transition(_publisher(publish, "agent", name))

    def initialize(self, unavailable: Collection[str]) -> None:
        """Makes them ready, but for those that are out of service."""
        for name, machine in self._machines.items():
            machine.initialize()
            if name in unavailable:
                machine.suspend()

    def choose(self, named: str) -> str | None:
        """Who works on the next task (seed 002).

        Args:
            named: The agent that the task names, or an empty text: then the next one in turn is chosen, and
                one in error only where nobody else is left.

        Returns:
            The agent; None if it is out of service, or all are.
        """
        if named:
            return named if self._is_available(named) else None
        in_turn = [*self._names[self._turn :], *self._names[: self._turn]]
        able = [name for name in in_turn if self._is_available(name)]
        sound = [name for name in able if self._machines[name].state is not AgentStatusState.ERROR]
        chosen = next(iter(sound or able), None)
        if chosen is not None:
            self._turn = (self._names.index(chosen) + 1) % len(self._names)
        return chosen

    def began(self, name: str) -> None:
        """The agent sets to work on one more task."""
        if not self._working[name]:
            self._machines[name].try_fire("reset")
            self._machines[name].assign_task()
        self._working[name] += 1

    def ended(self, name: str, *, failed: bool) -> None:
        """One of the agent's tasks has ended."""
        if failed:
            self._failed.add(name)
        self._working[name] -= 1
        if self._working[name]:
            return
        self._machines[name].fire("fail_task" if name in self._failed else "complete_task")
        self._failed.discard(name)

    def _is_available(self, name: str) -> bool:
        return self._machines[name].state is not AgentStatusState.UNAVAILABLE

    def states(self) -> Mapping[str, str]:
        """Where each of them is."""
        return {name: str(machine.state) for name, machine in self._machines.items()}


def _publisher(publish: Publish, kind: LifeCycle, name: str) -> Callable[[TransitionResult], None]:
    return lambda transition: publish(StatusMoved(kind, name, transition))
