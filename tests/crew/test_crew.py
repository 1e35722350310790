"""A crew's run from outside: results, watching, cancelling, journals, inputs."""

import asyncio
import json

import pytest

from orkeon_transitions.crew import CrewObserver, CrewRunStatus, Usage, load_crew, tool
from orkeon_transitions.errors import CrewDefinitionError, JournalError, OrkeonError
from orkeon_transitions.machines import machine_definition
from orkeon_transitions.store import JsonlJournal, replay
from tests.crew.scripted import ScriptedModel, calls, crew_of_one, hang


def test_a_crew_is_told_in_one_line():
    crew = load_crew("name: kitchen\nagents: {a: {}, b: {}}\ntasks: {t: {description: d, agent: a}}\n")
    assert repr(crew) == "<Crew 'kitchen': 2 agents, 1 task>"


THREE = """\
name: three
agents: {a: {role: A}, b: {role: B}}
tasks:
  one: {description: first, agent: a}
  two: {description: second, agent: b, dependencies: [one]}
  three: {description: third, agent: a}
"""


def only(**failing):
    def work(agent, task, context):
        if task.id in failing:
            raise RuntimeError(failing[task.id])
        return f"{task.id} by {agent.id}"

    return work


# ---- results
def test_a_result_is_plain_json_data():
    result = load_crew(THREE).run_sync(executor=only(), run_id="r1")
    assert result.success
    assert result.status is CrewRunStatus.COMPLETED
    assert result.output == "three by a"
    assert result.error is None
    shown = json.loads(json.dumps(result.to_dict()))
    assert [task["id"] for task in shown["tasks"]] == ["one", "two", "three"]
    assert shown["tasks"][1]["machine_id"] == "r1/two"
    assert shown["tasks"][0]["history"][-1]["to_state"] == "completed"
    assert shown["states"] == {
        "crew": "completed",
        "agents": {"a": "idle", "b": "idle"},
        "tasks": dict.fromkeys(["one", "two", "three"], "completed"),
    }


def test_a_failed_task_skips_those_that_need_it_and_no_others():
    result = load_crew(THREE).run_sync(executor=only(one="no water"))
    status = {task.id: str(task.status) for task in result.tasks.values()}
    assert status == {"one": "failed", "two": "skipped", "three": "completed"}
    assert not result.success
    assert str(result.status) == "failed"
    assert "task 'one' failed: RuntimeError: no water" in result.error
    assert "task 'two' skipped: it needs 'one', which came to no good end" in result.error
    assert (result.tasks["two"].attempts, result.tasks["two"].history) == (0, ())
    assert result.states["tasks"] == {"one": "failed", "two": "cancelled", "three": "completed"}
    assert result.states["crew"] == "failed"
    assert result.output == "three by a"


def test_skipping_goes_on_down_the_line():
    crew = load_crew(
        "agents: {a: {}}\ntasks:\n  x: {description: d}\n  y: {description: d, dependencies: [x]}\n"
        "  z: {description: d, dependencies: [y]}\n"
    )
    result = crew.run_sync(executor=only(x="no"))
    assert [str(task.status) for task in result.tasks.values()] == ["failed", "skipped", "skipped"]


def test_a_degraded_task_hands_its_part_on_marked():
    crew = load_crew(
        "agents: {a: {}}\ntasks:\n"
        "  slow: {description: be slow, circuitBreaker: {stateTimeoutSeconds: 0.05}}\n"
        "  sum: {description: sum up, dependencies: [slow]}\n"
    )

    async def hangs():
        await hang()

    model = ScriptedModel(calls("ghost"), hangs, "the sum")
    result = crew.run_sync(model=model)
    assert [str(task.status) for task in result.tasks.values()] == ["degraded", "completed"]
    assert str(result.status) == "degraded"
    assert result.tasks["slow"].output == "looking"
    assert "### slow (incomplete: the task was stopped)\nlooking" in model.asked[-1][1].content
    assert "State timeout" in result.error


def test_many_runs_of_one_crew_do_not_mix():
    crew = load_crew(THREE)

    async def main():
        return await asyncio.gather(*(crew.run(executor=only()) for _ in range(4)))

    results = asyncio.run(main())
    assert all(result.success and result.tasks["one"].attempts == 1 for result in results)
    assert len({result.run_id for result in results}) == 4


def test_usage_adds_up():
    assert Usage(1, 2, 3, 4) + Usage(1, 1, 1, 1) == Usage(2, 3, 4, 5)
    result = load_crew(THREE).run_sync(model=ScriptedModel("done"))
    assert result.usage.requests == 3


