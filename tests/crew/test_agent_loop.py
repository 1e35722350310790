"""The loop does the I/O, the machine decides."""

import asyncio
import threading

import pytest

from orkeon_transitions.crew import ModelReply, ToolCall, ToolError, Usage, tool
from orkeon_transitions.crew.agent_loop import MOST_REFUSED_ROUNDS, NOT_RUN
from orkeon_transitions.machines import AsyncTaskExecution, TaskExecutionGuardContext
from tests.crew.scripted import ScriptedModel, calls, crew_of_one, hang, one_answer_each, path_of


@pytest.fixture
def ran():
    return []


@pytest.fixture
def note(ran):
    @tool
    async def note(text: str = "x") -> str:
        """Notes something."""
        ran.append(text)
        return f"noted {text}"

    return note


def test_an_answer_is_executing_validating_completed():
    model = ScriptedModel("done")
    result = crew_of_one().run_sync(model=model).tasks["t"]
    assert path_of(result) == ["executing", "validating", "completed"]
    assert (result.output, result.attempts, len(model.asked)) == ("done", 1, 1)
    assert [message.role for message in model.asked[0]] == ["system", "user"]


def test_each_tool_call_is_a_transition_and_gets_its_answer(note, ran):
    model = ScriptedModel(calls(("note", {"text": "a"}), ("note", {"text": "b"})), calls("note"), "done")
    result = crew_of_one(note).run_sync(model=model).tasks["t"]
    assert path_of(result)[:5] == ["executing", "tool_calling", "executing", "tool_calling", "executing"]
    assert ran == ["a", "b", "x"]
    assert model.answers == ["noted a", "noted b", "noted x"]
    assert one_answer_each(model.asked[-1])
    assert result.usage.tool_calls == 3


# ---- the machine decides
@pytest.mark.parametrize("where", ["machine", "context"])
def test_with_can_call_tool_false_no_tool_runs(note, ran, monkeypatch, where):
    if where == "machine":
        monkeypatch.setattr(AsyncTaskExecution, "can_call_tool", lambda self, event: False)
    else:
        monkeypatch.setattr(TaskExecutionGuardContext, "can_call_tool", property(lambda self: False))
    model = ScriptedModel(calls("note", "note"), calls("note"), "done without")
    result = crew_of_one(note).run_sync(model=model)
    assert ran == []
    assert result.success
    assert "tool_calling" not in path_of(result.tasks["t"])
    assert len(model.answers) == 3
    assert all(answer.startswith("refused: ") for answer in model.answers)
    assert one_answer_each(model.asked[-1])


def test_the_offline_model_runs_no_tool_either(note, ran, monkeypatch):
    monkeypatch.setattr(AsyncTaskExecution, "can_call_tool", lambda self, event: False)
    result = crew_of_one(note).run_sync()
    assert ran == []
    assert result.success
    assert "refused" in result.output


@pytest.mark.parametrize(
    ("most", "requests", "runs"), [(1, 1, 0), (2, 1, 1), (3, 2, 1), (5, 3, 2), (9, 5, 4)]
)
def test_at_a_trip_no_further_request_is_made(note, ran, most, requests, runs):
    model = ScriptedModel(*[calls(("note", {"text": str(n)})) for n in range(9)])
    result = crew_of_one(note, breaker=f"maxTransitions: {most}").run_sync(model=model)
    task = result.tasks["t"]
    assert (str(task.status), str(result.status)) == ("degraded", "degraded")
    assert (len(model.asked), len(ran)) == (requests, runs)
    assert f"Max transitions exceeded ({most}/{most})" in task.error
    assert task.output == "looking"


def test_a_trip_in_raise_mode_fails_with_the_reason_and_keeps_the_output(note):
    model = ScriptedModel(*[calls(("note", {"text": str(n)})) for n in range(9)])
    breaker = "maxTransitions: 5, useDegradedMode: false"
    result = crew_of_one(note, breaker=breaker).run_sync(model=model)
    task = result.tasks["t"]
    assert (str(task.status), task.state, task.output) == ("failed", "executing", "looking")
    assert task.error == "circuit breaker: Max transitions exceeded (5/5)"
    assert len(model.asked) == 3


def test_a_tool_that_is_not_the_agents_never_runs(note, ran):
    @tool
    def other() -> str:
        """Not for this agent."""
        ran.append("other")
        return ""

    crew = crew_of_one(note, other, task=", tools: [note]")
    model = ScriptedModel(calls("other", "no_such_tool", "note"), "done")
    result = crew.run_sync(model=model)
    assert ran == ["x"]
    assert [answer.partition(",")[0] for answer in model.answers] == [
        "refused: you have no tool 'other'",
        "refused: you have no tool 'no_such_tool'",
        "noted x",
    ]
    assert result.success


