"""The autonomous process: agents claim the tasks, hand on what they fail at, and make helpers.

It goes in rounds: every free agent claims one of the tasks that wait for nothing, and what was claimed in a
round is done at the same time. Which agent claims what follows from the crew alone, so that a run that goes
on claims the same. A task that failed goes to an agent that has not tried it. Everything happens inside of an
`executionBudget`: a task's budget comes out of the crew's, that of a helper out of its maker's. A machine
enforces its budget as its own limits: tokens are a meter, wall time is its total duration, and a tool call
beyond the budget is one that its guard refuses.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from orkeon_transitions.crew.claims import Claim, claims_in_order
from orkeon_transitions.crew.decisions import Decision
from orkeon_transitions.crew.execution_budget import CrewBudget, ExecutionBudget, Spending
from orkeon_transitions.crew.handing_on import handed_on
from orkeon_transitions.crew.processes.process import CrewRun, Job
from orkeon_transitions.crew.processes.spending import Allowance, out_of
from orkeon_transitions.crew.results import TaskResult, TaskRunStatus


async def run_autonomous(run: CrewRun) -> None:
    """Runs the tasks in rounds, each by the agent that claims it."""
    blocks = {task.id: task.execution_budget for task in run.config.tasks.values()}
    market = _Market(run, CrewBudget.of(run.config.execution_budget, blocks))
    while market.open:
        await market.round()


@dataclass(slots=True)
class _Market:
    """Where tasks are claimed.

    Attributes:
        run: The run.
        budget: What it may use.
        open: The tasks that have not ended, in their order.
        spent: What was used by now.
        claimed: How many tasks each agent has claimed.
    """

    run: CrewRun
    budget: CrewBudget
    open: list[str] = field(init=False)
    spent: Spending = field(default_factory=Spending, init=False)
    claimed: Counter[str] = field(default_factory=Counter, init=False)

    def __post_init__(self) -> None:
        self.open = list(self.run.order)

    async def round(self) -> None:
        """Lets the agents claim, and does what was claimed."""
        claims = self._claims()
        others = [task_id for task_id in self.open if task_id not in claims]
        budgets = self.budget.for_tasks([*claims, *others], self.spent)
        self.open = others
        begun = [
            effort
            for task_id, claim in claims.items()
            if (effort := self._begin(task_id, claim, budgets[task_id])) is not None
        ]
        await self._all(begun)
        spent = [effort.spent for effort in begun]
        longest = max((one.wall_time for one in spent), default=0.0)
        # What is done at the same time takes as long as the longest of it.
        together = sum((replace(one, wall_time=0.0) for one in spent), Spending(wall_time=longest))
        self.spent += together

    def _claims(self) -> Mapping[str, Claim]:
        """Who claims which of the tasks that wait for nothing; those that nobody can do have ended."""
        config, run = self.run.config, self.run
        free = [key for key in config.agents if run.is_available(key)]
        waiting, claims = frozenset(self.open), dict[str, Claim]()
        for task_id in list(self.open):
            task = config.tasks[task_id]
            if waiting & set(task.dependencies):
                continue
            if not run.can_begin(task_id):
                self.open.remove(task_id)
            elif not any(run.is_available(key) for key in config.agents if task.agent in {"", key}):
                run.prepare(task_id)
                self.open.remove(task_id)
            elif able := [config.agents[key] for key in free if task.agent in {"", key}]:
                claim = claims[task_id] = claims_in_order(task, able, self.claimed)[0]
                self.claimed[claim.agent] += 1
                free.remove(claim.agent)
        return claims

    def _begin(self, task_id: str, claim: Claim, budget: ExecutionBudget) -> _Effort | None:
        """Gets a claimed task ready; None: there is nothing left to do it with."""
        if nothing := [name for name in ("tokens", "wall_time") if not getattr(budget, name)]:
            whole = replace(self.budget.of_tasks[task_id], **self.budget.shared)
            why = out_of(nothing, whole, self.spent)
            self.run.decide(Decision("budget", "", task_id, "nothing left", why))
            self.run.refuse(task_id, why)
            return None
        self.run.decide(Decision("claim", claim.agent, task_id, claim.agent, claim.why))
        job = self.run.prepare(task_id, claim.agent)
        return None if job is None else _Effort(self.run, job, budget, self.claimed)

    async def _all(self, efforts: list[_Effort]) -> None:
        """Does them at the same time, as many as may; what breaks one of them off ends all."""
        room = asyncio.Semaphore(self.run.options.concurrency)

        async def in_its_turn(effort: _Effort) -> None:
            async with room:
                await effort.do()

        try:
            async with asyncio.TaskGroup() as group:
                for effort in efforts:
                    group.create_task(in_its_turn(effort))
        except BaseExceptionGroup as errors:
            # Whoever runs the crew waits for what the journal raises, not for a group of it.
            raise errors.exceptions[0] from None


@dataclass(slots=True)
class _Effort:
    """The work on one task, by whomever.

    Attributes:
        run: The run.
        job: The task, and who claims it.
        budget: What it may use.
        claimed: How many tasks each agent has claimed.
        spent: What was used by now.
        tried: Who has tried.
        out: What has run out and was wanted.
    """

    run: CrewRun
    job: Job
    budget: ExecutionBudget
    claimed: Mapping[str, int]
    spent: Spending = field(default_factory=Spending, init=False)
    tried: set[str] = field(default_factory=set, init=False)
    out: dict[str, None] = field(default_factory=dict, init=False)

    async def do(self) -> None:
        """Does the task, to its end."""
        try:
            last = await self._last()
        except BaseException as error:
            if attempts := self.run.attempts(self.job.task.id):
                is_broken = isinstance(error, Exception)
                status = TaskRunStatus.FAILED if is_broken else TaskRunStatus.CANCELLED
                why = self.run.broken_off(error) if is_broken else "cancelled"
                result = self._put_together(replace(attempts[-1], status=status, error=why))
                self.run.conclude(result, is_interrupted=True)
            raise
        self.run.conclude(self._put_together(last))

    async def _last(self) -> TaskResult:
        """What the last one that tried has come to."""
        job, task_id = self.job, self.job.task.id
        while True:
            result = await self._attempt(job)
            if result.status is not TaskRunStatus.FAILED or (peer := self._peer(result)) is None:
                break
            self.spent += Spending(delegation_depth=1)
            depth, agents = self.spent.delegation_depth, self.run.config.agents
            self.run.decide(Decision("delegation", job.agent.id, task_id, peer.agent, peer.why, depth))
            job = replace(self.job, task=handed_on(self.job.task, result), agent=agents[peer.agent])
        return self._judged(result)

    async def _attempt(self, job: Job) -> TaskResult:
        allowance = Allowance(self.run, job, job.task.id, self.budget, self.spent)
        name = f"{job.task.id}/{job.agent.id}"
        result = await self.run.attempt(job, name, allowance.limits(), allowance.equip)
        self.tried.add(job.agent.id)
        self.spent = allowance.spent()
        allowance.tell_of_helpers()
        self.out |= allowance.ran_out()
        return result

    def _peer(self, result: TaskResult) -> Claim | None:
        """Who else may do a task that failed; None: nobody, or there is nothing left to do it with."""
        if self.out.keys() & {"tokens", "wall_time", "tool_calls"}:
            return None
        agents, run = self.run.config.agents, self.run
        others = [agents[key] for key in agents if key not in self.tried and run.is_available(key)]
        if not others:
            return None
        if self.spent.delegation_depth >= self.budget.delegation_depth:
            if self.budget.delegation_depth:
                self.out["delegation_depth"] = None
            return None
        best = claims_in_order(self.job.task, others, self.claimed)[0]
        return Claim(best.agent, f"'{result.agent}' failed: {result.error}; {best.why}")

    def _judged(self, result: TaskResult) -> TaskResult:
        """The result, with what has run out where it did not complete."""
        why = out_of(self.out, self.budget, self.spent) if self.out else ""
        used = self.spent.in_words(self.budget)
        choice = "used up" if self.out else "kept"
        self.run.decide(Decision("budget", "", self.job.task.id, choice, f"{why}; {used}" if why else used))
        if result.success or not why:
            return result
        return replace(result, error=f"{why}; {result.error}")

    def _put_together(self, last: TaskResult) -> TaskResult:
        """The result of the last attempt, with every machine; those of helpers come before their makers'."""
        task_id = self.job.task.id
        attempts = self.run.attempts(task_id)
        parts = [part for one in attempts for part in [*self._helpers(one), one]]
        outputs = [last.output, *(one.output for one in reversed(attempts))]
        return replace(
            last,
            output=next(filter(None, outputs), ""),
            attempts=sum(one.attempts for one in attempts),
            history=tuple(step for one in parts for step in one.history),
            usage=sum((one.usage for one in parts[1:]), parts[0].usage),
            machines=tuple(machine for one in parts for machine in one.machines),
        )

    def _helpers(self, attempt: TaskResult) -> list[TaskResult]:
        return [one.result for one in self.run.assisted(f"{attempt.machine_id}/")]
