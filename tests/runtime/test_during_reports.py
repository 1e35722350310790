"""What becomes of work whose report, `done` or `failed`, the machine does not take."""

import asyncio

import pytest

from orkeon_transitions.errors import (
    CircuitBrokenError,
    GuardRejectedError,
    InvalidTransitionError,
    StateLeftError,
)
from tests.runtime.samples import limits
from tests.runtime.workers import Work, Worker, started, working
from tests.virtual_time import run


def test_a_refused_done_carries_the_result():
    async def main():
        machine = await working(is_good=False)
        with pytest.raises(GuardRejectedError, match="good") as raised:
            await machine.during(Work().do(), done="finish", failed="fail")
        assert raised.value.result == 42
        assert machine.state == "work"

    run(main())


def test_a_done_that_is_no_trigger_here_carries_the_result():
    async def main():
        machine = await working()
        with pytest.raises(InvalidTransitionError) as raised:
            await machine.during(Work().do(), done="begin")
        assert raised.value.result == 42

    run(main())


@pytest.mark.parametrize("degraded", [False, True])
def test_a_done_that_trips_carries_the_result(degraded):
    async def main():
        machine = await working(policy=limits(max_transitions=1, use_degraded_mode=degraded))
        with pytest.raises(CircuitBrokenError, match="Max transitions exceeded") as raised:
            await machine.during(Work().do(), done="finish", failed="fail")
        assert raised.value.result == 42
        assert machine.is_circuit_broken
        assert machine.state == ("limp" if degraded else "work")

    run(main())


def test_a_failed_that_is_refused_leaves_the_works_own_error():
    async def main():
        machine = await working()
        with pytest.raises(OSError, match="cable") as raised:
            await machine.during(Work(error=OSError("cable")).do(), failed="give_up")
        [note] = raised.value.__notes__
        assert "refused to take note of it" in note
        assert "'give_up' cannot be made from 'work'" in note

    run(main())


@pytest.mark.parametrize("degraded", [False, True])
def test_a_failed_that_trips_is_raised_from_the_works_error(degraded):
    async def main():
        machine = await working(policy=limits(max_transitions=1, use_degraded_mode=degraded))
        error = OSError("cable")
        with pytest.raises(CircuitBrokenError) as raised:
            await machine.during(Work(error=error).do(), failed="fail")
        assert raised.value.__cause__ is error

    run(main())


@pytest.mark.parametrize("trigger", ["finish", "fail"])
def test_a_callback_of_the_report_that_raises_is_raised(trigger):
    """The state has moved; the work's own result or error is part of the story."""

    async def main():
        class Broken(Worker):
            def note(self, event):
                raise ValueError("note")

        machine = Broken()
        await machine.fire("begin")
        error = OSError("cable") if trigger == "fail" else None
        with pytest.raises(ValueError, match="note") as raised:
            await machine.during(Work(error=error).do(), done="finish", failed="fail")
        assert machine.state == ("failed" if trigger == "fail" else "done")
        if trigger == "fail":
            assert raised.value.__context__ is error

    run(main())


@pytest.mark.parametrize("leaves", [True, False])
def test_work_that_ends_while_another_trigger_is_under_way(leaves):
    """It waits for its turn; if the visit is over by then, it reports nothing."""

    async def main():
        async def slow(event):
            await asyncio.sleep(10)

        class Slow(Worker):
            async def note(self, event):
                await asyncio.sleep(10)

        machine = Slow()
        await machine.fire("begin")
        task = await started(machine.during(Work(seconds=2).do(), done="again"))
        other = await started(machine.fire("fail" if leaves else "tick"))
        if leaves:
            with pytest.raises(StateLeftError):
                await task
        else:
            assert await task == 42
        await other
        assert machine.transition_count == (2 if leaves else 3)

    run(main())


def test_work_that_ended_before_the_visit_did_hands_its_result_out():
    """The result is there, the machine has been taken away in between: it is not lost."""

    async def main():
        async def hold(fact, snapshot):
            await asyncio.sleep(5)

        machine = await working(policy=limits(max_transitions=2))
        machine.attach_commit(hold)
        holder = await started(machine.fire("tick"))
        task = await started(machine.during(Work(seconds=1).do(), done="finish"))
        await holder
        with pytest.raises(CircuitBrokenError) as raised:
            await task
        assert raised.value.result == 42

    run(main())
