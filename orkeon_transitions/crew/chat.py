"""What the agent loop needs of a language model, and nothing more.

A model is asked with the whole conversation and the tools that it may call; it answers with text, tool calls
or both. No provider's types come in here: an adapter translates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

from orkeon_transitions.crew.results import Usage
from orkeon_transitions.errors import OrkeonError


class ModelError(OrkeonError):
    """A request to a model that came to nothing, in one sentence for a person.

    Attributes:
        retry_after: How many seconds to wait before another attempt; None: another one would be in vain.
    """

    def __init__(self, message: str, *, retry_after: float | None = 0.0) -> None:
        self.retry_after = retry_after
        super().__init__(message)


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
        native: What the model's adapter wants to see again, such as thoughts; nobody else looks into it.
    """

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    native: Any = field(default=None, compare=False, repr=False)


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
    """What a model answered to one request.

    Attributes:
        text: What it says.
        tool_calls: What it wants to have called.
        usage: What it took.
        native: As for `Message`.
        is_cut: Whether the text ends where the model may write no more, and not where it was at its end.
    """

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage = field(default_factory=Usage)
    native: Any = field(default=None, compare=False, repr=False)
    is_cut: bool = False


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

        Raises:
            ModelError: It came to nothing; any other exception counts as a failure, too.
        """
        ...


@runtime_checkable
class StreamingModel(ChatModel, Protocol):
    """A model that can tell its text while it writes it."""

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], on_text: Callable[[str], Any]
    ) -> ModelReply:
        """Makes one request, as `reply` does.

        Args:
            messages: The conversation so far.
            tools: What may be called.
            on_text: Is given each piece of the text as it comes.
        """
        ...
