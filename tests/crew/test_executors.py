import asyncio
import functools
import threading

import pytest

from orkeon_transitions.crew import AgentExecutor, CrewObserver, TaskOutcome, Usage, load_crew
from tests.crew.scripted import crew_of_one, hang, path_of


def test_a_plain_function_gives_text():
    seen = []

    def work(agent, task, context):
        seen.append((agent.id, task.id, task.description, context.attempt, context.inputs))
        return "done"

    result = crew_of_one().run_sync({"x": 1}, executor=work).tasks["t"]
    assert seen == [("a", "t", "Do it", 1, {"x": 1})]
    assert (result.output, path_of(result)) == ("done", ["executing", "validating", "completed"])


def test_an_async_function_and_an_object_serve_as_well():
    async def work(agent, task, context):
        return TaskOutcome(True, "async", usage=Usage(requests=2, input_tokens=3))

    class Works:
        async def execute_task(self, agent, task, context):
            return await work(agent, task, context)

    class Callable:
        async def __call__(self, agent, task, context):
            return "called"

    assert isinstance(Works(), AgentExecutor)
    for executor in (work, Works()):
        result = crew_of_one().run_sync(executor=executor)
        assert (result.output, result.usage.requests, result.usage.tokens) == ("async", 2, 3)
    assert crew_of_one().run_sync(executor=Callable()).output == "called"


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (TaskOutcome(False, "half", "no bread"), "no bread"),
        (TaskOutcome(False), "the executor failed without saying why"),
        (["a list"], "TypeError: an executor answers text or a TaskOutcome, not list"),
        (TaskOutcome(True, 7), "TypeError: an executor answers text or a TaskOutcome, not TaskOutcome"),
        (TaskOutcome(True, "x", usage=None), "TypeError: what was spent is a Usage of numbers, not None"),
        (
            TaskOutcome(True, "x", usage={"tokens": 3}),
            "TypeError: what was spent is a Usage of numbers, not {'tokens': 3}",
        ),
        (
            TaskOutcome(True, "x", usage=Usage(1, 2, -3)),
            "ValueError: what was spent is finite and not negative, and output_tokens is -3",
        ),
        (TaskOutcome(False, "half", ValueError("no bread")), "ValueError: no bread"),
        (TaskOutcome(False, "half", 404), "404"),
        (None, "the executor returned None"),
        ("", "the output is empty"),
        (" \n", "the output is empty"),
    ],
)
def test_what_is_no_success_fails_within_the_budgets(answer, error):
    breaker = "maxRetries: 1, maxValidationRetries: 0"
    result = crew_of_one(breaker=breaker).run_sync(executor=lambda *_: answer).tasks["t"]
    assert (str(result.status), result.attempts, result.error) == ("failed", 2, error)
    if isinstance(answer, TaskOutcome) and not answer.success:
        assert result.output == answer.output


def test_one_that_raises_has_failed_and_may_succeed_later():
    tries = []

    def work(agent, task, context):
        tries.append(context.attempt)
        if len(tries) < 3:
            raise RuntimeError("no luck")
        return "luck"

    result = crew_of_one().run_sync(executor=work).tasks["t"]
    assert (tries, result.attempts, result.output) == ([1, 2, 3], 3, "luck")
    assert path_of(result) == ["executing", "failed"] * 2 + ["executing", "validating", "completed"]


def test_retries_are_those_of_the_machine():
    tries = []

    def work(agent, task, context):
        tries.append(1)
        raise RuntimeError("no luck")

    result = crew_of_one().run_sync(executor=work)
    assert len(tries) == result.tasks["t"].attempts == 4
    assert result.error == "task 't' failed: RuntimeError: no luck"


@pytest.mark.parametrize("process", ["sequential", "parallel", "graph"])
@pytest.mark.parametrize("kind", ["plain", "async", "waits for a task"])
def test_a_cancellation_of_its_own_is_a_failure_and_not_the_end_of_the_run(kind, process):
    def work(agent, task, context):
        raise asyncio.CancelledError

    async def work_async(agent, task, context):
        work(agent, task, context)

    async def work_waits(agent, task, context):
        other = asyncio.create_task(asyncio.sleep(60))
        other.cancel()
        await other

    executor = {"plain": work, "async": work_async}.get(kind, work_waits)
    crew = crew_of_one(
        head=f"process: {process}\ngraphConfig: {{maxRetryCycles: 1}}\n", breaker="maxRetries: 0"
    )
    result = crew.run_sync(executor=executor).tasks["t"]
    assert (str(result.status), result.error, result.state) == ("failed", "CancelledError", "failed")
    assert result.attempts == (2 if process == "graph" else 1)


