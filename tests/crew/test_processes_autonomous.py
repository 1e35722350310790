"""The autonomous process: tasks are claimed, handed on and shared out, and all of it is bounded."""

import asyncio
import itertools

import pytest

from orkeon_transitions.crew import (
    CrewObserver,
    MemoryRunLog,
    ModelReply,
    TaskOutcome,
    ToolCall,
    Usage,
    load_crew,
    tool,
)
from tests.crew.deciding import decisions, machines_of
from tests.crew.dying import died, has_no_gap, resumed
from tests.crew.scripted import ScriptedModel, calls, hang, one_answer_each, path_of

TEXT = """\
name: free
process: autonomous
{head}agents:
  cook: {{role: Cook, goal: Makes tea, tools: [look]}}
  waiter: {{role: Waiter, goal: Serves guests, tools: [look]}}
  boy: {{role: Boy, tools: [look]}}
tasks:
{tasks}"""
ONE = "  t: {description: Make tea}\n"
TWO = "  one: {description: Make tea}\n  two: {description: Serve guests}\n"
SPAWN = ("spawn_agent", {"role": "Tea taster", "goal": "Taste", "task": "Taste the tea", "tools": ["look"]})


@tool(repeatable=True)
def look(at: str = "") -> str:
    """Looks."""
    return f"seen {at}"


def free(tasks=ONE, head="", budget=""):
    block = f"executionBudget: {{{budget}}}\n" if budget else ""
    return load_crew(TEXT.format(tasks=tasks, head=head + block), tools=[look])


def spawning(n=0, **more):
    return ("spawn_agent", {"role": f"Helper {n}", "goal": "g", "task": f"work {n}", **more})


# -------------------------------------------------------------------------------------------------- claiming
def test_whoever_has_to_do_with_a_task_claims_it_and_says_why():
    result = free(TWO + "  three: {description: d, agent: boy}\n").run_sync(executor=lambda *_: "done")
    assert result.success
    claims = [(one.by, one.task, one.why) for one in result.decisions if one.kind == "claim"]
    assert claims == [
        ("cook", "one", "it has to do with: tea; has claimed 0 before"),
        ("waiter", "two", "it has to do with: guests; has claimed 0 before"),
        ("boy", "three", "the task names it"),
    ]
    assert {task.agent for task in result.tasks.values()} == {"cook", "waiter", "boy"}


def test_one_claims_one_task_at_a_time_and_turns_come_round():
    busy, most = [], []

    async def work(agent, task, context):
        busy.append(agent.id)
        most.append(sorted(busy))
        await asyncio.sleep(0)
        busy.remove(agent.id)
        return "done"

    tasks = "".join(f"  t{number}: {{description: d}}\n" for number in range(7))
    result = free(tasks).run_sync(executor=work)
    assert [task.agent for task in result.tasks.values()] == [
        "cook", "waiter", "boy", "cook", "waiter", "boy", "cook",
    ]  # fmt: skip
    assert ["boy", "cook", "waiter"] in most
    assert all(len(set(one)) == len(one) for one in most)


def test_dependencies_wait_and_fail_with_what_they_need():
    def work(agent, task, context):
        return TaskOutcome(False, error="no luck") if task.id == "a" else str(sorted(context.outputs))

    result = free(
        "  a: {description: d}\n  b: {description: d, dependencies: [a]}\n"
        "  c: {description: d}\n  d: {description: d, dependencies: [c]}\n"
    ).run_sync(executor=work)
    assert [str(task.status) for task in result.tasks.values()] == [
        "failed", "skipped", "completed", "completed",
    ]  # fmt: skip
    assert result.tasks["d"].output == "['c']"


def test_agents_out_of_service_claim_nothing():
    crew = free(TWO + "  three: {description: d, agent: cook}\n")
    result = crew.run_sync(executor=lambda *_: "done", unavailable=["cook"])
    assert result.tasks["three"].error == "agent 'cook' is unavailable"
    assert result.tasks["one"].success
    result = crew.run_sync(executor=lambda *_: "done", unavailable=["cook", "waiter", "boy"])
    assert result.tasks["one"].error == "no agent is available"


