"""What is known of a crew's run while it goes on: a line for each task, told by the crew's observer.

One watch follows a run; any number of sessions look at it, each at a task of its own.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from orkeon_transitions.crew import CrewObserver, Usage
from orkeon_transitions.explorer.showing import step_row
from orkeon_transitions.explorer.way import Row, Way
from orkeon_transitions.store.records import fact_line

if TYPE_CHECKING:
    from orkeon_transitions.breaker import CircuitBreakerStatus
    from orkeon_transitions.crew import (
        Crew,
        CrewResult,
        StatusMoved,
        TaskMoved,
        TaskRestored,
        TaskResult,
        TaskRetried,
        TaskStarted,
        TaskText,
        TaskWaits,
    )
    from orkeon_transitions.facts import TransitionResult
    from orkeon_transitions.machines import AsyncTaskExecution

WAITING, RUNNING = "waiting", "running"
LONGEST_WORDS = 300


@dataclass(slots=True)
class TaskLine:
    """One task of a run.

    Attributes:
        task: The task's key.
        agent: The key of its agent; empty where nobody has been chosen.
        needs: The keys of the tasks whose outputs it needs.
        description: The work, in words.
        status: `waiting`, `running`, or how it ended.
        machine: Its last machine, for looking at; None: it has none yet.
        attempt: How many machines it has had.
        way: What the machine did.
        steps: The machine's transitions.
        circuits: What the breaker knew after each.
        began: When it was begun, on the watch's clock.
        took: How many seconds it took; None: it has not ended.
        result: How it went, once it has ended.
        usage_now: Gives what it has spent.
        told: What there is to say of it, such as an error or the wait for a model.
        text: The end of what its model writes.
    """

    task: str
    agent: str = ""
    needs: tuple[str, ...] = ()
    description: str = ""
    status: str = WAITING
    machine: AsyncTaskExecution | None = None
    attempt: int = 0
    way: Way | None = None
    steps: list[TransitionResult] = field(default_factory=list)
    circuits: list[CircuitBreakerStatus] = field(default_factory=list)
    began: float | None = None
    took: float | None = None
    result: TaskResult | None = None
    usage_now: Callable[[], Usage] = Usage
    told: str | None = None
    text: str = ""

    @property
    def words(self) -> str | None:
        """One line that says how it goes."""
        return first_line(self.told) or last_line(self.text)

    @property
    def usage(self) -> Usage:
        """What it has spent so far."""
        return self.usage_now() if self.result is None else self.result.usage

    @property
    def state(self) -> str:
        """The machine's state; before there is one, and where there never was, the status."""
        return self.status if self.machine is None else str(self.machine.state)

    def lines(self) -> list[bytes]:
        """The transitions of its machine as a journal's lines."""
        if self.machine is None:
            return []
        snapshot = self.machine.snapshot()
        whole = snapshot.model_copy(update={"trip": None})
        return [
            fact_line(step, snapshot if circuit.is_broken else whole)
            for step, circuit in zip(self.steps, self.circuits[1:], strict=True)
        ]

    def take_machine(self, machine: AsyncTaskExecution) -> None:
        """Goes on with another machine, which may have moved before."""
        snapshot = machine.snapshot()
        self.machine, self.attempt = machine, self.attempt + 1
        self.way = Way(snapshot.state, snapshot.visits)
        self.steps, self.circuits = [], [machine.circuit_status]