# ---- inputs
def test_inputs_are_filled_in():
    crew = load_crew(
        "goal: about {topic}\nagents: {a: {role: '{topic} expert', goal: '{{kept}}'}}\n"
        "tasks:\n  t: {description: 'Tell of {topic} in {n} words', expectedOutput: '{n} words'}\n"
    )
    model = ScriptedModel("done")
    assert crew.run_sync({"topic": "ice", "n": 7}, model=model).success
    system, user = model.asked[0]
    assert "You are ice expert." in system.content
    assert "Your goal: {kept}" in system.content
    assert "Tell of ice in 7 words" in user.content


def test_missing_inputs_are_all_named_with_their_places():
    crew = load_crew(
        "agents:\n  a: {role: '{who}'}\n"
        "tasks:\n  t: {description: '{topic} {topic}', expectedOutput: '{n} words'}\n"
    )
    with pytest.raises(CrewDefinitionError) as raised:
        crew.run_sync({"topics": "ice"})
    found = [(one.line, one.path, one.message, one.hint) for one in raised.value.problems]
    assert found == [
        (2, "agents.a.role", "the input 'who' is missing", None),
        (4, "tasks.t.description", "the input 'topic' is missing", "topics"),
        (4, "tasks.t.expected_output", "the input 'n' is missing", None),
    ]


# ---- watching
def test_an_observer_is_told_everything_in_order():
    told = []
    observer = CrewObserver(
        task_started=lambda fact: told.append(("started", fact.task, fact.agent, str(fact.machine.state))),
        task_moved=lambda fact: told.append((fact.task, str(fact.transition.to_state))),
        task_finished=lambda result: told.append(("finished", result.id, str(result.status))),
        crew_finished=lambda result: told.append(("crew", str(result.status))),
    )
    load_crew(THREE).run_sync(executor=only(one="x"), observer=observer)
    assert told[:2] == [("started", "one", "a", "assigned"), ("one", "executing")]
    assert ("finished", "two", "skipped") in told
    assert told[-5:] == [
        ("three", "executing"),
        ("three", "validating"),
        ("three", "completed"),
        ("finished", "three", "completed"),
        ("crew", "failed"),
    ]


def test_what_the_breaker_knew_comes_with_each_move():
    counts = []
    observer = CrewObserver(task_moved=lambda fact: counts.append(fact.circuit.total_transitions))
    crew_of_one().run_sync(model=ScriptedModel("done"), observer=observer)
    assert counts == [1, 2, 3]


def test_an_observer_that_raises_changes_nothing(caplog):
    def bad(fact):
        raise RuntimeError("bad watcher")

    observer = CrewObserver(bad, bad, bad, bad)
    assert load_crew(THREE).run_sync(executor=only(), observer=observer).success
    assert "bad watcher" in caplog.text


# ---- cancelling
def cancelled_run(crew, *, when, **options):
    """Cancels a run as soon as it hangs; gives the partial result."""
    results = []

    async def main():
        observer = CrewObserver(crew_finished=results.append)
        run = asyncio.create_task(crew.run(observer=observer, **options))
        while not when:
            await asyncio.sleep(0.005)
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run

    asyncio.run(main())
    (result,) = results
    return result


def test_cancelling_ends_the_machine_cancelled_and_tells_what_was_done():
    hanging = []

    async def work(agent, task, context):
        if task.id == "two":
            context.partial = "half of two"
            hanging.append(1)
            await hang()
        return task.id

    result = cancelled_run(load_crew(THREE.replace("one]", "one, three]")), when=hanging, executor=work)
    assert str(result.status) == "cancelled"
    shown = {task.id: (str(task.status), task.state, task.output) for task in result.tasks.values()}
    assert shown == {
        "one": ("completed", "completed", "one"),
        "two": ("cancelled", "cancelled", "half of two"),
        "three": ("completed", "completed", "three"),
    }
    assert result.tasks["two"].history[-1].trigger == "cancel"
    assert result.states["crew"] == "cancelled"


def test_tasks_that_were_never_begun_are_cancelled_too():
    hanging = []

    async def work(agent, task, context):
        hanging.append(1)
        await hang()

    result = cancelled_run(load_crew(THREE), when=hanging, executor=work)
    assert [str(task.status) for task in result.tasks.values()] == ["cancelled"] * 3
    assert result.tasks["three"].error == "the run was cancelled before"
    assert result.tasks["three"].machine_id is None