# case F05
@pytest.mark.parametrize("kind", ["plain", "async"])
def test_an_interrupt_is_never_retried(kind):
    tries, finished = [], []

    def work(agent, task, context):
        tries.append(1)
        raise KeyboardInterrupt

    async def work_async(agent, task, context):
        work(agent, task, context)

    executor = work if kind == "plain" else work_async
    with pytest.raises(KeyboardInterrupt):
        crew_of_one().run_sync(executor=executor, observer=CrewObserver(crew_finished=finished.append))
    assert tries == [1]
    assert [str(result.status) for result in finished] == ["cancelled"]


def test_a_usage_holds_numbers():
    result = crew_of_one(breaker="maxRetries: 0").run_sync(
        executor=lambda *_: TaskOutcome(True, "x", usage=Usage("3"))
    )
    assert "what was spent is a Usage of numbers, not Usage(requests='3'" in result.error


def test_feedback_reaches_the_next_turn_once():
    seen = []

    def work(agent, task, context):
        seen.append(context.feedback)
        return "" if len(seen) == 1 else "done"

    assert crew_of_one().run_sync(executor=work).success
    assert seen[0] is None
    assert "empty" in seen[1]


def test_a_partial_output_can_be_kept_and_a_slow_function_left_behind():
    release = threading.Event()

    def work(agent, task, context):
        context.partial = "half"
        release.wait(10)
        return "late"

    result = crew_of_one(breaker="stateTimeoutSeconds: 0.05").run_sync(executor=work).tasks["t"]
    release.set()
    assert (str(result.status), result.output) == ("degraded", "half")


def test_an_executor_may_stop_the_task_itself():
    async def work(agent, task, context):
        await context.machine.cancel()
        return "too late"

    result = crew_of_one().run_sync(executor=work)
    assert (str(result.tasks["t"].status), str(result.status)) == ("cancelled", "cancelled")
    assert result.tasks["t"].output == ""


def test_a_function_that_leaves_its_state_is_ended_with_it():
    async def work(agent, task, context):
        await context.machine.request_tool_call()
        await hang()

    result = crew_of_one().run_sync(executor=work).tasks["t"]
    assert (str(result.status), result.error) == ("failed", "stopped in 'tool_calling'")


def test_outputs_before_are_seen():
    crew = load_crew(
        "agents: {a: {}}\ntasks:\n  one: {description: d}\n  two: {description: d, dependencies: [one]}\n"
    )
    seen = []
    crew.run_sync(executor=lambda agent, task, context: seen.append(context.outputs) or task.id)
    assert seen == [{}, {"one": "one"}]


class Mute(Exception):
    def __str__(self):
        raise RuntimeError("not even that")


@pytest.mark.parametrize(
    ("error", "text"),
    [(ValueError("x"), "ValueError: x"), (TimeoutError(), "TimeoutError"), (Mute(), "Mute")],
)
def test_what_an_executor_raises_is_told_in_words(error, text):
    def work(agent, task, context):
        raise error

    (task,) = crew_of_one().run_sync(executor=work).tasks.values()
    assert (str(task.status), task.error) == ("failed", text)


class TakesTwo:
    async def execute_task(self, agent, task):
        return "never called"


@pytest.mark.parametrize(
    ("executor", "words"),
    [
        (lambda: "x", "too many positional arguments"),
        (lambda agent: "x", "too many positional arguments"),
        (lambda agent, task, context, more: "x", "'more'"),
        (lambda agent, *, task, context: "x", "positional"),
        (TakesTwo(), "too many positional arguments"),
    ],
)
def test_one_that_cannot_take_the_three_is_refused_before_the_run(executor, words):
    seen = []
    with pytest.raises(TypeError, match=r"called with \(agent, task, context\), .* cannot be: ") as raised:
        crew_of_one().run_sync(executor=executor, observer=CrewObserver(task_started=seen.append))
    assert words in str(raised.value)
    assert seen == []


@pytest.mark.parametrize(
    "executor",
    [
        lambda *_: "x",
        lambda a, t, c, more=1, **_: "x",
        lambda agent, task=None, context=None: "x",
        functools.partial(lambda one, a, t, c: "x", 1),
    ],
)
def test_whatever_takes_the_three_serves(executor):
    assert crew_of_one().run_sync(executor=executor).output == "x"


def test_one_without_a_signature_is_called():
    class Secretive:
        __signature__ = "none of your business"

        def __call__(self, agent, task, context):
            return "x"

    assert crew_of_one().run_sync(executor=Secretive()).output == "x"
