"""What a process asks agents besides the tasks, in words, and how their answers are read.

Each question asks for one JSON object. A reader gives what it says, or raises `ValueError` with what is wrong
with it in words that the agent is told.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from orkeon_transitions.crew.config import AgentConfig, TaskConfig
from orkeon_transitions.crew.json_answers import Schema, found_object
from orkeon_transitions.crew.quotations import labelled, quoted
from orkeon_transitions.crew.results import TaskResult
from orkeon_transitions.definition import nearest

# What is kept of a reason, and of what is to be done better.
MOST_REASON = 500
MOST_FEEDBACK = 4_000
_LABEL = re.compile(r"[\W_]*(?:(?:answer|option|label|candidate)[\W_]+)?([a-z]{1,3})[\W_]*", re.IGNORECASE)
# What stands between labels that were written in one text.
_BETWEEN = re.compile(r"[>,;\n]")
_WHY: Schema = {"type": "string", "description": "Why, in one sentence."}


@dataclass(frozen=True, slots=True)
class Assignment:
    """Who shall do a task, as a manager has answered.

    Attributes:
        agent: The key of an agent, as written.
        why: The reason.
    """

    agent: str
    why: str


@dataclass(frozen=True, slots=True)
class Preference:
    """Which answers somebody prefers.

    Attributes:
        ranking: Labels, the best one first; none: an abstention.
        why: The reason.
    """

    ranking: tuple[str, ...]
    why: str


@dataclass(frozen=True, slots=True)
class Opinion:
    """What a manager makes of an output.

    Attributes:
        accepted: Whether it is good enough.
        feedback: What is wrong with it, or why it is right.
    """

    accepted: bool
    feedback: str


# --------------------------------------------------------------------------------------------- assignments
def assignment_question(
    task: TaskConfig, workers: Iterable[AgentConfig], earlier: Mapping[str, TaskResult]
) -> str:
    """Who shall do a task?"""
    wish = f"The crew's file proposes: {task.agent}" if task.agent else ""
    done = "\n".join(f"- {result.id}, by {result.agent}" for result in earlier.values())
    parts = [
        "You lead this crew. Choose the agent that shall do the following task. You do not do it yourself.",
        *_task_lines(task),
        "The agents, each by its key:\n" + "\n".join(map(_introduced, workers)),
        wish,
        f"Done so far:\n{done}" if done else "",
    ]
    return "\n\n".join(filter(None, parts))


def assignment_schema(workers: Sequence[str], proposed: str) -> Schema:
    """What the answer looks like; whom the file proposes comes first."""
    keys = sorted(workers, key=lambda key: key != proposed)
    return _object({"agent": {"enum": keys, "description": "The key of the agent."}, "why": _WHY})


def read_assignment(answer: str) -> Assignment:
    """Reads the answer.

    Raises:
        ValueError: It names no agent.
    """
    found = _found(answer, "agent")
    agent = found["agent"]
    if not isinstance(agent, str) or not agent.strip():
        raise ValueError("'agent' must be the key of an agent, as text")
    return Assignment(_sound(agent.strip(), MOST_REASON), _text(found, "why"))


def unknown_agent(name: str, known: Iterable[str]) -> str:
    """Says that there is no such agent, with the nearest one that there is."""
    hint = nearest(name, known)
    return f"there is no agent '{name}'" + (f", did you mean '{hint}'?" if hint else "")


# ------------------------------------------------------------------------------------------------- reviews
def review_question(task: TaskConfig, output: str) -> str:
    """Is an output good enough?"""
    parts = [
        "You lead this crew. Judge the output of the following task: is it what was asked for?",
        "If it is not, say what must be done better. Do not do the task yourself.",
        *_task_lines(task),
        f"The output:\n{quoted(output)}",
    ]
    return "\n\n".join(filter(None, parts))


def review_schema() -> Schema:
    """What the answer looks like."""
    feedback = {"type": "string", "description": "What must be done better, or why it is accepted."}
    return _object({"accepted": {"type": "boolean"}, "feedback": feedback})


def read_review(answer: str) -> Opinion:
    """Reads the answer.

    Raises:
        ValueError: It does not say whether the output is accepted.
    """
    found = _found(answer, "accepted")
    if not isinstance(found["accepted"], bool):
        raise ValueError("'accepted' must be true or false")
    return Opinion(found["accepted"], _text(found, "feedback", MOST_FEEDBACK))


# ------------------------------------------------------------------------------------------------- ballots
def ballot_question(task: TaskConfig, answers: Mapping[str, str]) -> str:
    """Which of these answers are the best?

    Args:
        task: What was to be done.
        answers: By label; nothing says whose they are.
    """
    parts = [
        "Several agents have done the same task, you among them. Rank the answers of the others.",
        "They come without names: judge what they say, nothing else. Leave out what you cannot approve of.",
        *_task_lines(task),
        "The answers:",
        labelled(answers),
    ]
    return "\n\n".join(filter(None, parts))


def ballot_schema(labels: Sequence[str]) -> Schema:
    """What a ballot looks like."""
    ranking = {
        "type": "array",
        "items": {"enum": list(labels)},
        "uniqueItems": True,
        "minItems": len(labels),
        "description": "The labels of the answers, the best one first.",
    }
    return _object({"ranking": ranking, "why": _WHY})


def read_ballot(answer: str, labels: Collection[str]) -> Preference:
    """Reads a ballot; an empty ranking is an abstention.

    Raises:
        ValueError: It is no ranking of those labels.
    """
    found = _found(answer, "ranking")
    ranking = found["ranking"]
    if isinstance(ranking, str):
        ranking = [part for part in _BETWEEN.split(ranking) if part.strip()]
    if not isinstance(ranking, list) or not all(isinstance(label, str) for label in ranking):
        raise ValueError(f"'ranking' must be a list of labels: {', '.join(labels)}")
    read = list(map(_label_in, ranking))
    for label in read:
        if label not in labels:
            raise ValueError(f"there is no answer '{_plain(label, 40)}', only {', '.join(labels)}")
    if len(set(read)) < len(read):
        raise ValueError("'ranking' must have each label once")
    return Preference(tuple(read), _text(found, "why"))


def choice_question(task: TaskConfig, answers: Mapping[str, str]) -> str:
    """Which of these answers shall it be, though the agents do not agree?"""
    parts = [
        "You lead this crew. Several agents have done the same task and do not agree. Choose an answer.",
        *_task_lines(task),
        "The answers:",
        labelled(answers),
    ]
    return "\n\n".join(filter(None, parts))


def choice_schema(labels: Sequence[str]) -> Schema:
    """What the answer looks like."""
    return _object({"choice": {"enum": list(labels), "description": "The label of an answer."}, "why": _WHY})


def read_choice(answer: str, labels: Collection[str]) -> Preference:
    """Reads which answer was chosen.

    Raises:
        ValueError: It is none of those labels.
    """
    found = _found(answer, "choice")
    choice = found["choice"]
    label = _label_in(choice) if isinstance(choice, str) else ""
    if label not in labels:
        raise ValueError(f"'choice' must be one of the labels {', '.join(labels)}")
    return Preference((label,), _text(found, "why"))


def discussion(task: TaskConfig, answers: Mapping[str, str]) -> str:
    """A task's description once more, with what the others have answered."""
    parts = [
        task.description,
        "You have done this before, and so have others; there is no agreement yet. Here is what they gave.",
        labelled(answers),
        "Do the task once more: take over what is right in there, and correct what is wrong.",
    ]
    return "\n\n".join(parts)


