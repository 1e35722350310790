"""Workers and the pulse: one thing after another, away from whoever asks."""

import asyncio
import threading

import pytest

from orkeon_transitions.explorer.pulse import Pulse
from orkeon_transitions.explorer.workers import LoopWorker, PlainWorker, run_plain, settled


async def done():
    pass


@pytest.fixture
def worker():
    worker = PlainWorker(lambda: None, done)
    yield worker
    worker.close()


def test_jobs_are_done_in_their_order(worker):
    made = []

    async def make(number):
        made.append(number)

    futures = [worker.submit(lambda number=number: make(number)) for number in range(20)]
    for future in futures:
        future.result(5)
    assert made == list(range(20))


def test_what_a_job_raises_is_told_and_the_next_one_is_done(worker):
    async def wrong():
        raise SystemExit(3)

    assert isinstance(worker.submit(wrong).exception(5), SystemExit)
    assert worker.submit(done).result(5) is None


def test_a_plain_machines_thread_waits_for_nobody(worker):
    async def waits():
        await asyncio.sleep(0)

    assert isinstance(worker.submit(waits).exception(5), RuntimeError)
    with pytest.raises(RuntimeError, match="something to wait for"):
        run_plain(waits())


def test_an_idle_worker_looks_at_the_clocks():
    looked = threading.Event()

    async def look():
        looked.set()

    worker = PlainWorker(lambda: 0.0, look)
    try:
        assert looked.wait(5)
    finally:
        worker.close()


def test_answers_are_awaited_where_they_must_be():
    async def answer():
        return 7

    async def main():
        assert await settled(answer()) == 7
        assert await settled(8) == 8

    asyncio.run(main())


def test_a_loop_of_its_own_ends_with_its_worker():
    worker = LoopWorker()
    assert not worker.is_here
    begun = threading.Event()

    async def waits():
        begun.set()
        await asyncio.sleep(3600)

    future = worker.submit(waits)
    assert begun.wait(5)
    worker.close()
    worker._thread.join(5)
    assert not worker._thread.is_alive()
    assert future.cancelled()


def test_a_loop_that_runs_here_is_known():
    async def main():
        worker = LoopWorker(asyncio.get_running_loop())
        assert worker.is_here
        assert not await asyncio.to_thread(lambda: worker.is_here)
        worker.close()

    asyncio.run(main())


def test_a_pulse_beats_once_for_many_wants(monkeypatch):
    monkeypatch.setattr("orkeon_transitions.explorer.pulse.REST", 0)
    beats, go, begun = [], threading.Event(), threading.Event()

    def beat():
        beats.append(1)
        begun.set()
        go.wait(5)

    pulse = Pulse(beat, pause=0)
    try:
        pulse.want()
        assert begun.wait(5)
        for _ in range(100):
            pulse.want()
        begun.clear()
        go.set()
        assert begun.wait(5)
        assert len(beats) == 2
    finally:
        pulse.close()
    pulse._thread.join(5)
    assert not pulse._thread.is_alive()


def test_a_beat_that_raises_is_logged_and_the_next_one_comes(caplog):
    beaten = threading.Event()
    beats = []

    def beat():
        beats.append(1)
        if len(beats) == 1:
            pulse.want()
            raise ZeroDivisionError
        beaten.set()

    pulse = Pulse(beat, pause=0)
    try:
        pulse.want()
        assert beaten.wait(5)
    finally:
        pulse.close()
    assert "ZeroDivisionError" in caplog.text
