"""What a run that goes on finds in its log: its machines, by what they are for.

A process is begun anew and asks for the same pieces of work in the same order. What had ended is given from
the log and not done again, what was under way goes on, and the rest is new.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence

from orkeon_transitions.crew.results import MachineRun, TaskResult, TaskRunStatus, Usage
from orkeon_transitions.crew.run_log import RecordedMachine
from orkeon_transitions.facts import Snapshot
from orkeon_transitions.machines import TaskState

STATUS_OF: Mapping[str, TaskRunStatus] = {
    TaskState.COMPLETED: TaskRunStatus.COMPLETED,
    TaskState.DEGRADED: TaskRunStatus.DEGRADED,
    TaskState.CANCELLED: TaskRunStatus.CANCELLED,
}


def status_of(machine: RecordedMachine) -> TaskRunStatus | None:
    """How a task's machine ended; None: it has not."""
    snapshot = machine.snapshot
    if snapshot.state in STATUS_OF:
        return STATUS_OF[snapshot.state]
    is_over = _retries_left(snapshot) <= 0 or machine.note.get("is_given_up", False)
    has_failed = snapshot.state == TaskState.FAILED and is_over
    return TaskRunStatus.FAILED if has_failed or snapshot.trip is not None else None


def result_of(machine: RecordedMachine) -> TaskResult:
    """What a piece of work has come to, as its machine's last note tells it, even if it has not ended."""
    note, state = machine.note, str(machine.snapshot.state)
    status = status_of(machine) or TaskRunStatus.CANCELLED
    trip = machine.snapshot.trip
    why = f"circuit breaker: {trip.reason}" if trip is not None else note["error"] or f"stopped in '{state}'"
    this = MachineRun(
        machine_id=machine.machine_id,
        agent=note["agent"],
        state=state,
        output=note["output"] or note["partial"],
        error=None if status is TaskRunStatus.COMPLETED else why,
        history=tuple(machine.history),
    )
    return TaskResult(
        id=note["piece"],
        status=status,
        output=this.output,
        error=this.error,
        attempts=1,
        history=this.history,
        agent=this.agent,
        usage=Usage(**note["usage"]),
        machine_id=this.machine_id,
        state=state,
        machines=(this,),
    )


def _retries_left(snapshot: Snapshot) -> int:
    fields = {name: value for name, value in snapshot.fields.items() if isinstance(value, int)}
    return fields["max_retries"] - fields["retry_count"]


class RecordedMachines:
    """The machines of a run, as its log knows them.

    Args:
        machines: In the order of their first facts.
    """

    def __init__(self, machines: Sequence[RecordedMachine] = ()) -> None:
        self._by_id = {machine.machine_id: machine for machine in machines}
        self._of_tasks: dict[str, deque[RecordedMachine]] = defaultdict(deque)
        for machine in machines:
            if "task" in machine.note:
                self._of_tasks[machine.note["task"]].append(machine)
        self._last = {task: machines[-1] for task, machines in self._of_tasks.items()}
        self._pieces = {machine.machine_id: machine for machine in machines if "piece" in machine.note}

    def snapshot(self, machine_id: str) -> Snapshot | None:
        """Where a machine is, or None."""
        found = self._by_id.get(machine_id)
        return None if found is None else found.snapshot

    def next_of(self, task: str) -> RecordedMachine | None:
        """The first machine of a task that was not taken yet."""
        machines = self._of_tasks.get(task)
        return machines[0] if machines else None

    def take(self, task: str) -> RecordedMachine | None:
        """Takes it."""
        return self._of_tasks[task].popleft() if self.next_of(task) is not None else None

    def has_ended(self, task: str) -> bool:
        """Whether there is a next machine of a task, and it has ended."""
        found = self.next_of(task)
        return found is not None and status_of(found) is not None

    def piece(self, machine_id: str) -> RecordedMachine | None:
        """The machine of a piece of work that is no task by itself, or None."""
        return self._pieces.get(machine_id)

    def has_ended_piece(self, machine_id: str) -> bool:
        """Whether there is such a machine, and it has ended."""
        found = self.piece(machine_id)
        return found is not None and status_of(found) is not None

    def pieces_below(self, prefix: str) -> Iterator[RecordedMachine]:
        """The machines of such work whose ids begin so."""
        return (machine for name, machine in self._pieces.items() if name.startswith(prefix))

    def of_agents(self) -> Iterator[tuple[str, TaskRunStatus | None]]:
        """For each piece of work that an agent has begun: the key of the agent, and how it ended last."""
        for machine in [*self._last.values(), *self._pieces.values()]:
            yield machine.note["agent"], status_of(machine)

    def last(self) -> Iterator[tuple[str, TaskRunStatus | None]]:
        """For each task that was begun: its key, and how its last machine ended."""
        for task, machine in self._last.items():
            yield task, status_of(machine)
