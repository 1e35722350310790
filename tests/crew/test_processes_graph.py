"""The graph process (seed 002): retries, abandoning, and the breaker over the whole crew."""

import asyncio

import pytest

from orkeon_transitions.crew import CrewObserver, TaskOutcome, Usage, load_crew
from orkeon_transitions.errors import JournalError
from orkeon_transitions.machines import machine_definition
from orkeon_transitions.store import JsonlJournal, replay

LINE = """\
process: graph
graphConfig: {limits}
agents: {{a: {{}}, b: {{}}}}
tasks:
  one: {{description: d}}
  two: {{description: d, dependencies: [one]}}
  side: {{description: d, agent: b}}
"""


def line(limits="{}"):
    return load_crew(LINE.format(limits=limits))


class Failing:
    """Fails so often for each task, and keeps the order in which tasks were worked on."""

    def __init__(self, **times):
        self.left = times
        self.calls = []

    async def __call__(self, agent, task, context):
        self.calls.append(task.id)
        if self.left.get(task.id, 0) > 0:
            self.left[task.id] -= 1
            raise RuntimeError(f"no luck {len(self.calls)}")
        return f"{task.id} by {agent.id}"


def statuses(result):
    return {task.id: str(task.status) for task in result.tasks.values()}


def test_a_failed_task_goes_to_the_head_of_the_queue_with_a_machine_of_its_own():
    work = Failing(one=2)
    result = line().run_sync(executor=work, run_id="r")
    assert result.success
    assert work.calls == ["one", "one", "one", "two", "side"]
    one = result.tasks["one"]
    assert (one.attempts, one.error) == (3, None)
    assert [machine.machine_id for machine in one.machines] == ["r/one", "r/one#2", "r/one#3"]
    assert [machine.state for machine in one.machines] == ["failed", "failed", "completed"]
    assert [machine.error for machine in one.machines] == [
        "RuntimeError: no luck 1", "RuntimeError: no luck 2", None,
    ]  # fmt: skip
    assert (one.machine_id, one.state) == ("r/one#3", "completed")
    assert [step.ordinal for step in one.history] == [1, 2, 1, 2, 1, 2, 3]


def test_another_agent_tries_what_one_has_failed_at():
    one = line().run_sync(executor=Failing(one=1)).tasks["one"]
    assert [machine.agent for machine in one.machines] == ["a", "b"]
    assert one.output == "one by b"


@pytest.mark.parametrize(
    ("limits", "attempts"), [("{}", 3), ("{maxRetryCycles: 0}", 1), ("{maxRetryCycles: 4}", 5)]
)
def test_a_task_whose_retries_are_used_up_is_abandoned_and_who_needs_it_skipped(limits, attempts):
    work = Failing(one=99)
    result = line(limits).run_sync(executor=work)
    assert statuses(result) == {"one": "failed", "two": "skipped", "side": "completed"}
    assert work.calls == ["one"] * attempts + ["side"]
    assert len(result.tasks["one"].machines) == attempts
    assert str(result.status) == "failed"
    assert f"task 'one' failed: RuntimeError: no luck {attempts}" in result.error


def test_retries_of_the_machine_only_where_they_are_written_out():
    text = LINE.format(limits="{maxRetryCycles: 1}") + "circuitBreaker: {maxRetries: 2}\n"
    work = Failing(one=99)
    one = load_crew(text).run_sync(executor=work).tasks["one"]
    assert work.calls.count("one") == one.attempts == 6
    assert [len(machine.history) for machine in one.machines] == [6, 6]


def test_an_output_that_one_attempt_gave_is_not_taken_away_by_the_next():
    async def work(agent, task, context):
        return TaskOutcome(False, "half" if context.attempt == 1 else "", "stuck")

    one = line().run_sync(executor=work).tasks["one"]
    assert (one.output, [machine.output for machine in one.machines]) == ("half", ["half", "", ""])


def test_what_every_attempt_spent_is_added_up():
    async def work(agent, task, context):
        spent = Usage(requests=1, output_tokens=10)
        return TaskOutcome(task.id != "one" or context.attempt == 3, task.id, usage=spent)

    result = line().run_sync(executor=work)
    assert result.tasks["one"].usage == Usage(requests=3, output_tokens=30)
    assert result.usage.requests == 5


def test_each_retry_is_told():
    told = []
    observer = CrewObserver(
        task_started=lambda fact: told.append(("started", fact.task, fact.machine.machine_id)),
        task_retried=lambda fact: told.append((fact.task, fact.retry, fact.max_retries, fact.result.error)),
        task_finished=lambda result: told.append(("finished", result.id)),
    )
    line().run_sync(executor=Failing(one=1), observer=observer, run_id="r")
    assert told[:4] == [
        ("started", "one", "r/one"),
        ("one", 1, 2, "RuntimeError: no luck 1"),
        ("started", "one", "r/one#2"),
        ("finished", "one"),
    ]


def test_the_status_of_a_task_goes_back_for_each_retry():
    moved = []

    def note(fact):
        if fact.name == "one":
            moved.append(str(fact.transition.to_state))

    line().run_sync(executor=Failing(one=1), observer=CrewObserver(status_moved=note))
    assert moved == ["in_progress", "failed", "pending", "in_progress", "completed"]


