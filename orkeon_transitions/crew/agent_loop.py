"""The loop of an agent: ask the model, run its tools, ask again, until it answers.

The loop does the I/O and then fires one trigger with what came back. Whether a tool may run, whether there is
another attempt and when it is enough is for the task's machine to say.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from orkeon_transitions.crew.chat import ChatModel, Message, ModelReply, StreamingModel, ToolCall
from orkeon_transitions.crew.config import AgentConfig, TaskConfig
from orkeon_transitions.crew.executors import TaskContext, WorkFailedError
from orkeon_transitions.crew.mcp import ToolServers
from orkeon_transitions.crew.models.choosing import ChosenModels, ModelChooser
from orkeon_transitions.crew.mounts import Mount
from orkeon_transitions.crew.prompts import resumed_prompt, system_prompt, task_prompt
from orkeon_transitions.crew.results import TaskOutcome, Usage, check_usage
from orkeon_transitions.crew.tool import Tool, ToolError, cut
from orkeon_transitions.crew.tool_names import named_for_models
from orkeon_transitions.machines import AsyncTaskExecution, TaskState

# A refusal is no transition, so no limit counts a model that asks for nothing but refused calls.
MOST_REFUSED_ROUNDS = 5
# What a model writes may become part of every later conversation of the crew.
MOST_TEXT = 500_000
NOT_RUN = "not run: the work was stopped before"


@dataclass(frozen=True, slots=True)
class AgentLoop:
    """The executor that a crew has when the program gives none.

    Attributes:
        model: Who is asked, or who chooses that for each agent and task.
        tools: Every tool of the crew, by name.
        mounts: What the model is told of the folders.
        goal: The crew's goal.
        servers: Where the other tools that are named come from.
    """

    model: ChatModel | ModelChooser
    tools: Mapping[str, Tool]
    mounts: Sequence[Mount] = ()
    goal: str = ""
    servers: ToolServers | None = None

    async def execute_task(self, agent: AgentConfig, task: TaskConfig, context: TaskContext) -> TaskOutcome:
        """Goes on with the task's conversation until the model answers or the machine stops it."""
        names = agent.tools if task.tools is None else task.tools
        if not context.messages:
            context.messages += [
                Message("system", system_prompt(agent, self.goal)),
                Message("user", task_prompt(task, self.mounts, context.earlier)),
            ]
            if context.is_resumed:
                context.messages.append(Message("user", resumed_prompt(_calls_left(context.machine))))
        if context.feedback:
            context.messages.append(Message("user", context.feedback))
        try:
            model = self._model(agent, task)
            return await _Attempt(model, await self._allowed(names, context), context).run()
        except WorkFailedError as error:
            return TaskOutcome(False, context.partial, str(error))

    async def close(self) -> None:
        """Ends what was started for a run."""
        if isinstance(self.model, ChosenModels):
            await self.model.close()
        if self.servers is not None:
            await self.servers.close()

    def _model(self, agent: AgentConfig, task: TaskConfig) -> ChatModel:
        return self.model.model_for(agent, task) if isinstance(self.model, ModelChooser) else self.model

    async def _allowed(self, names: Sequence[str], context: TaskContext) -> dict[str, Tool]:
        """The tools that are named; the server of one may have to be started first, which is work, too."""
        remote = [name for name in names if name not in self.tools]
        if self.servers is None or not remote:
            return {name: self.tools[name] for name in names}
        work = context.attempted(self.servers.tools, remote)
        found = await context.machine.during(work, done=None, failed="fail")
        return {name: self.tools.get(name) or found[name] for name in names}


