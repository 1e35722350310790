"""A plan before the work: the machine goes through `planning`, and the plan is in the conversation."""

import pytest

from orkeon_transitions.crew import MemoryRunLog, ModelReply, Usage, load_crew, tool
from orkeon_transitions.crew.agent_loop import MOST_PLAN
from orkeon_transitions.crew.planning import PLAN_MADE, remembered
from tests.crew.dying import died, resumed
from tests.crew.scripted import ScriptedModel, calls, crew_of_one, hang, one_answer_each, path_of

PLANNED = ["planning", "executing", "validating", "completed"]


def planning(text="", **options):
    return crew_of_one(task=f", planning: true{text}", **options)


def test_the_machine_goes_through_planning_and_the_plan_is_in_the_conversation():
    model = ScriptedModel("1. look\n2. say", "done")
    result = planning().run_sync(model=model).tasks["t"]
    assert path_of(result) == PLANNED
    assert (result.output, result.attempts, result.usage.requests) == ("done", 1, 2)
    said = [(message.role, message.content) for message in model.asked[1][2:]]
    assert said[1:] == [("assistant", "1. look\n2. say"), ("user", PLAN_MADE)]
    assert said[0][1].startswith("Before you begin, write a short plan")


def test_no_tool_can_be_called_meanwhile():
    @tool
    def look() -> str:
        """Looks.

        Closely.
        """
        return "seen"

    offered = []

    class Model(ScriptedModel):
        async def reply(self, messages, tools):
            offered.append([one.name for one in tools])
            return await super().reply(messages, tools)

    model = Model(calls("look"), calls("look"), "done")
    result = crew_of_one(look, task=", planning: true").run_sync(model=model).tasks["t"]
    assert path_of(result) == ["planning", "executing", "tool_calling", *PLANNED[1:]]
    assert offered == [[], ["look"], ["look"]]
    assert "- look: Looks.\n" not in model.asked[0][-1].content
    assert "- look: Looks." in model.asked[0][-1].content
    assert one_answer_each(model.asked[-1])


@pytest.mark.parametrize(
    ("crew", "agent", "task", "expected"),
    [
        ("planning: true", "", "", True),
        ("planning: true", "planning: false", "", False),
        ("planning: true", "planning: true", "planning: false", False),
        ("", "reasoning: true", "", True),
        ("", "planning: false", "planning: true", True),
        ("", "", "", False),
    ],
)
def test_the_task_says_so_else_the_agent_else_the_crew(crew, agent, task, expected):
    loaded = load_crew(
        f"name: x\n{crew}\nagents: {{a: {{{agent}}}}}\n"
        f"tasks: {{t: {{description: d, agent: a{', ' if task else ''}{task}}}}}\n"
    )
    path = path_of(loaded.run_sync(executor=lambda *_: "done").tasks["t"])
    assert path == (PLANNED if expected else PLANNED[1:])


def test_the_offline_model_makes_one():
    assert planning().run_sync().success


@pytest.mark.parametrize("plan", ["mine", 7])
def test_an_executor_of_the_program_may_plan(plan):
    seen = []

    class Planner:
        async def execute_task(self, agent, task, context):
            return seen.append(context.plan) or "done"

        async def plan_task(self, agent, task, context):
            return plan

    result = planning().run_sync(executor=Planner()).tasks["t"]
    assert path_of(result) == (PLANNED if plan == "mine" else ["planning", "failed", *PLANNED[1:]])
    assert seen == (["mine"] if plan == "mine" else [""])


def test_a_plan_that_cannot_be_made_costs_a_retry_and_the_work_goes_without():
    model = ScriptedModel(RuntimeError("away"), "done")
    result = planning().run_sync(model=model).tasks["t"]
    assert path_of(result) == ["planning", "failed", *PLANNED[1:]]
    assert (result.output, result.attempts) == ("done", 1)


def test_a_plan_that_never_comes_is_ended_by_the_clock_of_the_state():
    result = planning(breaker="stateTimeoutSeconds: 0.2").run_sync(model=ScriptedModel(hang)).tasks["t"]
    assert path_of(result) == ["planning", "degraded"]
    assert "State timeout exceeded" in result.error


def test_a_plan_is_no_partial_output():
    model = ScriptedModel("the plan", hang)
    result = planning(breaker="stateTimeoutSeconds: 0.2").run_sync(model=model).tasks["t"]
    assert (str(result.status), result.output) == ("degraded", "")


def test_what_a_plan_takes_is_metered():
    model = ScriptedModel(ModelReply("plan", usage=Usage(1, 60, 60)), "done")
    result = planning(breaker="meters: {tokens: 100}").run_sync(model=model).tasks["t"]
    assert str(result.status) == "degraded"
    assert "Budget exhausted" in result.error
    assert len(model.asked) == 1


@pytest.mark.parametrize(("writes", "asked"), [(1, 2), (2, 1)])
def test_a_plan_survives_the_end_of_the_process(writes, asked):
    crew, log = planning(), MemoryRunLog()
    assert died(crew, log, writes, model=ScriptedModel("x" * 2 * MOST_PLAN, "done"))
    model = ScriptedModel("x", "done") if asked == 2 else ScriptedModel("done")
    result = resumed(crew, log, model=model)
    assert (result.output, len(model.asked)) == ("done", asked)
    assert path_of(result.tasks["t"]) == PLANNED
    assert result.tasks["t"].attempts == 1
    told = [message.content for message in model.asked[-1] if message.content.startswith("Your plan was:")]
    assert len(told) == (1 if asked == 1 else 0)


def test_what_is_remembered():
    assert list(remembered("", [])) == []
    assert list(remembered("p", [("q?", "a")])) == [
        "Your plan was:\np",
        "A person was asked before:\nQuestion: q?\nAnswer: a",
    ]


@pytest.mark.parametrize("nothing", ["", " \n "])
def test_a_plan_in_which_there_is_nothing_leaves_no_trace(nothing):
    model = ScriptedModel(nothing, "done")
    result = crew_of_one(head="planning: true\n").run_sync(model=model)
    assert result.success
    assert [message.role for message in model.asked[-1]] == ["system", "user"]


@pytest.mark.parametrize(
    "junk",
    ["x" * 600_000, "\x00\x1b[31m", '{"a": 1e999}', calls("no_such_tool", ("x", {})), ModelReply(None)],
)
def test_junk_for_a_plan_costs_no_more_than_an_attempt(junk):
    model = ScriptedModel(junk, "done", "done")
    result = crew_of_one(head="planning: true\n").run_sync(model=model)
    assert result.success
    assert sum(len(message.content) for message in model.asked[-1]) < 20_000
    assert not any(message.tool_calls for message in model.asked[-1])
