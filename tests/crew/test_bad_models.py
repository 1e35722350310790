"""Models that misbehave: each mistake has its place in the machine, and nothing hangs or runs unasked."""

import asyncio
import dataclasses

import pytest

from orkeon_transitions.crew import CrewObserver, ModelReply, ToolCall, Usage, load_crew, tool
from orkeon_transitions.crew.agent_loop import LAST_ROUND, MOST_REFUSED_ROUNDS
from tests.crew.scripted import ScriptedModel, calls, crew_of_one, one_answer_each, path_of

ran = []


@tool
def note(text: str, times: int = 1) -> str:
    """Notes something."""
    ran.append(text)
    return "noted"


@pytest.fixture(autouse=True)
def nothing_ran():
    ran.clear()


def attempt(*replies, breaker="maxRetries: 0", **options):
    model = ScriptedModel(*replies)
    result = crew_of_one(note, breaker=breaker).run_sync(model=model, **options).tasks["t"]
    assert all(map(one_answer_each, model.asked))
    return model, result


# ---- nonsense
@pytest.mark.parametrize(
    "nonsense",
    [
        7, ModelReply(None), ModelReply(b"x"), ModelReply("", "note"), ModelReply("", (None,)),
        ModelReply("", (ToolCall("c", None),)), ModelReply("x", usage=None), ModelReply("x", usage="many"),
    ],
)  # fmt: skip
def test_what_is_no_reply_fails_the_attempt(nonsense):
    async def answers():
        return nonsense

    class Model(ScriptedModel):
        async def reply(self, messages, tools):
            return await answers()

    result = crew_of_one(note, breaker="maxRetries: 1").run_sync(model=Model()).tasks["t"]
    assert path_of(result) == ["executing", "failed", "executing", "failed"]
    assert "TypeError" in result.error
    assert ran == []


def test_a_model_that_talks_nonsense_after_it_was_in_order_keeps_what_it_had():
    _, result = attempt(calls(("note", {"text": "a"})), RuntimeError("garbage"))
    assert (str(result.status), result.output) == ("failed", "looking")


# ---- empty answers
@pytest.mark.parametrize("empty", ["", "  \n\t "])
def test_an_empty_answer_is_sent_back_within_the_limit(empty):
    model, result = attempt(empty, breaker="maxRetries: 0, maxValidationRetries: 2")
    assert path_of(result) == [*["executing", "validating"] * 3, "failed"]
    assert len(model.asked) == 3
    assert result.error == "the output is empty"
    assert "The output was empty" in model.asked[-1][-1].content


# ---- answers that are not at their end
def test_an_answer_that_was_cut_off_is_sent_back_within_the_limit():
    cut, whole = ModelReply("Once upon a", is_cut=True), ModelReply("Once.")
    model, result = attempt(cut, whole, breaker="maxRetries: 0, maxValidationRetries: 2")
    assert path_of(result) == [*["executing", "validating"] * 2, "completed"]
    assert result.output == "Once."
    assert "cut off where the model may write no more (maxTokens" in model.asked[-1][-1].content


def test_answers_that_are_always_cut_off_fail_and_what_there_is_of_them_is_kept():
    cut = ModelReply("Once upon a", is_cut=True)
    _, result = attempt(cut, breaker="maxRetries: 0, maxValidationRetries: 1")
    assert (str(result.status), result.output) == ("failed", "Once upon a")
    assert result.error.startswith("the output was not accepted: it was cut off where the model may write")


# ---- endless loops of tools
def test_the_same_call_for_ever_is_a_repetition():
    _, result = attempt(calls(("note", {"text": "a"})))
    assert str(result.status) == "degraded"
    assert "Repetition" in result.error
    assert len(ran) == 4


def test_ever_other_calls_are_refused_after_the_budget_of_the_round():
    model, result = attempt(*[calls(("note", {"text": str(number)})) for number in range(99)])
    assert str(result.status) == "failed"
    assert len(ran) == 10
    assert len(model.asked) == 10 + MOST_REFUSED_ROUNDS
    assert "refused tool calls only" in result.error


def test_a_thousand_calls_in_one_reply_are_no_way_around_it():
    model, result = attempt(calls(*[("note", {"text": str(number)}) for number in range(1_000)]), "done")
    assert result.success
    assert len(ran) == 10
    assert sum(answer.startswith("refused: ") for answer in model.answers) == 23
    assert model.answers[-1] == (
        "refused: 968 more calls were not looked at: of one answer only the first 32 are"
    )


@pytest.mark.parametrize("most", [1, 2, 3])
def test_rounds_end_with_max_iter_and_the_last_one_has_no_tools(most):
    offered = []

    class Model(ScriptedModel):
        async def reply(self, messages, tools):
            offered.append(len(tools))
            return await super().reply(messages, tools)

    model = Model(*[calls(("note", {"text": str(number)})) for number in range(9)])
    crew = load_crew(
        f"name: x\ncircuitBreaker: {{maxRetries: 1}}\nagents: {{a: {{tools: [note], maxIter: {most}}}}}\n"
        "tasks: {t: {description: d, agent: a}}\n",
        tools=[note],
    )
    result = crew.run_sync(model=model).tasks["t"]
    assert offered == [*[1] * (most - 1), 0] * 2
    assert len(ran) == 2 * (most - 1)
    assert (str(result.status), result.attempts) == ("failed", 2)
    assert result.error == f"there is no answer after {most} round{'s' if most > 1 else ''} (maxIter)"
    assert model.asked[most - 1][-1].content == LAST_ROUND
    assert one_answer_each(model.asked[-1])


