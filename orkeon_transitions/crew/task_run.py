"""One machine of one task: the attempts at it, and the task's result so far.

In a run that is written down, each transition is noted with what the task has come to: `progress` is what
another process needs to go on, and `put_back` gives it to one.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from orkeon_transitions.crew import human
from orkeon_transitions.crew.acceptance import EMPTY_OUTPUT, Acceptance, in_words
from orkeon_transitions.crew.config import AgentConfig, TaskConfig
from orkeon_transitions.crew.decisions import Review, Verdict
from orkeon_transitions.crew.deliverables import Deliverable
from orkeon_transitions.crew.executors import (
    AgentExecutor,
    InterruptedWorkError,
    PlanningExecutor,
    TaskContext,
    WorkFailedError,
)
from orkeon_transitions.crew.observing import CrewObserver, TaskMoved, TaskStarted, TaskText, tell
from orkeon_transitions.crew.recording import MachineRecord, RunRecorder
from orkeon_transitions.crew.results import MachineRun, TaskResult, TaskRunStatus, Usage
from orkeon_transitions.crew.resuming import STATUS_OF
from orkeon_transitions.crew.threads import call_anything
from orkeon_transitions.errors import CircuitBrokenError, StateLeftError
from orkeon_transitions.facts import TransitionResult
from orkeon_transitions.machines import AsyncTaskExecution, TaskState

log = logging.getLogger(__name__)

# In `failed` no clock of the machine runs.
LONGEST_WAIT = 60.0
ATTEMPTS = frozenset({"begin_execution", "retry"})


@dataclass(slots=True)
class TaskRun:
    """Drives a task's machine from `assigned` to its end. A machine that a process makes later has its own.

    Attributes:
        task: What is to be done, inputs filled in.
        agent: Who works.
        executor: Does each attempt.
        context: What the executor is given, with the machine.
        observer: Who watches.
        deliverable: The file that the task promises, or None.
        before: What earlier machines made of the task, or None.
        review: Judges each output, or None: nobody does.
        is_piece: Whether this is no task of the crew by itself, but a piece of work that its process wants.
        is_planned: Whether the agent makes a plan first.
        acceptance: What an output must be like.
    """

    task: TaskConfig
    agent: AgentConfig
    executor: AgentExecutor
    context: TaskContext
    observer: CrewObserver
    deliverable: Deliverable | None = None
    before: TaskResult | None = None
    review: Review | None = None
    is_piece: bool = False
    is_planned: bool = False
    acceptance: Acceptance = field(default_factory=Acceptance)
    _history: list[TransitionResult] = field(default_factory=list, init=False)
    _output: str = field(default="", init=False)
    _error: str | None = field(default=None, init=False)
    _has_answer: bool = field(default=False, init=False)
    _is_given_up: bool = field(default=False, init=False)
    _is_approved: bool = field(default=False, init=False)
    _record: MachineRecord | None = field(default=None, init=False)

    @property
    def _machine(self) -> AsyncTaskExecution:
        return self.context.machine

    async def perform(self) -> None:
        """Works on the task until its machine has ended or lets nothing more happen.

        Raises:
            CancelledError: The run was cancelled; the machine then is in `cancelled`.
            Exception: What the journal raises: no fact may be lost.
        """
        stop_listening = self._machine.on_transition(self._moved)
        if self.observer.task_text is not None:
            self.context.on_text = self._wrote
        tell(
            self.observer.task_started,
            TaskStarted(
                self.task.id,
                self.agent.id,
                self._machine,
                self.context.is_resumed,
                usage=lambda: self.context.usage,
            ),
        )
        try:
            await self._drive()
        except (asyncio.CancelledError, InterruptedWorkError):
            if self._record is not None:
                self._record.leave()
            await self._cancel()
            raise
        finally:
            stop_listening()

    def progress(self) -> dict[str, Any]:
        """What the task has come to, as JSON data: noted beside each fact of its machine."""
        return {
            "piece" if self.is_piece else "task": self.task.id,
            "agent": self.agent.id,
            "output": self._output,
            "partial": self.context.partial,
            "error": self.context.failure or self._error,
            "has_answer": self._has_answer,
            "is_given_up": self._is_given_up,
            "feedback": self.context.feedback,
            "plan": self.context.plan,
            "asked": self.context.asked and self.context.asked.to_dict(),
            "heard": self.context.heard,
            "is_approved": self._is_approved,
            "usage": self.context.usage.to_dict(),
            "about": self.context.about,
            "file_before": self.deliverable and self.deliverable.before,
        }

    def record_in(self, recorder: RunRecorder) -> None:
        """Writes the machine down from now on, each fact with the progress."""
        self._record = MachineRecord(recorder, self.progress)
        self._machine.attach_commit(self._record)

    def note_down(self) -> None:
        """The machine has ended: what the work gave after its last transition is noted, too."""
        if self._record is not None:
            self._record.note_down(self._machine.snapshot())

    def put_back(self, progress: Mapping[str, Any], history: Sequence[TransitionResult]) -> None:
        """Goes on where another process was: the machine was restored to the last of these transitions."""
        context = self.context
        self._history = list(history)
        self._output, self._error = progress["output"], progress["error"]
        self._has_answer = progress["has_answer"]
        context.partial, context.feedback = progress["partial"], progress["feedback"]
        context.plan, context.heard = progress.get("plan", ""), list(map(tuple, progress.get("heard", ())))
        context.asked = human.HumanQuestion(**asked) if (asked := progress.get("asked")) else None
        self._is_approved = progress.get("is_approved", False)
        context.usage = Usage(**progress["usage"])
        if self.deliverable is not None:
            trace = progress["file_before"]
            self.deliverable = replace(self.deliverable, before=None if trace is None else tuple(trace))
        context.attempt += sum(step.trigger in ATTEMPTS for step in history)
        context.is_resumed = True

    def result(self) -> TaskResult:
        """The result as it stands."""
        this = self._this_machine()
        status = STATUS_OF.get(self._machine.state, TaskRunStatus.FAILED)
        before = self.before or TaskResult(self.task.id, status)
        return TaskResult(
            id=self.task.id,
            status=status,
            output=this.output or before.output,
            error=this.error,
            attempts=self.context.attempt,
            history=(*before.history, *this.history),
            agent=self.agent.id,
            usage=self.context.usage,
            machine_id=this.machine_id,
            state=this.state,
            machines=(*before.machines, this),
        )

    def _this_machine(self) -> MachineRun:
        return MachineRun(
            machine_id=self._machine.machine_id,
            agent=self.agent.id,
            state=str(self._machine.state),
            output=self._output or self.context.partial,
            error=None if self._machine.state is TaskState.COMPLETED else self._why(),
            history=tuple(self._history),
        )

    async def _drive(self) -> None:
        """Each turn makes one step of the machine; a step that it refuses ends the task."""
        going_on = await self._set_to_work()
        while going_on and not self.context.is_over:
            match self._machine.state:
                case TaskState.PLANNING:
                    going_on = await self._plan()
                case TaskState.EXECUTING:
                    going_on = await self._work()
                case TaskState.WAITING_FOR_HUMAN_INPUT:
                    going_on = await self._listen()
                case TaskState.FAILED:
                    going_on = await self._may_help() and await self._fire("retry")
                case _:
                    going_on = False

    async def _set_to_work(self) -> bool:
        """Begins, or leaves the state in which another process was stopped, where its work is lost."""
        match self._machine.state:
            case TaskState.ASSIGNED:
                return await self._fire("start_planning" if self.is_planned else "begin_execution")
            case TaskState.TOOL_CALLING:
                # Whether the tool has done its work is not known: whoever works asks again, or does not.
                return await self._fire("skip_tool_call")
            case TaskState.VALIDATING:
                return await self._judge()
            case _:
                return True

    async def _may_help(self) -> bool:
        """Waits as long as the model asked for; False if another attempt would be in vain."""
        seconds, self.context.retry_after = self.context.retry_after, 0.0
        if self._is_given_up or seconds is None or seconds > LONGEST_WAIT:
            return False
        if seconds and await self._machine.can_fire("retry"):
            await asyncio.sleep(seconds)
        return True

    async def _plan(self) -> bool:
        """Lets the agent make a plan: the work of the state `planning`. Who cannot make one goes without."""
        if isinstance(self.executor, PlanningExecutor):
            try:
                self.context.plan = await self.executor.plan_task(self.agent, self.task, self.context)
            except WorkFailedError as error:
                self._error, self.context.failure = f"there is no plan: {error}", None
                return True
            except (CircuitBrokenError, StateLeftError):
                return True
        return await self._fire("begin_execution")

    async def _work(self) -> bool:
        """One turn of the executor, and what the machine makes of it."""
        if self._is_approved:
            # A person has accepted the output before this process went on with it, or before its file failed.
            return await self._fire("submit_for_validation") and await self._judge()
        try:
            outcome = await self.executor.execute_task(self.agent, self.task, self.context)
        except (CircuitBrokenError, StateLeftError):
            # The machine knows why, and the result shows it.
            return True
        # An attempt that gave nothing does not take away what an earlier one gave.
        self._output = outcome.output or self._output
        self._has_answer = bool(outcome.output.strip())
        self.context.feedback = self.context.failure = None
        if self.context.is_over:
            return True
        if outcome.success:
            if not self._has_answer:
                self._error = outcome.error or "the output is empty"
            elif self.acceptance.by_person:
                return await self._show()
            return await self._fire("submit_for_validation") and await self._judge()
        self._error = self.context.secrets.hidden(outcome.error or "the executor failed without saying why")
        if self._machine.state is not TaskState.EXECUTING:
            return True
        return await self._fire("fail")

    async def _show(self) -> bool:
        """Lets a person see the output, unless it is not in order anyway."""
        try:
            if await self.acceptance.problems(self.context, self._output):
                return await self._fire("submit_for_validation") and await self._judge()
        except WorkFailedError as error:
            return self._unchecked(error)
        except (CircuitBrokenError, StateLeftError):
            return True
        self.context.asked = self.context.question_for(human.REVIEW, self.task, self.agent, self._output)
        if await self._fire("request_human_input"):
            return True
        self.context.asked = None
        if not self.context.is_over:
            most = self._machine.guard_context.max_questions
            self._error, self._is_given_up = human.OFTEN_ENOUGH.format(most=most), True
        return await self._fire("fail")

    async def _listen(self) -> bool:
        """Waits for a person's answer: the work of the state `waiting_for_human_input`."""
        context, question = self.context, self.context.asked
        if question is None or context.human is None:
            # A question that is not known is lost; without a person there is none who would know more later.
            self._error, self._is_given_up = (human.LOST, False) if question is None else (human.NOBODY, True)
            return await self._fire("fail")
        try:
            work = context.attempted(context.human.answer, question)
            answer: str | None = await self._machine.during(work, done=None, failed="fail")
        except WorkFailedError as error:
            self._error, context.failure = f"the person could not be asked: {error}", None
            return True
        except (CircuitBrokenError, StateLeftError):
            return True
        if question.kind == human.QUESTION:
            context.heard.append((question.text, answer or human.NO_ANSWER))
        elif answer is None:
            self._error, self._is_given_up = "nobody has accepted the output", True
            return await self._fire("fail")
        elif answer.strip():
            context.feedback = human.TO_BE_CHANGED.format(words=answer)
            context.heard.append((human.WHAT_TO_CHANGE, answer))
        else:
            self._is_approved = True
        context.asked = None
        return await self._fire("human_input_received")

    async def _judge(self) -> bool:
        """An output is accepted if there is any, nothing is wrong with it, and whoever reviews it agrees."""
        if not self._has_answer:
            return await self._send_back(EMPTY_OUTPUT)
        try:
            problems = await self.acceptance.problems(self.context, self._output)
        except WorkFailedError as error:
            return self._unchecked(error)
        except (CircuitBrokenError, StateLeftError):
            return True
        if problems:
            self._error = f"the output was not accepted: {'; '.join(problems)}"
            return await self._send_back(in_words(problems))
        if self.review is not None:
            verdict = await self._reviewed(self.review)
            if verdict is None:
                return True
            if verdict.feedback is not None:
                self._error, self._is_given_up = verdict.feedback, verdict.is_final
                return await self._send_back(verdict.feedback)
        self._output = self.acceptance.taken(self._output)
        # Where the file could not be written the machine has gone on: the next turn sees where it is.
        return not await self._deliver(self._output) or await self._fire("validation_passed")

    def _unchecked(self, error: WorkFailedError) -> bool:
        """The output could not be checked, and the machine has gone on."""
        self._error, self.context.failure = f"the output could not be checked: {error}", None
        return True

    async def _send_back(self, feedback: str) -> bool:
        """The output is not accepted: there may be another one."""
        self.context.feedback, self._is_approved = feedback, False
        sent_back = not self._is_given_up and await self._fire("validation_failed")
        return sent_back or await self._fire("fail")

    async def _reviewed(self, review: Review) -> Verdict | None:
        """Lets somebody judge: the work of the state `validating`; None: the state was left meanwhile."""
        try:
            number = sum(step.to_state == TaskState.VALIDATING for step in self._history)
            work = review(self._output, number)
            verdict: Verdict = await self._machine.during(work, done=None, failed=None)
        except (CircuitBrokenError, StateLeftError):
            return None
        return verdict

    async def _deliver(self, output: str) -> bool:
        """Sees to it that the file is there: the work of the state `validating`; False if it cannot be."""
        if self.deliverable is None:
            return True
        work = self.context.attempted(call_anything, self.deliverable.complete, output)
        try:
            await self._machine.during(work, done=None, failed="fail")
        except WorkFailedError as error:
            self._error, self.context.failure = f"the deliverable could not be written: {error}", None
            return False
        except (CircuitBrokenError, StateLeftError):
            return False
        return True

    async def _fire(self, trigger: str) -> bool:
        """Fires; True if it was made."""
        made = bool(await self._machine.try_fire(trigger))
        if made and trigger in ATTEMPTS:
            self.context.attempt += 1
        return made

    async def _cancel(self) -> None:
        try:
            await self._machine.try_fire("cancel")
        except Exception:  # the cancellation goes on, whatever a journal says to it
            log.exception("Task '%s' could not be marked as cancelled", self.task.id)

    def _moved(self, transition: TransitionResult) -> None:
        self._history.append(transition)
        if self.observer.task_moved is not None:
            tell(self.observer.task_moved, TaskMoved(self.task.id, transition, self._machine.circuit_status))

    def _wrote(self, text: str) -> None:
        tell(self.observer.task_text, TaskText(self.task.id, self.agent.id, text))

    def _why(self) -> str:
        if reason := self._machine.circuit_status.broken_reason:
            return f"circuit breaker: {reason}"
        if self._machine.state is TaskState.CANCELLED:
            return "cancelled"
        return self._error or f"stopped in '{self._machine.state}'"
