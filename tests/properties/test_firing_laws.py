"""Asking agrees with firing, and what the breaker counts is what was committed."""

import asyncio
from collections import Counter

import pytest
from hypothesis import given

from orkeon_transitions.facts import BreakerReset, CircuitBroken, TransitionFailed, TransitionResult
from tests.properties.runs import (
    KINDS,
    Broken,
    Subject,
    definitions,
    definitions_with_ways_out,
    settled,
    steps,
)
from tests.virtual_time import run


@pytest.mark.parametrize("machine_class", KINDS)
@given(definition=definitions(), path=steps())
def test_asking_agrees_with_what_fire_then_does(machine_class, definition, path):
    async def main():
        subject = Subject(machine_class, definition)
        machine = subject.machine
        for step in path:
            await asyncio.sleep(step.seconds)
            await subject.prepare(step)
            asked = {"n": step.payload}
            why = await settled(machine.why_not(step.trigger, None, **asked))
            assert await settled(machine.can_fire(step.trigger, None, **asked)) is (why is None)
            permitted = await settled(machine.permitted_triggers(None, **asked))
            assert (step.trigger in permitted) is (why is None)
            before = machine.snapshot().model_dump(exclude={"taken_at"})
            outcome = await subject.fire()
            if isinstance(outcome, Broken):
                # Also what a callback of the degrading move raised.
                assert why is None or (why.kind == "circuit" and machine.is_circuit_broken)
            else:
                assert bool(outcome) is (why is None)
                assert outcome.refusal == why
            if why is not None and why.kind != "circuit":
                assert machine.snapshot().model_dump(exclude={"taken_at"}) == before

    run(main())


@pytest.mark.parametrize("machine_class", KINDS)
@given(definition=definitions_with_ways_out(), path=steps())
def test_what_is_counted_is_what_was_committed(machine_class, definition, path):
    async def main():
        subject = Subject(machine_class, definition)
        machine, told = subject.machine, []
        machine.on_transition(told.append)
        for step in path:
            await subject.go(step)
            _compare(machine, subject.facts)
        moves = [fact for fact, _ in subject.facts if isinstance(fact, TransitionResult)]
        assert (
            [fact.ordinal for fact in told]
            == [fact.ordinal for fact in moves]
            == list(range(1, len(moves) + 1))
        )
        failed = [fact.ordinal for fact, _ in subject.facts if isinstance(fact, TransitionFailed)]
        assert failed == [fact.ordinal for fact in told if fact.error is not None]

    run(main())


def _compare(machine, facts):
    """The status of a machine against the facts that it committed."""
    visits, made, trip = Counter({machine.definition.initial: 1}), 0, None
    state, ordinal = machine.definition.initial, 0
    for fact, snapshot in facts:
        if isinstance(fact, BreakerReset):
            visits, made, trip = Counter({state: 1}), 0, None
        elif isinstance(fact, CircuitBroken):
            assert trip is None
            trip = fact.limit
        elif isinstance(fact, TransitionResult):
            assert fact.from_state == state
            state, made, ordinal = fact.to_state, made + 1, ordinal + 1
            visits.update([] if fact.internal else [state])
            assert (fact.ordinal, fact.transition_count) == (ordinal, made)
            assert fact.state_changed is (fact.from_state != fact.to_state)
            assert fact.accepted is not fact.degraded
        assert (snapshot.state, snapshot.ordinal, snapshot.transition_count) == (state, ordinal, made)
        assert snapshot.visits == visits
        assert (snapshot.trip.limit if snapshot.trip else None) == trip
    status = machine.circuit_status
    assert machine.state == state
    assert (status.total_transitions, status.state_visit_histogram, status.limit) == (made, visits, trip)
    assert status.current_state_visit_count == visits[state]
    assert machine.snapshot().ordinal == ordinal
    assert machine.is_terminal is (state in machine.definition.final_states)
    limit = machine.policy.max_transitions
    degraded = sum(isinstance(fact, TransitionResult) and fact.degraded for fact, _ in facts)
    always = any(row.always for row in machine.definition.transitions)
    assert not limit or always or made <= limit + degraded
