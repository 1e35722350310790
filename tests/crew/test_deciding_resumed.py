"""Processes that ask agents, cancelled or gone on with: nothing that was answered is asked again."""

import asyncio

import pytest

from orkeon_transitions.crew import CrewObserver, MemoryRunLog
from tests.crew.deciding import (
    TWO,
    Deciding,
    agreeing,
    answer,
    assigned_to,
    council,
    labels_for,
    led,
    manager,
)
from tests.crew.dying import died, has_no_gap, resumed
from tests.crew.scripted import hang, path_of


def told(result):
    tasks = [
        (task.id, str(task.status), task.output, task.agent, path_of(task)) for task in result.tasks.values()
    ]
    return tasks, result.decisions, result.states


@pytest.mark.parametrize("verdicts", [(True,), (False, True), (False,)])
@pytest.mark.parametrize("is_torn", [False, True])
def test_wherever_its_process_dies_the_run_comes_to_the_same(verdicts, is_torn):
    def executor(done=()):
        # Judges what it sees, so that the same question has the same answer in each process.
        def review(agent, task, context):
            number = int(task.id.rpartition("-")[2])
            assert task.id not in done, "what was answered is not asked again"
            return {"accepted": verdicts[min(number, len(verdicts)) - 1], "feedback": "more sugar"}

        def assign(agent, task, context):
            assert task.id not in done
            return assigned_to("cook" if "one" in task.id else "waiter")

        return Deciding(
            lambda agent, task, context: f"{task.id} by {agent.id}", assignment=assign, review=review
        )

    whole = led(TWO).run_sync(executor=executor())
    for writes in range(200):
        log = MemoryRunLog()
        if not died(led(TWO), log, writes, executor=executor(), is_torn=is_torn):
            break
        if log.read("r").status in {"completed", "failed"}:
            continue
        ended = {
            machine.machine_id.removeprefix("r/")
            for machine in log.read("r").machines
            if "piece" in machine.note and machine.snapshot.state == "completed"
        }
        result = resumed(led(TWO), log, executor=executor(ended))
        assert told(result) == told(whole), writes
        assert has_no_gap(result)
    assert writes > 10


@pytest.mark.parametrize("kind", ["assignment", "review", ""])
def test_a_cancelled_run_goes_on(kind):
    log = MemoryRunLog()

    async def main():
        async def hanging(agent, task, context):
            if context.question == kind:
                await hang()
            return await manager().execute_task(agent, task, context)

        task = asyncio.create_task(led(TWO).run(executor=hanging, run_log=log, run_id="r"))
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    result = led(TWO).resume_sync("r", run_log=log, executor=manager())
    assert told(result) == told(led(TWO).run_sync(executor=manager()))
    assert has_no_gap(result)


def told_of_a_council(result):
    tasks = [
        (task.id, str(task.status), task.output, task.agent, task.attempts, path_of(task))
        for task in result.tasks.values()
    ]
    return tasks, result.decisions, result.states, result.usage


@pytest.mark.parametrize("is_torn", [False, True])
def test_wherever_its_process_dies_a_council_comes_to_the_same(is_torn):
    def executor(done=()):
        def work(agent, task, context):
            assert context.machine.machine_id not in done, "what had ended is not done again"
            return f"{agent.id} {task.id}{'!' * task.description.count('>')}"

        def vote(agent, task, context):
            assert context.machine.machine_id not in done
            shown = labels_for(task)
            wanted = {"a": "b", "b": "c", "c": "a"}[agent.id] if "one:ballot-1" in task.id else "b"
            return {"ranking": sorted(shown, key=lambda label: (shown[label][0] != wanted, label))}

        return Deciding(work, ballot=vote)

    whole = agreeing(tasks=TWO).run_sync(executor=executor(), concurrency=1)
    assert len(whole.tasks["one"].machines) == 6
    for writes in range(0, 200, 1):
        log, crew = MemoryRunLog(), agreeing(tasks=TWO)
        if not died(crew, log, writes, executor=executor(), is_torn=is_torn, concurrency=1 + writes % 3):
            break
        if log.read("r").status in {"completed", "failed"}:
            continue
        ended = {
            machine.machine_id for machine in log.read("r").machines if machine.snapshot.state == "completed"
        }
        result = resumed(crew, log, executor=executor(ended))
        assert told_of_a_council(result) == told_of_a_council(whole), writes
        assert has_no_gap(result)
    assert writes > 30


@pytest.mark.parametrize("kind", ["", "ballot"])
def test_a_cancelled_council_goes_on(kind):
    log = MemoryRunLog()

    async def main():
        async def hanging(agent, task, context):
            if context.question == kind and agent.id == "b":
                await hang()
            return answer(agent, task, context)

        task = asyncio.create_task(agreeing(tasks=TWO).run(executor=hanging, run_log=log, run_id="r"))
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    result = agreeing(tasks=TWO).resume_sync("r", run_log=log, executor=council())
    assert told_of_a_council(result) == told_of_a_council(agreeing(tasks=TWO).run_sync(executor=council()))
    assert has_no_gap(result)


def test_tasks_that_had_ended_are_told_apart():
    log = MemoryRunLog()
    whole = died(agreeing(tasks=TWO), log, 10_000, executor=council())
    assert not whole
    restored, finished = [], []
    log = MemoryRunLog()
    assert died(agreeing(tasks=TWO), log, 20, executor=council())
    observer = CrewObserver(task_restored=restored.append, task_finished=finished.append)
    resumed(agreeing(tasks=TWO), log, executor=council(), observer=observer)
    assert [fact.result.id for fact in restored] + [result.id for result in finished] == ["one", "two"]
    assert all(fact.machine.is_terminal for fact in restored)


@pytest.mark.parametrize("kind", ["", "ballot"])
def test_a_cancelled_council_says_how_far_it_came(kind):
    results = []

    async def main():
        async def work(agent, task, context):
            if context.question == kind and agent.id == "c":
                await hang()
            return answer(agent, task, context)

        task = asyncio.create_task(
            agreeing(tasks=TWO).run(executor=work, observer=CrewObserver(crew_finished=results.append))
        )
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    (result,) = results
    assert str(result.status) == "cancelled"
    assert [(str(task.status), task.output) for task in result.tasks.values()] == [
        ("cancelled", "tea by a"),
        ("cancelled", ""),
    ]
    assert len(result.tasks["one"].machines) == 3
    assert result.states["tasks"]["one"] == "cancelled"


def test_an_output_that_was_not_shown_to_the_manager_is_no_review():
    def executor():
        # Nothing at first, and tea once somebody has asked for more.
        return manager(work=lambda agent, task, context: "tea" if context.feedback else "", review=review)

    def review(agent, task, context):
        assert task.id == "t:review-2"
        return {"accepted": True, "feedback": "fine"}

    whole = led().run_sync(executor=executor())
    assert whole.success
    for writes in range(100):
        log = MemoryRunLog()
        if not died(led(), log, writes, executor=executor()):
            break
        if log.read("r").status != "completed":
            assert told(resumed(led(), log, executor=executor())) == told(whole), writes
    assert writes > 5