def test_the_journal_has_every_machine(tmp_path):
    file = tmp_path / "run.jsonl"
    with JsonlJournal(file) as journal:
        result = line().run_sync(executor=Failing(one=2), journal=journal)
    for machine in [machine for task in result.tasks.values() for machine in task.machines]:
        replayed = replay(file, machine_definition("task_execution"), machine_id=machine.machine_id)
        assert replayed.final_state == machine.state
        assert [step.to_state for step in replayed.steps] == [str(step.to_state) for step in machine.history]


# ---- the breaker of the graph
@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        ("{maxRetryCycles: 100, maxTransitions: 6}", "Max transitions exceeded (6/6)"),
        ("{maxRetryCycles: 100, maxStateVisits: 3}", "Cycle detected"),
    ],
)
def test_a_trip_fails_the_run_and_keeps_what_was_produced(limits, reason):
    work = Failing(two=99)
    result = line(limits).run_sync(executor=work)
    assert work.calls == ["one", "two", "two"]
    assert statuses(result) == {"one": "completed", "two": "failed", "side": "cancelled"}
    assert (str(result.status), result.output) == ("failed", "one by a")
    assert result.error.startswith(f"circuit breaker of the graph: {reason}")
    assert "task 'two' failed: RuntimeError: no luck 3" in result.error
    assert result.tasks["side"].error == "the run was broken off before"
    assert result.states["crew"] == "failed"
    assert result.states["tasks"] == {"one": "completed", "two": "failed", "side": "cancelled"}


def test_the_time_of_the_graph_is_a_deadline_for_the_task_that_runs():
    async def work(agent, task, context):
        if task.id == "two":
            context.partial = "half"
            await asyncio.sleep(60)
        return "quick"

    result = line("{maxTotalDurationSeconds: 0.1}").run_sync(executor=work)
    assert statuses(result) == {"one": "completed", "two": "cancelled", "side": "cancelled"}
    two = result.tasks["two"]
    assert (two.state, two.output, two.attempts) == ("cancelled", "half", 1)
    assert str(result.status) == "failed"
    assert "Max total duration exceeded" in result.error


def test_a_long_healthy_crew_is_never_cut_short():
    tasks = "".join(f"  t{n}: {{description: d}}\n" for n in range(60))
    crew = load_crew(f"process: graph\nagents: {{a: {{}}}}\ntasks:\n{tasks}")
    assert crew.run_sync(executor=Failing(**{f"t{n}": 2 for n in range(60)})).success


# ---- ends
def test_a_degraded_task_is_not_retried_and_handed_on():
    text = LINE.format(limits="{}") + "circuitBreaker: {stateTimeoutSeconds: 0.05}\n"
    began = []

    async def work(agent, task, context):
        began.append(task.id)
        if task.id == "one":
            context.partial = "some"
            await asyncio.sleep(60)
        return f"with {context.outputs['one']}"

    result = load_crew(text).run_sync(executor=work)
    assert began == ["one", "two", "side"]
    assert statuses(result) == {"one": "degraded", "two": "completed", "side": "completed"}
    assert (str(result.status), result.tasks["two"].output) == ("degraded", "with some")


def test_a_task_that_is_cancelled_from_inside_is_not_retried():
    async def work(agent, task, context):
        if task.id == "one":
            await context.machine.cancel()
        return "done"

    result = line().run_sync(executor=work)
    assert statuses(result) == {"one": "cancelled", "two": "skipped", "side": "completed"}
    assert len(result.tasks["one"].machines) == 1


def test_cancelling_a_retry_keeps_what_earlier_attempts_gave():
    results, hanging = [], []

    async def work(agent, task, context):
        if context.attempt == 1:
            return TaskOutcome(False, "first part", "stuck")
        hanging.append(1)
        await asyncio.sleep(60)
        return "too late"

    async def main():
        run = asyncio.create_task(
            line().run(executor=work, observer=CrewObserver(crew_finished=results.append))
        )
        while not hanging:
            await asyncio.sleep(0.001)
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run

    asyncio.run(main())
    (result,) = results
    one = result.tasks["one"]
    assert (str(one.status), one.output, one.attempts) == ("cancelled", "first part", 2)
    assert [machine.state for machine in one.machines] == ["failed", "cancelled"]
    assert statuses(result) == dict.fromkeys(["one", "two", "side"], "cancelled")


def test_a_journal_that_breaks_stops_the_run_as_it_is():
    results = []

    class Broken:
        def record(self, machine):
            if machine.machine_id.endswith("two"):
                raise JournalError("no space left")

    with pytest.raises(JournalError, match="no space left"):
        line().run_sync(
            executor=Failing(), journal=Broken(), observer=CrewObserver(crew_finished=results.append)
        )
    (result,) = results
    assert statuses(result) == {"one": "completed", "two": "cancelled", "side": "cancelled"}
    assert result.error == "the run was broken off: no space left"


def test_a_crew_without_an_agent_to_serve_it_ends_at_once():
    work = Failing()
    result = line().run_sync(executor=work, unavailable=["a", "b"])
    assert work.calls == []
    assert statuses(result) == {"one": "failed", "two": "skipped", "side": "failed"}
    assert result.tasks["one"].error == "no agent is available"
    assert result.tasks["side"].error == "agent 'b' is unavailable"
