"""Many tasks on one machine, some cancelled, slow callbacks, clocks that run out: nothing hangs."""

import asyncio
import contextlib

from hypothesis import given
from hypothesis import strategies as st

from orkeon_transitions.breaker import CircuitBreakerPolicy
from orkeon_transitions.errors import OrkeonError
from orkeon_transitions.facts import TransitionResult
from orkeon_transitions.runtime import AsyncStateMachine
from tests.runtime.samples import follow
from tests.virtual_time import now, run

RACE = """
name: race
initial: a
degraded: limp
states:
  - {name: a, on_exit: slow, on_enter: slow}
  - {name: b, on_enter: slow}
  - {name: c, timeout: 4, on_timeout: next}
  - {name: limp, timeout: 0, on_enter: slow}
  - {name: end, final: true}
transitions:
  - {trigger: next, source: a, dest: b, before: slow}
  - {trigger: next, source: b, dest: c, conditions: slow_guard}
  - {trigger: next, source: c, dest: a, after: slow}
  - {trigger: next, source: limp, dest: a}
  - {trigger: tick, source: [a, b, c], dest: null, after: slow}
  - {trigger: again, source: [a, b, c], dest: "=", before: nested}
  - {trigger: stop, source: "*", dest: a, always: true, before: slow}
"""
TRIGGERS = st.sampled_from(["next", "next", "tick", "again", "stop", "fly"])
SECONDS = st.integers(0, 6)


def doing():
    """What a task does, when it begins, and after how long it is cancelled."""
    fire = st.tuples(st.sampled_from(["fire", "try_fire", "fire_later"]), TRIGGERS, st.none())
    during = st.tuples(st.just("during"), TRIGGERS | st.none(), SECONDS)
    other = st.tuples(st.sampled_from(["reset", "check", "spend", "can_fire"]), st.just("next"), st.none())
    return st.tuples(fire | during | other, SECONDS, st.none() | st.none() | SECONDS)


def policies():
    """Limits that are near."""
    return st.builds(
        CircuitBreakerPolicy,
        max_transitions=st.sampled_from([0, 0, 4]),
        state_timeout=st.sampled_from([0, 0, 3, 7]),
        max_state_visits=st.sampled_from([0, 3]),
        max_total_duration=st.sampled_from([0, 15]),
        use_degraded_mode=st.booleans(),
    )


class Race:
    """One machine and everything that is done to it."""

    def __init__(self, policy, delays, commit_delay):
        self.delays = iter(delays * 50)
        self.commit_delay = commit_delay
        self.facts, self.told, self.works = [], [], []
        actions = {"slow": self.slow, "nested": self.nested}
        self.machine = AsyncStateMachine(
            RACE,
            policy=policy,
            clock=now,
            actions=actions,
            guards={"slow_guard": self.slow_guard},
            commit=self.commit,
            lock_timeout=20,
        )
        self.machine.on_transition(self.told.append)

    async def slow(self, event):
        await asyncio.sleep(next(self.delays))

    async def slow_guard(self, event):
        await asyncio.sleep(next(self.delays))
        return True

    async def nested(self, event):
        self.machine.fire_later("tick")

    async def commit(self, fact, snapshot):
        await asyncio.sleep(self.commit_delay)
        self.facts.append((fact, snapshot))

    async def work(self, seconds):
        self.works.append(asyncio.current_task())
        await asyncio.sleep(seconds)
        return seconds

    async def do(self, what, trigger, seconds):
        machine = self.machine
        if what in ("fire", "try_fire", "can_fire"):
            await getattr(machine, what)(trigger)
        elif what == "fire_later":
            machine.fire_later(trigger)
        elif what == "during":
            await machine.during(self.work(seconds), done=trigger, failed="stop")
        elif what == "reset":
            machine.reset_circuit_breaker()
        elif what == "check":
            await machine.check_circuit()
        else:
            machine.spend(tokens=1)

    async def task(self, doing, begins):
        await asyncio.sleep(begins)
        await self.do(*doing)


async def race(policy, delays, commit_delay, doings):
    arena = Race(policy, delays, commit_delay)
    loop, tasks, cancelled = asyncio.get_running_loop(), [], set()
    for what, begins, lasts in doings:
        task = asyncio.create_task(arena.task(what, begins))
        tasks.append(task)
        if lasts is not None:
            loop.call_later(begins + lasts + 0.5, lambda t=task: cancelled.add(t) if t.cancel() else None)
    outcomes = await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 10_000)
    await asyncio.sleep(200)
    for task, outcome in zip(tasks, outcomes, strict=True):
        assert not isinstance(outcome, asyncio.CancelledError) or task in cancelled
        assert outcome is None or isinstance(outcome, OrkeonError | asyncio.CancelledError), repr(outcome)
    return arena


@given(
    policy=policies(),
    delays=st.lists(SECONDS, min_size=1, max_size=5),
    commit_delay=st.sampled_from([0, 0, 2]),
    doings=st.lists(doing(), min_size=4, max_size=12),
)
def test_nothing_hangs_and_no_fact_is_lost_or_out_of_order(policy, delays, commit_delay, doings):
    async def main():
        arena = await race(policy, delays, commit_delay, doings)
        machine = arena.machine
        assert [task for task in arena.works if not task.done()] == []
        moves = [fact for fact, _ in arena.facts if isinstance(fact, TransitionResult)]
        assert [move.ordinal for move in moves] == list(range(1, len(moves) + 1))
        assert [move.ordinal for move in arena.told] == [move.ordinal for move in moves]
        assert (machine.state, machine.is_circuit_broken) == follow(arena.facts)
        # The machine is free again.
        with contextlib.suppress(OrkeonError):
            await asyncio.wait_for(machine.fire("stop"), 300)
        machine.reset_circuit_breaker()
        await asyncio.sleep(300)
        assert not [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]

    run(main())
