"""An async machine at odd moments: cancelled at every step, cut short twice, asked and fired at once."""

import asyncio
import logging

import pytest

from orkeon_transitions.errors import MachineBusyError, StateLeftError
from orkeon_transitions.facts import TransitionFailed, TransitionResult
from orkeon_transitions.runtime import AsyncStateMachine
from tests.runtime.samples import GUARDED, STAGE_ACTIONS, STAGES, limits, quiet
from tests.virtual_time import VirtualTimeLoop, now, run

CHAIN = """
name: chain
initial: a
states:
  - a
  - {name: b, timeout: 1, on_enter: linger, on_timeout: on}
  - {name: c, timeout: 1, on_enter: linger, on_timeout: on}
  - {name: d, timeout: 0}
transitions:
  - [go, a, b]
  - [on, b, c]
  - [on, c, d]
"""

TICKING = """
name: ticking
initial: a
states: [a, {name: b, on_enter: linger}, {name: c, on_enter: linger}]
transitions:
  - {trigger: go, source: a, dest: b, conditions: ok}
  - [on, b, c]
  - {trigger: tick, source: "*", dest: null}
"""

STAGE_GUARDS = {"may": lambda event: True, "forbidden": lambda event: False}


class CancellingLoop(VirtualTimeLoop):
    """Cancels a task when it has come round so many times."""

    def __init__(self, moment):
        super().__init__()
        self.moment, self.victim, self.has_cancelled = moment, None, False

    def _run_once(self):
        super()._run_once()
        if self.victim is not None and not self.victim.done():
            self.moment -= 1
            if self.moment == 0:
                self.has_cancelled = self.victim.cancel()


def linger(seconds):
    async def lingering(event):
        await asyncio.sleep(seconds)

    return lingering


async def failing(event):
    await asyncio.sleep(0.1)
    raise ValueError("a callback's own error")


async def outcome_of(task):
    try:
        return await task
    except (asyncio.CancelledError, ValueError) as error:
        return error


@pytest.mark.parametrize("trigger", ["go", "stay", "again"])
@pytest.mark.parametrize("where", [None, *STAGE_ACTIONS])
def test_a_cancellation_at_any_moment_is_neither_lost_nor_leaves_a_trace(trigger, where):
    facts = []

    async def commit(fact, snapshot):
        await asyncio.sleep(0.1)
        facts.append(fact)
        await asyncio.sleep(0)

    async def yes(event):
        await asyncio.sleep(0.1)
        return True

    async def no(event):
        await asyncio.sleep(0.1)

    async def main(loop):
        callbacks = {name: failing if name == where else linger(0.1) for name in STAGE_ACTIONS}
        machine = AsyncStateMachine(
            STAGES, **quiet(actions=callbacks, guards={"may": yes, "forbidden": no}, commit=commit)
        )
        heard = []
        machine.on_transition(heard.append)
        loop.victim = asyncio.ensure_future(machine.fire(trigger))
        outcome = await outcome_of(loop.victim)
        made = [fact for fact in facts if isinstance(fact, TransitionResult)]
        assert isinstance(outcome, asyncio.CancelledError) is loop.has_cancelled
        assert [fact.ordinal for fact in heard] == [fact.ordinal for fact in made]
        assert machine.transition_count == len(made)
        assert machine.state == (made[-1].to_state if made else "a")
        assert (heard[-1].error is not None if heard else False) is any(
            isinstance(fact, TransitionFailed) for fact in facts
        )
        assert asyncio.all_tasks() == {asyncio.current_task()}
        assert not await machine.try_fire("fly")

    moment, has_cancelled = 0, True
    while has_cancelled:
        moment += 1
        facts.clear()
        loop = CancellingLoop(moment)
        try:
            loop.run_until_complete(main(loop))
        finally:
            loop.close()
        has_cancelled = loop.has_cancelled
    assert moment > 5


def test_a_second_clock_may_cut_short_what_the_first_one_began():
    async def main():
        machine = AsyncStateMachine(CHAIN, **quiet(clock=now, actions={"linger": linger(1000)}))
        with pytest.raises(StateLeftError, match="is in 'd'"):
            await machine.fire("go")
        assert machine.state == "d"
        assert asyncio.current_task().cancelling() == 0

    run(main())


def test_a_clock_that_cuts_short_what_a_cancelled_task_tidies_up():
    async def main():
        machine = AsyncStateMachine(CHAIN, **quiet(clock=now, actions={"linger": linger(1000)}))

        async def tidying():
            try:
                await asyncio.sleep(1000)
            finally:
                with pytest.raises(StateLeftError):
                    await machine.fire("go")
                assert asyncio.current_task().cancelling() == 1

        task = asyncio.ensure_future(tidying())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert machine.state == "d"

    run(main())


