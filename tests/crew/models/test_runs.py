"""Real requests in the machine: retries, limits, what is spent, and what models make up."""

import asyncio
import gc
import time
import weakref

import pytest

from orkeon_transitions.crew import (
    CrewObserver,
    load_crew,
    tool,
)
from orkeon_transitions.crew.models import ChosenModels, ModelSettings, Price
from orkeon_transitions.crew.models.providers import provider_model
from orkeon_transitions.errors import OrkeonError
from tests.crew.model_server import Answer, Hang, ModelServer, Status, calls, says
from tests.crew.models.asking import TALK, run_on
from tests.crew.scripted import crew_of_one, path_of


def test_a_long_answer_is_read_whole_and_cut_and_half_of_it_is_not_accepted():
    long = "word " * 2_000_000  # 10 MB
    crew = crew_of_one(breaker="maxRetries: 0, maxValidationRetries: 1")
    with ModelServer(says(long)) as server:
        result = run_on(server, crew)
    assert path_of(result.tasks["t"]) == ["executing", "validating", "executing", "validating", "failed"]
    assert "may have at most 500,000" in result.error
    assert len(result.output) < 600_000
    assert "[cut: 9,500,000 more characters]" in result.output


def test_long_arguments_are_an_answer_and_no_end():
    @tool
    def look(at: str) -> str:
        return at

    crew = crew_of_one(look)
    with ModelServer(calls(("look", {"at": "x" * 10_000_000})), says("Done")) as server:
        result = run_on(server, crew)
    assert result.status == "completed"
    assert len(str(server.asked[1])) < 100_000
    assert "wrong arguments" in server.asked[1]["messages"][-1]["content"]


@pytest.mark.parametrize("answer", [says(""), says(None), says("   ")])
def test_an_empty_answer_is_sent_back_within_bounds(answer):
    with ModelServer(answer) as server:
        result = run_on(server, crew_of_one(breaker="maxValidationRetries: 2, maxRetries: 0"))
    assert (result.status, len(server.asked)) == ("failed", 3)
    assert "the output is empty" in result.error


def test_the_observer_hears_whose_text_it_is():
    heard = []
    with ModelServer(says("One two three")) as server:
        result = run_on(server, crew_of_one(), observer=CrewObserver(task_text=heard.append))
    assert result.success
    assert {(one.task, one.agent) for one in heard} == {("t", "a")}
    assert "".join(one.text for one in heard) == "One two three"


def test_nothing_is_streamed_to_nobody():
    with ModelServer(says("One")) as server:
        run_on(server, crew_of_one())
    assert not server.asked[0].get("stream")


def test_a_failing_provider_is_retried_by_the_machine_and_by_nobody_else():
    with ModelServer(Status(500), Status(429), says("At last")) as server:
        result = run_on(server, crew_of_one(breaker="maxRetries: 3"))
    assert result.output == "At last"
    assert (len(server.asked), result.tasks["t"].attempts) == (3, 3)
    assert path_of(result.tasks["t"]).count("failed") == 2


def test_failures_end_with_the_budget():
    with ModelServer(Status(500, "out of paper")) as server:
        result = run_on(server, crew_of_one(breaker="maxRetries: 2"))
    assert (result.status, len(server.asked)) == ("failed", 3)
    assert result.error == "task 't' failed: openai:x failed (status 500): out of paper"


@pytest.mark.parametrize("code", [400, 401, 404])
def test_what_will_never_work_is_not_tried_again(code):
    with ModelServer(Status(code)) as server:
        result = run_on(server, crew_of_one(breaker="maxRetries: 3"))
    assert (result.status, len(server.asked)) == ("failed", 1)


def test_who_wants_too_long_a_rest_is_not_waited_for():
    with ModelServer(Status(429, headers={"Retry-After": "3600"})) as server:
        result = run_on(server, crew_of_one(breaker="maxRetries: 3"))
    assert len(server.asked) == 1
    assert "wants 3600 s of rest" in result.error


def test_a_rest_that_is_asked_for_is_given():
    with ModelServer(Status(429, headers={"retry-after-ms": "200"}), says("Rested")) as server:
        begun = time.monotonic()
        result = run_on(server, crew_of_one(breaker="maxRetries: 1"))
    assert result.output == "Rested"
    assert time.monotonic() - begun >= 0.2


def test_a_hang_ends_with_the_state_s_time():
    with ModelServer(Hang()) as server:
        result = run_on(server, crew_of_one(breaker="stateTimeout: 0.3, useDegradedMode: true"))
        assert server.gone.wait(5), "the request was cancelled, not forgotten"
    assert result.status == "degraded"
    assert "State timeout exceeded" in result.error
    assert len(server.asked) == 1


def test_a_run_that_is_cancelled_lets_go_of_its_request():
    async def cancelled(server):
        run = asyncio.create_task(crew_of_one().run(model=ModelSettings("openai:x", base_url=server.url)))
        while not server.asked:
            await asyncio.sleep(0.01)
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run

    with ModelServer(Hang()) as server:
        asyncio.run(cancelled(server))
        assert server.gone.wait(5)