# --------------------------------------------------------------------------------------------------- shared
def readable(read: Callable[[str], object]) -> Callable[[str], str | None]:
    """Says what is wrong with an answer."""

    def check(answer: str) -> str | None:
        try:
            read(answer)
        except ValueError as error:
            return str(error)
        return None

    return check


def _task_lines(task: TaskConfig) -> Iterator[str]:
    yield f"The task '{task.id}':\n{quoted(task.description)}"
    if task.expected_output:
        yield f"Its expected output:\n{quoted(task.expected_output)}"


def _introduced(agent: AgentConfig) -> str:
    tools = f"tools: {', '.join(agent.tools)}" if agent.tools else ""
    words = "; ".join(filter(None, [agent.role, agent.goal, tools]))
    return f"- {agent.id}" + (f": {' '.join(words.split())}" if words else "")


def _label_in(written: str) -> str:
    """A label, whatever models like to put around it: `a`, `**A**`, `(A)`, `Answer A:`."""
    found = _LABEL.fullmatch(written)
    return found[1].upper() if found else written.strip().upper()


def _object(properties: Mapping[str, Schema]) -> Schema:
    return {"type": "object", "properties": properties, "required": list(properties)}


def _found(answer: str, key: str) -> dict[str, Any]:
    found = found_object(answer, key)
    if found is None:
        raise ValueError(f"the answer holds no JSON object with '{key}', and should be nothing else")
    return found


def _text(found: Mapping[str, Any], key: str, most: int = MOST_REASON) -> str:
    """What is said besides; an answer is not worth less where it is missing."""
    said = found.get(key)
    return _plain(said, most) if isinstance(said, str) else ""


def _plain(text: str, most: int = MOST_REASON) -> str:
    """A text in one line."""
    return _sound(" ".join(text.split()), most)


def _sound(text: str, most: int) -> str:
    """A text that is not too long, and that can be written down: JSON may hold half characters."""
    short = text if len(text) <= most else f"{text[: most - 1]}…"
    return short.encode(errors="replace").decode()
