"""Who does a task: the seam between a process and the work itself.

The task's machine goes its way whoever works. What an executor awaits is bound to the machine's state: when
that state ends otherwise, because of a trip or a cancel, the work is cancelled and a late answer is dropped.
"""

from __future__ import annotations

import asyncio
import inspect
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from orkeon_transitions.crew.chat import Message, ModelError
from orkeon_transitions.crew.config import AgentConfig, TaskConfig
from orkeon_transitions.crew.human import Human, HumanQuestion
from orkeon_transitions.crew.results import TaskOutcome, TaskResult, Usage, check_usage
from orkeon_transitions.crew.secrets import NO_SECRETS, Secrets
from orkeon_transitions.crew.threads import call_anything
from orkeon_transitions.facts import error_text

if TYPE_CHECKING:
    from orkeon_transitions.crew.tool import Tool
    from orkeon_transitions.machines import AsyncTaskExecution


@dataclass(slots=True)
class TaskContext:
    """What an executor is given besides the agent and the task; one for all attempts on one machine.

    Attributes:
        machine: The task's machine, to look at and to `spend` on. A function's work is bound to the state
            `executing`: firing a trigger that leaves it ends the work.
        inputs: The run's inputs.
        earlier: Results of the tasks before it, as far as they gave something.
        attempt: Counted from 1, also across the machines that the graph process makes for a task.
        feedback: What was wrong with the last output, or None.
        partial: The output so far; what remains if the task is stopped.
        is_cut: Whether the last answer ends where the model may write no more.
        usage: What was spent on the task so far.
        failure: What the work raised in this attempt, or None.
        messages: The conversation, where there is one.
        idempotency_key: Names this piece of work, `<run_id>/<task>`: the same for every attempt at it, in
            whichever process, and that of no other. Whoever is told it with something that must happen once,
            such as a payment, can be asked twice.
        is_resumed: Whether another process has worked on this before, on this machine.
        answered: How often a tool has answered each call, by the call's key.
        on_text: Is told what a model writes while it writes it, where somebody wants to know.
        retry_after: How many seconds another attempt should wait; None: it would be in vain.
        question: What kind of question this is, such as `assignment` or `ballot`, where it is no task of the
            crew but one that the process asks an agent; else empty.
        plan: How the agent means to go about the task, where it was asked for a plan.
        human: Who can be asked, or None.
        asked: What a person is being asked, or None.
        heard: What a person was asked on this task and has answered, in order.
        turn: Waits until the agent may ask its model, where that is bounded by a rate.
        about: What a helper's piece of work is for, in short; else empty.
        own_tools: Tools that come with this piece of work besides the agent's, by name.
        refuses: Says why a tool, by its name, may not be called any more, or None; whoever calls one asks it.
        secrets: What no error may tell.
    """

    machine: AsyncTaskExecution
    inputs: Mapping[str, Any] = field(default_factory=dict)
    earlier: Mapping[str, TaskResult] = field(default_factory=dict)
    attempt: int = 0
    feedback: str | None = None
    partial: str = ""
    is_cut: bool = False
    usage: Usage = field(default_factory=Usage)
    failure: str | None = None
    messages: list[Message] = field(default_factory=list)
    idempotency_key: str = ""
    is_resumed: bool = False
    answered: Counter[str] = field(default_factory=Counter)
    on_text: Callable[[str], Any] | None = None
    retry_after: float | None = 0.0
    question: str = ""
    plan: str = ""
    human: Human | None = None
    asked: HumanQuestion | None = None
    heard: list[tuple[str, str]] = field(default_factory=list)
    turn: Callable[[], Awaitable[Any]] | None = None
    about: str = ""
    own_tools: Mapping[str, Tool] = field(default_factory=dict)
    refuses: Callable[[str], str | None] | None = None
    secrets: Secrets = NO_SECRETS

    @property
    def outputs(self) -> dict[str, str]:
        """The outputs of the tasks before it, by task."""
        return {name: result.output for name, result in self.earlier.items()}

    @property
    def is_over(self) -> bool:
        """Whether the machine lets nothing more happen."""
        return self.machine.is_terminal or self.machine.is_circuit_broken

    def question_for(self, kind: str, task: TaskConfig, agent: AgentConfig, text: str) -> HumanQuestion:
        """What a person is asked next."""
        used = self.machine.guard_context
        return HumanQuestion(kind, task.id, agent.id, text, used.question_count + 1, used.max_questions)

    async def attempted(self, work: Callable[..., Awaitable[Any]], /, *args: Any) -> Any:
        """Calls and awaits work as the function `attempted` does; why it failed is known at once.

        What it raised stays behind: only its words go on, without secrets.
        """
        try:
            return await attempted(work, *args)
        except WorkFailedError as error:
            self.failure = self.secrets.hidden(str(error))
            if isinstance(error.__cause__, ModelError):
                self.retry_after = error.__cause__.retry_after
            raise WorkFailedError(self.failure) from None


@runtime_checkable
class AgentExecutor(Protocol):
    """Does one attempt at a task."""

    async def execute_task(self, agent: AgentConfig, task: TaskConfig, context: TaskContext) -> TaskOutcome:
        """Works on a task.

        Args:
            agent: Who works.
            task: What is to be done, inputs filled in.
            context: What is known besides.
        """
        ...