def test_the_offline_model_comes_to_the_same_each_time():
    first, second = free(TWO).run_sync(), free(TWO).run_sync()
    assert first.success
    assert first.decisions == second.decisions
    assert {one.kind for one in first.decisions} == {"claim", "budget"}
    assert "tool calls 1 of 15" in first.decisions[-1].why


# ------------------------------------------------------------------------------------------------ delegating
def test_who_fails_hands_on_to_one_that_has_not_tried():
    seen = []

    def work(agent, task, context):
        seen.append((agent.id, task.description))
        return "tea" if agent.id == "boy" else TaskOutcome(False, f"half by {agent.id}", "no luck")

    result = free(head="circuitBreaker: {maxRetries: 0}\n").run_sync(executor=work)
    task = result.tasks["t"]
    assert (str(task.status), task.output, task.agent, task.attempts) == ("completed", "tea", "boy", 3)
    assert [agent for agent, _ in seen] == ["cook", "waiter", "boy"]
    assert "> no luck" in seen[1][1]
    assert "> half by cook" in seen[1][1]
    assert "half by cook" not in seen[2][1]
    assert decisions(result, "delegation") == [
        ("delegation", "cook", "waiter", 1),
        ("delegation", "waiter", "boy", 2),
    ]
    assert machines_of(task) == ["t/cook", "t/waiter", "t/boy"]


@pytest.mark.parametrize(("depth", "tried"), [(0, 1), (1, 2), (2, 3), (9, 3)])
def test_not_deeper_than_it_may_and_nobody_twice(depth, tried):
    seen = []

    def work(agent, task, context):
        seen.append(agent.id)
        return TaskOutcome(False, "part" if agent.id == "cook" else "", "no luck")

    crew = free(head="circuitBreaker: {maxRetries: 0}\n", budget=f"delegationDepth: {depth}")
    result = crew.run_sync(executor=work)
    task = result.tasks["t"]
    assert seen == ["cook", "waiter", "boy"][:tried]
    assert (str(task.status), task.output) == ("failed", "part")
    assert ("delegation depth used up (1 of 1)" in task.error) is (depth == 1)
    assert task.error in result.error
    assert task.error.endswith("no luck")


# ------------------------------------------------------------------------------------------------- tool calls
def test_a_call_beyond_the_budget_is_refused_and_the_model_told():
    model = ScriptedModel(calls("look"), calls("look"), calls("look"), "tea")
    result = free(budget="toolCalls: 2").run_sync(model=model)
    assert result.success
    assert model.answers == ["seen ", "seen ", "refused: execution budget: tool calls used up (2 of 2)"]
    assert one_answer_each(model.asked[-1])
    assert path_of(result.tasks["t"]).count("tool_calling") == 2
    (budget,) = [one for one in result.decisions if one.kind == "budget"]
    assert budget.choice == "used up"


class Endless:
    """Wants the same calls again and again."""

    def __init__(self, *names, tokens=10):
        self._calls = names or ("look",)
        self._tokens = tokens
        self._numbers = itertools.count()
        self.requests = 0

    async def reply(self, messages, tools):
        self.requests += 1
        number = next(self._numbers)
        named = [
            spawning(number) if name == "spawn_agent" else (name, {"at": str(number)}) for name in self._calls
        ]
        made = tuple(ToolCall(f"c{number}-{at}", *one) for at, one in enumerate(named))
        return ModelReply("still looking", made, Usage(requests=1, output_tokens=self._tokens))