def test_an_answer_in_the_last_round_counts():
    crew = load_crew(
        "name: x\nagents: {a: {tools: [note], max_iterations: 2}}\ntasks: {t: {description: d}}\n",
        tools=[note],
    )
    model = ScriptedModel(calls(("note", {"text": "a"})), "done")
    assert crew.run_sync(model=model).output == "done"
    model = ScriptedModel("done")
    assert crew.run_sync(model=model).output == "done"
    assert LAST_ROUND not in [message.content for message in model.asked[0]]


def test_max_iter_counts_for_each_answer_that_is_sent_back():
    crew = load_crew(
        "name: x\nagents: {a: {tools: [note], maxIter: 2}}\n"
        "tasks: {t: {description: d, guardrails: {minWords: 2}}}\n",
        tools=[note],
    )
    model = ScriptedModel(calls(("note", {"text": "a"})), "short", calls(("note", {"text": "b"})), "now good")
    assert crew.run_sync(model=model).output == "now good"
    assert ran == ["a", "b"]


# ---- names
@pytest.mark.parametrize(
    "name", ["no te", " note", "note ", "NOTE", "", "note\n", "note()", "os.system", "../note", "n" * 10_000]
)
def test_a_name_that_is_none_of_the_agent_s_tools_never_runs(name):
    model, result = attempt(calls((name, {"text": "a"})), "done without")
    assert result.success
    assert ran == []
    assert model.answers[0].startswith("refused: you have no tool")
    assert "tool_calling" not in path_of(result)


def test_a_tool_whose_own_name_has_spaces_is_called_by_one_that_models_can_say():
    @tool(name="take a note")
    def spaced() -> str:
        """Notes."""
        return "noted"

    crew = load_crew(
        "name: x\nagents: {a: {tools: ['take a note']}}\ntasks: {t: {description: d}}\n", tools=[spaced]
    )
    model = ScriptedModel(calls("take_a_note"), "done")
    assert crew.run_sync(model=model).success
    assert model.answers == ["noted"]


# ---- arguments
@pytest.mark.parametrize(
    "given",
    [
        {}, {"text": 7}, {"text": None}, {"text": "a", "times": "many"}, {"text": "a", "more": 1}, "nonsense",
        '{"text": 7}', "[1]", "null", {"text": ["a"]}, "{" * 100_000,
    ],
)  # fmt: skip
def test_arguments_of_the_wrong_type_are_an_error_that_the_model_is_told(given):
    model, result = attempt(calls(("note", given)), "done")
    assert result.success
    assert ran == []
    assert path_of(result)[:3] == ["executing", "tool_calling", "executing"]
    assert model.answers[0].startswith("error: wrong arguments for note")
    assert len(model.answers[0]) < 10_000


def test_ten_megabytes_of_arguments_and_of_an_answer_are_cut_for_the_conversation():
    @tool
    def echo(text: str) -> str:
        """Says it again."""
        return text

    model = ScriptedModel(calls(("echo", {"text": "x" * 10 * 1024 * 1024})), "done")
    assert crew_of_one(echo).run_sync(model=model).success
    assert len(model.answers[0]) < 60_000


# ---- late answers
@pytest.mark.parametrize("late", ["model", "tool"])
def test_an_answer_after_cancellation_is_dropped(late):
    begun, results = asyncio.Event(), []

    async def stubborn():
        begun.set()
        try:
            await asyncio.sleep(20)
        except asyncio.CancelledError:
            return "too late"

    @tool
    async def slow() -> str:
        """Is slow."""
        return await stubborn()

    model = ScriptedModel(stubborn) if late == "model" else ScriptedModel(calls("slow"), "done")

    async def main():
        crew = crew_of_one(slow)
        run = asyncio.create_task(crew.run(model=model, observer=CrewObserver(crew_finished=results.append)))
        await begun.wait()
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run

    asyncio.run(main())
    task = results[0].tasks["t"]
    assert path_of(task)[-1] == "cancelled"
    assert "too late" not in task.output
    assert len(model.asked) == 1


def test_a_reply_that_a_model_changes_afterwards_changes_nothing():
    said = {"text": "a"}
    reply = ModelReply("looking", (ToolCall("1", "note", said),), Usage(1))
    _, result = attempt(reply, dataclasses.replace(reply, tool_calls=(), text="done"))
    said["text"] = "b"
    assert result.success
    assert ran == ["a"]


@pytest.mark.parametrize("process", ["sequential", "parallel", "graph", "autonomous"])
@pytest.mark.parametrize("spent", [Usage(1, -100), Usage(1, usd=float("nan"))])
def test_a_false_bill_costs_its_task_and_not_what_others_made(process, spent):
    crew = load_crew(
        f"process: {process}\ncircuitBreaker: {{maxRetries: 0, meters: {{tokens: 500, usd: 1}}}}\n"
        "graphConfig: {maxRetryCycles: 0}\nagents: {a: {}}\n"
        "tasks: {one: {description: Do it}, two: {description: Do that, dependencies: [one]}}"
    )
    model = ScriptedModel("made", ModelReply("lost", usage=spent))
    result = crew.run_sync(model=model)
    assert [(str(task.status), task.output) for task in result.tasks.values()] == [
        ("completed", "made"),
        ("failed", ""),
    ]
    assert "finite and not negative" in result.tasks["two"].error
