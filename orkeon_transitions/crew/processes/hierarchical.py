"""The hierarchical process: a manager assigns each task to an agent, and reviews what that agent gives.

The manager never works on a task. Whom it assigns and what it makes of an output are decisions of the run.
A review is the work of the state `validating` of the task's machine: an output that is not accepted goes back
to the agent, and after the last review the task fails, with its output.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace

from orkeon_transitions.crew.config import AgentConfig, TaskConfig
from orkeon_transitions.crew.decisions import Decision, Verdict
from orkeon_transitions.crew.json_answers import asked_in_json
from orkeon_transitions.crew.processes.process import CrewRun, Job
from orkeon_transitions.crew.questions import (
    Opinion,
    assignment_question,
    assignment_schema,
    read_assignment,
    read_review,
    readable,
    review_question,
    review_schema,
    unknown_agent,
)

MOST_REVIEWS = 3


async def run_hierarchical(run: CrewRun) -> None:
    """Runs the tasks in the order of their dependencies, each by the agent that the manager assigns."""
    manager = _Manager(run, str(run.config.manager_agent))
    for task_id in run.order:
        if run.can_begin(task_id) and (job := await manager.assigned(task_id)) is not None:
            reviews = _Reviews(run, manager.key, job.task)
            await reviews.repeat()
            await run.perform(replace(job, review=reviews.review))


class _Manager:
    """Assigns tasks."""

    def __init__(self, run: CrewRun, key: str) -> None:
        self._run = run
        self.key = key

    async def assigned(self, task_id: str) -> Job | None:
        """Has a task assigned; None: it has ended, since nobody will do it."""
        run, task = self._run, self._run.config.tasks[task_id]
        workers = self._workers()
        if not workers:
            run.refuse(task_id, "no agent but the manager is available")
            return None
        answer = await run.consult(
            self.key,
            f"{task_id}:assignment",
            assignment_question(task, workers.values(), run.earlier()),
            asked_in_json(assignment_schema(list(workers), task.agent)),
            kind="assignment",
            check=readable(read_assignment),
        )
        if not answer.success:
            run.refuse(task_id, f"the manager '{self.key}' has assigned it to nobody: {answer.error}")
            return None
        assignment = read_assignment(answer.output)
        chosen = _meant(assignment.agent, run.config.agents)
        run.decide(
            Decision("assignment", self.key, task_id, choice=chosen or assignment.agent, why=assignment.why)
        )
        if chosen is None:
            why = unknown_agent(assignment.agent, workers)
            run.refuse(task_id, f"the manager '{self.key}' has assigned it to '{assignment.agent}': {why}")
        elif chosen == self.key:
            why = "it does no worker's task"
            run.refuse(task_id, f"the manager '{self.key}' has assigned it to itself: {why}")
        else:
            return run.prepare(task_id, chosen)
        return None

    def _workers(self) -> dict[str, AgentConfig]:
        agents = self._run.config.agents.items()
        return {key: one for key, one in agents if key != self.key and self._run.is_available(key)}


@dataclass(slots=True)
class _Reviews:
    """The manager's reviews of one task.

    Attributes:
        run: The run.
        manager: The manager's key.
        task: The task.
        count: How many reviews there were.
    """

    run: CrewRun
    manager: str
    task: TaskConfig
    count: int = field(default=0, init=False)

    async def repeat(self) -> None:
        """Goes through the reviews of another process, whose verdicts the task's machine has seen."""
        for number in range(1, self.run.validations_before(self.task.id) + 1):
            # What was not in order by itself was not reviewed.
            if self.run.was_answered(self._name(number)):
                await self.review("", number)

    async def review(self, output: str, number: int) -> Verdict:
        """Lets the manager judge an output; the number counts how often the machine was in `validating`."""
        self.count += 1
        answer = await self.run.consult(
            self.manager,
            self._name(number),
            review_question(self.task, output),
            asked_in_json(review_schema()),
            kind="review",
            check=readable(read_review),
        )
        if not answer.success:
            why = f"the manager '{self.manager}' has not reviewed the output: {answer.error}"
            return Verdict(why, is_final=True)
        return self._verdict(read_review(answer.output))

    def _verdict(self, opinion: Opinion) -> Verdict:
        choice = "accepted" if opinion.accepted else "sent back"
        self.run.decide(
            Decision("review", self.manager, self.task.id, choice, opinion.feedback, round=self.count)
        )
        if opinion.accepted:
            return Verdict()
        number = f"review {self.count} of {MOST_REVIEWS}"
        words = f"the manager '{self.manager}' has sent the output back ({number}): {opinion.feedback}"
        return Verdict(words, is_final=self.count >= MOST_REVIEWS)

    def _name(self, number: int) -> str:
        return f"{self.task.id}:review-{number}"


def _meant(written: str, agents: Collection[str]) -> str | None:
    """The agent of that key, in whichever case."""
    same = [key for key in agents if key.casefold() == written.casefold()]
    return written if written in agents else same[0] if len(same) == 1 else None