def ticking(ok, **options):
    return AsyncStateMachine(
        TICKING, **quiet(clock=now, guards={"ok": ok}, actions={"linger": linger(10)}, **options)
    )


def test_a_guard_that_is_only_asked_may_fire_later(caplog):
    async def main():
        async def ok(event):
            machine.fire_later("tick")
            await asyncio.sleep(1)
            return True

        machine = ticking(ok)
        assert await machine.can_fire("go")
        assert machine.transition_count == 1

    run(main())
    assert caplog.records == []


def test_a_task_that_a_guard_starts_may_fire_when_the_guard_has_answered():
    async def main():
        tasks = []

        async def later():
            await asyncio.sleep(1)
            return await machine.fire("tick")

        def ok(event):
            tasks.append(asyncio.ensure_future(later()))
            return True

        machine = ticking(ok)
        assert await machine.can_fire("go")
        assert await tasks[0]

    run(main())


def test_a_caller_that_is_cancelled_leaves_alone_what_was_to_be_made_before():
    async def main():
        machine, failed = ticking(bool), []
        machine.on_transition(lambda fact: failed.append(fact.error))
        machine.fire_later("go")
        machine.fire_later("on")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(5):
                await machine.fire("tick")
        await asyncio.sleep(100)
        assert machine.state == "c"
        assert failed == [None, None]

    run(main())


def test_what_is_fired_later_waits_for_no_time_limit(caplog):
    async def main():
        machine = ticking(bool, lock_timeout=0)
        for trigger in ("go", "on", "tick"):
            machine.fire_later(trigger)
        await asyncio.sleep(5)
        machine.fire_later("tick")
        await asyncio.sleep(100)
        assert (machine.state, machine.transition_count) == ("c", 4)

    run(main())
    assert caplog.records == []


def test_many_triggers_for_later_need_one_task():
    async def main():
        machine = ticking(bool)
        for _ in range(1000):
            machine.fire_later("tick")
        assert len(asyncio.all_tasks()) == 2
        await asyncio.sleep(0)
        assert machine.transition_count == 1000

    run(main())


def test_a_listener_may_fire_later():
    async def main():
        machine = ticking(bool)
        machine.on_transition(lambda fact: machine.fire_later("tick") if fact.ordinal < 5 else None)
        machine.fire_later("tick")
        await asyncio.sleep(1)
        assert machine.transition_count == 5

    run(main())


def test_a_machine_that_goes_on_in_another_loop_is_watched_there(caplog):
    caplog.set_level(logging.ERROR)
    machine = AsyncStateMachine(GUARDED, policy=limits(state_timeout=0.05, use_degraded_mode=True))

    async def first():
        await machine.fire("go")

    async def second():
        assert not await machine.try_fire("fly")
        await asyncio.sleep(0.2)
        return machine.state

    asyncio.run(first())
    assert asyncio.run(second()) == "limp"


@pytest.mark.parametrize("call", ["fire", "try_fire", "check_circuit"])
def test_an_awaited_commit_hook_cannot_fire_and_is_told_so_at_once(call):
    async def main():
        async def commit(fact, snapshot):
            await asyncio.sleep(0.1)
            await getattr(machine, call)(*(["tick"] if call != "check_circuit" else []))

        machine = AsyncStateMachine(GUARDED, **quiet(clock=now, commit=commit, lock_timeout=None))
        with pytest.raises(MachineBusyError, match=r"the commit hook of machine 'guarded'.*use fire_later"):
            await machine.fire("go")
        assert now() - 1000 < 1
        assert (machine.state, machine.transition_count) == ("work", 0)

    run(main())


def test_a_task_that_a_commit_hook_starts_waits_for_its_turn():
    async def main():
        tasks, facts = [], []

        async def commit(fact, snapshot):
            facts.append(fact)
            if len(facts) == 1:
                tasks.append(asyncio.ensure_future(firing()))
                assert await machine.can_fire("tick")

        async def firing():
            await asyncio.sleep(1)
            return await machine.fire("tick")

        machine = AsyncStateMachine(GUARDED, **quiet(clock=now, commit=commit))
        await machine.fire("go")
        assert await tasks[0]

    run(main())


def test_triggers_wait_for_each_other_in_another_loop_too():
    machine = AsyncStateMachine(
        STAGES, **quiet(guards=STAGE_GUARDS, actions={name: linger(0.01) for name in STAGE_ACTIONS})
    )

    async def together():
        return [bool(made) for made in await asyncio.gather(*map(machine.try_fire, ["stay", "again"] * 2))]

    for _ in range(2):
        assert asyncio.run(together()) == [True] * 4
