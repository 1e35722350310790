"""The loop of an agent: ask the model, run its tools, ask again, until it answers.

The loop does the I/O and then fires one trigger with what came back. Whether a tool may run, whether there is
another attempt and when it is enough is for the task's machine to say.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from orkeon_transitions.crew.chat import ChatModel, Message, ModelReply, ToolCall, ToolSpec
from orkeon_transitions.crew.config import AgentConfig, TaskConfig
from orkeon_transitions.crew.executors import TaskContext, WorkFailedError
from orkeon_transitions.crew.human import ASK_HUMAN, NO_ANSWER, NOBODY_THERE, QUESTION
from orkeon_transitions.crew.judging import JUDGE, judge_prompt, read_verdict
from orkeon_transitions.crew.mcp import ToolServers
from orkeon_transitions.crew.models.choosing import ChosenModels, ModelChooser
from orkeon_transitions.crew.mounts import Mount
from orkeon_transitions.crew.planning import PLAN_MADE, plan_prompt, remembered
from orkeon_transitions.crew.prompts import resumed_prompt, system_prompt, task_prompt
from orkeon_transitions.crew.requests import asked, asked_besides
from orkeon_transitions.crew.results import TaskOutcome, Usage
from orkeon_transitions.crew.tool import MOST_ANSWER, Tool, ToolError, cut
from orkeon_transitions.crew.tool_names import named_for_models
from orkeon_transitions.machines import AsyncTaskExecution, TaskExecutionGuardContext, TaskState

# A refusal is no transition, so no limit counts a model that asks for nothing but refused calls.
MOST_REFUSED_ROUNDS = 5
# Of the tool calls in one reply no more are looked at, kept in the conversation or answered one by one.
MOST_CALLS = 32
TOO_MANY = f"{{:,}} more calls were not looked at: of one answer only the first {MOST_CALLS} are"
# A plan is noted beside every transition that follows.
MOST_PLAN = 10_000
MOST_NAME = 60
LAST_ROUND = "This is your last round: no tool can be called any more. Answer now, with what you have."
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
        if not context.messages:
            self._begin(agent, task, context)
        if context.feedback:
            context.messages.append(Message("user", context.feedback))
        try:
            tools = await self._allowed(agent, task, context)
            model = await self._model(agent, task, context)
            return await _Attempt(model, tools, agent, task, context).run()
        except WorkFailedError as error:
            return TaskOutcome(False, context.partial, str(error))

    async def plan_task(self, agent: AgentConfig, task: TaskConfig, context: TaskContext) -> str:
        """Begins the task's conversation with a plan. No tool can be called meanwhile."""
        self._begin(agent, task, context)
        tools = await self._allowed(agent, task, context)
        context.messages.append(Message("user", plan_prompt(tools.values())))
        model = await self._model(agent, task, context)
        reply = await asked(model, context, context.messages)
        plan = cut(reply.text, MOST_PLAN)
        if not plan.strip():
            # No provider takes back an answer in which there is nothing: it goes without a plan.
            context.messages.pop()
            return ""
        context.messages += [Message("assistant", plan), Message("user", PLAN_MADE)]
        return plan

    async def judge_output(
        self, agent: AgentConfig, task: TaskConfig, context: TaskContext, criteria: str, output: str
    ) -> str | None:
        """Asks the agent's model, in a conversation of its own."""
        messages = [Message("system", JUDGE), Message("user", judge_prompt(task, criteria, output))]
        chooser = self.model
        model = await _chosen(chooser, agent, task) if isinstance(chooser, ModelChooser) else chooser
        reply = await asked_besides(model, context, messages)
        return read_verdict(reply.text)

    async def close(self) -> None:
        """Ends what was started for a run."""
        if isinstance(self.model, ChosenModels):
            await self.model.close()
        if self.servers is not None:
            await self.servers.close()

    async def _model(self, agent: AgentConfig, task: TaskConfig, context: TaskContext) -> ChatModel:
        """Whom to ask; to choose somebody is work that can fail, too."""
        if not isinstance(self.model, ModelChooser):
            return self.model
        work = context.attempted(_chosen, self.model, agent, task)
        model: ChatModel = await context.machine.during(work, done=None, failed="fail")
        return model

    def _begin(self, agent: AgentConfig, task: TaskConfig, context: TaskContext) -> None:
        """The first messages of a conversation, and what is left of one that was lost."""
        context.messages[:] = [
            Message("system", system_prompt(agent, self.goal)),
            Message("user", task_prompt(task, self.mounts, context.earlier)),
        ]
        if context.is_resumed:
            context.messages.append(Message("user", resumed_prompt(_calls_left(context.machine))))
        # Also on a new machine of the task: what a person has said holds for each attempt.
        context.messages += [Message("user", text) for text in remembered(context.plan, context.heard)]

    async def _allowed(self, agent: AgentConfig, task: TaskConfig, context: TaskContext) -> dict[str, Tool]:
        """The tools that are named; the server of one may have to be started first, which is work, too."""
        names = agent.tools if task.tools is None else task.tools
        remote = [name for name in names if name not in self.tools]
        if self.servers is None or not remote:
            return {name: self.tools[name] for name in names} | dict(context.own_tools)
        work = context.attempted(self.servers.tools, remote)
        found = await context.machine.during(work, done=None, failed="fail")
        allowed = {name: self.tools.get(name) or found[name] for name in names}
        return allowed | dict(context.own_tools)


