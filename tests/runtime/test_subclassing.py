"""What a machine's class may answer: its policy, its clocks, its fields, where a new budget begins."""

import asyncio

import pytest

from orkeon_transitions.breaker import BreakerLimit, CircuitBreakerPolicy, StateClock
from orkeon_transitions.errors import CircuitBrokenError
from orkeon_transitions.runtime import AsyncStateMachine
from tests.runtime.samples import RING, limits, quiet
from tests.runtime.workers import Work, started, working
from tests.virtual_time import run

TASKS = """
name: tasks
initial: idle
states: [idle, busy]
transitions:
  - {trigger: receive, source: [idle, busy], dest: busy, conditions: is_welcome}
  - {trigger: tick, source: [idle, busy], dest: null, repeatable: false}
  - [done, busy, idle]
"""


def worker(kind, **options):
    class Worker(kind.machine_class):
        budget_starts = frozenset({"receive"})

        def is_welcome(self, event):
            return event.context != "unwelcome"

    return Worker(TASKS, **options)


def test_a_trigger_may_begin_a_new_budget(kind, clock):
    policy = limits(
        max_transitions=2, max_state_visits=2, max_total_duration=10, state_timeout=10, meters={"usd": 1}
    )
    machine = worker(kind, policy=policy, clock=clock)
    for number in range(3):
        result = kind.fire(machine, "receive")
        assert result.transition_count == 1
        assert result.ordinal == 2 * number + 1
        assert machine.circuit_status.spent == {}
        assert kind.fire(machine, "tick").transition_count == 2
        machine.spend(usd=5)
        clock.advance(100)
        assert not kind.wait(machine.can_fire("tick"))
        assert kind.wait(machine.can_fire("receive"))


def test_a_new_budget_begins_once_the_guards_have_passed(kind):
    machine = worker(kind, policy=limits(max_transitions=3))
    kind.fire(machine, "tick")
    assert not kind.try_fire(machine, "receive", "unwelcome")
    assert machine.transition_count == 1


def test_a_broken_machine_is_not_mended_by_a_new_budget(kind):
    machine = worker(kind, policy=limits(max_transitions=1))
    kind.fire(machine, "tick")
    kind.try_fire(machine, "tick")
    with pytest.raises(CircuitBrokenError):
        kind.fire(machine, "receive")
    assert not kind.wait(machine.can_fire("receive"))


def test_a_new_budget_begins_the_visits_and_repeats_anew(kind):
    machine = worker(kind, policy=limits(max_repeats=1))
    kind.fire(machine, "receive")
    kind.fire(machine, "tick")
    kind.fire(machine, "receive")
    assert machine.circuit_status.state_visit_histogram == {"busy": 2}
    assert kind.fire(machine, "tick")


def test_a_budget_that_was_not_committed_has_not_begun(kind):
    def commit(fact, snapshot):
        if fact.trigger == "receive":
            raise OSError

    machine = worker(kind, policy=limits(), commit=commit)
    kind.fire(machine, "tick")
    machine.spend(usd=1)
    with pytest.raises(OSError):
        kind.fire(machine, "receive")
    assert machine.transition_count == 1
    assert machine.circuit_status.spent == {"usd": 1}


def test_a_class_may_have_its_own_policy(kind):
    class Strict(kind.machine_class):
        def _default_policy(self):
            return CircuitBreakerPolicy.strict()

    assert Strict(RING).policy == CircuitBreakerPolicy.strict()
    assert Strict(RING, policy=limits()).policy == limits()
    saved = Strict(RING, policy=limits()).snapshot()
    assert Strict.restore(RING, saved).policy == limits()


def test_a_class_may_have_its_own_clocks(kind, clock):
    class Quick(kind.machine_class):
        def _state_clock(self, state):
            return StateClock(3) if state == "b" else super()._state_clock(state)

    machine = Quick(RING, **quiet(clock=clock))
    clock.advance(1000)
    kind.fire(machine, "next")
    assert machine.circuit_status.remaining.total_seconds() == 3
    clock.advance(4)
    with pytest.raises(CircuitBrokenError) as raised:
        kind.fire(machine, "next")
    assert raised.value.status.limit is BreakerLimit.STATE_TIMEOUT


def test_a_class_hears_of_what_was_written_before_on_enter(kind):
    log = []

    class Noting(kind.machine_class):
        def _written(self, event, result):
            log.append((self.state, result.to_state, event.trigger))

        def note(self, event):
            log.append("entered")

    text = "initial: a\nstates: [a, {name: b, on_enter: note}]\ntransitions: [[go, a, b]]\n"
    machine = Noting(text, **quiet())
    kind.fire(machine, "go")
    assert log == [("b", "b", "go"), "entered"]


def test_an_async_hook_declared_as_a_plain_function_needs_its_turn_for_a_reset():
    async def later():
        return None

    async def main():
        machine = AsyncStateMachine(RING, **quiet(commit=lambda fact, snapshot: later()))
        assert await machine.fire("next")
        with pytest.raises(TypeError, match="commit hook"):
            machine.reset_circuit_breaker()
        assert machine.transition_count == 1

    asyncio.run(main())


def test_a_cancellation_waits_for_the_commit_of_a_reset():
    """The reset is made in the turn of the trigger that was under way when it was asked for."""

    async def main():
        async def commit(fact, snapshot):
            await asyncio.sleep(5)

        machine = AsyncStateMachine(RING, policy=limits(), commit=commit)
        task = await started(machine.fire("next"))
        machine.reset_circuit_breaker()
        await asyncio.sleep(7)
        assert machine.transition_count == 1
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert machine.transition_count == 0

    run(main())


def test_work_whose_visit_ends_while_its_report_waits_reports_nothing():
    async def main():
        async def hold(fact, snapshot):
            await asyncio.sleep(5)

        machine = await working()
        machine.attach_commit(hold)
        holder = await started(machine.fire("leave"))
        task = await started(machine.during(Work(seconds=1).do(), done="finish"))
        await holder
        with pytest.raises(Exception, match="has gone on to 'patient'"):
            await task
        assert machine.state == "patient"
        assert machine.notes == []

    run(main())
