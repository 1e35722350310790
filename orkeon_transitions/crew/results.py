"""What a crew's run gave: values that a program reads and a command line prints."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from orkeon_transitions.crew.decisions import Decision
from orkeon_transitions.facts import TransitionResult


class CrewRunStatus(StrEnum):
    """How a run ended."""

    COMPLETED = "completed"
    DEGRADED = "degraded"
    FAILED = "failed"
    CANCELLED = "cancelled"


class TaskRunStatus(StrEnum):
    """How a task ended. A skipped task needed one that failed, was cancelled or was skipped itself."""

    COMPLETED = "completed"
    DEGRADED = "degraded"
    FAILED = "failed"
    CANCELLED = "cancelled"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Usage:
    """What was spent on models and tools.

    Attributes:
        requests: How often a model was asked.
        input_tokens: What models have read.
        output_tokens: What they have written.
        tool_calls: How many tools were called.
        usd: What it cost in US dollars, as far as prices are known.
        failed_requests: How many of the requests came to nothing: an error, no answer in time, a connection
            that was cut. What they may have cost is not known.
    """

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    tool_calls: int = 0
    usd: float = 0.0
    failed_requests: int = 0

    @property
    def tokens(self) -> int:
        """All tokens, in and out."""
        return self.input_tokens + self.output_tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.requests + other.requests,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.tool_calls + other.tool_calls,
            self.usd + other.usd,
            self.failed_requests + other.failed_requests,
        )

    def to_dict(self) -> dict[str, float]:
        """The numbers as plain JSON data."""
        return asdict(self)


def check_usage(usage: Any) -> None:
    """Sees to it that what a stranger reports can be added up.

    Raises:
        TypeError: It is no usage, or not one of numbers.
        ValueError: A number is negative or not finite.
    """
    if not isinstance(usage, Usage) or not all(
        isinstance(number, int | float) for number in usage.to_dict().values()
    ):
        raise TypeError(f"what was spent is a Usage of numbers, not {usage!r}")
    for name, number in usage.to_dict().items():
        if not 0 <= number < math.inf:  # what is no number is not, either
            raise ValueError(f"what was spent is finite and not negative, and {name} is {number}")


@dataclass(frozen=True, slots=True)
class TaskOutcome:
    """What an executor made of one attempt at a task.

    Attributes:
        success: Whether the attempt gave an output.
        output: The text; kept also when the attempt failed.
        error: Why not.
        usage: What the attempt spent.
    """

    success: bool
    output: str = ""
    error: str | None = None
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class MachineRun:
    """How one machine of a task went. Most tasks have one; the graph process makes one for each attempt.

    Attributes:
        machine_id: The machine's name in journals.
        agent: The key of the agent that worked.
        state: The state in which the machine was left.
        output: What it gave.
        error: Why it did not complete, or None.
        history: Every transition of the machine, in order.
    """

    machine_id: str
    agent: str
    state: str
    output: str = ""
    error: str | None = None
    history: tuple[TransitionResult, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The machine's run as plain JSON data; its transitions stand in the task's history."""
        return {
            "machine_id": self.machine_id,
            "agent": self.agent,
            "state": self.state,
            "output": self.output,
            "error": self.error,
            "transitions": len(self.history),
        }


@dataclass(frozen=True, slots=True)
class TaskResult:
    """How one task went.

    Attributes:
        id: The task's key in the crew file.
        status: How it ended.
        output: The text, or what there was of it when the task was stopped.
        error: Why it did not complete, or None.
        attempts: How often an agent set to work on it; 0 for a task that was never begun.
        history: Every transition of the task's machines, in order.
        agent: The key of the agent that did it, or worked on it last.
        usage: What it spent.
        machine_id: The last machine's name in journals, or None where none was made.
        state: The state in which that machine was left, or None.
        machines: Each machine that the task had, in order.
    """

    id: str
    status: TaskRunStatus
    output: str = ""
    error: str | None = None
    attempts: int = 0
    history: tuple[TransitionResult, ...] = ()
    agent: str | None = None
    usage: Usage = field(default_factory=Usage)
    machine_id: str | None = None
    state: str | None = None
    machines: tuple[MachineRun, ...] = ()

    @property
    def success(self) -> bool:
        """Whether the task completed."""
        return self.status is TaskRunStatus.COMPLETED

    def to_dict(self) -> dict[str, Any]:
        """The result as plain JSON data."""
        return {
            "id": self.id,
            "status": self.status.value,
            "agent": self.agent,
            "state": self.state,
            "attempts": self.attempts,
            "output": self.output,
            "error": self.error,
            "usage": self.usage.to_dict(),
            "machine_id": self.machine_id,
            "machines": [machine.to_dict() for machine in self.machines],
            "history": [transition_dict(step) for step in self.history],
        }


@dataclass(frozen=True, slots=True)
class CrewResult:
    """How a run went. Every task of the crew is in it, whatever happened.

    Attributes:
        crew: The crew's name.
        status: How the run ended.
        output: The output of the last task that gave one.
        error: What failed or was cut short, task by task, or None.
        usage: What all tasks spent, and the questions that the process asked besides.
        tasks: By task key, in file order.
        run_id: The run's own name; the task machines are `<run_id>/<task>`, further ones `<run_id>/<task>#2`.
        states: Where the life cycles of the crew, its agents and its tasks ended.
        decisions: What was decided on the way, in order: who does a task, whether an output is accepted.
    """

    crew: str
    status: CrewRunStatus
    output: str
    error: str | None
    usage: Usage
    # Not part of the repr, which asyncio makes, of everything, when a run ends.
    tasks: Mapping[str, TaskResult] = field(repr=False)
    run_id: str
    states: Mapping[str, Any] = field(default_factory=dict, repr=False)
    decisions: tuple[Decision, ...] = field(default=(), repr=False)

    @property
    def success(self) -> bool:
        """Whether the whole crew completed."""
        return self.status is CrewRunStatus.COMPLETED

    def to_dict(self) -> dict[str, Any]:
        """The result as plain JSON data; the tasks are a list in file order."""
        return {
            "crew": self.crew,
            "run_id": self.run_id,
            "status": self.status.value,
            "success": self.success,
            "output": self.output,
            "error": self.error,
            "usage": self.usage.to_dict(),
            "states": dict(self.states),
            "decisions": [decision.to_dict() for decision in self.decisions],
            "tasks": [task.to_dict() for task in self.tasks.values()],
        }


def transition_dict(step: TransitionResult) -> dict[str, Any]:
    """One transition as plain JSON data."""
    return {
        "ordinal": step.ordinal,
        "timestamp": step.timestamp.isoformat(),
        "trigger": None if step.trigger is None else str(step.trigger),
        "from_state": str(step.from_state),
        "to_state": str(step.to_state),
        "accepted": step.accepted,
        "degraded": step.degraded,
    }
