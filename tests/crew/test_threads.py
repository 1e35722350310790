import asyncio
import gc
import threading
import time

import pytest

from orkeon_transitions.crew.threads import call_anything


def test_errors_come_back_whatever_they_are():
    def stops():
        raise StopIteration("odd")

    def fails(text):
        raise ValueError(text)

    with pytest.raises(RuntimeError, match="odd"):
        asyncio.run(call_anything(stops))
    with pytest.raises(ValueError, match="no luck"):
        asyncio.run(call_anything(fails, "no luck"))


@pytest.mark.parametrize("left", [SystemExit(3), GeneratorExit(), StopIteration()])
def test_a_function_cannot_end_the_program(left):
    def plain():
        raise left

    async def in_the_loop():
        raise SystemExit(3)

    for function in (plain, in_the_loop):
        with pytest.raises(RuntimeError, match=r"the function raised \w+\("):
            asyncio.run(call_anything(function))


def test_a_late_answer_is_dropped_and_keeps_nobody_waiting():
    release = threading.Event()
    ended = threading.Event()

    def slow():
        release.wait(10)
        ended.set()
        return "late"

    async def main():
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(call_anything(slow), 0.02)
        release.set()
        await asyncio.to_thread(ended.wait, 10)
        await asyncio.sleep(0)

    asyncio.run(main())


def test_an_answer_after_the_loop_has_ended_is_dropped():
    release = threading.Event()
    worker = []

    def slow():
        worker.append(threading.current_thread())
        release.wait(10)

    async def main():
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(call_anything(slow), 0.02)

    asyncio.run(main())
    release.set()
    worker[0].join(10)
    assert not worker[0].is_alive()


@pytest.mark.parametrize("turns", [0, 1])
def test_a_coroutine_that_comes_too_late_is_closed(turns):
    """Just before the answer is there, and just before whoever waits for it goes on."""
    made = threading.Event()

    async def never_run():
        raise AssertionError

    def slow():
        made.set()
        return never_run()

    async def main():
        waiting = asyncio.create_task(call_anything(slow))
        await asyncio.sleep(0)
        made.wait(10)
        time.sleep(0.02)  # the thread ends while the loop stands still
        for _ in range(turns):
            await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await asyncio.sleep(0)
        gc.collect()

    asyncio.run(main())


def test_an_object_whose_call_is_async_needs_no_thread():
    class Works:
        async def __call__(self):
            return threading.current_thread()

    assert asyncio.run(call_anything(Works())) is threading.current_thread()
