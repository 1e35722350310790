"""The life cycles of a run: they really move, and each move is told."""

import asyncio

import pytest

from orkeon_transitions.crew import CrewObserver, load_crew

CREW = """\
name: c
process: {process}
agents: {{a: {{}}, b: {{}}, c: {{}}}}
tasks:
  one: {{description: d{agent}}}
  two: {{description: d{agent}, dependencies: [one]}}
  three: {{description: d{agent}}}
"""


def crew(process="sequential", agent=""):
    return load_crew(CREW.format(process=process, agent=agent))


class Moves:
    """Where each life cycle went, in order."""

    def __init__(self):
        self.all = []
        self.observer = CrewObserver(status_moved=self.all.append)

    def of(self, kind, name):
        return [str(fact.transition.to_state) for fact in self.all if (fact.kind, fact.name) == (kind, name)]


def failing(*names):
    async def work(agent, task, context):
        if task.id in names:
            raise RuntimeError("no")
        return task.id

    return work


def test_every_move_is_told():
    moves = Moves()
    assert crew(agent=", agent: a").run_sync(executor=failing(), observer=moves.observer).success
    assert moves.of("crew", "c") == ["initializing", "idle", "executing", "completed"]
    assert moves.of("task", "one") == ["in_progress", "completed"]
    assert moves.of("task", "two") == ["blocked", "pending", "in_progress", "completed"]
    assert moves.of("agent", "a") == ["idle", "busy", "idle", "busy", "idle", "busy", "idle"]
    assert moves.of("agent", "b") == ["idle"]


def test_what_is_left_out_is_cancelled_and_the_crew_failed():
    moves = Moves()
    result = crew(agent=", agent: a").run_sync(executor=failing("one"), observer=moves.observer)
    assert moves.of("task", "one") == ["in_progress", "failed"]
    assert moves.of("task", "two") == ["blocked", "cancelled"]
    assert moves.of("agent", "a") == ["idle", "busy", "error", "idle", "busy", "idle"]
    assert moves.of("crew", "c")[-1] == result.states["crew"] == "failed"


def test_an_agent_is_busy_until_the_last_of_its_tasks_has_ended():
    moves = Moves()

    async def work(agent, task, context):
        await asyncio.sleep(0.02 if task.id == "one" else 0)
        if task.id == "three":
            raise RuntimeError("no")
        return task.id

    head = "circuitBreaker: {maxRetries: 0}\n"
    text = head + CREW.format(process="parallel", agent=", agent: a")
    load_crew(text).run_sync(executor=work, observer=moves.observer)
    assert moves.of("agent", "a") == ["idle", "busy", "error", "idle", "busy", "idle"]


@pytest.mark.parametrize("process", ["sequential", "parallel", "graph"])
def test_tasks_without_an_agent_go_round(process):
    result = crew(process).run_sync(executor=failing())
    agents = {task.id: task.agent for task in result.tasks.values()}
    in_order = ["one", "three", "two"] if process == "parallel" else ["one", "two", "three"]
    assert agents == dict(zip(in_order, "abc", strict=True))


def test_an_agent_in_error_is_passed_over():
    text = "agents: {a: {}, b: {}}\ntasks:\n" + "".join(f"  t{n}: {{description: d}}\n" for n in range(4))
    result = load_crew(text).run_sync(executor=failing("t0"))
    assert [task.agent for task in result.tasks.values()] == ["a", "b", "b", "b"]
    assert result.states["agents"] == {"a": "error", "b": "idle"}


def test_where_all_are_in_error_the_next_in_turn_works():
    text = "agents: {a: {}, b: {}}\ntasks:\n" + "".join(f"  t{n}: {{description: d}}\n" for n in range(4))
    result = load_crew(text).run_sync(executor=failing("t0", "t1"))
    assert [task.agent for task in result.tasks.values()] == ["a", "b", "a", "a"]


def test_an_unavailable_agent_is_not_chosen():
    moves = Moves()
    result = crew().run_sync(executor=failing(), observer=moves.observer, unavailable=["b"])
    assert result.success
    assert [task.agent for task in result.tasks.values()] == ["a", "c", "a"]
    assert moves.of("agent", "b") == ["idle", "unavailable"]


def test_a_task_that_names_an_unavailable_agent_fails_and_is_told():
    finished = []
    observer = CrewObserver(task_finished=lambda result: finished.append((result.id, str(result.status))))
    result = crew(agent=", agent: b").run_sync(executor=failing(), observer=observer, unavailable={"b"})
    assert finished == [("one", "failed"), ("two", "skipped"), ("three", "failed")]
    one = result.tasks["one"]
    assert (one.error, one.attempts, one.agent, one.machines) == ("agent 'b' is unavailable", 0, "b", ())
    assert result.states["tasks"] == dict.fromkeys(result.tasks, "cancelled")


def test_an_agent_that_is_not_there_cannot_be_unavailable():
    with pytest.raises(ValueError, match=r"there is no agent 'A', did you mean 'a'\?"):
        crew().run_sync(executor=failing(), unavailable=["A"])
    with pytest.raises(ValueError, match=r"there is no agent 'zzzzzz'$"):
        crew().run_sync(executor=failing(), unavailable=["zzzzzz"])


def test_tools_are_those_of_the_agent_that_is_chosen():
    from orkeon_transitions.crew import tool
    from tests.crew.scripted import ScriptedModel, calls

    ran = []

    @tool
    def hammer() -> str:
        """Hits."""
        ran.append(1)
        return "hit"

    text = "agents: {idle: {}, smith: {tools: [hammer]}}\ntasks:\n  t: {description: d}\n"
    loaded = load_crew(text, tools=[hammer])
    result = loaded.run_sync(model=ScriptedModel(calls("hammer"), "done"), unavailable=["idle"])
    assert (ran, result.tasks["t"].agent) == ([1], "smith")
