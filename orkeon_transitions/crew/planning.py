"""A plan before the work: how an agent is asked for one, and how it finds it again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from orkeon_transitions.crew.tool import Tool

ASKED_FOR = "Before you begin, write a short plan"
PLAN_MADE = "That is your plan. Now carry it out, and answer with the expected output."


def plan_prompt(tools: Iterable[Tool]) -> str:
    """Asks for a plan, with what there will be to work with."""
    listed = [f"- {tool.name}: {tool.description.partition(chr(10))[0]}" for tool in tools]
    lines = [
        f"{ASKED_FOR}: the steps that you will take, one a line. Do not take them yet.",
        "Your tools will be:" if listed else "You will have no tools.",
        *listed,
    ]
    return "\n".join(lines)


def remembered(plan: str, heard: Sequence[tuple[str, str]]) -> Iterator[str]:
    """What is told to an agent whose conversation was lost."""
    if plan:
        yield f"Your plan was:\n{plan}"
    if heard:
        lines = [f"Question: {question}\nAnswer: {answer}" for question, answer in heard]
        yield "\n".join(["A person was asked before:", *lines])
