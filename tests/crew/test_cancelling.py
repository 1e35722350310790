"""A run that is cancelled at any moment whatever is tidy afterwards."""

import asyncio

import pytest

from orkeon_transitions.crew import AgentLoop, CrewObserver, ToolError, load_crew, tool
from tests.crew.scripted import ScriptedModel, calls, one_answer_each

TEXT = """\
agents: {a: {tools: [step, crash]}}
tasks:
  one: {description: first}
  two: {description: second, dependencies: [one]}
"""


@tool
async def step() -> str:
    """Takes a few turns of the loop."""
    for _ in range(3):
        await asyncio.sleep(0)
    return "stepped"


@tool
async def crash() -> str:
    """Answers with an error, later."""
    await asyncio.sleep(0)
    raise ToolError("no")


class SlowModel(ScriptedModel):
    """Takes a turn of the loop for each answer."""

    async def reply(self, messages, tools):
        await asyncio.sleep(0)
        return await super().reply(messages, tools)


class WatchedLoop(AgentLoop):
    """Keeps the contexts, with the conversations as they are in the end."""

    async def execute_task(self, agent, task, context):
        contexts.append(context)
        return await super().execute_task(agent, task, context)


contexts = []


async def cancelled_after(turns):
    """Cancels a run after so many turns of the loop; None if it ended before."""
    contexts.clear()
    finished = []
    crew = load_crew(TEXT, tools=[step, crash])
    model = SlowModel(calls("step", "crash"), "done", calls("step", "ghost"), "done")
    tools = {"step": step, "crash": crash}
    loop = WatchedLoop(model, tools)
    run = asyncio.create_task(crew.run(executor=loop, observer=CrewObserver(crew_finished=finished.append)))
    for _ in range(turns):
        await asyncio.sleep(0)
    if run.done():
        return None
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    await asyncio.sleep(0)
    others = asyncio.all_tasks() - {asyncio.current_task()}
    return finished, others


def test_wherever_it_is_cancelled():
    turns, seen = 1, set()
    while (left := asyncio.run(cancelled_after(turns))) is not None:
        finished, others = left
        (result,) = finished
        assert str(result.status) == "cancelled"
        assert {str(task.status) for task in result.tasks.values()} <= {"completed", "cancelled"}
        assert all(context.machine.is_terminal for context in contexts)
        assert all(one_answer_each(context.messages) for context in contexts)
        assert not others, "nothing is left running"
        assert result.states["crew"] == "cancelled"
        seen.add(tuple(task.state for task in result.tasks.values()))
        turns += 1
    assert turns > 20
    assert {("cancelled", None), ("completed", "cancelled")} <= seen
