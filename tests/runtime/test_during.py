"""Work that is bound to the visit of a state: `during`."""

import asyncio

import pytest

from orkeon_transitions.errors import (
    CircuitBrokenError,
    StateLeftError,
)
from tests.runtime.samples import limits
from tests.runtime.workers import Work, Worker, started, working
from tests.virtual_time import now, run


def test_success_fires_done_and_gives_the_result():
    async def main():
        machine = await working()
        assert await machine.during(Work().do(), done="finish", failed="fail") == 42
        assert machine.state == "done"
        assert machine.notes == [("finish", {"result": 42})]

    run(main())


def test_an_error_fires_failed_and_is_raised():
    async def main():
        machine = await working()
        error = OSError("cable")
        with pytest.raises(OSError, match="cable") as raised:
            await machine.during(Work(error=error).do(), done="finish", failed="fail")
        assert raised.value is error
        assert machine.state == "failed"
        assert machine.notes == [("fail", {"error": error})]

    run(main())


@pytest.mark.parametrize("error", [None, OSError("cable")])
def test_done_and_failed_may_be_none(error):
    async def main():
        machine = await working()
        work = Work(error=error)
        if error is None:
            assert await machine.during(work.do()) == 42
        else:
            with pytest.raises(OSError, match="cable"):
                await machine.during(work.do(), done=None, failed=None)
        assert (machine.state, machine.transition_count) == ("work", 1)

    run(main())


@pytest.mark.parametrize("trigger", ["cancel", "leave", "again", "wait"])
def test_leaving_the_state_cancels_the_work(trigger):
    """A reflexive transition ends the visit too."""

    async def main():
        machine, work = await working(), Work(seconds=20)
        task = await started(machine.during(work.do(), done="finish", failed="fail"))
        await machine.fire(trigger)
        state = machine.state
        with pytest.raises(StateLeftError, match=f"machine 'worker' has gone on to '{state}'"):
            await task
        assert work.fate == "cancelled"
        assert machine.notes == []
        assert machine.state == state

    run(main())


def test_an_internal_transition_does_not_end_the_visit():
    async def main():
        machine, work = await working(), Work()
        task = await started(machine.during(work.do(), done="finish", failed="fail"))
        await machine.fire("tick")
        assert await task == 42
        assert machine.state == "done"

    run(main())


@pytest.mark.parametrize("degraded", [False, True])
def test_a_trip_by_the_clock_cancels_the_work(degraded):
    """Nothing fires after the first trigger: the machine trips by itself."""

    async def main():
        machine, work = await working(policy=limits(use_degraded_mode=degraded)), Work(seconds=1000)
        begin = now()
        with pytest.raises(CircuitBrokenError, match=r"State timeout exceeded.*'work'") as raised:
            await machine.during(work.do(), done="finish", failed="fail")
        assert now() - begin == pytest.approx(30, abs=0.1)
        assert raised.value.status.is_broken
        assert raised.value.result is None
        assert work.fate == "cancelled"
        assert machine.state == ("limp" if degraded else "work")
        assert machine.notes == []

    run(main())


def test_a_trip_by_a_trigger_cancels_the_work():
    async def main():
        machine, work = await working(policy=limits(max_transitions=1)), Work(seconds=20)
        task = await started(machine.during(work.do(), done="finish", failed="fail"))
        with pytest.raises(CircuitBrokenError):
            await machine.fire("tick")
        with pytest.raises(CircuitBrokenError, match="Max transitions exceeded"):
            await task
        assert work.fate == "cancelled"

    run(main())


def test_a_trip_that_a_listener_mends_at_once_has_cancelled_the_work():
    async def main():
        machine, work = await working(), Work(seconds=1000)
        machine.on_circuit_broken(lambda broken: machine.reset_circuit_breaker())
        with pytest.raises(CircuitBrokenError, match="State timeout exceeded") as raised:
            await machine.during(work.do(), done="finish", failed="fail")
        assert raised.value.status.is_broken
        assert work.fate == "cancelled"
        assert machine.notes == []
        assert not machine.is_circuit_broken
        assert await machine.during(Work().do(), done="finish") == 42

    run(main())


def test_an_on_timeout_cancels_the_work():
    async def main():
        machine, work = Worker(), Work(seconds=1000)
        await machine.fire("wait")
        with pytest.raises(StateLeftError, match="has gone on to 'failed'"):
            await machine.during(work.do(), done="tick")
        assert work.fate == "cancelled"
        assert not machine.is_circuit_broken

    run(main())


def test_of_two_works_the_first_to_end_wins():
    async def main():
        machine, slow, quick = await working(), Work(seconds=9), Work(seconds=3, result="quick")
        loser = await started(machine.during(slow.do(), done="finish", failed="fail"))
        assert await machine.during(quick.do(), done="finish", failed="fail") == "quick"
        with pytest.raises(StateLeftError):
            await loser
        assert slow.fate == "cancelled"
        assert machine.notes == [("finish", {"result": "quick"})]

    run(main())


def test_two_works_that_end_at_once_report_once():
    async def main():
        machine = await working()
        works = [
            machine.during(Work(seconds=3, result=n).do(), done="finish", failed="fail") for n in range(2)
        ]
        first, second = await asyncio.gather(*works, return_exceptions=True)
        assert first == 0
        assert isinstance(second, StateLeftError)
        assert len(machine.notes) == 1

    run(main())


def test_two_works_without_triggers_do_not_disturb_each_other():
    async def main():
        machine = await working()
        works = [machine.during(Work(seconds=n, result=n).do()) for n in (1, 2, 3)]
        assert await asyncio.gather(*works) == [1, 2, 3]

    run(main())


