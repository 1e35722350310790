"""A run that is cancelled at any moment whatever is tidy afterwards."""

import asyncio

import pytest

from orkeon_transitions.crew import AgentLoop, CrewObserver, TaskOutcome, ToolError, load_crew, tool
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


SOME = """\
process: {process}
agents: {{a: {{}}, b: {{}}}}
tasks:
  one: {{description: d}}
  two: {{description: d, dependencies: [one]}}
  three: {{description: d}}
"""


async def some_work(agent, task, context):
    """Takes a few turns; the first attempt at `one` fails, with a part of its output."""
    await asyncio.sleep(0)
    context.partial = f"part of {task.id}"
    await asyncio.sleep(0)
    if task.id == "one" and context.attempt == 1:
        return TaskOutcome(False, "part of one", "no luck")
    return task.id


async def some_cancelled_after(process, turns):
    """Cancels a run after so many turns; None if it ended before."""
    finished, moved = [], {}
    observer = CrewObserver(
        crew_finished=finished.append,
        status_moved=lambda fact: moved.update({(fact.kind, fact.name): str(fact.transition.to_state)}),
    )
    run = asyncio.create_task(
        load_crew(SOME.format(process=process)).run(executor=some_work, observer=observer)
    )
    for _ in range(turns):
        await asyncio.sleep(0)
    if run.done():
        return None
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    await asyncio.sleep(0)
    return finished, moved, asyncio.all_tasks() - {asyncio.current_task()}


@pytest.mark.parametrize("process", ["sequential", "parallel", "graph"])
def test_wherever_any_process_is_cancelled(process):
    turns, seen = 1, set()
    while (left := asyncio.run(some_cancelled_after(process, turns))) is not None:
        finished, moved, others = left
        turns += 1
        if not finished:
            assert not moved, "it was cancelled before it began"
            continue
        (result,) = finished
        assert not others, "nothing is left running"
        assert str(result.status) == result.states["crew"] == "cancelled"
        assert set(result.states["agents"].values()) <= {"idle", "error"}
        for task in result.tasks.values():
            assert (task.status in {"completed", "cancelled"}) or (task.id, task.status) == ("one", "failed")
            assert result.states["tasks"][task.id] == task.status == moved["task", task.id]
            assert all(machine.state in {"completed", "cancelled", "failed"} for machine in task.machines)
            assert task.output in {"", task.id, f"part of {task.id}"}
        one = result.tasks["one"]
        assert one.attempts <= 1 or one.output, "what the first attempt gave is kept"
        seen.add(tuple(str(task.status) for task in result.tasks.values()))
    assert turns > 15
    assert {
        ("cancelled",) * 3,
        ("completed", "cancelled", "completed" if process == "parallel" else "cancelled"),
    } <= seen
    assert (("failed", "cancelled", "cancelled") in seen) == (process == "graph")
