"""The parallel process: waves, the limit on how many run at once, and what one task sees of the others."""

import asyncio

import pytest

from orkeon_transitions.crew import CrewObserver, load_crew
from orkeon_transitions.errors import JournalError

DIAMOND = """\
process: parallel
agents: {a: {}, b: {}}
tasks:
  sum: {description: d, agent: a, dependencies: [left, right]}
  left: {description: d, agent: a, dependencies: [top]}
  right: {description: d, agent: a, dependencies: [top]}
  top: {description: d, agent: a}
  free: {description: d, agent: a}
"""


def wide(count, process="parallel"):
    """A crew of so many tasks that need nothing."""
    tasks = "".join(f"  t{n}: {{description: d}}\n" for n in range(count))
    return load_crew(f"process: {process}\nagents: {{a: {{}}, b: {{}}, c: {{}}}}\ntasks:\n{tasks}")


class Overlap:
    """An executor that notes what runs at the same time, and what each task was shown."""

    def __init__(self, **delays):
        self.delays = delays
        self.running = set()
        self.most = 0
        self.seen = {}
        self.began = []

    async def __call__(self, agent, task, context):
        self.began.append(task.id)
        self.seen[task.id] = list(context.earlier)
        self.running.add(task.id)
        self.most = max(self.most, len(self.running))
        await asyncio.sleep(self.delays.get(task.id, 0.001))
        self.running.discard(task.id)
        if self.delays.get(task.id) == 0:
            raise RuntimeError("broken")
        return task.id


def test_a_wave_runs_at_once_and_the_next_one_after_it():
    work = Overlap(top=0.02, left=0.02)
    result = load_crew(DIAMOND).run_sync(executor=work)
    assert result.success
    assert work.began == ["top", "free", "left", "right", "sum"]
    assert work.most == 2
    assert list(result.tasks) == ["sum", "left", "right", "top", "free"]
    assert result.output == "sum"


def test_what_a_task_sees_does_not_hang_on_who_is_done_first():
    for slow in ("top", "free", "left", "right"):
        work = Overlap(**{slow: 0.02})
        load_crew(DIAMOND).run_sync(executor=work, concurrency=2)
        assert work.seen == {
            "top": [],
            "free": [],
            "left": ["top", "free"],
            "right": ["top", "free"],
            "sum": ["top", "left", "right", "free"],
        }


@pytest.mark.parametrize(("limit", "most"), [(1, 1), (3, 3), (8, 8), (50, 12)])
def test_no_more_run_at_once_than_the_limit_allows(limit, most):
    work = Overlap()
    assert wide(12).run_sync(executor=work, concurrency=limit).success
    assert work.most == most
    if limit == 1:
        assert set(map(len, work.seen.values())) == {0}, "nobody sees a sibling, however late its turn"


def test_the_limit_is_eight_if_nothing_is_said():
    work = Overlap()
    wide(12).run_sync(executor=work)
    assert work.most == 8


@pytest.mark.parametrize("limit", [0, -1, True, 1.5, "2"])
def test_a_limit_is_a_whole_number_from_1(limit):
    with pytest.raises(ValueError, match="concurrency must be a whole number from 1"):
        wide(1).run_sync(executor=Overlap(), concurrency=limit)


def test_other_processes_run_one_task_at_a_time():
    for process in ("sequential", "graph"):
        work = Overlap()
        assert wide(4, process).run_sync(executor=work).success
        assert work.most == 1


def test_a_failure_stops_no_sibling():
    work = Overlap(top=0, free=0.01)
    result = load_crew(DIAMOND).run_sync(executor=work)
    status = {task.id: str(task.status) for task in result.tasks.values()}
    assert status == {
        "sum": "skipped", "left": "skipped", "right": "skipped", "top": "failed", "free": "completed",
    }  # fmt: skip
    assert "task 'top' failed: RuntimeError: broken" in result.error


def test_agents_of_a_wave_go_round_before_it_begins():
    result = wide(7).run_sync(executor=Overlap(t0=0.01, t3=0.02))
    assert [task.agent for task in result.tasks.values()] == ["a", "b", "c", "a", "b", "c", "a"]


class NoRoom:
    """A journal that has room for so many facts."""

    def __init__(self, room):
        self.room = room

    def record(self, machine):
        machine.attach_commit(self.commit)

    def commit(self, fact, snapshot):
        self.room -= 1
        if self.room < 0:
            raise JournalError("no space left")


@pytest.mark.parametrize("room", range(0, 12, 3))
def test_a_journal_that_is_full_stops_the_whole_wave(room):
    results = []
    with pytest.raises(JournalError, match="no space left"):
        wide(4).run_sync(
            executor=Overlap(), journal=NoRoom(room), observer=CrewObserver(crew_finished=results.append)
        )
    (result,) = results
    assert str(result.status) == "failed"
    assert result.error == "the run was broken off: no space left"
    assert {str(task.status) for task in result.tasks.values()} <= {"completed", "failed", "cancelled"}


def test_cancelling_cancels_every_task_of_the_wave():
    results, running = [], []

    async def work(agent, task, context):
        running.append(task.id)
        context.partial = f"half of {task.id}"
        await asyncio.sleep(60)

    async def main():
        observer = CrewObserver(crew_finished=results.append)
        run = asyncio.create_task(wide(4).run(executor=work, observer=observer, concurrency=3))
        while len(running) < 3:
            await asyncio.sleep(0.001)
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run

    asyncio.run(main())
    (result,) = results
    assert str(result.status) == "cancelled"
    shown = [(str(task.status), task.state, task.output) for task in result.tasks.values()]
    assert shown == [
        *(("cancelled", "cancelled", f"half of t{n}") for n in range(3)),
        ("cancelled", None, ""),
    ]
    assert result.states["agents"] == {"a": "idle", "b": "idle", "c": "idle"}
    assert result.states["tasks"] == dict.fromkeys(result.tasks, "cancelled")


def test_a_degraded_task_hands_on_what_it_has_and_its_siblings_complete():
    crew = load_crew(
        "process: parallel\nagents: {a: {}}\ntasks:\n"
        "  slow: {description: d, circuitBreaker: {stateTimeoutSeconds: 0.05}}\n"
        "  quick: {description: d}\n"
        "  sum: {description: d, dependencies: [slow, quick]}\n"
    )

    async def work(agent, task, context):
        if task.id == "slow":
            context.partial = "as far as I came"
            await asyncio.sleep(60)
        return ", ".join(context.outputs.values()) or task.id

    result = crew.run_sync(executor=work)
    assert [str(task.status) for task in result.tasks.values()] == ["degraded", "completed", "completed"]
    assert str(result.status) == "degraded"
    assert result.output == "as far as I came, quick"
