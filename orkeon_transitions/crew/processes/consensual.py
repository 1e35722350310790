"""The consensual process: every agent does each task, and all of them choose among the answers.

Each agent works on a machine of its own. Then each ranks the answers of the others, which come under labels
that tell nothing of their authors and mean something else for each voter. Without a consensus the agents see
what the others have given, try again and vote again, as often as the `consensus` block says; what is left
then is the fallback.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import TypeVar

from orkeon_transitions.crew.consensus_block import ConsensusBlock, Fallback
from orkeon_transitions.crew.decisions import Decision
from orkeon_transitions.crew.deliverables import Deliverable
from orkeon_transitions.crew.json_answers import asked_in_json
from orkeon_transitions.crew.processes.process import CrewRun, Job
from orkeon_transitions.crew.questions import (
    Preference,
    ballot_question,
    ballot_schema,
    choice_question,
    choice_schema,
    discussion,
    read_ballot,
    read_choice,
    readable,
)
from orkeon_transitions.crew.results import TaskResult, TaskRunStatus
from orkeon_transitions.crew.threads import call_anything
from orkeon_transitions.crew.tool import ToolError
from orkeon_transitions.crew.voting import Ballot, Tally, ballots_needed, tally

Given = TypeVar("Given")


async def run_consensual(run: CrewRun) -> None:
    """Runs the tasks in the order of their dependencies, each by all agents."""
    settings = run.config.consensus or ConsensusBlock()
    # Whoever decides where the others do not agree is none of them.
    apart = run.config.manager_agent if settings.is_led else None
    agents = [key for key in run.config.agents if key != apart and run.is_available(key)]
    for task_id in run.order:
        if not run.can_begin(task_id):
            continue
        if not agents:
            run.refuse(task_id, "no agent is available")
        elif (job := run.prepare(task_id, agents[0])) is not None:
            await _Council(run, settings, job, agents).decide()


@dataclass(slots=True)
class _Council:
    """The agents of a crew, over one task.

    Attributes:
        run: The run.
        settings: What makes a consensus.
        job: The task.
        agents: Who does it and votes, in file order.
        answers: The last sound answer of each agent that gave one, in file order.
    """

    run: CrewRun
    settings: ConsensusBlock
    job: Job
    agents: Sequence[str]
    answers: dict[str, TaskResult] = field(default_factory=dict, init=False)

    async def decide(self) -> None:
        """Does the task, to its end."""
        file = self.job.task.deliverable
        deliverable = Deliverable.of(self.run.options.mounts, file) if file else None
        try:
            result = await self._result()
            if result.success and deliverable is not None:
                result = await _delivered(result, deliverable)
        except BaseException as error:
            if self.run.attempts(self.job.task.id):
                self.run.conclude(self._broken_off(error), is_interrupted=True)
            raise
        self.run.conclude(result)

    async def _result(self) -> TaskResult:
        count = Tally({}, None, "")
        for number in range(1, self.settings.discussion_rounds + 2):
            await self._work(number)
            if not self.answers:
                return self._nothing()
            count = await self._vote(number)
            choice = count.winner or "none"
            self.run.decide(Decision("consensus", "", self.job.task.id, choice, count.why, number))
            if count.winner is not None:
                return self._put_together(self.answers[count.winner])
        return await self._fall_back(count)

    async def _work(self, number: int) -> None:
        """Every agent does the task, or does it once more."""
        results = await self._all({agent: partial(self._attempt, agent, number) for agent in self.agents})
        sound = {agent: result for agent, result in results.items() if result.success}
        known = {**self.answers, **sound}
        # An attempt that came to nothing does not take away an earlier answer.
        self.answers = {agent: known[agent] for agent in self.agents if agent in known}

    async def _attempt(self, agent: str, number: int) -> TaskResult:
        # What is delivered is decided later, and by nobody alone.
        task = replace(self.job.task, deliverable=None)
        if number > 1 and (shown := self._labelled(agent, number)):
            answers = {label: self.answers[author].output for label, author in shown.items()}
            task = replace(task, description=discussion(task, answers))
        job = replace(self.job, task=task, agent=self.run.config.agents[agent])
        return await self.run.attempt(job, f"{task.id}/{agent}")

    async def _vote(self, number: int) -> Tally:
        """Every agent that can ranks the others' answers."""
        task_id, authors, quorum = self.job.task.id, list(self.answers), self.settings.quorum
        if len(authors) > 1 and len({result.output.strip() for result in self.answers.values()}) == 1:
            needed = ballots_needed(quorum, len(self.agents))
            agreed = len(authors) >= needed
            scores = dict.fromkeys(authors, Fraction(1))
            why = f"all {len(authors)} answers are the same" + ("" if agreed else f", {needed} are needed")
            return Tally(scores, authors[0] if agreed else None, why)
        voters = [agent for agent in self.agents if authors != [agent]]
        asked = await self._all({voter: partial(self._ballot, voter, number) for voter in voters})
        for voter, preference in asked.items():
            choice = " > ".join(preference.ranking) or "abstained"
            self.run.decide(Decision("ballot", voter, task_id, choice, preference.why, number))
        ballots = [Ballot(voter, preference.ranking) for voter, preference in asked.items()]
        count = tally(
            self.settings.rule,
            authors,
            ballots,
            threshold=self.settings.exact_threshold,
            weights=self.settings.weights,
        )
        needed, cast = ballots_needed(quorum, len(voters)), sum(bool(ballot.ranking) for ballot in ballots)
        if cast < needed:
            return replace(count, winner=None, why=f"no quorum: {cast} ballots of {needed} that are needed")
        return count

    async def _ballot(self, voter: str, number: int) -> Preference:
        """Asks an agent for its ballot; gives the authors in its order."""
        shown = self._labelled(voter, number)
        answers = {label: self.answers[author].output for label, author in shown.items()}
        read = partial(read_ballot, labels=list(shown))
        answer = await self.run.consult(
            voter,
            f"{self.job.task.id}:ballot-{number}/{voter}",
            ballot_question(self.job.task, answers),
            asked_in_json(ballot_schema(list(shown))),
            kind="ballot",
            check=readable(read),
        )
        if not answer.success:
            return Preference((), f"no ballot that could be read: {answer.error}")
        preference = read(answer.output)
        return Preference(tuple(shown[label] for label in preference.ranking), preference.why)

    async def _fall_back(self, count: Tally) -> TaskResult:
        """There is no consensus."""
        task_id, fallback = self.job.task.id, self.settings.fallback
        best = self.answers[(count.best or tuple(self.answers))[0]]
        why = f"there is no consensus: {count.why}"
        match fallback:
            case Fallback.ACCEPT_BEST:
                self.run.decide(Decision("fallback", "", task_id, str(best.agent), "accept-best"))
                return self._put_together(best)
            case Fallback.FAIL:
                self.run.decide(Decision("fallback", "", task_id, "none", "fail"))
                return self._put_together(best, TaskRunStatus.FAILED, why)
        manager = str(self.run.config.manager_agent)
        chosen = await self._choice(manager)
        if isinstance(chosen, str):
            words = f"{why}; the manager '{manager}' has chosen none: {chosen}"
            return self._put_together(best, TaskRunStatus.FAILED, words)
        author = chosen.ranking[0]
        self.run.decide(Decision("fallback", manager, task_id, author, chosen.why))
        return self._put_together(self.answers[author])

    async def _choice(self, manager: str) -> Preference | str:
        """Lets the manager choose an answer; a text: why there is no choice."""
        shown = self._labelled(manager, 0)
        answers = {label: self.answers[author].output for label, author in shown.items()}
        read = partial(read_choice, labels=list(shown))
        answer = await self.run.consult(
            manager,
            f"{self.job.task.id}:choice",
            choice_question(self.job.task, answers),
            asked_in_json(choice_schema(list(shown))),
            kind="choice",
            check=readable(read),
        )
        if not answer.success:
            return str(answer.error)
        preference = read(answer.output)
        return Preference(tuple(shown[label] for label in preference.ranking), preference.why)

    def _labelled(self, reader: str, number: int) -> dict[str, str]:
        """The authors of the others' answers by label, in an order that is the reader's own."""
        task_id = self.job.task.id

        def place(author: str) -> str:
            return hashlib.sha256("\0".join((task_id, reader, str(number), author)).encode()).hexdigest()

        others = sorted((author for author in self.answers if author != reader), key=place)
        return {_label(index): author for index, author in enumerate(others)}

    async def _all(self, works: Mapping[str, Callable[[], Awaitable[Given]]]) -> dict[str, Given]:
        """Lets agents work at the same time, as many as may; what breaks one of them off ends all."""
        room = asyncio.Semaphore(self.run.options.concurrency)

        async def in_its_turn(work: Callable[[], Awaitable[Given]]) -> Given:
            async with room:
                return await work()

        try:
            async with asyncio.TaskGroup() as group:
                begun = {key: group.create_task(in_its_turn(work)) for key, work in works.items()}
        except BaseExceptionGroup as errors:
            # Whoever runs the crew waits for what the journal raises, not for a group of it.
            raise errors.exceptions[0] from None
        return {key: task.result() for key, task in begun.items()}

    def _nothing(self) -> TaskResult:
        """No agent gave a sound answer: what one of them gave until it was stopped is better than nothing."""
        attempts = self._attempts()
        partial_ones = [one for one in attempts if one.status is TaskRunStatus.DEGRADED and one.output]
        if partial_ones:
            return self._put_together(partial_ones[0], TaskRunStatus.DEGRADED, partial_ones[0].error)
        reasons = "; ".join(f"{one.agent}: {one.error}" for one in attempts)
        kept = next((one for one in attempts if one.output), attempts[0])
        return self._put_together(kept, TaskRunStatus.FAILED, f"no agent gave an answer: {reasons}")

    def _broken_off(self, error: BaseException) -> TaskResult:
        """What there is of the task when the run ends in the middle of it."""
        attempts = self._attempts()
        kept = next((one for one in attempts if one.output), attempts[0])
        if isinstance(error, Exception):
            return self._put_together(kept, TaskRunStatus.FAILED, self.run.broken_off(error))
        return self._put_together(kept, TaskRunStatus.CANCELLED, "cancelled")

    def _put_together(
        self, chosen: TaskResult, status: TaskRunStatus = TaskRunStatus.COMPLETED, error: str | None = None
    ) -> TaskResult:
        """The task's result: one agent's answer, and every machine, that of the answer at the end."""
        attempts = self._attempts()
        in_order = [*(one for one in attempts if one.machine_id != chosen.machine_id), chosen]
        others = attempts[1:]
        return replace(
            chosen,
            status=status,
            error=error,
            attempts=sum(one.attempts for one in attempts),
            history=tuple(step for one in in_order for step in one.history),
            usage=sum((one.usage for one in others), attempts[0].usage),
            machines=tuple(machine for one in in_order for machine in one.machines),
        )

    def _attempts(self) -> list[TaskResult]:
        """All attempts, round by round, the agents in file order."""
        by_agent = dict.fromkeys(self.agents, 0)
        places = []
        for one in self.run.attempts(self.job.task.id):
            agent = str(one.agent)
            by_agent[agent] += 1
            places.append((by_agent[agent], list(self.agents).index(agent), one))
        return [one for *_, one in sorted(places, key=lambda place: place[:2])]


async def _delivered(result: TaskResult, deliverable: Deliverable) -> TaskResult:
    """Sees to it that the task's file is there."""
    try:
        await call_anything(deliverable.complete, result.output)
    except ToolError as error:
        why = f"the deliverable could not be written: {error}"
        return replace(result, status=TaskRunStatus.FAILED, error=why)
    return result


def _label(index: int) -> str:
    """A, B, ... Z, AA, AB, ..."""
    before = "" if index < 26 else _label(index // 26 - 1)
    return before + chr(ord("A") + index % 26)
