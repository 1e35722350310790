"""A conversation in pydantic-ai's words and back. Part of its door; see `providers`."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count, groupby
from typing import Any

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from orkeon_transitions.crew.chat import Message, ToolCall
from orkeon_transitions.crew.strict_json import read_json

_UNFIT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")
LONGEST_NAME = 64
LONGEST_QUOTE = 2_000
LONGEST_ARGUMENTS = 1_000_000


def to_provider(messages: Sequence[Message]) -> list[ModelMessage]:
    """Translates a conversation.

    What a model made up (a tool's name with spaces, arguments that are no JSON) is put so that every provider
    takes it back.
    """
    names = {call.id: sound_name(call.name) for message in messages for call in message.tool_calls}
    translated: list[ModelMessage] = []
    for is_answer, group in groupby(messages, key=lambda message: message.role == "assistant"):
        if is_answer:
            translated += map(_response, group)
        else:
            translated.append(ModelRequest([_request_part(message, names) for message in group]))
    return translated


def text_of(response: ModelResponse) -> str:
    """What a model said; parts of a kind that we do not know are nobody's words."""
    return "".join(part.content for part in response.parts if isinstance(part, TextPart))


def tool_calls_of(response: ModelResponse, known: Collection[str]) -> Iterator[ToolCall]:
    """What a model wants to have called, each call under an id of its own.

    Args:
        response: What it answered.
        known: The ids that the conversation has already.
    """
    taken = set(known)
    numbers: defaultdict[str, Iterator[int]] = defaultdict(lambda: count(2))
    for part in response.parts:
        if isinstance(part, ToolCallPart):
            first = call_id = part.tool_call_id or "call"
            while call_id in taken:
                call_id = f"{first}-{next(numbers[first])}"
            taken.add(call_id)
            yield ToolCall(call_id, str(part.tool_name or ""), arguments_of(part.args))


def arguments_of(written: Any) -> Mapping[str, Any] | str:
    """The arguments of a call as a mapping; a text is what is none, and no longer than it may be."""
    if written is None:
        return {}
    if isinstance(written, Mapping):
        return dict(written)
    text = str(written)[:LONGEST_ARGUMENTS]
    if not text.strip():
        return {}
    try:
        read = read_json(text)
    except ValueError:
        return text
    return read if isinstance(read, dict) else text


def sound_name(name: str) -> str:
    """A tool's name as providers take it."""
    return _UNFIT_IN_NAMES.sub("_", name)[:LONGEST_NAME] or "unnamed"


def _request_part(message: Message, names: Mapping[str, str]) -> ModelRequestPart:
    match message.role:
        case "system":
            return SystemPromptPart(message.content)
        case "tool":
            call_id = message.tool_call_id or ""
            return ToolReturnPart(names.get(call_id, "unnamed"), message.content, call_id)
        case _:
            return UserPromptPart(message.content)


def _response(message: Message) -> ModelResponse:
    if not isinstance(message.native, ModelResponse) or text_of(message.native) != message.content:
        text: list[ModelResponsePart] = [TextPart(message.content)] if message.content else []
        return ModelResponse(parts=[*text, *map(_sound_call, message.tool_calls)])
    # What the provider itself wrote (its thoughts, signed) goes back as it came, but for the calls: those
    # that the conversation has not, since there were too many of them, stay behind.
    return replace(message.native, parts=list(_kept(message.native.parts, iter(message.tool_calls))))


def _kept(parts: Sequence[ModelResponsePart], calls: Iterator[ToolCall]) -> Iterator[ModelResponsePart]:
    for part in parts:
        if not isinstance(part, ToolCallPart):
            yield part
        elif (call := next(calls, None)) is not None:
            yield _sound_call(call, part)


def _sound_call(call: ToolCall, written: ToolCallPart | None = None) -> ToolCallPart:
    """A call as every provider takes it back, with what its own provider has written besides."""
    written_as = call.arguments
    arguments = (
        {"unreadable": written_as[:LONGEST_QUOTE]} if isinstance(written_as, str) else dict(written_as)
    )
    if written is None:
        return ToolCallPart(sound_name(call.name), arguments, call.id)
    return replace(written, tool_name=sound_name(call.name), args=arguments, tool_call_id=call.id)
