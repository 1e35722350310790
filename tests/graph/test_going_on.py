"""Runs of graphs that go on from the snapshot of an earlier run's machine."""

import asyncio
from dataclasses import dataclass, field

import pytest

from orkeon_transitions.breaker import CircuitBreakerPolicy
from orkeon_transitions.errors import GraphCircuitBrokenError
from orkeon_transitions.graph import END, START, StateGraph


@dataclass
class Trip:
    ran: list = field(default_factory=list)


class StoppedError(Exception):
    pass


def graph(*names, policy=None, degraded=None):
    """A line of nodes that say that they ran."""
    made = StateGraph(policy or CircuitBreakerPolicy(max_transitions=50))
    for name in names:
        made.add_node(name, lambda state, name=name: state.ran.append(name))
    for name, after in zip(names, [*names[1:], END], strict=True):
        made.add_edge(name, after)
    if degraded:
        made.add_degraded_node("degraded", lambda state: state.ran.append("degraded"))
    return made.add_edge(START, names[0]).compile()


def snapshots_of(runner, stop_after=None, **options):
    """The snapshots of a run, as far as its log takes them."""
    taken = []

    def commit(fact, snapshot):
        if len(taken) == stop_after:
            raise StoppedError
        taken.append(snapshot)

    try:
        runner.run_sync(Trip(), commit=commit, machine_id="g", **options)
    except (StoppedError, GraphCircuitBrokenError):
        assert stop_after is not None or taken[-1].trip
    return taken


@pytest.mark.parametrize("stop_after", range(4))
def test_the_node_that_ran_is_run_again_and_then_the_rest(stop_after):
    runner = graph("a", "b", "c")
    taken = snapshots_of(runner, stop_after)
    before = taken[-1] if taken else None
    result = runner.run_sync(Trip(), snapshot=before)
    assert result.final_state.ran == ["a", "b", "c"][max(0, stop_after - 1) :]
    assert result.status == "completed"


def test_a_run_that_had_ended_does_nothing():
    runner = graph("a", "b")
    last = snapshots_of(runner)[-1]
    result = runner.run_sync(Trip(), snapshot=last)
    assert (result.final_state.ran, result.total_transitions) == ([], 0)


def test_the_limits_are_used_as_far_as_they_were():
    runner = graph("a", "b", "c", policy=CircuitBreakerPolicy(max_transitions=2))
    before = snapshots_of(runner, 2)[-1]
    state = Trip()
    with pytest.raises(GraphCircuitBrokenError, match=r"Max transitions exceeded \(2/2\)"):
        runner.run_sync(state, snapshot=before)
    assert state.ran == ["b"]


def test_one_that_the_breaker_had_stopped_stays_stopped():
    runner = graph("a", "b", "c", policy=CircuitBreakerPolicy(max_transitions=2))
    last = snapshots_of(runner)[-1]
    assert last.trip is not None
    state = Trip()
    with pytest.raises(GraphCircuitBrokenError, match="Max transitions"):
        runner.run_sync(state, snapshot=last)
    assert state.ran == []


def test_the_degraded_node_runs_again():
    policy = CircuitBreakerPolicy(max_transitions=1, use_degraded_mode=True)
    runner = graph("a", "b", policy=policy, degraded=True)
    last = snapshots_of(runner)[-1]
    result = runner.run_sync(Trip(), snapshot=last)
    assert (result.status, result.final_state.ran) == ("degraded", ["degraded"])


def test_it_is_streamed_too():
    runner = graph("a", "b", "c")
    before = snapshots_of(runner, 2)[-1]

    async def names():
        return [done.node_name async for done in runner.stream(Trip(), snapshot=before)]

    assert asyncio.run(names()) == ["b", "c"]
