"""A person who is asked: what there is to ask, and how a program's function is called for it."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Annotated, Any

from pydantic import Field

from orkeon_transitions.crew.threads import call_anything
from orkeon_transitions.crew.tool import Tool, tool

QUESTION = "question"
REVIEW = "review"
NO_ANSWER = "nobody has answered: go on without it"
TO_BE_CHANGED = (
    "A person has looked at your output and wants it changed:\n{words}\nAnswer with the whole output."
)
WHAT_TO_CHANGE = "What should be better in an output that you were shown?"
LOST = "what a person was to be asked is not known"
NOBODY = "there is nobody who can be asked"
OFTEN_ENOUGH = (
    "a person has not accepted the output, and may not be asked again about this task "
    "(maxQuestions: {most}): the last output is kept"
)
NOBODY_THERE = "refused: there is nobody who can be asked: go on without it"

AskHuman = Callable[["HumanQuestion"], Any]
"""A plain or async function of a `HumanQuestion` that gives the person's words, or None: nobody answers."""


@dataclass(frozen=True, slots=True)
class HumanQuestion:
    """What a person is asked.

    Attributes:
        kind: `question`: an agent wants to know something. `review`: an output is shown before it is
            accepted; an empty answer accepts it, any other one is what should be better.
        task: The key of the task.
        agent: The key of the agent.
        text: The question, or the output.
        number: Which question of this task it is, from 1.
        most: How many there may be.
    """

    kind: str
    task: str
    agent: str
    text: str
    number: int = 1
    most: int = 0

    def to_dict(self) -> dict[str, Any]:
        """The question as plain JSON data."""
        return asdict(self)


class Human:
    """Asks a person, one question at a time where a plain function does it.

    Args:
        ask: Gets the answer.

    Raises:
        TypeError: It cannot be called with a question.
    """

    def __init__(self, ask: AskHuman) -> None:
        _check_takes_one(ask)
        self._ask = ask
        self._turns = asyncio.Lock()

    async def answer(self, question: HumanQuestion) -> str | None:
        """The person's words; None: nobody answers.

        Raises:
            TypeError: The function answered something else.
            Exception: What the function raises.
        """
        if inspect.iscoroutinefunction(self._ask):
            said = await self._ask(question)
        else:
            # Two questions at once on one terminal would be none.
            async with self._turns:
                said = await call_anything(self._ask, question)
        if said is None or isinstance(said, str):
            return said
        raise TypeError(f"a person's answer is text or None, not {type(said).__name__}")


def _check_takes_one(ask: Any) -> None:
    if not callable(ask):
        raise TypeError(f"ask_human is a function of a question, not {type(ask).__name__}")
    try:
        signature = inspect.signature(ask)
    except (TypeError, ValueError):  # such as a function written in C: calling it will tell
        return
    try:
        signature.bind("question")
    except TypeError as error:
        raise TypeError(
            f"ask_human is called with a question, and what was given cannot be: {error}"
        ) from None


@tool(name="ask_human")
def _ask_human(
    question: Annotated[str, Field(description="What you want to know, in full", min_length=1)],
) -> str:
    """Asks a person, and gives the answer. For what only a person can know or decide."""
    return question


ASK_HUMAN: Tool = _ask_human
"""What a model is told of asking. It is never run: the task's machine goes to `waiting_for_human_input`.

Its `answer` only gives the question, if the arguments hold one.
"""
