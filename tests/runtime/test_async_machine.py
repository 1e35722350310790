"""Tasks: first come, first served; cancelling a caller cancels that call and nothing else."""

import asyncio
import contextvars

import pytest

from orkeon_transitions.errors import CircuitBrokenError, MachineBusyError
from orkeon_transitions.facts import TransitionFailed, TransitionResult
from orkeon_transitions.runtime import AsyncStateMachine
from tests.runtime.samples import GUARDED, RING, limits, quiet
from tests.virtual_time import now, run

SLOW = """
name: slow
initial: a
states: [a, b, c]
transitions:
  - {trigger: go, source: a, dest: b, conditions: guard, before: before, after: after}
  - [on, b, c]
  - {trigger: tick, source: [a, b, c], dest: null}
"""


def slow(stage, seconds=2, **options):
    """A machine one of whose callbacks takes its time."""

    async def taking(event):
        await asyncio.sleep(seconds)
        return True

    def quick(event):
        return True

    callbacks = {name: taking if name == stage else quick for name in ("guard", "before", "after")}
    guards = {"guard": callbacks.pop("guard")}
    return AsyncStateMachine(SLOW, **{**quiet(), "guards": guards, "actions": callbacks, **options})


async def started(coroutine):
    task = asyncio.create_task(coroutine)
    await asyncio.sleep(0.1)
    return task


@pytest.mark.parametrize("stage", ["guard", "before", "after"])
def test_a_second_trigger_waits_and_cancels_nothing(stage):  # case C05
    async def main():
        machine = slow(stage)
        begin = now()
        first = await started(machine.fire("go"))
        second = await machine.fire("on")
        assert first.done()
        assert (first.result().to_state, second.from_state) == ("b", "b")
        assert now() - begin == pytest.approx(2)
        assert machine.state == "c"

    run(main())


def test_triggers_are_made_in_the_order_in_which_they_came():
    async def main():
        machine = slow("after")
        order = []

        async def fire(name):
            await machine.fire(name)
            order.append(name)

        tasks = [await started(fire("go"))]
        tasks += [asyncio.create_task(fire(name)) for name in ("tick", "on", "tick")]
        await asyncio.gather(*tasks)
        assert order == ["go", "tick", "on", "tick"]

    run(main())


def test_reading_does_not_wait():  # case C07
    async def main():
        machine = slow("after")
        task = await started(machine.fire("go"))
        begin = now()
        assert (machine.state, machine.transition_count) == ("b", 1)
        assert await machine.can_fire("on")
        assert await machine.permitted_triggers() == ["on", "tick"]
        assert machine.snapshot().state == "b"
        machine.spend(usd=1)
        assert now() == begin
        await task

    run(main())


@pytest.mark.parametrize("stage", ["guard", "before", "after"])
def test_cancelling_a_caller_cancels_that_call(stage):  # case C05
    async def main():
        facts = []
        machine = slow(stage, commit=lambda fact, snapshot: facts.append(fact))
        told = []
        machine.on_transition(told.append)
        task = await started(machine.fire("go"))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert task.cancelled()
        if stage == "after":
            # The state has moved: the interruption is a fact.
            assert machine.state == "b"
            assert [type(fact) for fact in facts] == [TransitionResult, TransitionFailed]
            assert isinstance(facts[1].error, asyncio.CancelledError)
            assert isinstance(told[0].error, asyncio.CancelledError)
        else:
            assert (machine.state, machine.transition_count, facts, told) == ("a", 0, [], [])
        assert await machine.fire("tick")

    run(main())


def test_an_outer_time_limit_works():  # case C05
    async def main():
        machine = slow("after")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(machine.fire("go"), 1)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.5):
                await slow("before").fire("go")
        assert asyncio.current_task().cancelling() == 0
        assert machine.state == "b"
        assert await machine.fire("on")

    run(main())


def test_cancelling_one_that_waits_leaves_the_one_under_way_alone():  # case C05
    async def main():
        machine = slow("after")
        first = await started(machine.fire("go"))
        second = await started(machine.fire("on"))
        third = await started(machine.fire("tick"))
        second.cancel()
        with pytest.raises(asyncio.CancelledError):
            await second
        assert (await first).to_state == "b"
        assert (await third).ordinal == 2
        assert machine.state == "b"

    run(main())


def test_cancelling_the_one_under_way_leaves_the_one_that_waits_alone():  # case C05
    async def main():
        machine = slow("before")
        first = await started(machine.fire("go"))
        second = await started(machine.fire("tick"))
        first.cancel()
        assert await second
        assert first.cancelled()

    run(main())


def test_a_callback_that_swallows_its_cancellation_ends_its_transition():
    async def main():
        async def stubborn(event):
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                await asyncio.sleep(1)

        machine = slow("none", actions={"before": lambda e: None, "after": stubborn})
        task = await started(machine.fire("go"))
        task.cancel()
        assert (await task).to_state == "b"

    run(main())


def test_waiting_has_a_time_limit():
    async def main():
        machine = slow("after", seconds=60, lock_timeout=5)
        first = await started(machine.fire("go"))
        begin = now()
        for call in (machine.fire("on"), machine.try_fire("on"), machine.check_circuit()):
            with pytest.raises(
                MachineBusyError, match=r"machine 'slow' is making another transition .* free in 5 s"
            ):
                await call
        assert now() - begin == pytest.approx(15)
        assert (await first).to_state == "b"
        assert await machine.fire("on")

    run(main())