class _Attempt:
    """One attempt: from `executing` to an answer, a failure or a stop."""

    def __init__(
        self,
        model: ChatModel,
        tools: Mapping[str, Tool],
        agent: AgentConfig,
        task: TaskConfig,
        context: TaskContext,
    ) -> None:
        self._model = model
        self._agent = agent
        self._task = task
        self._tools = tools
        self._named = named_for_models(tools.values())
        self._specs = [replace(tool.spec, name=name) for name, tool in self._named.items()]
        self._context = context
        self._machine = context.machine
        self._is_out = False
        self._passed_over = 0
        self._rest = ""
        self._refused = ""

    async def run(self) -> TaskOutcome:
        refused_rounds = 0
        for number in itertools.count(1):
            is_last = number == self._agent.max_iter
            if is_last:
                self._context.messages.append(Message("user", LAST_ROUND))
            reply = await self._ask(() if is_last else self._specs)
            if not reply.tool_calls:
                return TaskOutcome(True, reply.text)
            if is_last:
                self._answer(reply.tool_calls, [])
                error = f"there is no answer after {number} round{'s' if number > 1 else ''} (maxIter)"
                return TaskOutcome(False, self._context.partial, error)
            ran = await self._call_all(reply.tool_calls)
            if self._context.is_over:
                break
            refused_rounds = 0 if ran else refused_rounds + 1
            if refused_rounds >= MOST_REFUSED_ROUNDS:
                error = self._only_refused(refused_rounds)
                if self._is_out:
                    # Another attempt would have no more to spend than this one.
                    self._context.retry_after = None
                return TaskOutcome(False, self._context.partial, error)
        return TaskOutcome(False, self._context.partial)

    async def _ask(self, tools: Sequence[ToolSpec]) -> ModelReply:
        """One request: the work of the state `executing`."""
        context = self._context
        reply = self._bounded(await asked(self._model, context, context.messages, tools))
        context.messages.append(Message("assistant", reply.text, reply.tool_calls, native=reply.native))
        context.partial = reply.text or context.partial
        context.is_cut = reply.is_cut
        return reply

    def _bounded(self, reply: ModelReply) -> ModelReply:
        """A reply with as many calls as are looked at; one more stands for all the others."""
        self._rest = ""
        if len(reply.tool_calls) <= MOST_CALLS:
            return reply
        self._passed_over += len(reply.tool_calls) - MOST_CALLS
        self._rest = f"refused: {TOO_MANY.format(len(reply.tool_calls) - MOST_CALLS)}"
        return replace(reply, tool_calls=tuple(reply.tool_calls[: MOST_CALLS + 1]))

    def _only_refused(self, rounds: int) -> str:
        """Why a model is not asked again that asks for nothing but what is refused."""
        parts = [f"the model asked for refused tool calls only, {rounds} times in a row", self._refused]
        if self._passed_over:
            parts.append(TOO_MANY.format(self._passed_over))
        return "; ".join(filter(None, parts))

    async def _call_all(self, calls: Sequence[ToolCall]) -> int:
        """Runs the calls of one reply, one after another; each gets exactly one answer, whatever happens.

        Returns:
            How many were run.
        """
        answers: list[str] = []
        ran = 0
        try:
            for call in map(self._meant, calls[:MOST_CALLS]):
                if self._context.is_over:
                    break
                if self._tools.get(call.name) is ASK_HUMAN:
                    ran += await self._ask_person(call, answers)
                elif await self._admitted(call, answers):
                    ran += 1
                    await self._run(call, answers)
            else:
                answers += filter(None, [self._rest])
        finally:
            self._answer(calls, answers)
        return ran

    def _answer(self, calls: Sequence[ToolCall], answers: Sequence[str]) -> None:
        """Puts an answer to each call into the conversation."""
        unanswered = [NOT_RUN] * (len(calls) - len(answers))
        self._context.messages += [
            Message("tool", answer, tool_call_id=call.id)
            for call, answer in zip(calls, [*answers, *unanswered], strict=True)
        ]

    async def _ask_person(self, call: ToolCall, answers: list[str]) -> bool:
        """Asks a person: the work of the state `waiting_for_human_input`.

        Returns:
            Whether a person was asked.
        """
        context, human = self._context, self._context.human
        try:
            text = await ASK_HUMAN.answer(call.arguments)
        except ToolError as error:
            answers.append(f"error: {error}")
            return False
        if human is None:
            answers.append(NOBODY_THERE)
            return False
        context.asked = context.question_for(QUESTION, self._task, self._agent, text)
        result = await self._machine.try_fire("request_human_input", **context.asked.to_dict())
        if not result:
            context.asked = None
            if not context.is_over:
                answers.append(f"refused: {result.refusal and result.refusal.message}")
            return False
        try:
            work = context.attempted(human.answer, context.asked)
            said: str | None = await self._machine.during(work, done=None, failed="fail")
        except WorkFailedError as error:
            answers.append(f"nobody could be asked: {error}")
            raise WorkFailedError(f"nobody could be asked: {error}") from None
        context.heard.append((text, said or NO_ANSWER))
        context.asked = None
        answers.append(said or NO_ANSWER)
        await self._machine.try_fire("human_input_received")
        return True

    async def _admitted(self, call: ToolCall, answers: list[str]) -> bool:
        """Asks the machine; what it refuses is told to the model."""
        tool = self._tools.get(call.name)
        judged = replace(self._machine.guard_context, is_tool_registered=tool is not None)
        refuses = self._context.refuses
        over = refuses(call.name) if refuses is not None and tool is not None else None
        if over is not None:
            self._is_out = True
            judged = replace(judged, max_tool_calls_per_round=0)
        payload: dict[str, Any] = {"tool": call.name, "arguments": call.arguments}
        if tool is not None and tool.repeatable:
            # No two polls are equal: repeating one is what it is for.
            payload["poll"] = self._context.usage.tool_calls
        result = await self._machine.try_fire("request_tool_call", judged, **payload)
        if result:
            self._context.usage += Usage(tool_calls=1)
            return True
        if not self._context.is_over:
            self._refused = _unknown(call.name) if tool is None else over or _used_up(judged)
            answers.append(self._refusal(call, over or str(result.refusal and result.refusal.message)))
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
        work = self._context.attempted(self._answered, call, answers)
        before = len(answers)
        try:
            await self._machine.during(work, done="tool_call_completed", failed="tool_call_failed")
        except WorkFailedError as error:
            answers.append(f"the tool could not be run: {error}")
            raise WorkFailedError(f"tool '{call.name}' could not be run: {error}") from None
        finally:
            if len(answers) == before:
                answers.append("stopped while it ran")

    async def _answered(self, call: ToolCall, answers: list[str]) -> None:
        """What the tool answers is kept at once: a trip that follows must not lose it."""
        try:
            answers.append(await self._tools[call.name].answer(call.arguments, key=self._key(call)))
        except ToolError as error:
            answers.append(f"error: {cut(self._context.secrets.hidden(str(error)), MOST_ANSWER)}")
        self._context.answered[_name_of(call)] += 1

    def _key(self, call: ToolCall) -> str:
        """What names a call, and any that repeats it without knowing whether it was done."""
        name = _name_of(call)
        before = self._context.answered[name]
        again = f"#{before + 1}" if before else ""
        return f"{self._context.idempotency_key}/{name}{again}"


async def _chosen(chooser: ModelChooser, agent: AgentConfig, task: TaskConfig) -> ChatModel:
    return chooser.model_for(agent, task)


def _name_of(call: ToolCall) -> str:
    """A tool and what it is called with, in short."""
    try:
        arguments = json.dumps(call.arguments, sort_keys=True, default=str)
    except (TypeError, ValueError, RecursionError):  # nothing that a tool can be called with
        arguments = ""
    return f"{call.name}/{hashlib.sha256(arguments.encode()).hexdigest()[:16]}"


def _unknown(name: str) -> str:
    """Says which tool there is not; models may call one by whole pages."""
    short = name if len(name) <= MOST_NAME else f"{name[: MOST_NAME - 1]}…"
    return f"the agent has no tool '{short}'"


def _used_up(used: TaskExecutionGuardContext) -> str:
    """Says that no tool call is left where that is so; else empty."""
    most = used.max_tool_calls_per_round
    is_out = used.tool_call_count >= most
    return f"its tool calls are used up (maxToolCallsPerRound: {most})" if is_out else ""


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
