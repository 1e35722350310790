import asyncio
import threading

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