@pytest.mark.parametrize("names", [("look",), ("spawn_agent",), ("spawn_agent", "look"), ("web search",)])
@pytest.mark.parametrize("preset", ["strict", "default"])
def test_a_model_that_never_stops_comes_to_an_end(names, preset):
    model = Endless(*names)
    result = free(TWO, budget=f"preset: {preset}").run_sync(model=model)
    assert {str(task.status) for task in result.tasks.values()} <= {"failed", "degraded"}
    most = {"strict": 8, "default": 15}[preset]
    assert all(task.usage.tool_calls <= most for task in result.tasks.values())
    assert all(
        sum("helper" in machine.machine_id for machine in task.machines) <= (1 if preset == "strict" else 3)
        for task in result.tasks.values()
    )
    if names != ("web search",):
        assert all("execution budget: " in task.error for task in result.tasks.values())
        assert all(task.output == "still looking" for task in result.tasks.values())
    assert model.requests <= 200


# ---------------------------------------------------------------------------------------- tokens and time
@pytest.mark.parametrize(("mode", "status"), [("true", "degraded"), ("false", "failed")])
def test_tokens_end_the_work_and_keep_what_there_is(mode, status):
    model = Endless(tokens=300)
    head = f"circuitBreaker: {{useDegradedMode: {mode}}}\n"
    result = free(head=head, budget="tokens: 1000").run_sync(model=model)
    task = result.tasks["t"]
    assert (str(result.status), str(task.status), task.output) == (status, status, "still looking")
    assert task.error.startswith("execution budget: tokens used up (1,200 of 1,000); circuit breaker: ")
    assert "tokens used up" in result.error
    assert model.requests == 4
    assert decisions(result, "delegation") == []


def test_the_run_shares_what_is_written_out():
    model = Endless(tokens=100)
    result = free(TWO, budget="tokens: 1000").run_sync(model=model)
    assert [task.usage.tokens for task in result.tasks.values()] == [600, 600]
    result = free(
        "  a: {description: d, agent: boy}\n  b: {description: d, agent: boy}\n", budget="tokens: 200"
    )
    spent = result.run_sync(model=Endless(tokens=250))
    assert "tokens used up" in spent.tasks["a"].error
    assert spent.tasks["b"].attempts == 0
    assert spent.tasks["b"].error.startswith("execution budget: tokens used up (250 of 200)")


def test_time_cancels_the_work_in_flight():
    cancelled = []

    async def work(agent, task, context):
        context.partial = "half"
        try:
            await hang()
        except asyncio.CancelledError:
            cancelled.append(agent.id)
            raise

    result = free(budget="wallTime: 0.05").run_sync(executor=work)
    task = result.tasks["t"]
    assert (str(task.status), task.output, cancelled) == ("degraded", "half", ["cook"])
    assert "wall time used up" in task.error
    assert decisions(result, "delegation") == []


# --------------------------------------------------------------------------------------------------- helpers
def test_a_helper_works_on_a_machine_of_its_own_with_a_part_of_the_tools():
    model = ScriptedModel(calls(SPAWN), calls("look"), "tastes well", "tea")
    result = free().run_sync(model=model, run_id="r")
    task = result.tasks["t"]
    assert (task.output, task.usage.tool_calls, len(model.asked)) == ("tea", 2, 4)
    helper, own = task.machines
    assert helper.machine_id.startswith("r/t/cook/helper-")
    assert (helper.agent, helper.output, helper.state) == ("cook/tea-taster", "tastes well", "completed")
    assert own.machine_id == "r/t/cook"
    assert model.answers == ["tastes well"]
    assert decisions(result, "spawn") == [("spawn", "cook", "cook/tea-taster", 1)]
    assert "Taste the tea" in model.asked[1][1].content
    assert "tool calls 2 of 15" in result.decisions[-1].why
    assert "spawns 1 of 3" in result.decisions[-1].why
    assert result.states["agents"].keys() == {"cook", "waiter", "boy"}


