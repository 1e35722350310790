"""Limits that act by themselves on async machines: one timer, in virtual time."""

import asyncio
import gc
import subprocess
import sys
import time
import weakref
from datetime import timedelta

import pytest

from orkeon_transitions.breaker import BreakerLimit
from orkeon_transitions.errors import CircuitBrokenError
from tests.runtime.samples import Clock, limits
from tests.runtime.watched import WATCHED, Watched, passing
from tests.virtual_time import now, run


def test_a_state_timeout_trips_by_itself():
    async def main():
        machine = Watched(policy=limits(state_timeout=60))
        await machine.fire("start")
        await passing(60)
        assert not machine.is_circuit_broken
        await passing(1)
        assert machine.is_circuit_broken
        [(at, fact)] = machine.told("circuit_broken")
        assert at == 60.0
        assert (fact.limit, fact.state, fact.trigger) == (BreakerLimit.STATE_TIMEOUT, "work", None)
        assert fact.reason.startswith("State timeout exceeded: 60")
        assert fact.reason.endswith("s in state 'work' (allowed 60s)")
        assert machine.state == "work"
        with pytest.raises(CircuitBrokenError):
            await machine.fire("tick")

    run(main())


def test_the_total_duration_trips_by_itself():
    async def main():
        machine = Watched(policy=limits(max_total_duration=100, state_timeout=60))
        await machine.fire("start")
        await passing(50)
        await machine.fire("again")
        await passing(51)
        [(at, fact)] = machine.told("circuit_broken")
        assert (at, fact.limit) == (100.0, BreakerLimit.MAX_TOTAL_DURATION)

    run(main())


def test_in_degraded_mode_it_moves_by_itself():
    async def main():
        machine = Watched(policy=limits(state_timeout=60, use_degraded_mode=True))
        await machine.fire("start")
        await passing(61)
        assert machine.state == "limp"
        assert machine.is_terminal
        (_, first), (at, result) = machine.told("transition")
        assert first.trigger == "start"
        assert at == 60.0
        assert (result.trigger, result.accepted) == (None, False)
        assert (result.degraded, result.state_changed) == (True, True)
        assert result.refusal.kind == "circuit"
        assert result.refusal.trigger is None
        assert machine.transition_count == 2

    run(main())


def test_on_timeout_is_fired_by_itself_instead_of_tripping():
    async def main():
        machine = Watched(policy=limits(state_timeout=1000))
        await machine.fire("wait")
        await passing(11)
        assert machine.state == "late"
        at, result = machine.told("transition")[-1]
        assert (at, result.trigger, result.accepted) == (10.0, "give_up", True)
        assert not machine.is_circuit_broken
        assert machine.transition_count == 2

    run(main())


def test_an_on_timeout_that_is_refused_trips():
    async def main():
        machine = Watched(may=False, policy=limits())
        await machine.fire("wait")
        await passing(11)
        [(at, fact)] = machine.told("circuit_broken")
        assert (at, fact.limit, fact.state) == (10.0, BreakerLimit.STATE_TIMEOUT, "waiting")
        assert [refusal.kind for _, refusal in machine.told("refused")] == ["guard", "circuit"]

    run(main())


def test_patient_states_and_ended_machines_are_not_watched():
    async def main():
        machine = Watched(policy=limits(state_timeout=5, max_total_duration=20))
        await machine.fire("tick")
        await passing(10_000)
        await machine.fire("start")
        await machine.fire("finish")
        await passing(10_000)
        assert not machine.is_circuit_broken
        assert machine.told("circuit_broken") == []

    run(main())


def test_the_timer_starts_anew_with_each_visit():
    async def main():
        machine = Watched(policy=limits(state_timeout=60))
        await machine.fire("start")
        for _ in range(10):
            await passing(59)
            await machine.fire("again")
        assert not machine.is_circuit_broken
        await passing(59)
        await machine.fire("tick")  # an internal one does not begin a visit
        await passing(2)
        assert machine.is_circuit_broken

    run(main())


