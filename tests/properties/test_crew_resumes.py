"""Crews of any shape, under each process: wherever their process dies, the run comes to the same."""

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from orkeon_transitions.crew import MemoryRunLog, TaskOutcome
from tests.crew.dying import died, died_again, has_no_gap, resumed
from tests.properties.test_crew_runs import expected, load_crew_of, plans


def worker(plan, ended=()):
    """Fails as often as the plan says, whoever asks."""

    async def work(agent, task, context):
        assert task.id not in ended, "what had ended is not done again"
        assert agent.id not in plan.unavailable
        assert set(plan.dependencies[task.id]) <= set(context.earlier)
        if context.attempt <= plan.failures[task.id]:
            return TaskOutcome(False, f"part {context.attempt}" if context.attempt % 2 else "", "no luck")
        return f"{task.id} done"

    return work


def told(result):
    return {
        task.id: (str(task.status), task.attempts, task.output, [machine.state for machine in task.machines])
        for task in result.tasks.values()
    }


@settings(deadline=None, max_examples=60)
@given(plans(), st.lists(st.integers(0, 60), min_size=1, max_size=3), st.booleans())
def test_it_comes_to_the_same(plan, deaths, is_torn):
    crew, log = load_crew_of(plan), MemoryRunLog()
    options = {"unavailable": plan.unavailable, "concurrency": plan.concurrency}
    whole = crew.run_sync(executor=worker(plan), run_id="whole", **options)
    first, *further = deaths
    if not died(crew, log, first, executor=worker(plan), is_torn=is_torn, **options):
        return
    for writes in further:
        if not died_again(crew, log, writes, executor=worker(plan, ended(log)), is_torn=is_torn):
            break
    if log.read("r").status in {"completed", "failed"}:
        return
    result = resumed(crew, log, executor=worker(plan, ended(log)), concurrency=plan.concurrency)
    assert told(result) == told(whole)
    assert {name: (status, attempts) for name, (status, attempts, *_) in told(result).items()} == expected(
        plan
    )
    assert result.states["tasks"] == whole.states["tasks"]
    assert result.states["crew"] == whole.states["crew"]
    assert has_no_gap(result)
    for machine in log.read("r").machines:
        assert [step.ordinal for step in machine.history] == list(range(1, len(machine.history) + 1))
        places = [(str(step.from_state), str(step.to_state)) for step in machine.history]
        assert all(before[1] == after[0] for before, after in itertools.pairwise(places))


def ended(log):
    machines = [machine for machine in log.read("r").machines if "task" in machine.note]
    return {machine.note["task"] for machine in machines if machine.snapshot.state == "completed"}
