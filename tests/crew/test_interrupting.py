"""Runs that are cancelled at any turn of the loop: nobody holds them afterwards, and they go on."""

import asyncio

import pytest

from orkeon_transitions.crew import MemoryRunLog
from orkeon_transitions.errors import OrkeonError
from tests.crew.dying import INPUTS, PROCESSES, has_no_gap, interrupted, only, three
from tests.crew.scripted import hang


async def cancelled_after(turns, work):
    """Cancels work after some turns of the loop; says whether it had ended before."""
    task = asyncio.create_task(work)
    for _ in range(turns):
        await asyncio.sleep(0)
        if task.done():
            break
    was_over = task.done()
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        return False
    return was_over


def check(crew, log):
    """A run that was interrupted goes on to its end."""
    result = crew.resume_sync("r", run_log=log, executor=only())
    assert result.success
    assert result.states["crew"] == "completed"
    assert set(result.states["tasks"].values()) == {"completed"}
    assert has_no_gap(result)


@pytest.mark.parametrize("process", PROCESSES)
def test_wherever_a_run_is_cancelled_it_goes_on(process):
    """Also between two tasks: that nobody begins the others now is no part of the record."""
    crew, turns, is_over, gone_on = three(process), 0, False, 0
    while not is_over:
        log = MemoryRunLog()
        work = crew.run(INPUTS, run_log=log, run_id="r", executor=only())
        is_over = asyncio.run(cancelled_after(turns, work))
        turns += 7
        try:
            status = log.read("r").status
        except OrkeonError:  # it had not even begun
            continue
        assert status in {"interrupted", "completed"}
        if status == "interrupted":
            check(crew, log)
            gone_on += 1
    assert gone_on > 3


@pytest.mark.parametrize("turns", range(12))
def test_wherever_a_resume_is_cancelled_it_goes_on(turns):
    crew, log = three(), MemoryRunLog()
    interrupted(crew, log, two=hang)
    assert not asyncio.run(cancelled_after(turns, crew.resume("r", run_log=log, executor=only(two=hang))))
    assert log.read("r").status == "interrupted"
    check(crew, log)
