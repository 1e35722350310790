"""The three life cycles of a run: the crew's, each agent's, each task's (seed 000).

They record what was decided elsewhere, and each step of theirs is published. A task's execution runs inside
of its status `in_progress`. In a run that goes on they come back as they were written down, and first catch
up with what the tasks had come to.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from orkeon_transitions.crew.config import CrewConfig
from orkeon_transitions.crew.observing import LifeCycle, StatusMoved
from orkeon_transitions.crew.results import CrewRunStatus, TaskResult, TaskRunStatus
from orkeon_transitions.crew.resuming import RecordedMachines
from orkeon_transitions.machines import AgentStatus, AgentStatusState, CrewStatus, TaskStatus, TaskStatusState
from orkeon_transitions.runtime import StateMachine
from orkeon_transitions.runtime.base import CommitHook

_TRIGGER_OF = {
    TaskRunStatus.COMPLETED: "complete",
    # What it gave is handed on: for whoever waits the task is done.
    TaskRunStatus.DEGRADED: "complete",
    TaskRunStatus.FAILED: "fail",
    TaskRunStatus.CANCELLED: "cancel",
    TaskRunStatus.SKIPPED: "cancel",
}

Publish = Callable[[StatusMoved], None]
Status = TypeVar("Status", AgentStatus, CrewStatus, TaskStatus)


@dataclass(frozen=True, slots=True)
class LifeCycleRecord:
    """Where the status machines of a run come from, and where they are written down.

    Attributes:
        run_id: The run's own name; the machines are `<run_id>:crew`, `:agent/<key>` and `:task/<key>`.
        machines: What another process has written down of the run.
        commit: Their commit hook, or None.
    """

    run_id: str
    machines: RecordedMachines
    commit: CommitHook | None

    def make(self, kind: type[Status], name: str) -> Status:
        """Makes a machine, or makes it anew where it was left."""
        machine_id = f"{self.run_id}:{name}"
        snapshot = self.machines.snapshot(machine_id)
        return kind(machine_id=machine_id, snapshot=snapshot, commit=self.commit)


class LifeCycles:
    """The status machines of one run.

    Args:
        config: The crew.
        unavailable: Agents that are out of service.
        publish: Told of each transition of each machine, or None.
        record: Where the machines come from.
    """

    def __init__(
        self,
        config: CrewConfig,
        unavailable: Collection[str],
        publish: Publish | None,
        record: LifeCycleRecord,
    ) -> None:
        self._crew = record.make(CrewStatus, "crew")
        self._tasks = {task: record.make(TaskStatus, f"task/{task}") for task in config.tasks}
        self._agents = Agents(config.agents, publish, record)
        _listen(self._crew, publish, "crew", config.name)
        for name, machine in self._tasks.items():
            _listen(machine, publish, "task", name)
        self._crew.try_fire("initialize")
        self._agents.initialize(unavailable)
        self._catch_up(record.machines)
        for task in config.tasks.values():
            if task.dependencies and self._tasks[task.id].transition_count == 0:
                self._tasks[task.id].block()
        self._crew.try_fire("ready")
        self._crew.try_fire("start_execution")

    def _catch_up(self, recorded: RecordedMachines) -> None:
        """The process ended with the facts of tasks written down that these machines were not told of."""
        for task, status in recorded.last():
            if task not in self._tasks or self._tasks[task].state is not TaskStatusState.IN_PROGRESS:
                continue
            if status is not None:
                self._tasks[task].fire(_TRIGGER_OF[status])
        self._agents.catch_up(recorded.of_agents())

    @property
    def agents(self) -> Agents:
        """The agents of the run."""
        return self._agents

    def task_ready(self, task: str) -> None:
        """A task waits for nothing any more but its turn."""
        if self._tasks[task].state is TaskStatusState.BLOCKED:
            self._tasks[task].try_fire("unblock")

    def task_began(self, task: str, agent: str) -> None:
        """An agent sets to work on a task, perhaps not for the first time."""
        self.task_opened(task)
        self._agents.began(agent)

    def attempt_ended(self, result: TaskResult) -> None:
        """What was begun has ended, well or not."""
        self.task_closed(result)
        agent = result.machines[-1].agent
        self._agents.ended(agent, failed=result.status is TaskRunStatus.FAILED)

    def task_opened(self, task: str) -> None:
        """A task is worked on, by whomever."""
        if self._tasks[task].state is TaskStatusState.FAILED:
            self._tasks[task].try_fire("retry")
        # One that goes on has been started before.
        self._tasks[task].try_fire("start")

    def task_closed(self, result: TaskResult) -> bool:
        """A task has its result; False: it had it before."""
        return bool(self._tasks[result.id].try_fire(_TRIGGER_OF[result.status]))

    def given_up(self, task: str) -> None:
        """Nobody will begin the task."""
        self._tasks[task].try_fire("cancel")

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

    def __init__(self, names: Collection[str], publish: Publish | None, record: LifeCycleRecord) -> None:
        self._machines = {name: record.make(AgentStatus, f"agent/{name}") for name in names}
        self._names = list(names)
        self._turn = 0
        self._working: Counter[str] = Counter()
        self._failed: set[str] = set()
        for name, machine in self._machines.items():
            _listen(machine, publish, "agent", name)

    def initialize(self, unavailable: Collection[str]) -> None:
        """Makes them ready, but for those that are out of service."""
        for name, machine in self._machines.items():
            machine.try_fire("initialize")
            if name in unavailable:
                machine.try_fire("suspend")

    def catch_up(self, last: Iterable[tuple[str, TaskRunStatus | None]]) -> None:
        """Whoever was busy and has no task under way has ended its last one."""
        of_agents: dict[str, list[TaskRunStatus | None]] = {}
        for agent, status in last:
            of_agents.setdefault(agent, []).append(status)
        for agent, statuses in of_agents.items():
            if agent in self._machines and None not in statuses:
                has_failed = statuses[-1] is TaskRunStatus.FAILED
                self._machines[agent].try_fire("fail_task" if has_failed else "complete_task")

    def choose(self, named: str, *, again: str | None = None) -> str | None:
        """Who works on the next task (seed 002).

        Args:
            named: The agent that the task names, or an empty text: then the next one in turn is chosen, and
                one in error only where nobody else is left.
            again: Who was chosen for it before, in a run that goes on.

        Returns:
            The agent; None if it is out of service, or all are.
        """
        if named:
            return again or (named if self.is_available(named) else None)
        in_turn = [*self._names[self._turn :], *self._names[: self._turn]]
        able = [name for name in in_turn if self.is_available(name)]
        sound = [name for name in able if self._machines[name].state is not AgentStatusState.ERROR]
        chosen = again or next(iter(sound or able), None)
        if chosen is not None:
            self._turn = (self._names.index(chosen) + 1) % len(self._names)
        return chosen

    def began(self, name: str) -> None:
        """The agent sets to work on one more task."""
        if not self._working[name]:
            self._machines[name].try_fire("reset")
            # One that goes on with a task is busy already.
            self._machines[name].try_fire("assign_task")
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

    def is_available(self, name: str) -> bool:
        """Whether an agent is not out of service."""
        return self._machines[name].state is not AgentStatusState.UNAVAILABLE

    def states(self) -> Mapping[str, str]:
        """Where each of them is."""
        return {name: str(machine.state) for name, machine in self._machines.items()}


def _listen(machine: StateMachine, publish: Publish | None, kind: LifeCycle, name: str) -> None:
    if publish is not None:
        machine.on_transition(lambda transition: publish(StatusMoved(kind, name, transition)))