def test_cancelling_in_the_middle_of_a_tool_answers_its_call():
    hanging, stopped = [], []

    @tool
    async def slow() -> str:
        """Hangs."""
        hanging.append(1)
        try:
            await hang()
        finally:
            stopped.append(1)

    model = ScriptedModel(calls("slow", "slow"))
    result = cancelled_run(crew_of_one(slow), when=hanging, model=model)
    assert stopped == [1]
    assert (result.tasks["t"].state, result.tasks["t"].output) == ("cancelled", "looking")


# ---- journals
class BadJournal:
    """Takes note of so many facts, then has no room."""

    def __init__(self, room):
        self.room = room

    def record(self, machine):
        machine.attach_commit(self.commit)

    def commit(self, fact, snapshot):
        self.room -= 1
        if self.room < 0:
            raise JournalError("no space left")


@pytest.mark.parametrize("room", range(8))
def test_a_journal_that_is_full_stops_the_run_before_a_fact_is_lost(room):
    results, moved = [], []
    observer = CrewObserver(task_moved=moved.append, crew_finished=results.append)
    with pytest.raises(JournalError):
        load_crew(THREE).run_sync(executor=only(), journal=BadJournal(room), observer=observer)
    (result,) = results
    assert len(moved) == room
    assert str(result.status) == "failed"
    assert result.error == "the run was broken off: no space left"
    assert sum(task.success for task in result.tasks.values()) == room // 3
    assert "failed" in {str(task.status) for task in result.tasks.values()}


def test_a_journal_that_cannot_even_begin_stops_the_run():
    class Closed:
        def record(self, machine):
            raise JournalError("closed")

    results = []
    with pytest.raises(JournalError):
        load_crew(THREE).run_sync(journal=Closed(), observer=CrewObserver(crew_finished=results.append))
    assert {str(task.status) for task in results[0].tasks.values()} == {"cancelled"}


def test_a_cancelled_run_with_a_broken_journal_is_still_cancelled(caplog):
    hanging = []

    async def work(agent, task, context):
        hanging.append(1)
        await hang()

    result = cancelled_run(load_crew(THREE), when=hanging, executor=work, journal=BadJournal(1))
    assert str(result.status) == "cancelled"
    assert "could not be marked as cancelled" in caplog.text


def test_the_journal_replays_to_where_the_machines_ended(tmp_path):
    file = tmp_path / "run.jsonl"
    with JsonlJournal(file) as journal:
        result = load_crew(THREE).run_sync(executor=only(one="x"), journal=journal, run_id="r")
    for task in (result.tasks["one"], result.tasks["three"]):
        replayed = replay(file, machine_definition("task_execution"), machine_id=task.machine_id)
        assert replayed.final_state == task.state
        assert [step.to_state for step in replayed.steps] == [str(step.to_state) for step in task.history]


# ---- odds and ends
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"executor": 5}, "an executor is a function or has execute_task"),
        ({"model": 5}, "a model has an async reply"),
        ({"model": ScriptedModel("x"), "executor": only()}, "give one of them"),
    ],
)
def test_who_cannot_work_is_refused_before_the_run(options, words):
    told = []
    observer = CrewObserver(task_started=told.append, crew_finished=told.append)
    with pytest.raises(TypeError, match=words):
        load_crew(THREE).run_sync(observer=observer, **options)
    assert told == []


def test_run_sync_inside_of_a_loop_says_what_to_do():
    async def main():
        with pytest.raises(OrkeonError, match=r"await crew\.run"):
            load_crew(THREE).run_sync()

    asyncio.run(main())


def test_the_clock_of_the_machines_is_the_programs():
    now = [0.0]

    def work(agent, task, context):
        now[0] += 10_000
        return "late"

    result = crew_of_one().run_sync(executor=work, clock=lambda: now[0])
    assert str(result.status) == "degraded"
    assert "State timeout exceeded" in result.error


def test_a_healthy_task_is_never_cut_short_by_a_preset():
    @tool
    async def look(n: int) -> int:
        """Looks."""
        return n

    ten_calls = calls(*[("look", {"n": n}) for n in range(10)])
    assert (
        crew_of_one(look, breaker="preset: strict").run_sync(model=ScriptedModel(ten_calls, "done")).success
    )


@pytest.mark.parametrize("run_id", ["", "  ", "a\nb", "x" * 201])
def test_a_run_has_a_name_that_people_can_read(run_id):
    with pytest.raises(OrkeonError, match="a run's name"):
        load_crew(THREE).run_sync(executor=only(), run_id=run_id)
    with pytest.raises(TypeError, match="a run's name is a text, not 7"):
        load_crew(THREE).run_sync(executor=only(), run_id=7)
