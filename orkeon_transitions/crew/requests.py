"""One request to a model: the work of the state that its task's machine is in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from orkeon_transitions.crew.chat import ChatModel, Message, ModelReply, StreamingModel, ToolCall, ToolSpec
from orkeon_transitions.crew.checks import MOST_OUTPUT
from orkeon_transitions.crew.executors import TaskContext
from orkeon_transitions.crew.results import Usage, check_usage
from orkeon_transitions.crew.tool import cut

# What a model writes may become part of every later conversation of the crew. A longer text is cut, and with
# the mark of the cut it is too long to be accepted as an output.
MOST_TEXT = MOST_OUTPUT
FAILED = Usage(requests=1, failed_requests=1)


async def asked(
    model: ChatModel, context: TaskContext, messages: Sequence[Message], tools: Sequence[ToolSpec] = ()
) -> ModelReply:
    """Asks a model, in its turn, and counts what that takes.

    Args:
        model: Whom.
        context: The task's.
        messages: The conversation.
        tools: What may be called.

    Raises:
        WorkFailedError: The request came to nothing; the machine is in `failed`.
        CircuitBrokenError: The breaker has tripped meanwhile.
        StateLeftError: The state was left meanwhile.
    """
    work = context.attempted(_reply, model, context, tuple(messages), tools)
    reply: ModelReply = await context.machine.during(work, done=None, failed="fail")
    return _counted(context, reply)


async def asked_besides(model: ChatModel, context: TaskContext, messages: Sequence[Message]) -> ModelReply:
    """The same as a part of work that is bound to the state already.

    Raises:
        Exception: What the model raises.
    """
    return _counted(context, await _reply(model, context, messages, ()))


def _counted(context: TaskContext, reply: ModelReply) -> ModelReply:
    context.usage += reply.usage
    spent = {"tokens": reply.usage.tokens, "usd": reply.usage.usd}
    meters = context.machine.circuit_status.policy.meters
    if metered := {name: amount for name, amount in spent.items() if name in meters}:
        context.machine.spend(**metered)
    return replace(reply, text=cut(reply.text, MOST_TEXT))


async def _reply(
    model: ChatModel, context: TaskContext, messages: Sequence[Message], tools: Sequence[ToolSpec]
) -> ModelReply:
    if context.turn is not None:
        await context.turn()
    try:
        return _checked(await _answer(model, context, messages, tools))
    except BaseException:  # cancelled, too: it was sent
        context.usage += FAILED
        raise


async def _answer(
    model: ChatModel, context: TaskContext, messages: Sequence[Message], tools: Sequence[ToolSpec]
) -> Any:
    if context.on_text is not None and isinstance(model, StreamingModel):
        return await model.stream(messages, tools, context.on_text)
    return await model.reply(messages, tools)


def _checked(reply: Any) -> ModelReply:
    """A reply that the loop can go on with.

    Raises:
        TypeError: It is none, or not inside.
        ValueError: What it took cannot be.
    """
    if not isinstance(reply, ModelReply):
        raise TypeError(f"a model answers a ModelReply, not {type(reply).__name__}")
    if not isinstance(reply.text, str):
        raise TypeError(f"the text of a ModelReply is text, not {type(reply.text).__name__}")
    calls: Any = reply.tool_calls
    if not isinstance(calls, tuple | list) or not all(map(_is_call, calls)):
        raise TypeError("the tool calls of a ModelReply are a tuple of ToolCalls, each with a name")
    check_usage(reply.usage)
    return reply


def _is_call(thing: Any) -> bool:
    return isinstance(thing, ToolCall) and isinstance(thing.name, str)
