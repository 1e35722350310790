"""Functions that raise what ends programs: the run ends, and what it has come to is kept."""

import asyncio

import pytest

from orkeon_transitions.crew import CrewObserver, load_crew, tool
from tests.crew.scripted import ScriptedModel, calls, crew_of_one


def raising(error, *, is_async):
    def ends() -> str:
        """Ends it all."""
        raise error

    async def ends_later() -> str:
        """Ends it all."""
        raise error

    return tool(name="ends")(ends_later if is_async else ends)


@pytest.fixture
def finished():
    return []


@pytest.fixture
def observer(finished):
    return CrewObserver(crew_finished=finished.append)


def statuses(result):
    return {name: str(task.status) for name, task in result.tasks.items()}


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("process", ["sequential", "parallel", "graph", "consensual", "autonomous"])
def test_a_keyboard_interrupt_ends_the_run_as_an_interrupted_one(finished, observer, process, is_async):
    crew = load_crew(
        f"process: {process}\nagents: {{a: {{}}, b: {{}}}}\ntasks:\n"
        "  first: {description: d, agent: a}\n"
        "  second: {description: d, agent: a, tools: [ends], dependencies: [first]}\n"
        "  third: {description: d, agent: a, dependencies: [second]}\n",
        tools=[raising(KeyboardInterrupt(), is_async=is_async)],
    )

    class Model:
        async def reply(self, messages, tools):
            is_second = any(spec.name == "ends" for spec in tools)
            return calls("ends") if is_second else (await ScriptedModel("what first gave").reply([], []))

    with pytest.raises(KeyboardInterrupt):
        crew.run_sync(model=Model(), observer=observer)
    assert str(finished[0].status) == "cancelled"
    assert statuses(finished[0]) == {"first": "completed", "second": "cancelled", "third": "cancelled"}
    assert finished[0].tasks["first"].output == "what first gave"
    assert finished[0].tasks["second"].output == "looking"


def test_inside_of_a_loop_it_is_a_cancellation_and_the_loop_goes_on(finished, observer):
    crew = crew_of_one(raising(KeyboardInterrupt(), is_async=False))

    async def main():
        with pytest.raises(asyncio.CancelledError):
            await crew.run(model=ScriptedModel(calls("ends")), observer=observer)
        return "going on"

    assert asyncio.run(main()) == "going on"
    assert statuses(finished[0]) == {"t": "cancelled"}


@pytest.mark.parametrize("where", ["guardrail", "person", "model", "executor"])
def test_wherever_it_is_raised(finished, observer, where):
    def interrupts(*_):
        raise KeyboardInterrupt

    class Model:
        async def reply(self, messages, tools):
            raise KeyboardInterrupt

    task = {"guardrail": ", guardrails: [g]", "person": ", humanInput: true"}.get(where, "")
    given = {
        "guardrail": {"guardrails": {"g": interrupts}},
        "person": {"ask_human": interrupts},
        "executor": {"executor": interrupts},
        "model": {"model": Model()},
    }[where]
    given = {"model": ScriptedModel("done")} | given if where != "executor" else given
    with pytest.raises(KeyboardInterrupt):
        crew_of_one(task=task).run_sync(observer=observer, **given)
    assert statuses(finished[0]) == {"t": "cancelled"}


@pytest.mark.parametrize("is_async", [False, True])
def test_a_tool_that_wants_to_end_the_program_could_not_be_run(is_async):
    crew = crew_of_one(raising(SystemExit(3), is_async=is_async), breaker="maxRetries: 1")
    task = crew.run_sync(model=ScriptedModel(calls("ends"))).tasks["t"]
    assert (str(task.status), task.attempts, task.output) == ("failed", 2, "looking")
    assert "SystemExit(3)" in task.error


def test_so_could_a_model_that_wants_to():
    class Model:
        async def reply(self, messages, tools):
            raise SystemExit(3)

    task = crew_of_one(breaker="maxRetries: 0").run_sync(model=Model()).tasks["t"]
    assert task.error == "it wanted to end the whole program: SystemExit: 3"
