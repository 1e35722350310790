"""Every process and every way to fail: the same end, nothing lost, and not one request beyond the budgets.

In each run the third of four tasks fails, after its first round had given something. Each machine may retry
once, the graph may queue a task once more. The time is virtual.
"""

import asyncio
import re
from dataclasses import dataclass

import pytest

from orkeon_transitions.crew import CrewObserver, ModelReply, ToolCall, Usage, load_crew, tool
from orkeon_transitions.crew.agent_loop import MOST_REFUSED_ROUNDS
from orkeon_transitions.crew.offline import OfflineModel
from orkeon_transitions.machines import machine_definition
from tests import virtual_time

# By process: how many machines work on a task that fails, and on one that ends in another way.
MACHINES = {
    "sequential": (1, 1),
    "parallel": (1, 1),
    "hierarchical": (1, 1),
    "graph": (2, 1),  # it is queued once more
    "consensual": (3, 3),  # every agent works on it
    "autonomous": (3, 1),  # it is handed on, to agent after agent
}
CREW = """\
name: matrix
process: {process}
managerAgent: boss
graphConfig: {{maxRetryCycles: 1}}
executionBudget: {{preset: permissive}}
circuitBreaker: {{maxRetries: 1, maxValidationRetries: 1}}
agents:
  boss: {{tools: [note, crash]}}
  ann: {{tools: [note, crash]}}
  bob: {{tools: [note, crash]}}
tasks:
  before: {{description: Do before!}}
  beside: {{description: Do beside!}}
  bad:
    description: Do bad!
    dependencies: [before]
    guardrails: {{minWords: 2}}
    circuitBreaker: {{{breaker}}}
  after: {{description: Do after!, dependencies: [bad]}}
"""
PARTLY = "this is so far"
FINAL = machine_definition("task_execution").final_states


@dataclass(frozen=True)
class Failure:
    """What happens to the bad task, and what must come of it."""

    reply: object  # the model's answer in every round after the first
    status: str
    why: str  # a part of the error
    requests: int  # to the model, for each machine
    runs: int = 1  # of tools, for each machine; the first round makes one
    breaker: str = ""
    after: str = "skipped"  # how the task ends that needs the bad one
    crew: str = "failed"
    attempts: int = 2  # of each machine
    output: str = PARTLY


def one_call(name, **arguments):
    return lambda number: ModelReply("", (ToolCall(f"c{number}", name, arguments),), Usage(requests=1))


def other_notes(number):
    return one_call("note", text=f"number {number}")(number)


def tokens(number):
    return ModelReply("", other_notes(number).tool_calls, Usage(requests=1, input_tokens=60))


def says(text):
    return lambda number: ModelReply(text, usage=Usage(requests=1))


def breaks(number):
    raise ConnectionError("500 Internal Server Error")


async def hangs(number):
    await asyncio.sleep(1_000_000)


REFUSED = MOST_REFUSED_ROUNDS * 2  # in each attempt
FAILURES = {
    "tool error": Failure(one_call("crash"), "failed", "could not be run", requests=3, runs=3),
    "unregistered tool": Failure(
        one_call("rm_rf"), "failed", "refused tool calls only", requests=1 + REFUSED
    ),
    "validation failure": Failure(says("no"), "failed", "not accepted", requests=1 + 2 + 1, output="no"),
    "model 500s": Failure(breaks, "failed", "500 Internal", requests=1 + 2),
    "model hang": Failure(
        hangs, "degraded", "State timeout", requests=2, breaker="stateTimeoutSeconds: 30",
        after="completed", crew="degraded", attempts=1,
    ),
    "cancel": Failure(
        hangs, "cancelled", "cancelled", requests=2, after="cancelled", crew="cancelled", attempts=1
    ),
    "breaker trip, raise mode": Failure(
        other_notes, "failed", "circuit breaker", requests=3, runs=2,
        breaker="maxTransitions: 5, useDegradedMode: false", attempts=1,
    ),
    "breaker trip, degraded mode": Failure(
        other_notes, "degraded", "circuit breaker", requests=3, runs=2,
        breaker="maxTransitions: 5, useDegradedMode: true",
        after="completed", crew="degraded", attempts=1,
    ),
    "budget of tool calls out": Failure(
        other_notes, "failed", "refused tool calls only", requests=2 * 2 + REFUSED, runs=2 * 2,
        breaker="maxToolCallsPerRound: 2",
    ),
    "budget of tokens out": Failure(
        tokens, "degraded", "tokens", requests=2, breaker="meters: {tokens: 100}",
        after="completed", crew="degraded", attempts=1,
    ),
}  # fmt: skip


