"""Runs that go on: what is not done again, and what goes on where it was."""

import asyncio
import json
import os

import pytest

from orkeon_transitions.crew import (
    CrewObserver,
    MemoryRunLog,
    ModelReply,
    TaskOutcome,
    Usage,
    load_crew,
    tool,
)
from tests.crew.dying import (
    INPUTS,
    PROCESSES,
    THREE,
    DiedError,
    Dying,
    died,
    has_no_gap,
    interrupted,
    only,
    resumed,
    three,
)
from tests.crew.scripted import ScriptedModel, calls, crew_of_one, hang, path_of


# ------------------------------------------------------------------------------------ interrupted and gone on
@pytest.mark.parametrize("process", PROCESSES)
def test_a_cancelled_run_goes_on(process):
    log = MemoryRunLog()
    crew = three(process)
    partial = interrupted(crew, log, two=hang)
    assert (partial.status, partial.tasks["two"].status) == ("cancelled", "cancelled")
    assert partial.states["crew"] == "cancelled"
    assert log.read("r").status == "interrupted"
    result = crew.resume_sync("r", run_log=log, executor=only(two="again"))
    assert result.status == "completed"
    assert result.tasks["two"].output == "again"
    assert path_of(result.tasks["two"]) == ["executing", "validating", "completed"]
    assert has_no_gap(result)
    assert result.states["crew"] == "completed"
    assert set(result.states["tasks"].values()) == {"completed"}


def test_it_may_be_interrupted_over_and_over():
    log, crew = MemoryRunLog(), three()
    interrupted(crew, log, one=hang)
    for _ in range(3):

        async def main():
            task = asyncio.create_task(crew.resume("r", run_log=log, executor=only(two=hang)))
            await asyncio.sleep(0.05)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

        asyncio.run(main())
    assert crew.resume_sync("r", run_log=log, executor=only()).success


def test_ended_tasks_are_told_apart_from_those_that_end_now():
    log, crew = MemoryRunLog(), three()
    interrupted(crew, log, two=hang)
    started, restored, finished = [], [], []
    observer = CrewObserver(
        task_started=started.append, task_restored=restored.append, task_finished=finished.append
    )
    crew.resume_sync("r", run_log=log, executor=only(), observer=observer)
    assert [(fact.result.id, fact.result.output) for fact in restored] == [("one", "one")]
    assert restored[0].machine.is_terminal
    assert [(fact.task, fact.is_resumed) for fact in started] == [("two", True), ("three", False)]
    assert [result.id for result in finished] == ["two", "three"]


@pytest.mark.parametrize("process", PROCESSES)
def test_what_an_error_broke_off_goes_on(process):
    log, crew = MemoryRunLog(), three(process)
    observed = []
    observer = CrewObserver(crew_finished=observed.append)
    with pytest.raises(DiedError):
        crew.run_sync(INPUTS, run_log=Dying(log, 5), run_id="r", executor=only(), observer=observer)
    assert observed[0].status == "failed"
    assert resumed(crew, log, executor=only()).success


# -------------------------------------------------------------------------------------------- no fresh budget
def test_retries_that_are_used_stay_used():
    crew = crew_of_one(breaker="maxRetries: 2")
    log = MemoryRunLog()
    asked = []

    def fails(agent, task, context):
        asked.append(context.attempt)
        raise RuntimeError(f"no {context.attempt}")

    # Dies with the second failure written down.
    assert died(crew, log, 4, executor=fails)
    assert asked == [1, 2]
    result = resumed(crew, log, executor=fails)
    assert asked == [1, 2, 3]
    task = result.tasks["t"]
    assert (task.status, task.attempts, task.error) == ("failed", 3, "RuntimeError: no 3")
    assert path_of(task) == ["executing", "failed"] * 3


def test_a_task_that_had_failed_for_good_is_not_tried_again():
    crew = crew_of_one(breaker="maxRetries: 0")
    log = MemoryRunLog()

    def fails(agent, task, context):
        raise RuntimeError("no")

    # All but the end of the run is written down.
    assert died(crew, log, 2, executor=fails)
    result = resumed(crew, log, executor=lambda *_: pytest.fail("asked again"))
    assert (result.status, result.tasks["t"].error) == ("failed", "RuntimeError: no")