def test_the_budget_of_a_round_is_the_machines(note, ran):
    model = ScriptedModel(calls(*[("note", {"text": str(n)}) for n in range(5)]), "done")
    result = crew_of_one(note, breaker="maxToolCallsPerRound: 2").run_sync(model=model)
    assert ran == ["0", "1"]
    assert [answer[:7] for answer in model.answers] == ["noted 0", "noted 1", "refused", "refused", "refused"]
    assert result.success


def test_a_model_that_asks_for_refused_calls_only_is_stopped():
    model = ScriptedModel(calls("ghost"))
    result = crew_of_one(breaker="maxRetries: 1").run_sync(model=model)
    assert str(result.status) == "failed"
    assert len(model.asked) == 2 * MOST_REFUSED_ROUNDS
    assert "refused tool calls only" in result.error
    assert result.error.endswith("the agent has no tool 'ghost'")
    assert one_answer_each(model.asked[-1])


def test_a_name_that_is_no_name_is_shortened_in_the_error():
    result = crew_of_one(breaker="maxRetries: 0").run_sync(model=ScriptedModel(calls("ghost " * 10_000)))
    assert "the agent has no tool 'ghost ghost" in result.error
    assert len(result.error) < 200


# ---- repetition
def test_the_same_call_over_and_over_is_a_runaway(note, ran):
    model = ScriptedModel(calls("note"))
    result = crew_of_one(note).run_sync(model=model)
    assert ran == ["x"] * 4
    assert str(result.status) == "degraded"
    assert "Repetition" in result.tasks["t"].error
    assert len(model.asked) == 5


def test_the_file_may_say_otherwise(note, ran):
    model = ScriptedModel(*[calls("note")] * 8, "done")
    assert crew_of_one(note, breaker="maxRepeats: 0").run_sync(model=model).success
    assert len(ran) == 8


def test_a_polling_tool_may_be_called_again_and_again(ran):
    @tool(repeatable=True)
    def is_ready() -> bool:
        """Polls."""
        ran.append(1)
        return False

    model = ScriptedModel(*[calls("is_ready")] * 8, "done")
    assert crew_of_one(is_ready).run_sync(model=model).success
    assert len(ran) == 8


def test_polls_in_between_do_not_hide_a_runaway_of_others(note, ran):
    model = ScriptedModel(calls("note", "note", "note", "note", "note", "note"), "done")
    result = crew_of_one(note).run_sync(model=model)
    assert len(ran) == 4
    assert str(result.status) == "degraded"


# ---- errors, crashes, retries
def test_a_tool_that_answers_with_an_error_has_answered(note):
    @tool
    def find(what: int) -> str:
        """Finds."""
        raise ToolError(f"there is no {what}")

    model = ScriptedModel(calls(("find", {"what": 3}), ("find", {"what": "x"}), ("find", "{")), "done")
    result = crew_of_one(find).run_sync(model=model).tasks["t"]
    assert result.success
    assert "failed" not in path_of(result)
    assert model.answers[0] == "error: there is no 3"
    assert model.answers[1].startswith("error: wrong arguments for find: what")
    assert model.answers[2].startswith("error: wrong arguments for find")


def test_a_crash_is_a_failure_and_a_retry_goes_on_with_the_conversation(note, ran):
    @tool
    def crash() -> str:
        """Crashes."""
        raise OSError("connection lost")

    model = ScriptedModel(calls("note", "crash", "note"), "done in spite of it")
    result = crew_of_one(note, crash).run_sync(model=model).tasks["t"]
    assert result.success
    assert path_of(result)[4:7] == ["failed", "executing", "validating"]
    assert (result.attempts, ran) == (2, ["x"])
    assert model.answers == ["noted x", "the tool could not be run: OSError: connection lost", NOT_RUN]
    assert one_answer_each(model.asked[-1])


def test_crashes_are_retried_within_the_budget_only():
    @tool
    def crash() -> str:
        """Crashes."""
        raise TimeoutError

    model = ScriptedModel(calls("crash"))
    result = crew_of_one(crash, breaker="maxRetries: 2").run_sync(model=model).tasks["t"]
    assert (str(result.status), result.state, result.attempts, len(model.asked)) == ("failed", "failed", 3, 3)
    assert result.error == "tool 'crash' could not be run: TimeoutError"
    assert result.output == "looking"