def test_usage_is_counted_by_task_and_crew():
    crew = load_crew(
        "agents:\n  a: {}\ntasks:\n  one: {description: d}\n  two: {description: d}\n",
    )
    with ModelServer(says("x")) as server:
        result = run_on(server, crew)
    assert [task.usage.tokens for task in result.tasks.values()] == [15, 15]
    assert (result.usage.tokens, result.usage.requests) == (30, 2)


@pytest.mark.parametrize("degraded", [True, False])
def test_tokens_that_run_out_end_a_task(degraded):
    @tool(repeatable=True)
    def look() -> str:
        return "nothing"

    mode = f"useDegradedMode: {str(degraded).lower()}, meters: {{tokens: 40}}, maxRetries: 0"
    with ModelServer(calls(("look", {}), text="so far")) as server:
        result = run_on(server, crew_of_one(look, breaker=mode))
    assert len(server.asked) == 3, "15 tokens each: the third one is over 40"
    assert result.status == ("degraded" if degraded else "failed")
    assert "Budget exhausted" in result.error
    assert result.tasks["t"].output == "so far"


def test_dollars_that_run_out_end_a_task():
    @tool(repeatable=True)
    def look() -> str:
        return "nothing"

    crew = crew_of_one(
        look,
        breaker="useDegradedMode: true, meters: {usd: 4}",
    )
    with ModelServer(calls(("look", {}))) as server:
        over = ModelSettings(
            "openai:x",
            base_url=server.url,
            price=Price(100_000, 100_000),
        )
        result = crew.run_sync(model=over)
    assert result.status == "degraded"
    assert "usd" in result.error
    assert len(server.asked) == 3, "1.5 dollars each"
    assert result.usage.usd == pytest.approx(4.5)


def test_dollars_that_nobody_can_count_are_no_budget():
    crew = crew_of_one(breaker="meters: {usd: 4}")
    with pytest.raises(OrkeonError, match="what openai:x costs is not known"):
        crew.run_sync(model=ModelSettings("openai:x", base_url="http://127.0.0.1:1/v1"))
    assert crew.run_sync(model="offline").success


def test_a_model_that_calls_the_same_for_ever_is_stopped():
    @tool
    def look(at: str) -> str:
        return "nothing"

    with ModelServer(calls(("look", {"at": "door"}))) as server:
        result = run_on(server, crew_of_one(look))
    assert result.status == "degraded"
    assert "Repetition" in result.error
    assert len(server.asked) == 5


def test_an_unregistered_tool_never_runs_and_the_model_is_told():
    with ModelServer(calls(("rm -rf /", {})), says("Then not")) as server:
        result = run_on(server, crew_of_one())
    assert result.output == "Then not"
    assert "you have no tool 'rm -rf /'" in server.asked[1]["messages"][-1]["content"]


def test_agents_have_models_of_their_own():
    with ModelServer(says("x")) as server:
        crew = load_crew(
            f"llm: {{model: openai:small, baseUrl: '{server.url}', temperature: 0.1}}\n"
            "agents:\n  a: {llm: openai:big}\n  b: {}\n"
            "tasks:\n  one: {description: d, agent: a}\n  two: {description: d, agent: b}\n"
            "  three: {description: d, agent: b, llmOverride: {temperature: 0.9}}\n"
        )
        assert crew.run_sync().success
    assert [(body["model"], body["temperature"]) for body in server.asked] == [
        ("big", 0.1),
        ("small", 0.1),
        ("small", 0.9),
    ]


def test_equal_settings_share_a_model_and_its_connections():
    crew = load_crew(
        "llm: {model: openai:x, baseUrl: 'http://h/v1'}\n"
        "agents:\n  a: {}\n  b: {}\ntasks:\n  t: {description: d}\n"
    )
    models = ChosenModels.of(crew.config)
    first, second = (models.model_for(agent, crew.tasks["t"]) for agent in crew.agents.values())
    assert first is second
    asyncio.run(models.close())


def test_the_same_crew_runs_on_many_loops():
    crew = crew_of_one()
    with ModelServer(says("x")) as server:
        assert all(run_on(server, crew).success for _ in range(3))


def test_models_are_gone_with_their_run():
    made = []

    async def run(server):
        model = provider_model(ModelSettings("openai:x", base_url=server.url))
        made.append(weakref.ref(model))
        await model.reply(TALK, ())
        await model.close()

    with ModelServer(Answer("x")) as server:
        asyncio.run(run(server))
    gc.collect()
    assert made[0]() is None


def test_a_text_that_is_written_for_ever_ends_with_the_state_s_time():
    heard = []
    with ModelServer(says("word " * 10_000, pause=0.05)) as server:
        result = run_on(
            server,
            crew_of_one(breaker="stateTimeout: 0.4, useDegradedMode: true"),
            observer=CrewObserver(task_text=lambda told: heard.append(told.text)),
        )
    assert result.status == "degraded"
    assert 0 < len(heard) < 50
    assert "State timeout exceeded" in result.error