def test_time_that_was_spent_is_spent_and_time_between_is_not():
    crew = crew_of_one(breaker="maxTotalDurationSeconds: 100, stateTimeoutSeconds: 0, useDegradedMode: false")
    log, now = MemoryRunLog(), [1000.0]

    def works(agent, task, context):
        now[0] += 60
        if context.attempt < 3:
            raise RuntimeError("no")
        return "late"

    assert died(crew, log, 3, executor=works, clock=lambda: now[0])
    now[0] += 1_000_000
    result = resumed(crew, log, executor=works, clock=lambda: now[0])
    assert result.status == "failed"
    assert "Max total duration" in result.tasks["t"].error


def test_tool_calls_and_equal_calls_go_on_counting():
    made = []

    @tool
    def look(at: str) -> str:
        "Looks."
        made.append(at)
        return at

    crew = crew_of_one(look, breaker="maxToolCallsPerRound: 3")
    log = MemoryRunLog()
    model = ScriptedModel(*[calls(("look", {"at": str(n)})) for n in range(9)])
    assert died(crew, log, 5, model=model)  # two calls have been answered
    after = ScriptedModel(*[calls(("look", {"at": str(n)})) for n in range(10, 12)], "done")
    result = resumed(crew, log, model=after)
    assert result.success
    assert made == ["0", "1", "10"]
    assert any("refused" in answer for answer in after.answers)
    assert "Tool calls left: 1" in after.asked[0][2].content


def test_a_tool_call_under_way_is_left_and_may_be_made_again():
    made = []

    @tool
    def pay() -> str:
        "Pays."
        made.append(1)
        return "paid"

    crew = crew_of_one(pay)
    log = MemoryRunLog()
    assert died(crew, log, 2, model=ScriptedModel(calls("pay")))
    result = resumed(crew, log, model=ScriptedModel(calls("pay"), "done"))
    assert path_of(result.tasks["t"])[:3] == ["executing", "tool_calling", "executing"]
    assert str(result.tasks["t"].history[2].trigger) == "skip_tool_call"
    assert (result.success, len(made)) == (True, 2)


def test_the_breaker_of_the_graph_goes_on_counting():
    text = THREE.format(process="graph").replace("goal:", "graphConfig: {maxTransitions: 5}\ngoal:")
    crew, log = load_crew(text), MemoryRunLog()
    expected = crew.run_sync(INPUTS, run_log=log, run_id="whole", executor=only())
    assert "Max transitions" in expected.error
    interrupted(crew, log, two=hang)
    result = crew.resume_sync("r", run_log=log, executor=only())
    assert (result.status, result.error) == (expected.status, expected.error)
    router = [machine for machine in log.read("r").machines if machine.machine_id == "r:graph_router"]
    assert router[0].snapshot.trip is not None


def test_retry_cycles_of_the_graph_go_on_counting():
    text = THREE.format(process="graph").replace("goal:", "graphConfig: {maxRetryCycles: 1}\ngoal:")
    crew = load_crew(text)
    keys = set()

    def fails(agent, task, context):
        keys.add((task.id, context.idempotency_key))
        raise RuntimeError("no")

    writes = 0
    while True:
        log = MemoryRunLog()
        if not died(crew, log, writes, inputs=INPUTS, executor=fails):
            break
        result = resumed(crew, log, executor=fails)
        one = result.tasks["one"]
        assert (result.status, one.attempts, len(one.machines)) == ("failed", 2, 2), writes
        assert result.tasks["two"].status == "skipped"
        writes += 1
    assert writes > 8
    assert keys == {("one", "r/one"), ("three", "r/three")}


# ------------------------------------------------------------------------------------------- what it hands on
def test_a_wave_that_goes_on_sees_what_it_saw():
    text = """\
name: w
process: parallel
agents: {a: {}}
tasks:
  zero: {description: d}
  left: {description: d, dependencies: [zero]}
  right: {description: d, dependencies: [zero]}
"""
    crew, log = load_crew(text), MemoryRunLog()

    async def work(agent, task, context):
        if task.id == "right" and not context.is_resumed:
            await hang()
        return ",".join([*context.outputs, task.id])

    async def main():
        task = asyncio.create_task(crew.run(run_log=log, run_id="r", executor=work))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    result = crew.resume_sync("r", run_log=log, executor=work)
    assert result.tasks["left"].output == "zero,left"
    assert result.tasks["right"].output == "zero,right"


