"""A thousand tasks of 50 ms, a hundred at a time: a crew beside the same coroutines under a semaphore.

Without `--benchmark-enable` fewer and shorter ones are done, as a test. What a task leaves behind is measured
by itself, so that the tracing does not slow down what is timed.
"""

import asyncio
import gc
import time
import tracemalloc

import pytest

from orkeon_transitions.crew import load_crew

AT_ONCE = 100
MOST_TIMES = 1.5
MOST_BYTES = 40_000


def crew_of(count):
    tasks = "".join(f"  t{number}: {{description: Do it, agent: a}}\n" for number in range(count))
    return load_crew(f"name: many\nprocess: parallel\nagents: {{a: {{}}}}\ntasks:\n{tasks}")


async def bare(count, seconds):
    room, left = asyncio.Semaphore(AT_ONCE), []

    async def one(number):
        async with room:
            await asyncio.sleep(seconds)
            left.append(number)

    async with asyncio.TaskGroup() as group:
        for number in range(count):
            group.create_task(one(number))


async def ours(crew, seconds):
    at_once = most = 0

    async def work(agent, task, context):
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        await asyncio.sleep(seconds)
        at_once -= 1
        return "done"

    result = await crew.run(executor=work, concurrency=AT_ONCE)
    assert result.success
    assert most == min(AT_ONCE, len(result.tasks))
    return result


def timed(coroutine):
    begun = time.perf_counter()
    result = asyncio.run(coroutine)
    return time.perf_counter() - begun, result


@pytest.mark.timeout(120)
def test_wall_time(request):
    if not request.config.getoption("benchmark_enable"):
        timed(ours(crew_of(150), 0.0))
        return
    crew = crew_of(1_000)
    # What else the computer does only ever makes it slower: the best of several pairs is the nearest.
    pairs = [(timed(ours(crew, 0.05))[0], timed(bare(1_000, 0.05))[0]) for _ in range(7)]
    ours_best, bare_best = map(min, zip(*pairs, strict=True))
    print(f"a crew {ours_best:.2f} s, its coroutines {bare_best:.2f} s: {ours_best / bare_best:.2f} times")
    assert ours_best <= MOST_TIMES * bare_best


def kept_by(count):
    """What a crew's result takes for each of its tasks, and what the run took at its height."""
    crew = crew_of(count)
    timed(ours(crew, 0.0))
    gc.collect()
    tracemalloc.start()
    try:
        _, result = timed(ours(crew, 0.001))
        gc.collect()
        kept, peak = tracemalloc.get_traced_memory()
        assert len(result.tasks) == count
    finally:
        tracemalloc.stop()
    return kept / count, peak / count


@pytest.mark.timeout(60)
def test_memory_is_linear_and_modest():
    few, many = kept_by(100), kept_by(400)
    assert max(many) < MOST_BYTES
    # Four times the tasks take four times the memory: as much for each of them.
    assert many[0] < 1.2 * few[0]
    assert many[1] < 1.2 * few[1]
    print(f"a task leaves {many[0]:,.0f} bytes behind; {many[1]:,.0f} were in use")
