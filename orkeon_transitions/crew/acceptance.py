"""What an output goes through before it is accepted: rules, the program's own checks, a model, a person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from orkeon_transitions.crew.checks import Checker, Rule, unfenced
from orkeon_transitions.crew.checks.checker import Judge
from orkeon_transitions.crew.config import AgentConfig, CrewConfig, TaskConfig
from orkeon_transitions.crew.executors import TaskContext

EMPTY_OUTPUT = "The output was empty. Answer with the expected output."
CUT_OUTPUT = "it was cut off where the model may write no more (maxTokens, or its own bound): be shorter"


@dataclass(slots=True)
class Acceptance:
    """What one task's outputs must be like.

    Attributes:
        rules: What is asked of them.
        checker: Holds them against the rules.
        judge: Asks a model, where a rule wants that.
        by_person: Whether a person must accept them, too.
    """

    rules: Sequence[Rule] = ()
    checker: Checker = field(default_factory=Checker)
    judge: Judge | None = None
    by_person: bool = False
    _last: tuple[str, list[str]] | None = field(default=None, init=False)

    def taken(self, output: str) -> str:
        """An output as it is handed on: JSON without the fence around it."""
        return unfenced(output) if any(rule.wants_json for rule in self.rules) else output

    async def problems(self, context: TaskContext, output: str) -> list[str]:
        """What is wrong with an output: the work of the machine's state. The same one is held only once.

        Raises:
            WorkFailedError: It could not be checked; the machine is in `failed`.
            CircuitBrokenError: The breaker has tripped meanwhile.
            StateLeftError: The state was left meanwhile.
        """
        if context.is_cut:
            return [CUT_OUTPUT]
        if self._last is None or self._last[0] != output:
            work = context.attempted(self.checker.problems, output, self.rules, self.judge)
            found: list[str] = await context.machine.during(work, done=None, failed="fail")
            self._last = (output, list(map(context.secrets.hidden, found)))
        return self._last[1]


def rules_of(config: CrewConfig, agent: AgentConfig, task: TaskConfig) -> tuple[Rule, ...]:
    """What is asked of a task's output: by the task, its agent and the whole crew."""
    shape = () if task.output_shape is None else (task.output_shape,)
    return (*shape, *task.guardrails, *agent.guardrails, *config.guardrails)


def is_planned(config: CrewConfig, agent: AgentConfig, task: TaskConfig) -> bool:
    """Whether an agent makes a plan first: the task says so, else the agent, else the crew."""
    said = (task.planning, agent.planning, config.planning)
    return next((each for each in said if each is not None), False)


def is_shown(config: CrewConfig, task: TaskConfig) -> bool:
    """Whether a person must accept a task's output: the task says so, else the crew."""
    return bool(config.human_input if task.human_input is None else task.human_input)


def in_words(problems: Sequence[str]) -> str:
    """What an agent is told of its output."""
    listed = "\n".join(f"- {problem}" for problem in problems)
    return f"The output was not accepted:\n{listed}\nAnswer again, with the whole output."