def test_what_an_executor_gave_at_the_last_moment_is_handed_on():
    text = """\
name: d
circuitBreaker: {maxTransitions: 1, useDegradedMode: true}
agents: {a: {}}
tasks:
  one: {description: d}
  two: {description: d, dependencies: [one], circuitBreaker: {maxTransitions: 50}}
"""
    crew, log = load_crew(text), MemoryRunLog()
    seen = []

    def work(agent, task, context):
        seen.append(dict(context.outputs))
        return TaskOutcome(True, f"all of {task.id}", usage=Usage(requests=2))

    assert died(crew, log, 3, executor=work)
    result = resumed(crew, log, executor=work)
    assert (result.status, result.tasks["one"].output) == ("degraded", "all of one")
    assert seen[-1] == {"one": "all of one"}
    assert result.usage.requests == 4


@pytest.mark.parametrize("writes", range(8))
def test_a_file_that_the_work_has_written_is_left_alone(writes, tmp_path):
    path = tmp_path / "crew.yaml"
    path.write_text(
        "name: f\nmounts: ['./out:/out:rw']\nagents: {a: {tools: [file_write]}}\n"
        "tasks:\n  t: {description: d, agent: a, deliverable: /out/x.md}\n"
    )
    crew, log = load_crew(path), MemoryRunLog()
    written = calls(("file_write", {"path": "/out/x.md", "content": "from the tool"}))
    if died(crew, log, writes, model=ScriptedModel(written, "an answer")):
        has_written = writes > 2
        again = ScriptedModel("an answer") if has_written else ScriptedModel(written, "an answer")
        result = resumed(crew, log, model=again)
        assert result.success
        assert (tmp_path / "out" / "x.md").read_text() == "from the tool"


def test_an_empty_output_is_still_empty():
    crew, log = crew_of_one(), MemoryRunLog()
    assert died(crew, log, 2, executor=lambda *_: "")  # dies in `validating`
    feedback = []

    def work(agent, task, context):
        feedback.append(context.feedback)
        return "something"

    result = resumed(crew, log, executor=work)
    assert result.success
    assert "empty" in feedback[0]


def test_a_question_to_a_human_is_lost():
    crew, log = crew_of_one(), MemoryRunLog()

    async def asks(agent, task, context):
        await context.machine.request_human_input()
        return "never"

    assert died(crew, log, 2, executor=asks)
    result = resumed(crew, log, executor=lambda *_: "without it")
    assert result.success
    assert path_of(result.tasks["t"])[1:4] == ["waiting_for_human_input", "failed", "executing"]


def test_an_executor_that_cancels_its_task_has_cancelled_it():
    crew, log = crew_of_one(), MemoryRunLog()

    async def cancels(agent, task, context):
        await context.machine.cancel()

    assert died(crew, log, 2, executor=cancels)
    result = resumed(crew, log, executor=lambda *_: pytest.fail("asked again"))
    assert result.tasks["t"].status == "cancelled"


# ----------------------------------------------------------------------------------------------- what is kept
def test_no_message_and_no_answer_of_a_tool_is_kept():
    @tool
    def secret(key: str) -> str:
        "Tells."
        return "tool-answer-7f3a"

    crew, log = crew_of_one(secret), MemoryRunLog()
    crew.run_sync(
        run_log=log,
        run_id="r",
        model=ScriptedModel(calls(("secret", {"key": "argument-9b1c"})), ModelReply("the output")),
    )
    run = log.read("r")
    kept = json.dumps(
        [run.note, run.ending, [(one.note, one.snapshot.model_dump(mode="json")) for one in run.machines]]
    )
    assert "the output" in kept
    for word in ("tool-answer-7f3a", "argument-9b1c", "Do it"):
        assert word not in kept


def test_agents_in_turn_and_out_of_service_are_the_same_when_it_goes_on():
    text = """\
name: turns
agents: {a: {}, b: {}, c: {}}
tasks: {one: {description: d}, two: {description: d}, three: {description: d}, four: {description: d}}
"""
    crew = load_crew(text)
    expected = crew.run_sync(executor=only(), unavailable=["b"])
    for writes in range(13):
        log = MemoryRunLog()
        if died(crew, log, writes, executor=only(), unavailable=["b"]):
            result = resumed(crew, log, executor=only())
            assert [task.agent for task in result.tasks.values()] == ["a", "c", "a", "c"], writes
            assert result.states == expected.states


def test_a_crew_says_what_loads_it_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c.yaml").write_text(THREE.format(process="graph"))
    assert load_crew("c.yaml").source == str(tmp_path / "c.yaml")
    assert load_crew("102-graph-orchestration").source == "102-graph-orchestration"
    assert three().source is None
    assert os.sep in load_crew("c.yaml").source
