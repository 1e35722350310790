"""What a stored machine's transitions write, and what happens when that goes wrong."""

import asyncio
import threading
from datetime import timedelta

import pytest

from orkeon_transitions.breaker import CircuitBreakerPolicy
from orkeon_transitions.errors import (
    CircuitBrokenError,
    JournalError,
    MachineBusyError,
    OrkeonError,
    StaleMachineError,
)
from orkeon_transitions.machines import AsyncHermesAgentFSM, AsyncTaskExecution
from orkeon_transitions.runtime import AsyncStateMachine
from orkeon_transitions.store import MachineStore, committing
from tests.store.stored_machines import LAMP, AsyncLamp, Lamp


class Slow:
    """Makes the database's write wait until it is let go."""

    def __init__(self, monkeypatch):
        self.began, self.may_end = threading.Event(), threading.Event()
        self._swap = committing.swap
        monkeypatch.setattr(committing, "swap", self)

    def __call__(self, *args):
        self.began.set()
        assert self.may_end.wait(10)
        return self._swap(*args)


# ------------------------------------------------------------------------------------------------- in a loop
def test_an_async_machine_is_saved_before_its_state_is_visible(store):
    async def main():
        lamp = await store.create_async(AsyncLamp, machine_id="l1")
        await lamp.fire("switch_on")
        back = await store.load_async(AsyncLamp, "l1")
        assert (back.state, back.transition_count) == ("on", 1)
        await back.fire("drop")
        with pytest.raises(StaleMachineError):
            await lamp.fire("switch_off")
        assert lamp.state == "on"
        with pytest.raises(OrkeonError, match="already"):
            await store.create_async(AsyncLamp, machine_id="l1")

    asyncio.run(main())
    assert [record.trigger for record in store.journal("l1")] == ["switch_on", "drop"]


def test_the_loop_goes_on_while_the_database_works(store, monkeypatch):
    slow = Slow(monkeypatch)

    async def main():
        lamp = await store.create_async(AsyncLamp, machine_id="l1")
        firing = asyncio.create_task(lamp.fire("switch_on"))
        ticks = 0
        while ticks < 20:
            await asyncio.sleep(0.001)
            ticks += slow.began.is_set()
        assert (lamp.state, firing.done()) == ("off", False)
        slow.may_end.set()
        await firing
        assert lamp.state == "on"

    asyncio.run(main())


def test_a_machine_that_is_being_saved_is_busy_for_save_and_waited_for_by_save_async(store, monkeypatch):
    slow = Slow(monkeypatch)

    async def main():
        lamp = await store.create_async(AsyncLamp, machine_id="l1")
        firing = asyncio.create_task(lamp.fire("switch_on"))
        while not slow.began.is_set():
            await asyncio.sleep(0.001)
        asyncio.get_running_loop().call_later(0.02, slow.may_end.set)
        saving = asyncio.create_task(store.save_async(lamp))
        await asyncio.gather(firing, saving)
        lamp.colour = "blue"
        await store.save_async(lamp)
        store.save(lamp)
        assert (await store.load_async(AsyncLamp, "l1")).colour == "blue"

    asyncio.run(main())
    assert store.machines()[0].version == 4


def test_a_machine_whose_transition_is_not_visible_yet_is_not_saved_in_its_old_state(store):
    async def main():
        lamp = await store.create_async(AsyncLamp, machine_id="l1")
        firing = asyncio.create_task(lamp.fire("switch_on"))
        while store.machines()[0].version == 0:
            await asyncio.sleep(0)
        if lamp.state == "off":
            with pytest.raises(MachineBusyError, match="save it afterwards"):
                store.save(lamp)
        await firing
        assert (await store.load_async(AsyncLamp, "l1")).state == "on"

    asyncio.run(main())


def test_many_async_machines_share_a_store(store):
    async def main():
        lamps = [await store.create_async(AsyncLamp, machine_id=f"l{n}") for n in range(5)]

        async def flicker(lamp):
            for _ in range(5):
                await lamp.fire("switch_on")
                await lamp.fire("switch_off")

        await asyncio.gather(*map(flicker, lamps))

    asyncio.run(main())
    assert [row.version for row in store.machines()] == [10] * 5


def test_the_timer_runs_again_after_loading(store):
    async def begin():
        lamp = await store.create_async(AsyncLamp, machine_id="l1")
        await lamp.fire("switch_on")

    async def go_on():
        short = CircuitBreakerPolicy(state_timeout=timedelta(milliseconds=20))
        lamp = await store.load_async(AsyncLamp, "l1", policy=short)
        broken = asyncio.get_running_loop().create_future()
        lamp.on_circuit_broken(broken.set_result)
        fact = await asyncio.wait_for(broken, 5)
        assert fact.trigger is None
        with pytest.raises(CircuitBrokenError):
            await lamp.fire("switch_off")

    asyncio.run(begin())
    asyncio.run(go_on())
    assert store.machines()[0].is_broken


def test_a_state_left_by_its_own_timeout_is_written(store):
    async def main():
        agent = await store.create_async(AsyncHermesAgentFSM, "s1", machine_id="s1", wait_timeout=0.02)
        agent.register_tool("search")
        await agent.receive_task(task="x")
        agent.plan_steps = ["one"]
        await agent.plan_ready()
        await agent.call_tool(tool_name="search")
        moved = asyncio.get_running_loop().create_future()
        agent.on_transition(moved.set_result)
        await asyncio.wait_for(moved, 5)

    asyncio.run(main())
    assert store.journal("s1")[-1].trigger == "timeout"
    assert store.machines()[0].state == "error"


