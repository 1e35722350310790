"""Which agent claims a task, and why: the same crew always gives the same claims.

A task that names its agent is claimed by that one. Any other one is claimed by the free agent that has the
most words with it in common, then by the one that has claimed the fewest, then by the first of the file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from orkeon_transitions.crew.config import AgentConfig, TaskConfig

SHORTEST = 3
MOST_NAMED = 5
# Words that stand in any task and any goal.
_COMMON = (
    "the and for all any are but can has had its not one two three who you our out how may use was "
    "about after also been before both each every expected from have into make must only other output should "
    "some such task than that their them then there these they this those tool tools using what when with"
)


@dataclass(frozen=True, slots=True)
class Claim:
    """An agent's claim to a task.

    Attributes:
        agent: The agent's key.
        why: What it rests on.
    """

    agent: str
    why: str


def claims_in_order(
    task: TaskConfig, agents: Sequence[AgentConfig], claimed: Mapping[str, int]
) -> Sequence[Claim]:
    """Puts the agents that may claim a task in order, the strongest claim first.

    Args:
        task: The task.
        agents: Who may claim it, in file order.
        claimed: How many tasks each has claimed before, by key.
    """
    wanted = _words(f"{task.description} {task.expected_output} {' '.join(task.tools or ())}")
    shared = {agent.id: wanted & _words(_introduced(agent)) for agent in agents}

    def strength(agent: AgentConfig) -> tuple[bool, int, int]:
        # Sorting is stable: among equals, the order of the file counts.
        return agent.id != task.agent, -len(shared[agent.id]), claimed.get(agent.id, 0)

    return [
        Claim(agent.id, _why(task, agent.id, shared[agent.id], claimed.get(agent.id, 0)))
        for agent in sorted(agents, key=strength)
    ]


def _why(task: TaskConfig, agent: str, shared: frozenset[str], claimed: int) -> str:
    if agent == task.agent:
        return "the task names it"
    before = f"has claimed {claimed} before"
    if not shared:
        return f"it is free, and {before}"
    named = ", ".join(sorted(shared)[:MOST_NAMED])
    more = len(shared) - MOST_NAMED
    return f"it has to do with: {named}{f' and {more} more' if more > 0 else ''}; {before}"


def _introduced(agent: AgentConfig) -> str:
    return " ".join((agent.id, agent.role, agent.goal, agent.backstory, *agent.tools))


def _words(text: str) -> frozenset[str]:
    found = (word.casefold() for word in re.split(r"[\W_]+", text))
    return frozenset(word for word in found if len(word) >= SHORTEST) - frozenset(_COMMON.split(" "))