@pytest.mark.parametrize("how", ["ended", "broken"])
@pytest.mark.filterwarnings("error")
def test_on_a_machine_that_has_ended_the_work_is_closed_unawaited(how):
    async def main():
        machine, work = await working(policy=limits(max_transitions=1)), Work()
        if how == "ended":
            await machine.fire("cancel")
        else:
            await machine.try_fire("tick")
        expected = StateLeftError if how == "ended" else CircuitBrokenError
        coroutine = work.do()
        with pytest.raises(expected):
            await machine.during(coroutine, done="finish", failed="fail")
        assert coroutine.cr_frame is None
        assert work.fate == "not begun"
        future = asyncio.get_running_loop().create_future()
        with pytest.raises(expected):
            await machine.during(future)
        task = asyncio.create_task(Work(seconds=100).do())
        with pytest.raises(expected):
            await machine.during(task)
        await asyncio.sleep(0)
        assert future.cancelled()
        assert task.cancelling() or task.cancelled()

    run(main())


def test_any_awaitable_is_work():
    async def main():
        class Awaitable:
            def __await__(self):
                yield from asyncio.sleep(1).__await__()
                return "awaited"

        machine = await working()
        assert await machine.during(Awaitable()) == "awaited"
        assert await machine.during(asyncio.create_task(Work(seconds=1).do())) == 42
        future = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_later(1, future.set_result, "set")
        assert await machine.during(future, done="finish") == "set"

    run(main())


def test_what_cannot_be_awaited_is_a_type_error():
    async def main():
        machine = await working()
        with pytest.raises(TypeError):
            await machine.during(42, done="finish")
        assert machine.state == "work"

    run(main())


def test_cancelling_the_caller_cancels_the_work_and_fires_nothing():
    async def main():
        machine, work = await working(), Work(seconds=20)
        task = await started(machine.during(work.do(), done="finish", failed="fail"))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert work.fate == "cancelled"
        assert (machine.state, machine.transition_count, machine.notes) == ("work", 1, [])

    run(main())


def test_work_that_is_cancelled_by_others_is_a_cancellation():
    async def main():
        machine = await working()
        inner = asyncio.create_task(Work(seconds=20).do())
        outer = await started(machine.during(inner, done="finish", failed="fail"))
        inner.cancel()
        with pytest.raises(asyncio.CancelledError):
            await outer
        assert (machine.state, machine.notes) == ("work", [])

    run(main())


def test_work_may_tidy_up_before_during_ends():
    async def main():
        machine, work = await working(), Work(seconds=20, tidy=2)
        task = await started(machine.during(work.do()))
        await machine.fire("leave")
        begin = now()
        with pytest.raises(StateLeftError):
            await task
        assert now() - begin == pytest.approx(2)

    run(main())


def test_work_that_never_stops_is_left_behind():
    async def main():
        async def stubborn():
            while True:
                try:
                    await asyncio.sleep(1000)
                except asyncio.CancelledError:
                    if over:
                        raise

        over, machine = [], await working()
        task = await started(machine.during(stubborn()))
        await machine.fire("leave")
        begin = now()
        with pytest.raises(StateLeftError):
            await task
        assert now() - begin < 10
        over.append(True)

    run(main())


def test_work_may_fire_on_its_own_machine():
    async def main():
        machine = await working()

        async def work():
            await machine.fire("tick")
            await asyncio.sleep(1)
            return "ticked"

        assert await machine.during(work(), done="finish") == "ticked"
        assert machine.transition_count == 3

    run(main())


def test_only_the_work_is_cancelled():
    """Not the caller's task, nor a task beside it."""

    async def main():
        machine, beside = await working(), asyncio.create_task(Work(seconds=50).do())
        with pytest.raises(CircuitBrokenError):
            await machine.during(Work(seconds=100).do(), done="finish")
        assert asyncio.current_task().cancelling() == 0
        assert await beside == 42

    run(main())


def test_the_next_visit_has_works_of_its_own():
    async def main():
        machine = await working()
        for _ in range(3):
            with pytest.raises(OSError):
                await machine.during(Work(error=OSError()).do(), done="finish", failed="fail")
            await machine.fire("begin")
        assert await machine.during(Work().do(), done="finish", failed="fail") == 42

    run(main())


class Eager(asyncio.Future):
    """What an eager task is once its work has come to an end without a pause."""

    def __init__(self, loop, work, **options):
        super().__init__(loop=loop)
        try:
            work.send(None)
        except StopIteration as end:
            self.set_result(end.value)


def test_work_that_has_ended_when_it_begins_lets_others_have_a_turn():
    async def main():
        machine, turns = await working(), []

        async def work():
            return "at once"

        asyncio.get_running_loop().call_soon(turns.append, "others")
        asyncio.get_running_loop().set_task_factory(Eager)
        assert await machine.during(work()) == "at once"
        assert turns == ["others"]
        asyncio.get_running_loop().set_task_factory(None)

    run(main())


def test_work_that_never_began_is_closed():
    async def main():
        machine, work = await working(), Work()
        coroutine = work.do()
        task = asyncio.ensure_future(machine.during(coroutine))
        await asyncio.sleep(0)
        [begins] = asyncio.all_tasks() - {task, asyncio.current_task()}
        begins.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert coroutine.cr_frame is None
        assert work.fate == "not begun"

    run(main())


def test_works_of_a_visit_are_ended_in_the_order_in_which_they_began():
    async def main():
        machine, ended = await working(), []

        async def waits(number):
            try:
                await machine.during(asyncio.sleep(100))
            except StateLeftError:
                ended.append(number)

        tasks = [asyncio.ensure_future(waits(number)) for number in range(20)]
        await asyncio.sleep(0)
        await machine.fire("leave")
        await asyncio.gather(*tasks)
        assert ended == list(range(20))

    run(main())