def test_without_a_time_limit_it_waits():
    async def main():
        machine = slow("after", seconds=10_000, lock_timeout=None)
        await started(machine.fire("go"))
        assert await machine.fire("on")

    run(main())


def test_a_callback_that_waits_for_another_task_that_fires_is_told_so():
    async def main():
        async def asks_a_child(event):
            await asyncio.create_task(machine.fire("on"))

        machine = slow("none", actions={"before": lambda e: None, "after": asks_a_child}, lock_timeout=3)
        begin = now()
        with pytest.raises(MachineBusyError, match="did not become free in 3 s"):
            await machine.fire("go")
        assert now() - begin == pytest.approx(3)
        assert machine.state == "b"
        assert await machine.fire("on")

    run(main())


def test_a_child_task_that_is_not_waited_for_has_its_turn_afterwards():
    async def main():
        tasks = []

        def starts_a_child(event):
            tasks.append(asyncio.create_task(machine.fire("on")))

        machine = slow("none", actions={"before": lambda e: None, "after": starts_a_child})
        await machine.fire("go")
        assert (await tasks[0]).to_state == "c"

    run(main())


def commit_that_takes(seconds, outcomes, error=None):
    async def commit(fact, snapshot):
        await asyncio.sleep(seconds)
        outcomes.append(type(fact))
        if error is not None:
            raise error

    return commit


@pytest.mark.parametrize("trigger", ["next", "tick", "again"])
def test_a_cancellation_waits_for_the_commit_and_the_state_follows_it(trigger):
    async def main():
        outcomes = []
        machine = AsyncStateMachine(RING, **quiet(commit=commit_that_takes(5, outcomes)))
        task = await started(machine.fire(trigger))
        for _ in range(3):
            task.cancel()
            await asyncio.sleep(0.1)
            assert not task.done()
        assert machine.transition_count == 0
        with pytest.raises(asyncio.CancelledError):
            await task
        assert outcomes[0] is TransitionResult
        assert machine.transition_count == 1
        assert await machine.fire("tick")

    run(main())


def test_a_cancellation_waits_for_a_commit_that_fails():
    async def main():
        outcomes = []
        machine = AsyncStateMachine(RING, **quiet(commit=commit_that_takes(5, outcomes, OSError("disk"))))
        task = await started(machine.fire("next"))
        task.cancel()
        with pytest.raises(asyncio.CancelledError) as raised:
            await task
        assert outcomes == [TransitionResult]
        assert (machine.state, machine.transition_count) == ("a", 0)
        assert isinstance(raised.value.__cause__, OSError)

    run(main())


def test_a_cancellation_waits_for_the_commit_of_a_trip():
    async def main():
        outcomes = []
        machine = AsyncStateMachine(
            RING, policy=limits(max_transitions=1), commit=commit_that_takes(5, outcomes)
        )
        await machine.fire("next")
        task = await started(machine.fire("next"))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert machine.is_circuit_broken
        assert len(outcomes) == 2

    run(main())


def test_a_commit_that_is_cancelled_itself_has_not_happened():
    async def main():
        async def commit(fact, snapshot):
            raise asyncio.CancelledError

        machine = AsyncStateMachine(RING, **quiet(commit=commit))
        with pytest.raises(asyncio.CancelledError):
            await asyncio.create_task(machine.fire("next"))
        assert machine.state == "a"

    run(main())


def test_of_many_that_race_for_the_last_slot_exactly_one_gets_it():
    async def main():
        machine = AsyncStateMachine(GUARDED, policy=limits(max_transitions=3))
        told = []
        machine.on_circuit_broken(told.append)
        results = await asyncio.gather(*(machine.try_fire("tick") for _ in range(20)))
        assert [bool(each) for each in results] == [True] * 3 + [False] * 17
        assert len(told) == 1

    run(main())


def test_a_reset_while_a_transition_is_under_way_comes_after_it():
    async def main():
        machine = slow("after", policy=limits(max_transitions=1))
        task = await started(machine.fire("go"))
        machine.reset_circuit_breaker()
        assert machine.transition_count == 1
        await task
        await asyncio.sleep(0)
        assert machine.transition_count == 0
        assert await machine.fire("on")

    run(main())


def test_a_reset_inside_of_a_callback_comes_after_its_transition():
    async def main():
        machine = slow(
            "none", actions={"before": lambda e: None, "after": lambda e: machine.reset_circuit_breaker()}
        )
        await machine.fire("go")
        assert (machine.transition_count, machine.snapshot().ordinal) == (0, 1)

    run(main())


def test_callbacks_see_the_callers_context():
    async def main():
        variable = contextvars.ContextVar("variable", default=None)
        seen = []

        async def see(event):
            seen.append(variable.get())

        machine = slow("none", actions={"before": see, "after": see})
        variable.set("mine")
        await machine.fire("go")
        assert seen == ["mine", "mine"]

    run(main())


def test_plain_members_are_plain():
    machine = AsyncStateMachine(RING, policy=limits(max_transitions=1))
    machine.spend(usd=1)
    machine.reset_circuit_breaker()
    assert machine.circuit_status.spent == {}
    assert not machine.is_circuit_broken
    assert asyncio.run(machine.fire("next"))
    with pytest.raises(CircuitBrokenError):
        asyncio.run(machine.fire("next"))
