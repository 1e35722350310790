"""Processes that ask agents: bounded, whatever the agents and models answer."""

import json

import pytest

from orkeon_transitions.crew import MemoryRunLog, ModelReply, ToolCall, Usage, load_crew
from tests.crew.deciding import ONE, TWO, agreeing, assigned_to, led, manager
from tests.crew.scripted import ScriptedModel, hang


@pytest.mark.parametrize("kind", ["assignment", "review"])
def test_a_manager_that_hangs_is_cut_off(kind):
    async def never(agent, task, context):
        if context.question == kind:
            await hang()
        return json.dumps(assigned_to("cook")) if context.question == "assignment" else "done"

    head = "circuitBreaker: {stateTimeoutSeconds: 0.05, maxRetries: 0}\n"
    result = led(head=head).run_sync(executor=never)
    task = result.tasks["t"]
    if kind == "assignment":
        assert (task.status, task.attempts) == ("failed", 0)
        assert "State timeout exceeded" in task.error
    else:
        # The review is the work of the task's own state, and that is what ends first, or as early.
        assert (str(task.status), task.output) in {("degraded", "done"), ("failed", "done")}
    assert set(result.states["agents"].values()) <= {"idle", "error"}


class Endless:
    """Always wants another tool call, whatever it is asked."""

    async def reply(self, messages, tools):
        return ModelReply("", (ToolCall("x", "web search", {}),), Usage(requests=1))


@pytest.mark.parametrize(
    "model", [Endless(), ScriptedModel("nonsense"), ScriptedModel(""), ScriptedModel(RuntimeError("500"))]
)
def test_a_manager_that_never_makes_sense_comes_to_an_end(model):
    result = led(TWO).run_sync(model=model)
    assert [str(task.status) for task in result.tasks.values()] == ["failed", "skipped"]
    assert "has assigned it to nobody" in result.error
    assert result.usage.requests <= 60


def test_what_the_manager_takes_is_counted():
    crew = led()
    replies = [json.dumps(assigned_to("cook")), "tea", '{"accepted": true, "feedback": ""}']
    result = crew.run_sync(model=ScriptedModel(*replies))
    assert result.success
    assert (result.tasks["t"].usage.requests, result.usage.requests) == (1, 3)


def test_the_offline_model_leads():
    result = led("  one: {description: d, agent: waiter}\n  two: {description: d}\n").run_sync()
    assert result.success
    assert [task.agent for task in result.tasks.values()] == ["waiter", "cook"]
    assert all("[offline model]" in one.why for one in result.decisions)
    assert (
        result.to_dict()["decisions"]
        == led("  one: {description: d, agent: waiter}\n  two: {description: d}\n")
        .run_sync()
        .to_dict()["decisions"]
    )


def test_what_it_says_is_kept_in_short_and_can_be_written_down():
    odd = {"agent": "\ud800" * 2_000, "why": "so\n\n" * 1_000}
    result = led().run_sync(executor=manager(assignment=odd), run_log=MemoryRunLog())
    (decision,) = result.decisions
    assert len(decision.choice) == len(decision.why) == 500
    json.dumps(result.to_dict(), ensure_ascii=False).encode()
    long = {"accepted": False, "feedback": "\udfff" + "x" * 30_000}
    result = led().run_sync(executor=manager(review=long), run_log=MemoryRunLog())
    assert len(result.error) < 5_000
    json.dumps(result.to_dict(), ensure_ascii=False).encode()


@pytest.mark.parametrize("model", [Endless(), ScriptedModel(""), ScriptedModel(RuntimeError("500"))])
def test_a_model_that_never_makes_sense_comes_to_an_end(model):
    result = agreeing(tasks=TWO).run_sync(model=model)
    assert [str(task.status) for task in result.tasks.values()] == ["failed", "skipped"]
    assert result.tasks["one"].error.startswith("no agent gave an answer: a: ")
    assert result.usage.requests <= 3 * 4 * 6


def test_nonsense_for_ever_still_gives_an_answer():
    texts = iter(range(1000))

    class Chatty:
        async def reply(self, messages, tools):
            return ModelReply(f"nonsense {next(texts)}", usage=Usage(requests=1))

    result = agreeing().run_sync(model=Chatty())
    assert (result.status, result.decisions[-1].kind) == ("completed", "fallback")
    assert result.usage.requests <= 2 * (3 + 3 * 5)
    assert result.tasks["t"].usage.requests == 6, "ballots are no part of the task"


def test_the_offline_model_agrees():
    documents = [agreeing(tasks=TWO).run_sync(run_id="r").to_dict() for _ in range(2)]
    assert documents[0]["status"] == "completed"
    assert documents[0]["decisions"] == documents[1]["decisions"]
    assert "[offline model]" in documents[0]["output"]


def test_the_offline_model_votes_for_the_longest_answer(tmp_path):
    (tmp_path / "notes.txt").write_text("tea\n")
    crew = load_crew(
        f"process: consensual\nmounts: ['{tmp_path}:/in:ro']\n"
        "agents: {a: {}, b: {tools: [directory_read, file_read]}, c: {}}\ntasks:\n" + ONE
    )
    result = crew.run_sync()
    assert (result.status, result.tasks["t"].agent) == ("completed", "b")
    assert [one.choice for one in result.decisions if one.by in {"a", "c"}] == ["b > c", "b > a"]