class CrewWatch:
    """Follows a run of a crew: give its `observer` to `crew.run`, and itself to its sessions.

    It is told in the run's own thread and may be looked at from any other.

    Args:
        crew: The crew.
        clock: Seconds; only differences count.

    Attributes:
        name: The crew's name.
        process: The name of its process.
        source: What the crew was loaded from, or None.
        findings: Warnings and notes about its file.
        plan: What its picture is drawn of.
        lines: The tasks, by key, in file order; those that helpers are given stand behind.
        status: `waiting` until the run is begun, then that of the crew's life cycle, at last the run's.
        result: The run's result, partial where it was cancelled; None while it goes on.
    """

    def __init__(self, crew: Crew, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.name = crew.name
        self.process = crew.config.process
        self.source = crew.source
        self.findings = crew.findings
        self.plan = crew.task_plan()
        self.lines = {
            key: TaskLine(key, task.agent, task.dependencies, task.description)
            for key, task in crew.tasks.items()
        }
        self.status = WAITING
        self.result: CrewResult | None = None
        self.lock = threading.RLock()
        self._clock = clock
        self._began: float | None = None
        self._took = 0.0
        self._listeners: list[Callable[[], None]] = []

    @property
    def is_running(self) -> bool:
        """Whether the run has begun and not ended."""
        return self._began is not None and self.result is None

    @property
    def seconds(self) -> float:
        """How long the run has gone on."""
        if self._began is None or self.result is not None:
            return self._took
        return self._clock() - self._began

    def seconds_of(self, line: TaskLine) -> float | None:
        """How long a task has been worked on; None: nobody has begun."""
        if line.took is not None or line.began is None:
            return line.took
        return self._clock() - line.began

    @property
    def usage(self) -> Usage:
        """What was spent: the run's, once it has ended, else that of its tasks."""
        if self.result is not None:
            return self.result.usage
        return sum((line.usage for line in self.lines.values()), Usage())

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Calls a function after each change; gives the function that ends this."""
        with self.lock:
            self._listeners.append(listener)

        def unsubscribe() -> None:
            with self.lock:
                if listener in self._listeners:
                    self._listeners.remove(listener)

        return unsubscribe

    @property
    def observer(self) -> CrewObserver:
        """The functions that keep this watch up to date, for `crew.run(observer=...)`."""
        return CrewObserver(
            task_started=self._started,
            task_moved=self._moved,
            task_finished=self._finished,
            task_restored=self._restored,
            task_retried=self._retried,
            task_text=self._wrote,
            task_waits=self._waits,
            status_moved=self._status,
            crew_finished=self._ended,
        )

    # ------------------------------------------------------------------------------------- what it is told
    def _changed(self) -> None:
        for listener in tuple(self._listeners):
            listener()

    def _line(self, task: str) -> TaskLine:
        return self.lines.setdefault(task, TaskLine(task))

    def _started(self, fact: TaskStarted) -> None:
        with self.lock:
            line, now = self._line(fact.task), self._clock()
            line.agent, line.status, line.told, line.text = fact.agent, RUNNING, None, ""
            line.usage_now = fact.usage
            line.began = now if line.began is None else line.began
            self._began = now if self._began is None else self._began
            line.take_machine(fact.machine)
            self._changed()

    def _moved(self, fact: TaskMoved) -> None:
        with self.lock:
            line = self._line(fact.task)
            if line.way is not None:
                line.way.add(step_row(fact.transition))
                line.steps.append(fact.transition)
                line.circuits.append(fact.circuit)
            line.told, line.text = None, ""
            self._changed()

    def _retried(self, fact: TaskRetried) -> None:
        with self.lock:
            line = self._line(fact.task)
            line.status = WAITING
            line.told = (
                f"failed, to be retried ({fact.retry} of {fact.max_retries}): {fact.result.error or ''}"
            )
            self._changed()

    def _restored(self, fact: TaskRestored) -> None:
        with self.lock:
            line = self._line(fact.result.id)
            line.take_machine(fact.machine)
            self._finished(fact.result)

    def _finished(self, result: TaskResult) -> None:
        with self.lock:
            line = self._line(result.id)
            line.took = self.seconds_of(line)
            line.status, line.result, line.told = str(result.status), result, result.error
            line.agent = result.agent or line.agent
            if result.error and line.way is not None and str(result.status) == "failed":
                state = line.state
                line.way.add(Row("failed", None, state, state, None, result.error))
            self._changed()

    def _wrote(self, fact: TaskText) -> None:
        with self.lock:
            line = self._line(fact.task)
            line.told, line.text = None, (line.text + fact.text)[-LONGEST_WORDS:]
            self._changed()

    def _waits(self, fact: TaskWaits) -> None:
        with self.lock:
            self._line(fact.task).told = f"waits {fact.seconds:.1f} s until it may ask its model (maxRpm)"
            self._changed()

    def _status(self, fact: StatusMoved) -> None:
        with self.lock:
            if fact.kind == "crew":
                self.status = str(fact.transition.to_state)
                self._began = self._clock() if self._began is None else self._began
                self._changed()

    def _ended(self, result: CrewResult) -> None:
        with self.lock:
            self._took = self.seconds
            self.result, self.status = result, str(result.status)
            self._changed()


def first_line(text: str | None) -> str | None:
    """The first line of a text, as far as there is room for it."""
    line = (text or "").strip().partition("\n")[0]
    return line[:LONGEST_WORDS] or None


def last_line(text: str | None) -> str | None:
    """The last line of a text with something in it."""
    return (text or "").rstrip().rpartition("\n")[2].strip()[-LONGEST_WORDS:] or None
