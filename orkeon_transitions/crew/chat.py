"""What the agent loop needs of a language model, and nothing more.

A model is asked with the whole conversation and the tools that it may call; it answers with text, tool calls
or both. No provider's types come in here: an adapter translates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

from orkeon_transitions.crew.results import Usage


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool that the model wants to have called.

    Attributes:
        id: Ties the answer to the call.
        name: The tool's name as the model wrote it; it may not exist.
        arguments: By parameter; a text is what could not be read as a JSON object.
    """

    id: str
    name: str
    arguments: Mapping[str, Any] | str = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Message:
    """One entry of a conversation.

    Attributes:
        role: Who speaks.
        content: The text.
        tool_calls: What an assistant's message asks for.
        tool_call_id: Which call a tool's message answers; each call gets exactly one answer.
    """

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """What a model is told of a tool.

    Attributes:
        name: What the model calls it by.
        description: For the model.
        parameters: A JSON Schema of type `object`.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ModelReply:
    """What a model answered to one request."""

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage = field(default_factory=Usage)


@runtime_checkable
class ChatModel(Protocol):
    """A language model, real or not.

    An implementation must not retry by itself: each attempt is a transition of the task's machine.
    """

    async def reply(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> ModelReply:
        """Makes one request.

        Args:
            messages: The conversation so far.
            tools: What may be called.
        """
        ...
