"""What is known of a run while it goes on: a line for each task, told by the crew's observer."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from orkeon_transitions.crew import (
        CrewObserver,
        CrewResult,
        Decision,
        TaskMoved,
        TaskRestored,
        TaskResult,
        TaskRetried,
        TaskStarted,
        TaskText,
        TaskWaits,
        Usage,
    )

LONGEST_TEXT = 300


@dataclass(slots=True)
class TaskLine:
    """One task on the board.

    Attributes:
        task: The task's key.
        agent: The key of its agent.
        status: `waiting`, `running`, or how it ended.
        machine: Its machine, once it has one.
        result: How it went, once it has ended.
        retried: The last retry that the process has announced, until the task is begun again.
        began: When it was begun, on the board's clock.
        took: How many seconds it took, once it has ended.
        is_restored: Whether it goes on, or had ended, from before a run was resumed.
        text: The end of what its model has written, as far as that is told.
        is_writing: Whether what comes next belongs to that text; else it begins anew.
        ended: Which task of the run it was to end, from 1; 0: it has not.
        usage_now: Gives what it has spent, while it runs.
        waits: How many seconds it will wait until its model may be asked, while that is being told.
        waits_until: When that is, on the board's clock.
        machines: All that it has had while it runs, by id: it ends with one of them.
    """

    task: str
    agent: str
    status: str = "waiting"
    machine: Any = None
    result: TaskResult | None = None
    retried: TaskRetried | None = None
    began: float | None = None
    took: float | None = None
    is_restored: bool = False
    text: str = ""
    is_writing: bool = False
    ended: int = 0
    usage_now: Callable[[], Usage] | None = None
    waits: float = 0.0
    waits_until: float = 0.0
    machines: dict[str, Any] = field(default_factory=dict)

    @property
    def usage(self) -> Usage:
        """What it has spent so far."""
        from orkeon_transitions.crew import Usage

        if self.result is not None:
            return self.result.usage
        return Usage() if self.usage_now is None else self.usage_now()

    @property
    def last_words(self) -> str:
        """The last line of its text with something in it."""
        return self.text.rstrip().rpartition("\n")[2].strip()

    @property
    def state(self) -> str:
        """The machine's state while it runs, else the status."""
        return (
            str(self.machine.state) if self.status == "running" and self.machine is not None else self.status
        )


@dataclass(slots=True)
class Board:
    """The tasks of one run, in file order.

    Attributes:
        crew: The crew's name.
        lines: By task key.
        clock: Gives seconds; only differences count.
        changed: Called after each change with the line, for those who do not look by themselves.
        result: The run's result; partial where the run was cancelled or stopped by an error.
        wants_text: Whether the text of models is told while they write it.
        writing: The task whose model wrote last.
        ended: How many tasks have ended.
        decided: Called with each decision.
        decision: The last one.
    """

    crew: str
    lines: dict[str, TaskLine]
    clock: Callable[[], float] = time.monotonic
    changed: Callable[[TaskLine], None] = field(default=lambda _: None)
    result: CrewResult | None = None
    began: float = 0.0
    wants_text: bool = False
    writing: TaskLine | None = None
    ended: int = 0
    decided: Callable[[Decision], None] = field(default=lambda _: None)
    decision: Decision | None = None

    def __post_init__(self) -> None:
        self.began = self.clock()

    @classmethod
    def of(cls, crew: str, tasks: Iterable[tuple[str, str]]) -> Board:
        """A board on which every task waits; each comes with its agent."""
        return cls(crew, {task: TaskLine(task, agent) for task, agent in tasks})

    @property
    def elapsed(self) -> float:
        """Seconds since the run began."""
        return self.clock() - self.began

    def observer(self) -> CrewObserver:
        """The functions that keep this board up to date."""
        from orkeon_transitions.crew import CrewObserver

        return CrewObserver(
            task_started=self._started,
            task_finished=self._finished,
            task_restored=self._restored,
            task_retried=self._retried,
            crew_finished=self._ended,
            task_text=self._wrote if self.wants_text else None,
            task_moved=self._moved if self.wants_text else None,
            decided=self._decided,
            task_waits=self._waits,
        )

    def _decided(self, decision: Decision) -> None:
        self.decision = decision
        self.decided(decision)

    def _started(self, fact: TaskStarted) -> None:
        line = self.lines.setdefault(fact.task, TaskLine(fact.task, fact.agent))
        line.agent, line.machine, line.status, line.retried = fact.agent, fact.machine, "running", None
        line.machines[fact.machine.machine_id] = fact.machine
        line.began = self.clock() if line.began is None else line.began
        line.is_restored, line.usage_now = fact.is_resumed, fact.usage
        self.changed(line)

    def _restored(self, fact: TaskRestored) -> None:
        result = fact.result
        line = self.lines.setdefault(result.id, TaskLine(result.id, result.agent or ""))
        line.machine, line.is_restored = fact.machine, True
        self._finished(result)

    def _retried(self, fact: TaskRetried) -> None:
        line = self.lines[fact.task]
        line.status, line.retried = "waiting", fact
        self.changed(line)

    def _finished(self, result: TaskResult) -> None:
        line = self.lines.setdefault(result.id, TaskLine(result.id, result.agent or ""))
        line.status, line.result = str(result.status), result
        line.agent = result.agent or line.agent
        line.machine = line.machines.get(result.machine_id or "", line.machine)
        line.machines.clear()
        self.ended += 1
        line.ended = self.ended
        if self.writing is line:
            self.writing = None
        line.took = None if line.began is None else self.clock() - line.began
        self.changed(line)

    def _waits(self, fact: TaskWaits) -> None:
        line = self.lines.get(fact.task)
        if line is not None:
            line.waits, line.waits_until = fact.seconds, self.clock() + fact.seconds
            self.changed(line)
            line.waits = 0.0

    def _wrote(self, fact: TaskText) -> None:
        line = self.lines[fact.task]
        line.text = ((line.text if line.is_writing else "") + fact.text)[-LONGEST_TEXT:]
        line.is_writing = True
        self.writing = line

    def _moved(self, fact: TaskMoved) -> None:
        self.lines[fact.task].is_writing = False

    def _ended(self, result: CrewResult) -> None:
        self.result = result