@pytest.mark.parametrize(
    ("call", "answer"),
    [
        (
            spawning(tools=["json_tool"]),
            "error: you cannot give what you do not have: json_tool; you have: look",
        ),
        (("spawn_agent", {"role": "x"}), "error: wrong arguments for spawn_agent: "),
    ],
)
def test_what_cannot_be_made_is_told(call, answer):
    model = ScriptedModel(calls(call), "tea")
    result = free().run_sync(model=model)
    assert result.success
    assert model.answers[0].startswith(answer)
    assert len(result.tasks["t"].machines) == 1


def test_without_spawns_there_is_no_such_tool():
    model = ScriptedModel(calls(SPAWN), "tea")
    free(budget="spawns: 0").run_sync(model=model)
    assert model.answers == ["refused: you have no tool 'spawn_agent', only: look"]


def test_a_helper_that_fails_is_told_with_what_it_had():
    head = "circuitBreaker: {maxRetries: 0, maxValidationRetries: 0}\n"
    model = ScriptedModel(calls(SPAWN), "", "tea")
    result = free(head=head).run_sync(model=model)
    assert result.success
    assert model.answers == ["error: the helper has not done it: the output is empty"]


def test_helpers_at_the_same_time_share_what_there_is():
    most = []

    async def work(agent, task, context):
        if "/" in agent.id:
            most.append(context.machine.circuit_status.policy.meters["tokens"])
            await asyncio.sleep(0.01)
            return TaskOutcome(True, "done", usage=Usage(output_tokens=5))
        make = context.own_tools["spawn_agent"].answer
        await asyncio.gather(*(make(spawning(number)[1]) for number in range(3)))
        return "all"

    result = free(budget="tokens: 100, spawns: 30").run_sync(executor=work)
    assert most == [50, 25, 12]
    assert result.tasks["t"].usage.tokens == 15
    assert result.success


# ----------------------------------------------------------------------------------------- told, and going on
def test_decisions_are_told_and_a_cancelled_run_says_how_far_it_came():
    told, results = [], []

    async def main():
        async def work(agent, task, context):
            if task.id == "two":
                context.partial = "half"
                await hang()
            return "done"

        observer = CrewObserver(decided=told.append, crew_finished=results.append)
        run = asyncio.create_task(free(TWO).run(executor=work, observer=observer))
        await asyncio.sleep(0.1)
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run

    asyncio.run(main())
    (result,) = results
    assert [(str(task.status), task.output) for task in result.tasks.values()] == [
        ("completed", "done"),
        ("cancelled", "half"),
    ]
    assert tuple(told) == result.decisions


def told_of(result):
    tasks = [
        (task.id, str(task.status), task.output, task.agent, path_of(task), task.usage)
        for task in result.tasks.values()
    ]
    return tasks, sorted(map(str, result.decisions)), result.states


@pytest.mark.parametrize("is_torn", [False, True])
def test_wherever_its_process_dies_the_run_comes_to_the_same(is_torn):
    async def work(agent, task, context):
        if "/" in agent.id:
            return TaskOutcome(True, "tasted", usage=Usage(output_tokens=7))
        if agent.id != "waiter":
            # Made again, it is the same helper.
            text = await context.own_tools["spawn_agent"].answer(SPAWN[1])
            return TaskOutcome(False, f"half, {text}", "no luck", Usage(output_tokens=3))
        return TaskOutcome(True, f"{task.id} done", usage=Usage(output_tokens=2))

    def crew():
        tasks = "  one: {description: Make tea}\n  two: {description: d, dependencies: [one]}\n"
        return free(tasks, head="circuitBreaker: {maxRetries: 0}\n", budget="tokens: 500, spawns: 8")

    whole = crew().run_sync(executor=work)
    assert whole.success
    assert {one.kind for one in whole.decisions} == {"claim", "delegation", "spawn", "budget"}
    for writes in range(200):
        log = MemoryRunLog()
        if not died(crew(), log, writes, executor=work, is_torn=is_torn):
            break
        if log.read("r").status in {"completed", "failed"}:
            continue
        result = resumed(crew(), log, executor=work)
        assert told_of(result) == told_of(whole), writes
        assert has_no_gap(result)
    assert writes > 10
