import asyncio

import pytest

from orkeon_transitions.crew import CrewObserver, MemoryRunLog, load_crew

AGENTS = "agents:\n  a: {role: A}\n  b: {role: B}\n"


def crew(*tasks):
    return load_crew(f"{AGENTS}tasks:\n" + "".join(f"  {task}\n" for task in tasks))


class Work:
    """Takes as many turns of the loop as it is told, and remembers who worked beside whom."""

    def __init__(self, turns=None, failing=()):
        self.turns = turns or {}
        self.failing = failing
        self.seen = {}
        self.beside = {}
        self.working = set()
        self.order = []

    async def __call__(self, agent, task, context):
        self.order.append(task.id)
        self.seen[task.id] = list(context.earlier)
        self.working.add(task.id)
        for one in self.working:
            self.beside.setdefault(one, set()).update(self.working - {one})
            for other in self.working - {one}:
                self.beside.setdefault(other, set()).add(one)
        try:
            for _ in range(self.turns.get(task.id, 1)):
                await asyncio.sleep(0)
        finally:
            self.working.discard(task.id)
        if task.id in self.failing:
            raise RuntimeError("no")
        return f"done: {task.id}"


SLOW = "slow: {description: d, asyncExecution: true}"
OTHER = "other: {description: d, async_execution: true}"
START = "start: {description: d}"
APART = "apart: {description: d, context: [start]}"
END = "end: {description: d}"


def test_what_does_not_need_a_task_goes_on_beside_it():
    work = Work({"slow": 40})
    result = crew(START, SLOW, APART, END).run_sync(executor=work)
    assert result.success
    assert work.beside["apart"] == {"slow"}
    assert work.beside["end"] == set()
    assert result.output == "done: end"


@pytest.mark.parametrize("turns", [{"slow": 60}, {"other": 60}, {"apart": 60}, {}])
def test_what_a_task_sees_does_not_depend_on_who_is_quicker(turns):
    work = Work(turns)
    crew(START, SLOW, OTHER, APART, END, "last: {description: d, context: [other]}").run_sync(executor=work)
    assert work.seen == {
        "start": [],
        "slow": ["start"],
        "other": ["start"],
        "apart": ["start"],
        "end": ["start", "slow", "other", "apart"],
        "last": ["start", "other", "apart", "end"],
    }


def test_tasks_that_nobody_waits_for_work_at_once_and_wait_for_what_they_name():
    work = Work({"slow": 30, "other": 30})
    late = "late: {description: d, asyncExecution: true, context: [slow]}"
    result = crew(SLOW, OTHER, late, "apart: {description: d, context: [other]}").run_sync(executor=work)
    assert result.success
    assert "other" in work.beside["slow"]
    assert "slow" not in work.beside.get("late", set())
    assert work.seen["late"] == ["slow"]


def test_what_is_needed_by_way_of_another_task_is_seen():
    work = Work({"slow": 30})
    crew(SLOW, "two: {description: d, context: [slow]}", "three: {description: d, context: [two]}").run_sync(
        executor=work
    )
    assert work.seen["three"] == ["slow", "two"]


def test_the_output_is_that_of_the_last_task_whoever_ends_last():
    work = Work({"slow": 30})
    late = "late: {description: d, asyncExecution: true, context: [slow]}"
    assert crew(SLOW, late, START).run_sync(executor=work).output == "done: start"
    work = Work({"slow": 30})
    late = "late: {description: d, asyncExecution: true, context: [slow]}"
    first = "first: {description: d, context: [start]}"
    assert crew(START, SLOW, late, first).run_sync(executor=work).output == "done: first"


def test_a_failure_beside_the_others_skips_what_needs_it_and_nothing_else():
    work = Work({"slow": 30}, failing={"slow"})
    result = crew(START, SLOW, APART, "needs: {description: d, context: [slow]}").run_sync(executor=work)
    statuses = {task.id: str(task.status) for task in result.tasks.values()}
    assert statuses == {"start": "completed", "slow": "failed", "apart": "completed", "needs": "skipped"}
    assert str(result.status) == "failed"


def test_no_more_work_at_once_than_the_run_allows():
    work = Work({"slow": 10, "other": 10, "apart": 10})
    assert crew(START, SLOW, OTHER, APART, END).run_sync(executor=work, concurrency=1).success
    assert all(not beside for beside in work.beside.values())


def test_a_cancelled_run_cancels_all_that_works():
    async def scene():
        begun = asyncio.Event()

        async def work(agent, task, context):
            if task.id == "apart":
                begun.set()
            if task.id != "start":
                await asyncio.Event().wait()
            return "x"

        one = crew(START, SLOW, APART, END)
        ended = []
        running = asyncio.create_task(
            one.run(executor=work, observer=CrewObserver(crew_finished=ended.append))
        )
        await asyncio.wait_for(begun.wait(), 10)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        (result,) = ended
        statuses = [str(task.status) for task in result.tasks.values()]
        assert statuses == ["completed", "cancelled", "cancelled", "cancelled"]
        assert result.tasks["slow"].state == result.tasks["apart"].state == "cancelled"

    asyncio.run(scene())


def test_a_journal_that_cannot_be_written_ends_all_of_it():
    class Full:
        def record(self, machine):
            if machine.machine_id.endswith("slow"):
                machine.attach_commit(self.refuse)

        def refuse(self, fact, snapshot):
            raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        crew(START, SLOW, APART).run_sync(executor=Work({"apart": 50}), journal=Full())


def test_a_run_goes_on_where_it_was():
    async def scene():
        log = MemoryRunLog()
        begun = asyncio.Event()

        async def stopped(agent, task, context):
            if task.id == "slow":
                begun.set()
                await asyncio.Event().wait()
            return f"before: {task.id}"

        one = crew(START, SLOW, APART, END)
        running = asyncio.create_task(one.run(executor=stopped, run_log=log, run_id="r"))
        await asyncio.wait_for(begun.wait(), 10)
        for _ in range(50):
            await asyncio.sleep(0)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        work = Work()
        result = await one.resume("r", run_log=log, executor=work)
        assert result.success
        assert work.order == ["slow", "end"]
        assert work.seen["end"] == ["start", "slow", "apart"]
        assert result.tasks["apart"].output == "before: apart"

    asyncio.run(scene())


@pytest.mark.parametrize("process", ["parallel", "graph"])
def test_in_other_processes_it_says_that_it_has_no_effect(process):
    loaded = load_crew(f"process: {process}\n{AGENTS}tasks:\n  {SLOW}\n  {OTHER}\n")
    (note,) = loaded.findings
    assert (note.code, note.line) == ("carried", 6)
    assert note.message == "carried, not acted on: asyncExecution, async_execution"
    assert load_crew(f"process: {process}\n{AGENTS}tasks:\n  {START}\n").findings == ()
