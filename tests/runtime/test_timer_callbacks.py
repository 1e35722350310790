"""A clock that runs out while a callback of the transition under way hangs."""

import asyncio

import pytest

from orkeon_transitions.errors import CircuitBrokenError, StateLeftError
from orkeon_transitions.runtime import AsyncStateMachine
from tests.runtime.samples import limits
from tests.runtime.watched import WATCHED, Watched, passing
from tests.virtual_time import now, run


def test_a_hanging_callback_is_ended_by_the_clock():
    async def main():
        fates = []

        async def hang(event):
            try:
                await asyncio.sleep(1000)
            except asyncio.CancelledError:
                fates.append(now() - 1000)
                raise

        machine = Watched(entered=hang, policy=limits(state_timeout=60))
        with pytest.raises(CircuitBrokenError, match="State timeout exceeded"):
            await machine.fire("start")
        assert fates == [pytest.approx(60, abs=0.1)]
        assert machine.state == "work"
        assert machine.is_circuit_broken
        assert asyncio.current_task().cancelling() == 0
        [(_, result)] = machine.told("transition")
        assert isinstance(result.error, asyncio.CancelledError)

    run(main())


def test_a_hanging_callback_in_degraded_mode():
    async def main():
        async def hang(event):
            if event.to_state == "work":
                await asyncio.sleep(1000)

        machine = Watched(entered=hang, policy=limits(state_timeout=60, use_degraded_mode=True))
        result = await machine.fire("start")
        assert result.degraded
        assert not result
        assert machine.state == "limp"

    run(main())


def test_a_hanging_callback_ended_by_the_clock_is_a_result_of_try_fire():
    async def main():
        async def hang(event):
            await asyncio.sleep(1000)

        machine = Watched(entered=hang, policy=limits(state_timeout=60))
        result = await machine.try_fire("start")
        assert not result
        assert result.refusal.kind == "circuit"

    run(main())


def test_a_hanging_callback_whose_state_has_a_way_out():
    async def main():
        async def hang(event):
            await asyncio.sleep(1000)

        text = WATCHED.replace("on_exit: left", "on_enter: left")
        machine = Watched(definition=text, left=hang, policy=limits())
        with pytest.raises(StateLeftError, match="ended by a clock; the machine is in 'late'"):
            await machine.fire("wait")
        assert machine.state == "late"
        assert not machine.is_circuit_broken
        assert asyncio.current_task().cancelling() == 0

    run(main())


@pytest.mark.parametrize("stage", ["guard", "exit"])
def test_a_callback_that_hangs_before_the_state_is_written(stage):
    async def main():
        async def hang(event):
            await asyncio.sleep(1000)

        text = "initial: work\nstates: [{name: work, on_exit: hang}, b]\ntransitions: [[go, work, b]]\n"
        if stage == "guard":
            row = "{trigger: go, source: work, dest: b, conditions: hang}"
            text = f"initial: work\nstates: [work, b]\ntransitions: [{row}]\n"
        given = {"guards" if stage == "guard" else "actions": {"hang": hang}}
        machine = AsyncStateMachine(text, policy=limits(state_timeout=60), clock=now, **given)
        with pytest.raises(CircuitBrokenError, match="State timeout exceeded"):
            await machine.fire("go")
        assert (machine.state, machine.transition_count) == ("work", 0)
        assert asyncio.current_task().cancelling() == 0

    run(main())


def test_a_callback_that_ignores_the_clock_is_waited_for():
    async def main():
        async def stubborn(event):
            try:
                await asyncio.sleep(100)
            except asyncio.CancelledError:
                await asyncio.sleep(5)

        machine = Watched(entered=stubborn, policy=limits(state_timeout=60))
        assert await machine.fire("start")
        assert asyncio.current_task().cancelling() == 0
        await passing(1)
        assert machine.is_circuit_broken

    run(main())


def test_a_cancellation_from_outside_stays_one_though_the_clock_rings_too():
    async def main():
        async def tidy(event):
            try:
                await asyncio.sleep(1000)
            except asyncio.CancelledError:
                await asyncio.sleep(30)
                raise

        machine = Watched(entered=tidy, policy=limits(state_timeout=60))
        task = asyncio.create_task(machine.fire("start"))
        await passing(50)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await passing(1)
        assert machine.is_circuit_broken

    run(main())


def test_a_commit_under_way_is_not_cut_short():
    async def main():
        async def commit(fact, snapshot):
            await asyncio.sleep(100)

        text = WATCHED.replace("initial: idle", "initial: work")
        machine = Watched(definition=text, policy=limits(state_timeout=60), commit=commit)
        result = await machine.fire("wait")
        assert result.to_state == "waiting"
        assert not machine.is_circuit_broken

    run(main())
