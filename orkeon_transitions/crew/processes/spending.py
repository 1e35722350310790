"""What one agent or helper may use at one piece of work, and how its machine is held to it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta

from orkeon_transitions.breaker import BreakerLimit, CircuitBreakerStatus
from orkeon_transitions.crew.config import AgentConfig, TaskConfig
from orkeon_transitions.crew.decisions import Decision
from orkeon_transitions.crew.execution_budget import WORDS, ExecutionBudget, Spending
from orkeon_transitions.crew.executors import TaskContext
from orkeon_transitions.crew.processes.process import Assistance, CrewRun, Job
from orkeon_transitions.crew.resolution import TaskLimits, running_limits
from orkeon_transitions.crew.spawning import SPAWN, Wanted, spawn_tool
from orkeon_transitions.crew.tool import ToolError
from orkeon_transitions.machines import AsyncTaskExecution

TOKENS = "tokens"


def out_of(names: Collection[str], budget: ExecutionBudget, spent: Spending) -> str:
    """Says what has run out."""
    shown = spent.amounts(budget)
    return "execution budget: " + ", ".join(f"{WORDS[name]} used up ({shown[name]})" for name in names)


@dataclass(slots=True)
class Allowance:
    """What one machine may use: what is left of a budget.

    Attributes:
        run: The run.
        job: The piece of work.
        task: The key of the crew's task that it is for.
        budget: The whole budget.
        before: What others have used of it.
        about: What a helper is for.
        told: The machines of helpers whose making is a decision of the run already.
        helpers: Those who work for this one right now.
        context: The machine's, once there is one.
        out: What was wanted when there was none of it left.
    """

    run: CrewRun
    job: Job
    task: str
    budget: ExecutionBudget
    before: Spending = field(default_factory=Spending)
    about: str = ""
    told: set[str] = field(default_factory=set)
    helpers: list[Allowance] = field(default_factory=list, init=False)
    context: TaskContext | None = field(default=None, init=False)
    out: dict[str, None] = field(default_factory=dict, init=False)

    def limits(self) -> TaskLimits:
        """The machine's limits: those of the task, and no more than is left."""
        limits, left = running_limits(self.run.config, self.job.task), self.budget.left(self.before)
        policy, wall = limits.policy, timedelta(seconds=left.wall_time)
        update = {
            "max_total_duration": min(policy.max_total_duration or wall, wall),
            "meters": {**policy.meters, TOKENS: min(policy.meters.get(TOKENS, left.tokens), left.tokens)},
        }
        return replace(limits, policy=policy.model_copy(update=update))

    def equip(self, context: TaskContext) -> None:
        """Gives the work what it needs to keep to the budget."""
        self.context = context
        context.about, context.refuses = self.about, self._refusal
        if self.budget.left(self.before).spawns and SPAWN not in self._tools:
            context.own_tools = {SPAWN: spawn_tool(self._spawn)}
        self._settle()

    def spent(self) -> Spending:
        """What was used of the budget by now, by helpers, too."""
        if self.context is None:
            return self.before
        helpers = [one.result for one in self._assisted()]
        usage = sum((one.usage for one in helpers), self.context.usage)
        return self.before + Spending(
            tool_calls=usage.tool_calls,
            wall_time=self._status.total_elapsed.total_seconds(),
            tokens=usage.tokens,
            spawns=len(helpers),
        )

    def ran_out(self) -> dict[str, None]:
        """What was wanted when there was none of it left."""
        limit, spent = self._status.limit, self.spent()
        if limit is BreakerLimit.METERS and spent.tokens >= self.budget.tokens:
            self.out[TOKENS] = None
        longest = running_limits(self.run.config, self.job.task).policy.max_total_duration
        is_shorter = not longest or self._status.policy.max_total_duration < longest
        if limit is BreakerLimit.MAX_TOTAL_DURATION and is_shorter:
            self.out["wall_time"] = None
        return self.out

    def tell_of_helpers(self) -> None:
        """Helpers that another process has made are decisions of the run, too."""
        for one in self._assisted():
            if one.result.machine_id not in self.told:
                self._decide(str(one.result.agent), one.about, str(one.result.machine_id))

    @property
    def _status(self) -> CircuitBreakerStatus:
        return self._machine.circuit_status

    @property
    def _machine(self) -> AsyncTaskExecution:
        return self._work.machine

    @property
    def _work(self) -> TaskContext:
        if self.context is None:
            raise RuntimeError("the work has not begun")
        return self.context

    @property
    def _tools(self) -> tuple[str, ...]:
        tools = self.job.task.tools
        return self.job.agent.tools if tools is None else tools

    def _assisted(self) -> Sequence[Assistance]:
        return self.run.assisted(f"{self._machine.machine_id}/")

    def _left(self) -> ExecutionBudget:
        """What is left beside what helpers have at this moment."""
        left = self.budget.left(self.spent())
        for helper in self.helpers:
            left = left.without(helper.budget.left(helper.spent()))
        return left

    def _refusal(self, tool: str) -> str | None:
        left = self._left()
        nothing = "spawns" if tool == SPAWN and SPAWN not in self._tools and not left.spawns else None
        nothing = nothing if left.tool_calls else "tool_calls"
        if nothing is None:
            return None
        self.out[nothing] = None
        return out_of([nothing], self.budget, self.spent())

    async def _spawn(self, wanted: Wanted) -> str:
        """Makes a helper, and gives its answer.

        Raises:
            ToolError: There is none.
        """
        helper = self._helper(wanted)
        self.helpers.append(helper)
        try:
            result = await self.run.assist(helper.job, helper.job.task.id, helper.limits(), helper.equip)
        finally:
            self.helpers.remove(helper)
            self._settle()
        helper.tell_of_helpers()
        if result.success:
            return result.output
        why = out_of(ran_out, helper.budget, helper.spent()) + "; " if (ran_out := helper.ran_out()) else ""
        kept = f"\nWhat it had by then:\n{result.output}" if result.output else ""
        raise ToolError(f"the helper has not done it: {why}{result.error}{kept}")

    def _helper(self, wanted: Wanted) -> Allowance:
        """A helper, with its part of the budget."""
        tools, left, maker = wanted.with_tools_of(self._tools), self._left(), self.job.agent
        part = left.for_helper()
        for name, most in (("spawns", left.spawns), (TOKENS, part.tokens)):
            if not most:
                self.out[name] = None
                raise ToolError(out_of([name], self.budget, self.spent()))
        agent = AgentConfig(
            id=f"{maker.id}/{wanted.slug}",
            role=wanted.role,
            goal=wanted.goal,
            tools=tools,
            llm=maker.llm,
            max_iter=maker.max_iter,
        )
        own_id = self._machine.machine_id.removeprefix(f"{self.run.options.run_id}/")
        task = TaskConfig(
            # The same work in a run that goes on is the same piece of work, and other work another one.
            id=f"{own_id}/helper-{wanted.digest}",
            description=wanted.work,
            expected_output=wanted.expected_output,
            tools=tools,
            circuit_breaker=self.job.task.circuit_breaker,
            llm_override=self.job.task.llm_override,
        )
        job = Job(task, agent, {})
        return _Helper(self.run, job, self.task, part, about=wanted.about, told=self.told)

    def _settle(self) -> None:
        """Everything that was read and written counts for the machine, whoever has done it."""
        machine, spent = self._machine, self.spent().tokens - self.before.tokens
        missing = spent - self._status.spent.get(TOKENS, 0)
        if missing > 0 and TOKENS in self._status.policy.meters:
            machine.spend(**{TOKENS: missing})

    def _decide(self, helper: str, about: str, machine_id: str) -> None:
        self.told.add(machine_id)
        maker, number = helper.rpartition("/")[0], len(self.told)
        self.run.decide(Decision("spawn", maker, self.task, helper, about, number))


class _Helper(Allowance):
    """What a helper may use; that it is made is a decision."""

    def equip(self, context: TaskContext) -> None:
        """As for whoever works; the helper has its machine now."""
        super().equip(context)
        self._decide(self.job.agent.id, self.about, context.machine.machine_id)
