"""What holds for every process alike."""

import asyncio
import time

import pytest

from orkeon_transitions.crew import load_crew

EVERY = pytest.mark.parametrize("process", ["sequential", "parallel", "graph"])


def crew(process, tasks, head=""):
    return load_crew(f"process: {process}\n{head}agents: {{a: {{}}, b: {{}}}}\ntasks:\n{tasks}")


TWO = "  one: {description: d}\n  two: {description: d, dependencies: [one]}\n"


@EVERY
def test_runs_of_one_crew_at_the_same_time_share_nothing(process):
    shared = crew(process, TWO)

    async def run(number):
        calls = []

        async def work(agent, task, context):
            calls.append(task.id)
            await asyncio.sleep(0)
            if len(calls) <= number:
                raise RuntimeError("no luck")
            return f"{number} {task.id}"

        result = await shared.run(executor=work)
        return result.tasks["one"].attempts, result.tasks["two"].output

    async def main():
        return await asyncio.gather(*map(run, range(3)))

    assert asyncio.run(main()) == [(number + 1, f"{number} two") for number in range(3)]


@EVERY
def test_a_plain_function_does_the_tasks_in_threads(process):
    spans = {}

    def work(agent, task, context):
        began = time.monotonic()
        time.sleep(0.05)
        spans[task.id] = (began, time.monotonic())
        return task.id

    assert crew(process, "  x: {description: d}\n  y: {description: d}\n").run_sync(executor=work).success
    overlap = spans["y"][0] < spans["x"][1]
    assert overlap == (process == "parallel")


@EVERY
def test_the_name_of_a_process_may_be_written_anyhow(process):
    assert crew(f"' {process.title()} '", TWO).run_sync(executor=lambda *_: "x").success


@EVERY
def test_names_of_machines_are_never_the_same(process):
    tasks = '  x: {description: d}\n  "x#2": {description: d}\n'
    left = {"x": 1, "x#2": 1}

    async def work(agent, task, context):
        left[task.id] -= 1
        if left[task.id] >= 0:
            raise RuntimeError("no")
        return task.id

    result = crew(process, tasks).run_sync(executor=work, run_id="r")
    ids = [machine.machine_id for task in result.tasks.values() for machine in task.machines]
    assert len(set(ids)) == len(ids) == (4 if process == "graph" else 2)


@EVERY
def test_the_result_is_plain_data_with_every_machine(process):
    document = crew(process, TWO).run_sync(executor=lambda *_: "x", run_id="r").to_dict()
    (machine,) = document["tasks"][0]["machines"]
    assert machine == {
        "machine_id": "r/one", "agent": "a", "state": "completed", "output": "x", "error": None,
        "transitions": len(document["tasks"][0]["history"]),
    }  # fmt: skip


@EVERY
def test_what_needs_a_task_that_was_cancelled_is_skipped(process):
    async def work(agent, task, context):
        await context.machine.cancel()

    result = crew(process, TWO).run_sync(executor=work)
    assert [str(task.status) for task in result.tasks.values()] == ["cancelled", "skipped"]
    assert str(result.status) == "cancelled"
