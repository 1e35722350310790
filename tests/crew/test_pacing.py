"""How often models are asked, on a clock of the test's own."""

import asyncio
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orkeon_transitions.crew import CrewObserver, load_crew
from orkeon_transitions.crew.pacing import Pace, Paces
from tests.crew.scripted import ScriptedModel, crew_of_one, hang, path_of


class Clock:
    def __init__(self):
        self.now = 1_000.0
        self.slept = []

    def __call__(self):
        return self.now

    async def sleep(self, seconds):
        self.slept.append(seconds)
        await asyncio.sleep(0)
        self.now += seconds


def test_as_many_as_are_allowed_begin_at_once_and_the_next_waits_for_the_first_to_be_a_minute_old():
    clock = Clock()
    pace = Pace(2, clock)
    assert [pace.slot() - 1_000 for _ in range(5)] == [0, 0, 60, 60, 120]
    clock.now += 200
    assert pace.slot() == 1_200


def test_a_slot_that_is_given_back_is_free_for_the_next():
    pace = Pace(1, Clock())
    pace.slot()
    later = pace.slot()
    pace.give_back(later)
    assert pace.slot() == later
    pace.give_back(12.5)


@given(st.integers(1, 5), st.lists(st.floats(0, 100), max_size=40))
def test_no_window_ever_has_more(most, pauses):
    clock = Clock()
    pace = Pace(most, clock)
    slots = []
    for pause in pauses:
        clock.now += pause
        slots.append(pace.slot())
    assert slots == sorted(slots)
    for first, next_but_most in zip(slots, slots[most:], strict=False):
        assert next_but_most - first >= 60 - 1e-6


def test_who_is_cancelled_while_it_waits_leaves_its_slot():
    async def main():
        clock = Clock()
        blocked = asyncio.Event()

        async def sleep(seconds):
            await blocked.wait()

        paces = Paces(1, {}, clock, sleep)
        await paces.turn("a", lambda seconds: None)
        waiting = asyncio.create_task(paces.turn("a", lambda seconds: None))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        told = []
        clock.now += 30

        async def wait(seconds):
            clock.now += seconds

        paces._sleep = wait
        await paces.turn("a", told.append)
        return told

    assert asyncio.run(main()) == [30]


@pytest.mark.parametrize(
    ("crew", "agent", "expected"),
    [
        ("maxRpm: 1", "", [60, 60]),
        ("", "maxRpm: 1", [60, 60]),
        ("maxRpm: 2", "maxRpm: 1", [60, 60]),
        ("maxRpm: 2", "", [60]),
        ("maxRpm: 3", "", []),
        ("maxRpm: 0", "max_rpm: 0", []),
        ("", "", []),
    ],
)
def test_requests_of_a_run_wait_and_it_is_told(crew, agent, expected):
    loaded = load_crew(
        f"name: x\n{crew}\ncircuitBreaker: {{stateTimeoutSeconds: 0, maxTotalDurationSeconds: 0}}\n"
        f"agents: {{a: {{{agent}}}}}\ntasks: {{t: {{description: d, agent: a}}}}\n"
    )
    clock, told = Clock(), []
    model = ScriptedModel("", "", "done")
    result = loaded.run_sync(
        model=model, clock=clock, sleep=clock.sleep, observer=CrewObserver(task_waits=told.append)
    )
    assert result.success
    assert [round(seconds) for seconds in clock.slept] == expected
    assert [(fact.task, fact.agent, round(fact.seconds)) for fact in told] == [
        ("t", "a", seconds) for seconds in expected
    ]


def test_all_tasks_of_a_crew_share_its_rate():
    loaded = load_crew(
        "name: x\nprocess: parallel\nmaxRpm: 2\nagents: {a: {}, b: {}}\n"
        "circuitBreaker: {stateTimeoutSeconds: 0, maxTotalDurationSeconds: 0}\n"
        "tasks: {one: {description: d}, two: {description: d}, three: {description: d}}\n"
    )
    clock = Clock()
    assert loaded.run_sync(model=ScriptedModel("x"), clock=clock, sleep=clock.sleep).success
    assert len(clock.slept) == 1


def test_waiting_is_bounded_by_the_clock_of_the_state():
    async def never(seconds):
        await hang()

    crew = crew_of_one(breaker="stateTimeoutSeconds: 0.2", head="maxRpm: 1\n")
    model = ScriptedModel("", "never asked")
    result = crew.run_sync(model=model, sleep=never).tasks["t"]
    assert (str(result.status), len(model.asked)) == ("degraded", 1)
    assert "State timeout exceeded" in result.error
    assert path_of(result)[-1] == "degraded"


@pytest.mark.parametrize("text", ["maxRpm: -1", "maxRpm: fast", "maxConcurrency: 0", "parallelConfig: 3"])
def test_a_rate_is_a_whole_number(text):
    from tests.crew.crew_texts import HEAD, TASKS, problems_of

    (problem,) = problems_of(f"{text}\n{HEAD}{TASKS}")
    assert problem.path == text.partition(":")[0]


# ------------------------------------------------------------------------------- how many at the same time
@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        ("maxConcurrency: 2", {}, 2),
        ("parallelConfig: {maxConcurrency: 3}", {}, 3),
        ("max_concurrency: 2\nparallel_config: {max_concurrency: 2}", {}, 2),
        ("maxConcurrency: 2", {"concurrency": 4}, 4),
        ("", {"concurrency": 1}, 1),
        ("", {}, 8),
    ],
)
def test_no_more_tasks_run_at_once_than_the_program_or_the_file_says(text, options, expected):
    tasks = "".join(f"  t{number}: {{description: d}}\n" for number in range(10))
    crew = load_crew(f"name: x\nprocess: parallel\n{text}\nagents: {{a: {{}}}}\ntasks:\n{tasks}")
    running, most = [], []

    async def work(agent, task, context):
        running.append(task.id)
        most.append(len(running))
        await asyncio.sleep(random.random() / 100)
        running.remove(task.id)
        return "x"

    assert crew.run_sync(executor=work, **options).success
    assert max(most) == expected


def test_two_numbers_that_differ_are_said():
    from tests.crew.crew_texts import HEAD, TASKS, problems_of

    (problem,) = problems_of(f"maxConcurrency: 2\nparallelConfig: {{maxConcurrency: 3}}\n{HEAD}{TASKS}")
    assert problem.message == "is 3, and the crew's own 'maxConcurrency' is 2"
