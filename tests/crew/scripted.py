"""What the crew tests share: a model that says what it was told to say, and a crew of one."""

import asyncio
import itertools

from orkeon_transitions.crew import ModelReply, ToolCall, Usage, load_crew


class ScriptedModel:
    """Gives its replies in order, the last one again and again; keeps every conversation it was shown."""

    def __init__(self, *replies):
        self.replies = replies
        self.asked = []

    async def reply(self, messages, tools):
        self.asked.append(list(messages))
        said = self.replies[min(len(self.asked), len(self.replies)) - 1]
        if isinstance(said, Exception):
            raise said
        if callable(said):
            said = await said()
        return said if isinstance(said, ModelReply) else ModelReply(said, usage=Usage(requests=1))

    @property
    def answers(self):
        """What the tools answered, as the model saw it last."""
        return [message.content for message in self.asked[-1] if message.role == "tool"]


ids = itertools.count()


def calls(*named):
    """A reply that calls tools: names, or pairs of a name and arguments."""
    pairs = [one if isinstance(one, tuple) else (one, {}) for one in named]
    return ModelReply("looking", tuple(ToolCall(f"c{next(ids)}", name, given) for name, given in pairs))


async def hang():
    await asyncio.sleep(60)


def crew_of_one(*tools, breaker="", task="", head=""):
    """A crew with one agent, one task `t`, and these tools."""
    names = ", ".join(getattr(one, "name", getattr(one, "__name__", "")) for one in tools)
    return load_crew(
        f"name: one\n{head}circuitBreaker: {{{breaker}}}\nagents:\n  a: {{tools: [{names}]}}\n"
        f"tasks:\n  t: {{description: Do it, agent: a{task}}}\n",
        tools=tools,
    )


def path_of(result):
    """The states through which a task went."""
    return [str(step.to_state) for step in result.history]


def one_answer_each(messages):
    """Whether every tool call of a conversation has exactly one answer."""
    asked = [call.id for message in messages for call in message.tool_calls]
    answered = [message.tool_call_id for message in messages if message.role == "tool"]
    return sorted(asked) == sorted(answered)