class _Attempt:
    """One attempt: from `executing` to an answer, a failure or a stop."""

    def __init__(self, model: ChatModel, tools: Mapping[str, Tool], context: TaskContext) -> None:
        self._model = model
        self._tools = tools
        self._named = named_for_models(tools.values())
        self._specs = [replace(tool.spec, name=name) for name, tool in self._named.items()]
        self._context = context
        self._machine = context.machine

    async def run(self) -> TaskOutcome:
        refused_rounds = 0
        while True:
            reply = await self._ask()
            if not reply.tool_calls:
                return TaskOutcome(True, reply.text)
            ran = await self._call_all(reply.tool_calls)
            if self._context.is_over:
                return TaskOutcome(False, self._context.partial)
            refused_rounds = 0 if ran else refused_rounds + 1
            if refused_rounds >= MOST_REFUSED_ROUNDS:
                error = f"the model asked for refused tool calls only, {refused_rounds} times in a row"
                return TaskOutcome(False, self._context.partial, error)

    async def _ask(self) -> ModelReply:
        """One request: the work of the state `executing`."""
        context = self._context
        work = context.attempted(self._reply, tuple(context.messages))
        reply: ModelReply = await self._machine.during(work, done=None, failed="fail")
        reply = replace(reply, text=cut(reply.text, MOST_TEXT))
        context.messages.append(Message("assistant", reply.text, reply.tool_calls, native=reply.native))
        context.partial = reply.text or context.partial
        context.usage += reply.usage
        spent = {"tokens": reply.usage.tokens, "usd": reply.usage.usd}
        meters = self._machine.circuit_status.policy.meters
        if metered := {name: amount for name, amount in spent.items() if name in meters}:
            self._machine.spend(**metered)
        return reply

    async def _reply(self, messages: Sequence[Message]) -> ModelReply:
        on_text = self._context.on_text
        if on_text is not None and isinstance(self._model, StreamingModel):
            reply = await self._model.stream(messages, self._specs, on_text)
        else:
            reply = await self._model.reply(messages, self._specs)
        if not isinstance(reply, ModelReply):
            raise TypeError(f"a model answers a ModelReply, not {type(reply).__name__}")
        if not isinstance(reply.text, str):
            raise TypeError(f"the text of a ModelReply is text, not {type(reply.text).__name__}")
        calls: Any = reply.tool_calls
        if not isinstance(calls, tuple | list) or not all(map(_is_call, calls)):
            raise TypeError("the tool calls of a ModelReply are a tuple of ToolCalls, each with a name")
        check_usage(reply.usage)
        return reply

    async def _call_all(self, calls: Sequence[ToolCall]) -> int:
        """Runs the calls of one reply, one after another; each gets exactly one answer, whatever happens.

        Returns:
            How many were run.
        """
        answers: list[str] = []
        ran = 0
        try:
            for call in map(self._meant, calls):
                if self._context.is_over:
                    break
                if await self._admitted(call, answers):
                    ran += 1
                    await self._run(call, answers)
        finally:
            unanswered = [NOT_RUN] * (len(calls) - len(answers))
            self._context.messages += [
                Message("tool", answer, tool_call_id=call.id)
                for call, answer in zip(calls, [*answers, *unanswered], strict=True)
            ]
        return ran

    async def _admitted(self, call: ToolCall, answers: list[str]) -> bool:
        """Asks the machine; what it refuses is told to the model."""
        tool = self._tools.get(call.name)
        judged = replace(self._machine.guard_context, is_tool_registered=tool is not None)
        payload: dict[str, Any] = {"tool": call.name, "arguments": call.arguments}
        if tool is not None and tool.repeatable:
            # No two polls are equal: repeating one is what it is for.
            payload["poll"] = self._context.usage.tool_calls
        result = await self._machine.try_fire("request_tool_call", judged, **payload)
        if result:
            self._context.usage += Usage(tool_calls=1)
            return True
        if not self._context.is_over:
            answers.append(self._refusal(call, str(result.refusal and result.refusal.message)))
        return False

    def _meant(self, call: ToolCall) -> ToolCall:
        """A call under the tool's own name, whatever the model was told."""
        tool = self._named.get(call.name)
        return call if tool is None else replace(call, name=tool.name)

    def _refusal(self, call: ToolCall, message: str) -> str:
        if call.name in self._tools:
            return f"refused: {message}"
        return f"refused: you have no tool '{call.name}', only: {', '.join(self._named) or 'none'}"

    async def _run(self, call: ToolCall, answers: list[str]) -> None:
        """Runs a tool: the work of the state `tool_calling`."""
        work = self._context.attempted(self._answer, call, answers)
        before = len(answers)
        try:
            await self._machine.during(work, done="tool_call_completed", failed="tool_call_failed")
        except WorkFailedError as error:
            answers.append(f"the tool could not be run: {error}")
            raise WorkFailedError(f"tool '{call.name}' could not be run: {error}") from error.__cause__
        finally:
            if len(answers) == before:
                answers.append("stopped while it ran")

    async def _answer(self, call: ToolCall, answers: list[str]) -> None:
        """What the tool answers is kept at once: a trip that follows must not lose it."""
        try:
            answers.append(await self._tools[call.name].answer(call.arguments, key=self._key(call)))
        except ToolError as error:
            answers.append(f"error: {error}")
        self._context.answered[_name_of(call)] += 1

    def _key(self, call: ToolCall) -> str:
        """What names a call, and any that repeats it without knowing whether it was done."""
        name = _name_of(call)
        before = self._context.answered[name]
        again = f"#{before + 1}" if before else ""
        return f"{self._context.idempotency_key}/{name}{again}"


def _name_of(call: ToolCall) -> str:
    """A tool and what it is called with, in short."""
    try:
        arguments = json.dumps(call.arguments, sort_keys=True, default=str)
    except (TypeError, ValueError, RecursionError):  # nothing that a tool can be called with
        arguments = ""
    return f"{call.name}/{hashlib.sha256(arguments.encode()).hexdigest()[:16]}"


def _calls_left(machine: AsyncTaskExecution) -> int:
    """How many tool calls the limits of a task's machine leave room for, its way to the end kept free."""
    used, status = machine.guard_context, machine.circuit_status
    policy, visits = status.policy, status.state_visit_histogram
    left = [used.max_tool_calls_per_round - used.tool_call_count]
    if policy.max_state_visits:
        most = max(visits.get(state, 0) for state in (TaskState.EXECUTING, TaskState.TOOL_CALLING))
        left.append(policy.max_state_visits - most)
    if policy.max_transitions:
        left.append((policy.max_transitions - status.total_transitions - 2) // 2)
    return max(0, min(left))


def _is_call(thing: Any) -> bool:
    return isinstance(thing, ToolCall) and isinstance(thing.name, str)
