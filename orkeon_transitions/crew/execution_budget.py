"""What an autonomous crew may use: a budget, what was used of it, and how it is divided.

Pure arithmetic on frozen values. Nothing is ever created: the parts of a budget are never more than the
whole, and what is left after something was used is never more than before. 0 of something is none of it, not
"no limit": with 0 spawns no agent can make a helper, with 0 tool calls no tool is called. An autonomous crew
is always bounded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

# What of a budget can be used by one only. Time passes for all, and each task has its own depth.
DIVIDED = ("tool_calls", "tokens", "spawns")
# With none of these nothing could ever begin.
NEEDED = ("wall_time", "tokens")
DEFAULT = "default"

WORDS: Mapping[str, str] = {
    "tool_calls": "tool calls",
    "delegation_depth": "delegation depth",
    "wall_time": "wall time",
    "tokens": "tokens",
    "spawns": "spawns",
}


@dataclass(frozen=True, slots=True)
class Spending:
    """What was used of a budget.

    Attributes:
        tool_calls: How many tools were called.
        delegation_depth: How often a task was handed to another agent.
        wall_time: Seconds of work.
        tokens: What models have read and written.
        spawns: How many helpers were made.
    """

    tool_calls: int = 0
    delegation_depth: int = 0
    wall_time: float = 0.0
    tokens: int = 0
    spawns: int = 0

    def __add__(self, other: Spending) -> Spending:
        return Spending(**{one.name: _of(self, one.name) + _of(other, one.name) for one in fields(self)})

    def amounts(self, budget: ExecutionBudget) -> Mapping[str, str]:
        """What was used of what there was, in words, by name."""
        return {name: _shown(name, _of(self, name), most) for name, most in budget.to_dict().items()}

    def in_words(self, budget: ExecutionBudget) -> str:
        """The same in one line; without the time, which is another one each time."""
        shown = self.amounts(budget).items()
        return ", ".join(f"{WORDS[name]} {words}" for name, words in shown if name != "wall_time")


@dataclass(frozen=True, slots=True)
class ExecutionBudget:
    """What may be used. `ExecutionBudget()` is the preset `default`.

    Raises:
        ValueError: A number is negative or none.

    Attributes:
        tool_calls: How many tools may be called.
        delegation_depth: How often a task that failed may be handed to another agent.
        wall_time: Seconds of work.
        tokens: How many tokens models may read and write. Known only after each reply, so that the last one
            may go beyond.
        spawns: How many helpers agents may make.
    """

    tool_calls: int = 15
    delegation_depth: int = 2
    wall_time: float = 300.0
    tokens: int = 16_000
    spawns: int = 3

    def __post_init__(self) -> None:
        for name, most in self.to_dict().items():
            if not 0 <= most < float("inf"):
                raise ValueError(f"{WORDS[name]} must be a number, 0 or more, not {most!r}")

    @classmethod
    def preset(cls, name: str) -> ExecutionBudget:
        """A preset by its name.

        Raises:
            ValueError: There is none of that name.
        """
        if name not in PRESETS:
            raise ValueError(f"unknown preset '{name}': valid are {', '.join(map(repr, PRESETS))}")
        return PRESETS[name]

    def left(self, spent: Spending) -> ExecutionBudget:
        """What is left of it, never less than nothing."""
        return ExecutionBudget(
            **{name: max(0, most - _of(spent, name)) for name, most in self.to_dict().items()}
        )

    def used_up(self, spent: Spending) -> tuple[str, ...]:
        """The names of what there was, and nothing is left of."""
        return tuple(name for name, most in self.to_dict().items() if most and _of(spent, name) >= most)

    def divided(self, heirs: int) -> Sequence[ExecutionBudget]:
        """Equal parts, the first ones greater by one where it does not come out even.

        The parts of what can be used once add up to the whole. Time and depth are everybody's.

        Args:
            heirs: How many parts.
        """
        return [
            replace(self, **{name: _part(_of(self, name), heirs, index) for name in DIVIDED})
            for index in range(heirs)
        ]

    def for_helper(self) -> ExecutionBudget:
        """What a helper gets out of what is left: half of it after the spawn itself, and no delegation."""
        return ExecutionBudget(
            tool_calls=self.tool_calls // 2,
            delegation_depth=0,
            wall_time=self.wall_time,
            tokens=self.tokens // 2,
            spawns=max(0, self.spawns - 1) // 2,
        )

    def without(self, part: ExecutionBudget) -> ExecutionBudget:
        """What is left while somebody else has a part of it."""
        return replace(self, **{name: max(0, _of(self, name) - _of(part, name)) for name in DIVIDED})

    def within(self, **most: float) -> ExecutionBudget:
        """The same, at most so much of some of it."""
        return replace(self, **{name: min(_of(self, name), amount) for name, amount in most.items()})

    def to_dict(self) -> dict[str, Any]:
        """The numbers by name."""
        return asdict(self)


PRESETS: Mapping[str, ExecutionBudget] = {
    "strict": ExecutionBudget(8, 1, 120.0, 8_000, 1),
    DEFAULT: ExecutionBudget(),
    "permissive": ExecutionBudget(50, 4, 900.0, 64_000, 10),
}


@dataclass(frozen=True, slots=True)
class BudgetBlock:
    """What an `executionBudget` block says, and no more than it says.

    Attributes:
        preset: The preset's name, or None.
        fields: What is written out.
    """

    preset: str | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CrewBudget:
    """The budgets of a run.

    A preset is what each task may use. What the crew's block writes out is what the whole run may use: it is
    divided among the tasks that are still to be done, and what one of them leaves comes back. What a task's
    block says is what this task may use, out of the crew's.

    Attributes:
        shared: What the whole run may use, as far as the crew's block writes it out.
        of_tasks: What each task may use at most, whatever is left.
    """

    shared: Mapping[str, Any]
    of_tasks: Mapping[str, ExecutionBudget]

    @classmethod
    def of(cls, crew: BudgetBlock | None, tasks: Mapping[str, BudgetBlock | None]) -> CrewBudget:
        """Works out the budgets of a crew.

        Args:
            crew: The crew's block.
            tasks: The tasks' blocks.
        """
        top = crew or BudgetBlock()
        own = {task: block or BudgetBlock() for task, block in tasks.items()}
        shared = {name: most for name, most in top.fields.items() if name != "delegation_depth"}
        return cls(shared, {task: _most(top, block) for task, block in own.items()})

    def for_tasks(self, open_tasks: Sequence[str], spent: Spending) -> Mapping[str, ExecutionBudget]:
        """What each of the tasks that are still to be done may use.

        Args:
            open_tasks: These tasks, those that begin now first.
            spent: What the run has used by now.
        """
        rest = replace(_WITHOUT_LIMIT, **self.shared).left(spent)
        return {
            task: self.of_tasks[task].within(**{name: _of(part, name) for name in self.shared})
            for task, part in zip(open_tasks, rest.divided(len(open_tasks)), strict=True)
        }


_WITHOUT_LIMIT = ExecutionBudget(*[2**62] * 5)


def _most(crew: BudgetBlock, task: BudgetBlock) -> ExecutionBudget:
    """What a task may use, unless the crew has less."""
    base = ExecutionBudget.preset(task.preset or crew.preset or DEFAULT).to_dict()
    # Who writes a limit out wants all of it to be used, unless the task has one of its own.
    written = crew.fields if task.preset is None else {}
    return ExecutionBudget(**{**base, **written, **task.fields})


def _shown(name: str, used: float, most: float) -> str:
    return f"{used:,.1f} s of {most:,.1f} s" if name == "wall_time" else f"{used:,} of {most:,}"


def _part(whole: int, heirs: int, index: int) -> int:
    return whole // heirs + (index < whole % heirs)


def _of(amounts: ExecutionBudget | Spending, name: str) -> Any:
    return getattr(amounts, name)
