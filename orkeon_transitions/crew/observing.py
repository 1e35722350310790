"""Who watches a run: plain functions that are told what happened, and can change nothing."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal

from orkeon_transitions.crew.decisions import Decision
from orkeon_transitions.crew.results import CrewResult, TaskResult, Usage
from orkeon_transitions.facts import TransitionResult
from orkeon_transitions.runtime.callbacks import is_async, is_generator

if TYPE_CHECKING:
    from orkeon_transitions.breaker import CircuitBreakerStatus
    from orkeon_transitions.machines import AsyncTaskExecution

log = logging.getLogger(__name__)

LifeCycle = Literal["crew", "agent", "task"]


@dataclass(frozen=True, slots=True)
class TaskStarted:
    """A task has its machine and is about to be worked on.

    Attributes:
        task: The task's key.
        agent: The agent's key.
        machine: The task's machine, for looking at (`state`, `circuit_status`), never for firing.
        is_resumed: Whether another process has worked on it before, on this machine.
        usage: Gives what was spent on the task so far, at any time.
    """

    task: str
    agent: str
    machine: AsyncTaskExecution
    is_resumed: bool = False
    usage: Callable[[], Usage] = Usage


@dataclass(frozen=True, slots=True)
class TaskMoved:
    """A task's machine made a transition.

    Attributes:
        task: The task's key.
        transition: The fact.
        circuit: What the breaker knew right after it.
    """

    task: str
    transition: TransitionResult
    circuit: CircuitBreakerStatus


@dataclass(frozen=True, slots=True)
class TaskRetried:
    """A machine's work on a task failed, and the process will begin the task again with another machine.

    Attributes:
        task: The task's key.
        result: The task's result as it would stand without a retry.
        retry: Which retry this will be, from 1.
        max_retries: How many there may be.
    """

    task: str
    result: TaskResult
    retry: int
    max_retries: int


@dataclass(frozen=True, slots=True)
class TaskRestored:
    """A task had ended before the run was resumed, and is not begun again.

    Attributes:
        result: How it went.
        machine: Its last machine as it was left, for looking at.
    """

    result: TaskResult
    machine: AsyncTaskExecution


@dataclass(frozen=True, slots=True)
class StatusMoved:
    """A life cycle made a transition: `crew_status`, `agent_status` or `task_status`.

    Attributes:
        kind: Whose it is: `crew`, `agent` or `task`.
        name: The crew's name, or the key of the agent or the task.
        transition: The fact.
    """

    kind: LifeCycle
    name: str
    transition: TransitionResult


@dataclass(frozen=True, slots=True)
class TaskText:
    """A model that works on a task has written some more text.

    Attributes:
        task: The task's key.
        agent: The agent's key.
        text: The new piece.
    """

    task: str
    agent: str
    text: str


@dataclass(frozen=True, slots=True)
class TaskWaits:
    """An agent waits until it may ask its model again, because of a rate (`maxRpm`).

    Attributes:
        task: The task's key.
        agent: The agent's key.
        seconds: How long it will take.
    """

    task: str
    agent: str
    seconds: float


@dataclass(frozen=True, slots=True)
class CrewObserver:
    """Functions that are told what happens in a run, each in the run's own thread.

    One that raises is logged and changes nothing. Leave out what is not wanted.

    Raises:
        TypeError: One is no plain function, such as a coroutine function, which nobody would await.

    Attributes:
        task_started: Told of each task that is begun, again for each machine that it gets.
        task_moved: Told of each transition of a task's machine.
        task_finished: Told of each task's result; skipped and never begun tasks too.
        crew_finished: Told of the result once, also when the run was cancelled or an error ends it: the
            partial result is then what was done until there.
        task_retried: Told of each task that failed and will be begun again by the process.
        status_moved: Told of each transition of the life cycles of the crew, its agents and its tasks.
        task_restored: Told of each task that had ended before a run was resumed, in place of `task_finished`.
        decided: Told of each decision of the process or of an agent that it asked; in a run that goes on, of
            those from before as well.
        task_text: Told of the text of models while it is written, where they can tell it.
        task_waits: Told when an agent has to wait before it may ask its model.
    """

    task_started: Callable[[TaskStarted], Any] | None = None
    task_moved: Callable[[TaskMoved], Any] | None = None
    task_finished: Callable[[TaskResult], Any] | None = None
    crew_finished: Callable[[CrewResult], Any] | None = None
    task_retried: Callable[[TaskRetried], Any] | None = None
    status_moved: Callable[[StatusMoved], Any] | None = None
    task_restored: Callable[[TaskRestored], Any] | None = None
    decided: Callable[[Decision], Any] | None = None
    task_text: Callable[[TaskText], Any] | None = None
    task_waits: Callable[[TaskWaits], Any] | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            listener = getattr(self, field.name)
            if listener is None:
                continue
            if not callable(listener) or is_async(listener) or is_generator(listener):
                raise TypeError(f"{field.name} is a plain function of one fact, not {listener!r}")


def tell(listener: Callable[[Any], Any] | None, fact: Any) -> None:
    """Tells a listener, if there is one; what it raises is logged."""
    if listener is None:
        return
    try:
        listener(fact)
    except Exception:  # a listener must not be able to stop a run
        log.exception("A crew observer failed on %s", type(fact).__name__)