def test_a_cancelled_caller_leaves_machine_and_store_together(store, monkeypatch):
    slow = Slow(monkeypatch)

    async def main():
        lamp = await store.create_async(AsyncLamp, machine_id="l1")
        firing = asyncio.create_task(lamp.fire("switch_on"))
        while not slow.began.is_set():
            await asyncio.sleep(0.001)
        firing.cancel()
        await asyncio.sleep(0.01)
        slow.may_end.set()
        with pytest.raises(asyncio.CancelledError):
            await firing
        assert lamp.state == "on"
        await lamp.fire("switch_off")

    asyncio.run(main())
    facts = [record.fact for record in store.journal("l1")]
    assert facts == ["transition", "transition_failed", "transition"]


def test_a_reset_in_a_loop_is_written_in_its_turn(store):
    async def main():
        lamp = await store.create_async(
            AsyncLamp, machine_id="l1", policy=CircuitBreakerPolicy(max_transitions=1)
        )
        await lamp.fire("switch_on")
        assert not await lamp.try_fire("switch_off")
        lamp.reset_circuit_breaker()
        await lamp.fire("switch_off")

    asyncio.run(main())
    facts = [record.fact for record in store.journal("l1")]
    assert facts == ["transition", "circuit_broken", "breaker_reset", "transition"]


def test_a_plain_machine_goes_on_as_an_async_one(store):
    store.create(Lamp, machine_id="l1").fire("switch_on")

    async def main():
        lamp = await store.load_async(AsyncStateMachine, LAMP, "l1")
        await lamp.fire("switch_off")

    asyncio.run(main())
    assert store.load(Lamp, "l1").state == "off"


def test_a_migration_in_a_loop_is_written(store):
    store.create(Lamp, machine_id="l1")
    changed = {**LAMP, "transitions": [*LAMP["transitions"], ["dim", "on", None]]}

    async def main():
        await store.load_async(AsyncStateMachine, changed, "l1", migrate={})

    asyncio.run(main())
    assert [record.fact for record in store.journal("l1")] == ["recording"]


def test_a_task_that_is_created_and_left_alone_costs_no_thread_after_the_store_is_closed(tmp_path):
    before = set(threading.enumerate())

    async def main():
        with MachineStore(f"sqlite:///{tmp_path / 'm.db'}") as store:
            task = await store.create_async(AsyncTaskExecution, machine_id="t1")
            await task.begin_execution()

    asyncio.run(main())
    left = [thread.name for thread in set(threading.enumerate()) - before if "orkeon" in thread.name]
    assert left == []


# ------------------------------------------------------------------------------------------------- interrupts
class Interrupted(BaseException):
    """What Ctrl-C raises, as far as a machine can tell."""


def test_an_interrupt_after_the_writing_leaves_a_machine_that_has_moved(store, monkeypatch):
    lamp = store.create(Lamp, machine_id="l1")
    swap = committing.swap

    def swap_and_stop(*args):
        swap(*args)
        raise Interrupted

    monkeypatch.setattr(committing, "swap", swap_and_stop)
    with pytest.raises(Interrupted):
        lamp.fire("switch_on")
    monkeypatch.setattr(committing, "swap", swap)
    assert (lamp.state, lamp.transition_count) == ("on", 1)
    assert store.load(Lamp, "l1").state == "on"
    lamp.fire("drop")
    assert [record.trigger for record in store.journal("l1") if record.trigger] == ["switch_on", "drop"]


def test_an_interrupt_between_writing_and_moving_leaves_no_broken_link(store, monkeypatch):
    lamp = store.create(Lamp, machine_id="l1")

    def stop(*args):
        raise Interrupted

    with monkeypatch.context() as patched:
        patched.setattr("orkeon_transitions.runtime.machine.write", stop)
        with pytest.raises(Interrupted):
            lamp.fire("switch_on")
    assert (lamp.state, store.machines()[0].state) == ("off", "on")
    with pytest.raises(StaleMachineError):
        lamp.fire("drop")
    with pytest.raises(MachineBusyError):
        store._keeper.hook_of(lamp).save(lamp.snapshot, patience=0.01)
    assert [record.trigger for record in store.journal("l1")] == ["switch_on"]


def test_a_machine_whose_adding_failed_is_not_saved_and_says_so(store, monkeypatch):
    lamp = Lamp(machine_id="l1")

    def fail(*args):
        raise JournalError("cannot add machine 'l1'")

    with monkeypatch.context() as patched:
        patched.setattr("orkeon_transitions.store.database.machines.add", fail)
        with pytest.raises(JournalError, match="cannot add"):
            store.record(lamp)
    with pytest.raises(JournalError, match=r"'l1' is not saved .*store\.record\(machine\)"):
        lamp.fire("switch_on")
    store.record(lamp)
    lamp.fire("switch_on")
    assert store.machines()[0].version == 1


def test_fields_that_are_no_text_are_told(store):
    lamp = store.create(Lamp, machine_id="l1")
    lamp.colour = "\ud800"
    with pytest.raises(JournalError, match="'l1' cannot be saved: its snapshot is no text"):
        lamp.fire("switch_on")
    assert lamp.state == "off"
    lamp.colour = "white"
    lamp.fire("switch_on")


@pytest.mark.parametrize("value", ["\0", "ü€😀", "a\u2028b", '"\\', "x" * 100_000])
def test_fields_of_any_text_come_back(store, value):
    lamp = store.create(Lamp, machine_id="l1")
    lamp.colour = value
    lamp.fire("switch_on")
    assert store.load(Lamp, "l1").colour == value