class Model:
    """Does the good tasks at once, and the bad one as a failure says; the offline model answers questions."""

    def __init__(self, failure):
        self.failure = failure
        self.asked = {"before": 0, "beside": 0, "bad": 0, "after": 0}
        self.seen = {}
        self.runs = 0
        self.hanging = asyncio.Event()

    async def reply(self, messages, tools):
        if not tools:  # a question of the process: no tools come with it
            return await OfflineModel().reply(messages, tools)
        text = "\n".join(message.content for message in messages)
        task = re.search(r"Do (\w+)!", text)[1]
        self.asked[task] += 1
        self.seen[task] = text
        if task != "bad":
            return ModelReply("all is well", usage=Usage(requests=1))
        rounds = sum(message.role == "assistant" for message in messages)
        if not rounds:
            given = Usage(requests=1, input_tokens=60)
            return ModelReply(PARTLY, (ToolCall("c", "note", {"text": "first"}),), given)
        if self.failure.reply is hangs:
            self.hanging.set()
            return await hangs(rounds)
        return self.failure.reply(rounds)

    def tools(self):
        @tool
        async def note(text: str) -> str:
            """Notes something."""
            self.runs += 1
            return "noted"

        @tool
        async def crash() -> str:
            """Cannot be run."""
            self.runs += 1
            raise RuntimeError("the disk is full")

        return [note, crash]


async def run(process, failure):
    """Runs the crew; gives what the model was asked, and the result."""
    model, results = Model(failure), []
    crew = load_crew(CREW.format(process=process, breaker=failure.breaker), tools=model.tools())
    observer = CrewObserver(crew_finished=results.append)
    running = asyncio.ensure_future(crew.run(model=model, clock=virtual_time.now, observer=observer))
    if failure.status == "cancelled":
        await model.hanging.wait()
        await asyncio.sleep(1)  # the others of a council come as far
        running.cancel()
    await asyncio.wait([running], timeout=100_000)
    assert running.done(), "the run hangs"
    assert running.cancelled() == (failure.status == "cancelled")
    assert asyncio.all_tasks() == {asyncio.current_task()}
    (result,) = results
    return model, result


@pytest.mark.parametrize("name", FAILURES)
@pytest.mark.parametrize("process", MACHINES)
def test_every_failure_ends_alike_in_all_processes(process, name):
    failure = FAILURES[name]
    model, result = virtual_time.run(run(process, failure))

    ended = {task.id: str(task.status) for task in result.tasks.values()}
    assert ended == {
        "before": "completed", "beside": "completed", "bad": failure.status, "after": failure.after
    }  # fmt: skip
    assert str(result.status) == failure.crew
    bad = result.tasks["bad"]
    assert failure.why in bad.error
    assert "task 'bad'" in result.error

    # Nothing that was produced is lost.
    assert bad.output == failure.output
    assert [result.tasks[task].output for task in ("before", "beside")] == ["all is well"] * 2
    assert result.output
    if failure.after == "completed":
        assert PARTLY in model.seen["after"]
        assert result.tasks["after"].output == "all is well"

    # No attempt is beyond the budgets.
    machines = MACHINES[process][failure.status != "failed"]
    everyone = MACHINES[process][1]
    assert len(bad.machines) == machines
    assert model.asked == {
        "before": everyone, "beside": everyone, "bad": failure.requests * machines,
        "after": everyone if failure.after == "completed" else 0,
    }  # fmt: skip
    assert model.runs == failure.runs * machines
    assert bad.attempts == failure.attempts * machines
    assert bad.usage.tool_calls == failure.runs * machines

    # Every machine has ended, or says why it lets nothing more happen.
    for task in result.tasks.values():
        for machine in task.machines:
            assert machine.state in FINAL or machine.error
            assert [step.to_state for step in machine.history][-1] == machine.state
    assert set(result.states["agents"].values()) <= {"idle", "error"}
    assert result.states["crew"] in {"completed", "cancelled", "failed"}