def test_a_model_that_fails_is_asked_again_within_the_budget():
    model = ScriptedModel(ConnectionError("busy"), "done")
    result = crew_of_one().run_sync(model=model).tasks["t"]
    assert (result.success, result.attempts, path_of(result)[1]) == (True, 2, "failed")
    model = ScriptedModel(ConnectionError("busy"))
    result = crew_of_one(breaker="maxRetries: 0").run_sync(model=model).tasks["t"]
    assert (result.error, result.attempts) == ("ConnectionError: busy", 1)


def test_a_model_that_answers_nonsense_has_failed():
    class Nonsense(ScriptedModel):
        async def reply(self, messages, tools):
            return "just text"

    result = crew_of_one(breaker="maxRetries: 0").run_sync(model=Nonsense())
    assert "TypeError: a model answers a ModelReply, not str" in result.error


NOT_SPENT = "ValueError: what was spent is finite and not negative, and"
NO_CALLS = "TypeError: the tool calls of a ModelReply are a tuple of ToolCalls, each with a name"


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (ModelReply(None), "TypeError: the text of a ModelReply is text, not NoneType"),
        (ModelReply("x", ({"name": "note"},)), NO_CALLS),
        (ModelReply("x", (ToolCall("1", ["note"]),)), NO_CALLS),
        (ModelReply("x", (call for call in [ToolCall("1", "note")])), NO_CALLS),
        (ModelReply("x", None), NO_CALLS),
        (ModelReply("x", usage=None), "TypeError: what was spent is a Usage of numbers, not None"),
        (ModelReply("x", usage=Usage(1, -9)), f"{NOT_SPENT} input_tokens is -9"),
        (ModelReply("x", usage=Usage(usd=float("nan"))), f"{NOT_SPENT} usd is nan"),
        (ModelReply("x", usage=Usage(usd=float("inf"))), f"{NOT_SPENT} usd is inf"),
    ],
)
def test_a_model_whose_reply_is_none_inside_has_failed(reply, error):
    result = crew_of_one(breaker="maxRetries: 1").run_sync(model=ScriptedModel(reply)).tasks["t"]
    assert (str(result.status), result.attempts, result.error) == ("failed", 2, error)


def test_an_empty_answer_is_sent_back_with_a_word():
    model = ScriptedModel("", " \n", "done")
    result = crew_of_one().run_sync(model=model).tasks["t"]
    assert (result.success, result.attempts) == (True, 1)
    assert path_of(result)[:4] == ["executing", "validating", "executing", "validating"]
    assert [message.content for message in model.asked[-1] if message.role == "user"][1:] == [
        "The output was empty. Answer with the expected output."
    ] * 2


def test_answers_that_stay_empty_fail():
    model = ScriptedModel("")
    breaker = "maxValidationRetries: 1, maxRetries: 1"
    result = crew_of_one(breaker=breaker).run_sync(model=model).tasks["t"]
    assert (str(result.status), result.error) == ("failed", "the output is empty")
    assert result.attempts == 2
    assert len(model.asked) == 3


# ---- clocks, meters
@pytest.mark.parametrize(("degraded", "status"), [("true", "degraded"), ("false", "failed")])
def test_a_model_that_hangs_is_cut_short_by_the_clock(degraded, status):
    ended = []

    async def hangs():
        try:
            await hang()
        finally:
            ended.append("cancelled")

    breaker = f"stateTimeoutSeconds: 0.05, useDegradedMode: {degraded}"
    result = crew_of_one(breaker=breaker).run_sync(model=ScriptedModel(hangs)).tasks["t"]
    assert (str(result.status), ended) == (status, ["cancelled"])
    assert "State timeout exceeded" in result.error


def test_a_tool_that_hangs_is_cut_short_and_its_late_answer_dropped():
    release = threading.Event()

    @tool
    def slow() -> str:
        """Hangs in a thread, where nothing can cancel it."""
        release.wait(10)
        return "late"

    model = ScriptedModel(calls("slow", "slow"), "never asked")

    async def main():
        result = await crew_of_one(slow, breaker="stateTimeoutSeconds: 0.05").run(model=model)
        release.set()
        await asyncio.sleep(0.05)
        return result.tasks["t"]

    result = asyncio.run(main())
    assert (str(result.status), result.output, len(model.asked)) == ("degraded", "looking", 1)
    assert path_of(result)[-2:] == ["tool_calling", "degraded"]


def test_tokens_are_reported_to_a_meter():
    spent = Usage(requests=1, input_tokens=40, output_tokens=20)
    model = ScriptedModel(ModelReply("first", calls("ghost").tool_calls, spent), ModelReply("x", usage=spent))
    result = crew_of_one(breaker="meters: {tokens: 100}").run_sync(model=model).tasks["t"]
    assert str(result.status) == "degraded"
    assert "Budget exhausted: 120 tokens" in result.error
    assert result.usage.tokens == 120
