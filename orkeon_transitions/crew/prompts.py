"""What an agent is told: its role in one message, its task in the next.

The task's message has titled sections, so that a program (the offline model) can find its way in it too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from orkeon_transitions.crew.mounts import Mount
from orkeon_transitions.crew.results import TaskResult, TaskRunStatus

if TYPE_CHECKING:
    from orkeon_transitions.crew.config import AgentConfig, TaskConfig

TASK = "Task"
EXPECTED = "Expected output"
FOLDERS = "Folders"
DELIVERABLE = "Deliverable"
FORMAT = "Answer format"
MARKDOWN = "Markdown, without a fence around all of it."
EARLIER = "Results of earlier tasks"
TITLES = (TASK, EXPECTED, FORMAT, FOLDERS, DELIVERABLE, EARLIER)

_ANY_TITLE = "|".join(map(re.escape, TITLES))


def system_prompt(agent: AgentConfig, crew_goal: str) -> str:
    """Who the agent is."""
    lines = [
        # Folded text in YAML ends with a line break.
        f"You are {(agent.role or agent.id).strip()}.",
        agent.backstory.strip(),
        f"Your goal: {agent.goal.strip()}" if agent.goal else "",
        f"The crew's goal: {crew_goal}" if crew_goal else "",
        "A tool call can be refused or answer with an error: read the answer and go on without it.",
    ]
    return "\n".join(filter(None, lines))


def task_prompt(task: TaskConfig, mounts: Sequence[Mount], earlier: Mapping[str, TaskResult]) -> str:
    """What is to be done, with what, and what others have found."""
    sections = {
        TASK: task.description,
        EXPECTED: task.expected_output,
        FORMAT: task.output_shape.format if task.output_shape else MARKDOWN if task.markdown else "",
        FOLDERS: "\n".join(
            f"{mount.virtual} ({'read and write' if mount.writable else 'read only'})" for mount in mounts
        ),
        DELIVERABLE: task.deliverable or "",
        EARLIER: "\n\n".join(map(_earlier, earlier.values())),
    }
    return "\n\n".join(f"## {title}\n{body}" for title, body in sections.items() if body)


def resumed_prompt(calls_left: int) -> str:
    """What an agent is told besides when it goes on with a task whose conversation was lost.

    Args:
        calls_left: How many tool calls there is room for.
    """
    return (
        "The work on this task was interrupted and goes on now. What you called before may have been done: "
        "look before you do again what must be done once.\n"
        f"Tool calls left: {calls_left}"
    )


def calls_left(messages: Iterable[str]) -> int | None:
    """Finds how many tool calls were left when a task went on; None where nobody has said so."""
    found = [re.search(r"^Tool calls left: (\d+)$", message, re.MULTILINE) for message in messages]
    return next((int(one[1]) for one in found if one), None)


def section(prompt: str, title: str) -> str:
    """Finds a section of a task's message by its title; empty if there is none."""
    pattern = rf"^## {re.escape(title)}\n(.*?)(?=^## (?:{_ANY_TITLE})$|\Z)"
    found = re.search(pattern, prompt, re.MULTILINE | re.DOTALL)
    return found.group(1).strip() if found else ""


def earlier_tasks(text: str) -> list[str]:
    """The tasks whose results a section holds, with their marks."""
    return re.findall(r"^### (.+)$", text, re.MULTILINE)


def _earlier(result: TaskResult) -> str:
    mark = " (incomplete: the task was stopped)" if result.status is TaskRunStatus.DEGRADED else ""
    return f"### {result.id}{mark}\n{result.output or '(nothing)'}"