@runtime_checkable
class PlanningExecutor(AgentExecutor, Protocol):
    """Can make a plan before it does a task; one that has no `plan_task` goes without."""

    async def plan_task(self, agent: AgentConfig, task: TaskConfig, context: TaskContext) -> str:
        """Makes a plan, while the task's machine is in `planning`; arguments as for `execute_task`."""
        ...


@runtime_checkable
class JudgingExecutor(AgentExecutor, Protocol):
    """Can say whether an output is as it should be."""

    async def judge_output(
        self, agent: AgentConfig, task: TaskConfig, context: TaskContext, criteria: str, output: str
    ) -> str | None:
        """Judges an output, while the task's machine is in `validating`; else as for `execute_task`.

        Args:
            agent: Who works.
            task: What is to be done.
            context: What is known besides.
            criteria: What the output should be like, in words.
            output: The output.

        Returns:
            What is wrong with it, or None.
        """
        ...


Executor = AgentExecutor | Callable[[AgentConfig, TaskConfig, TaskContext], Any]


class WorkFailedError(Exception):
    """The work itself raised. Never leaves this room."""


class InterruptedWorkError(BaseException):
    """The work has raised `KeyboardInterrupt`: the run ends as one that is cancelled. Never leaves this room.

    `KeyboardInterrupt` itself would end the event loop at once, with all that the run has come to.
    """


async def attempted(work: Callable[..., Awaitable[Any]], /, *args: Any) -> Any:
    """Calls and awaits work and marks what it raises: an error of the machine is not one of the work.

    To be run as a task of its own, as `during` does.

    Raises:
        WorkFailedError: From what the work raised.
        InterruptedWorkError: It raised `KeyboardInterrupt`.
    """
    try:
        return await work(*args)
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        # Nobody cancelled this work: it waited for something of its own that was cancelled.
        raise WorkFailedError(error_text(error)) from error
    except ModelError as error:
        raise WorkFailedError(str(error)) from error
    except KeyboardInterrupt as error:
        raise InterruptedWorkError(*error.args) from None
    except SystemExit as error:
        raise WorkFailedError(f"it wanted to end the whole program: {error_text(error)}") from error
    except Exception as error:
        raise WorkFailedError(error_text(error)) from error


class BoundExecutor:
    """A user's function or executor, run as the work of the state `executing`."""

    def __init__(self, executor: Executor) -> None:
        self._call = executor.execute_task if isinstance(executor, AgentExecutor) else executor
        if not callable(self._call):
            raise TypeError(
                f"an executor is a function or has execute_task(), {type(executor).__name__} is neither"
            )
        _check_takes_three(self._call)
        if isinstance(executor, PlanningExecutor):
            self._planner = executor
            self.plan_task = self._plan
        if isinstance(executor, JudgingExecutor):
            self.judge_output = executor.judge_output

    async def _plan(self, agent: AgentConfig, task: TaskConfig, context: TaskContext) -> str:
        work = context.attempted(self._plan_text, agent, task, context)
        plan: str = await context.machine.during(work, done=None, failed="fail")
        return plan

    async def _plan_text(self, agent: AgentConfig, task: TaskConfig, context: TaskContext) -> str:
        plan: Any = await call_anything(self._planner.plan_task, agent, task, context)
        if not isinstance(plan, str):
            raise TypeError(f"a plan is text, not {type(plan).__name__}")
        return plan

    async def execute_task(self, agent: AgentConfig, task: TaskConfig, context: TaskContext) -> TaskOutcome:
        """Calls the function; one that raises, or answers something else than it may, has failed."""
        work = context.attempted(self._outcome, agent, task, context)
        try:
            outcome: TaskOutcome = await context.machine.during(work, done=None, failed="fail")
        except WorkFailedError as error:
            return TaskOutcome(False, error=str(error))
        if outcome.error is not None:
            outcome = replace(outcome, error=context.secrets.hidden(outcome.error))
        context.usage += outcome.usage
        return outcome

    async def _outcome(self, agent: AgentConfig, task: TaskConfig, context: TaskContext) -> TaskOutcome:
        answer = await call_anything(self._call, agent, task, context)
        if isinstance(answer, TaskOutcome) and isinstance(answer.output, str):
            return _sound(answer)
        if answer is None:
            return TaskOutcome(True, error="the executor returned None")
        if isinstance(answer, str):
            return TaskOutcome(True, answer)
        raise TypeError(f"an executor answers text or a TaskOutcome, not {type(answer).__name__}")


def _sound(outcome: TaskOutcome) -> TaskOutcome:
    """An outcome that the run can go on with: an error that was handed on instead of raised is put in words.

    Raises:
        TypeError: What it spent is no usage.
    """
    check_usage(outcome.usage)
    error: Any = outcome.error
    if isinstance(error, BaseException):
        return replace(outcome, error=error_text(error))
    return outcome if error is None else replace(outcome, error=str(error))


def _check_takes_three(function: Callable[..., Any]) -> None:
    """A function that takes something else would fail at each attempt, and be retried like an outage.

    Raises:
        TypeError: It cannot be called as an executor is.
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # such as a function written in C: calling it will tell
        return
    try:
        signature.bind(*["agent", "task", "context"])
    except TypeError as error:
        name = getattr(function, "__name__", type(function).__name__)
        raise TypeError(
            f"an executor is called with (agent, task, context), {name}{signature} cannot be: {error}"
        ) from None