def test_a_reset_starts_the_timer_anew():
    async def main():
        machine = Watched(policy=limits(state_timeout=60))
        await machine.fire("start")
        await passing(61)
        assert machine.is_circuit_broken
        machine.reset_circuit_breaker()
        await passing(59)
        assert not machine.is_circuit_broken
        await passing(2)
        assert machine.is_circuit_broken
        assert len(machine.told("circuit_broken")) == 2

    run(main())


def test_a_machine_that_was_just_made_is_watched():
    async def main():
        text = WATCHED.replace("initial: idle", "initial: work")
        machine = Watched(definition=text, policy=limits(state_timeout=60))
        await passing(61)
        assert machine.is_circuit_broken
        assert machine.told("circuit_broken")[0][0] == 60.0

    run(main())


def test_a_restored_machine_is_watched_for_the_rest_of_its_time():
    async def main():
        machine = Watched(policy=limits(state_timeout=60))
        await machine.fire("start")
        await passing(50)
        saved = machine.snapshot().model_dump_json()
        await machine.fire("finish")
        await passing(5000)
        begin = now()
        again = Watched.restore(WATCHED, saved)
        await passing(9)
        assert not again.is_circuit_broken
        await passing(2)
        assert again.is_circuit_broken
        assert again.told("circuit_broken")[0][0] == pytest.approx(begin - 1000 + 10, abs=0.1)

    run(main())


def test_a_machine_made_outside_of_a_loop_is_watched_from_its_first_trigger():
    times = [Clock()]
    machine = Watched(policy=limits(state_timeout=60), clock=lambda: times[-1]())

    async def main():
        times.append(asyncio.get_running_loop().time)
        await machine.fire("start")
        await passing(61)
        assert machine.is_circuit_broken

    run(main())


def test_the_clock_that_was_given_decides():
    """The loop's time passes, the machine's clock stands still: nothing trips."""

    async def main():
        clock = Clock()
        machine = Watched(policy=limits(state_timeout=60), clock=clock)
        await machine.fire("start")
        await passing(300)
        assert not machine.is_circuit_broken
        clock.advance(61)
        await passing(0.1)
        assert machine.is_circuit_broken

    run(main())


def test_there_is_one_timer():
    async def main():
        loop = asyncio.get_running_loop()
        machine = Watched(policy=limits(state_timeout=60, max_total_duration=100))
        await machine.fire("start")
        for _ in range(20):
            await machine.fire("again")
        assert len([handle for handle in loop._scheduled if not handle.cancelled()]) == 1

    run(main())


def test_the_timer_holds_its_machine_weakly():
    async def main():
        machine = Watched(policy=limits(state_timeout=60))
        await machine.fire("start")
        gone = weakref.ref(machine)
        del machine
        gc.collect()
        assert gone() is None
        await passing(100)

    run(main())


PROGRAM = """
import asyncio
from orkeon_transitions.runtime import {kind}
TEXT = "initial: a\\nstates: [a, {{name: b, timeout: 60}}]\\ntransitions: [[go, a, b]]\\n"
{body}
"""
BODIES = {
    "StateMachine": """
machine = StateMachine(TEXT)
machine.fire('go')
""",
    "AsyncStateMachine": """
async def main():
    global machine
    machine = AsyncStateMachine(TEXT)
    await machine.fire('go')
asyncio.run(main())
""",
}


@pytest.mark.parametrize("kind", BODIES)
def test_no_timer_keeps_a_process_alive(kind):  # case C10
    program = PROGRAM.format(kind=kind, body=BODIES[kind]) + "\nprint('end', flush=True)\n"
    command = [sys.executable, "-W", "error", "-c", program]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "end\n"
            begin = time.monotonic()
            assert process.wait(10) == 0
            assert time.monotonic() - begin < 2
        finally:
            process.kill()


def test_remaining_tells_the_timers_time():
    async def main():
        machine = Watched(policy=limits(state_timeout=60))
        assert machine.circuit_status.remaining is None
        await machine.fire("start")
        await passing(20)
        assert machine.circuit_status.remaining == timedelta(seconds=40)

    run(main())
