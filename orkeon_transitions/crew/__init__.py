"""Crews: agents and tasks from a YAML file, each task driven through a machine.

What belongs here: reading a crew file, working out each task's budget, the loop that talks to a model and
runs tools, the order of the tasks, the result. The loop does the I/O and then fires one trigger with what
came back; whether anything may happen is for the task's machine to say. What never belongs here: a journal or
a database (anything with `record(machine)` is welcome), a provider's own types, code taken from YAML.
"""

from orkeon_transitions.crew.chat import ChatModel, Message, ModelReply, ToolCall, ToolSpec
from orkeon_transitions.crew.observing import CrewObserver, TaskMoved, TaskStarted
from orkeon_transitions.crew.results import (
    CrewResult,
    CrewRunStatus,
    TaskOutcome,
    TaskResult,
    TaskRunStatus,
    Usage,
)

__all__ = [
    "ChatModel",
    "CrewObserver",
    "CrewResult",
    "CrewRunStatus",
    "Message",
    "ModelReply",
    "TaskMoved",
    "TaskOutcome",
    "TaskResult",
    "TaskRunStatus",
    "TaskStarted",
    "ToolCall",
    "ToolSpec",
    "Usage",
]
