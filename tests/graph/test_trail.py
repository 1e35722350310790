"""What a run remembers of its way, all of it or the last so many steps, and what it costs."""

import asyncio
import gc
import tracemalloc
from datetime import timedelta

import pytest

from orkeon_transitions import END, START, GraphCircuitBrokenError, StateGraph
from orkeon_transitions.errors import NodeReturnError, RoutingError
from tests.graph.samples import Draft, does, limits, loop
from tests.virtual_time import run

WHOLE = ("work", "look") * 5


class Rounds:
    """A state that keeps nothing but a number."""

    def __init__(self, left):
        self.left = left


def spins(*, asynchronous=False, **options):
    """A loop of two nodes that ends when the state's number is used up."""

    def work(state):
        state.left -= 1

    async def later(state):
        state.left -= 1

    graph = StateGraph(limits(max_total_duration=3600)).add_node("work", later if asynchronous else work)
    graph.add_node("look", lambda state: state).add_edge(START, "work").add_edge("work", "look")
    graph.add_conditional_edge("look", lambda state: "work" if state.left > 0 else END, ["work", END])
    return graph.compile(**options)


@pytest.mark.parametrize("limit", [None, 0, 1, 3, 10, 11, 1000])
def test_a_limit_keeps_the_last_nodes_and_steps(limit):
    result = loop(rounds=5).compile(trace_limit=limit).run_sync(Draft())
    steps = [step.to_state for step in result.journal]
    assert result.trace == (WHOLE if limit is None else WHOLE[10 - min(limit, 10) :])
    assert steps == list((*WHOLE, END) if limit is None else (*WHOLE, END)[11 - min(limit, 11) :])
    assert result.total_transitions == 10
    if result.journal:
        assert result.journal[-1].ordinal == 11


@pytest.mark.parametrize("limit", [-1, 1.5, "3", True, timedelta(3)])
def test_a_limit_is_a_whole_number(limit):
    with pytest.raises(ValueError, match="trace_limit is a whole number of steps"):
        loop().compile(trace_limit=limit)


def test_a_completion_knows_the_nodes_before_it_as_far_as_they_are_kept():
    async def main():
        kept = []
        async for completed in loop(rounds=5).compile(trace_limit=3).stream(Draft()):
            kept.append(completed)
            at = completed.ordinal
            assert completed.trace == WHOLE[:at][-3:]
        return kept

    kept = run(main())
    assert kept[0].trace == ()  # it was asked for too late
    assert kept[-1].trace == WHOLE[-3:]


def test_every_fact_and_error_of_a_bounded_run_shows_the_last_nodes():
    told = []
    runner = loop(limits(max_transitions=9)).compile(trace_limit=2)
    runner.on_circuit_broken(told.append)
    with pytest.raises(
        GraphCircuitBrokenError, match=r"after 9 node executions \(\.\.\. -> look -> work\)"
    ) as error:
        runner.run_sync(Draft())
    assert (error.value.trace, error.value.transition_count) == (("look", "work"), 9)
    assert [step.to_state for step in error.value.journal] == ["look", "work"]
    assert (told[0].trace, told[0].transition_count) == (("look", "work"), 9)


def test_so_do_those_of_nodes_and_routers():
    def turns_bad(draft):
        draft.done.append("work")
        return None if len(draft.done) < 4 else "bad"

    with pytest.raises(NodeReturnError) as returned:
        loop(node=turns_bad).compile(trace_limit=1).run_sync(Draft())
    assert returned.value.trace == ("work",)
    graph = StateGraph(limits()).add_node("a", does("a")).add_node("b", does("b")).add_edge(START, "a")
    graph.add_edge("a", "b").add_conditional_edge("b", lambda draft: "c", ["a", END])
    with pytest.raises(RoutingError) as routed:
        graph.compile(trace_limit=1).run_sync(Draft())
    assert routed.value.trace == ("b",)


def test_a_degraded_node_is_part_of_a_bounded_trace():
    graph = loop(limits(max_transitions=9, use_degraded_mode=True)).add_degraded_node("last", does("last"))
    told = []
    runner = graph.compile(trace_limit=2)
    runner.on_circuit_broken(told.append)
    result = runner.run_sync(Draft())
    assert (result.trace, result.total_transitions) == (("work", "last"), 10)
    assert told[0].transition_count == 9
    assert "last" not in told[0].trace


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_bounded_run_needs_no_more_memory_however_long_it_is(asynchronous):
    """Neither facts nor timers nor works of past nodes are kept."""
    runner = spins(asynchronous=asynchronous, trace_limit=10)
    sizes = []
    runner.run_sync(Rounds(50))
    for rounds in (200, 2000):
        gc.collect()
        tracemalloc.start()
        runner.run_sync(Rounds(rounds))
        sizes.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert sizes[1] < sizes[0] * 1.5


def test_an_unbounded_run_keeps_its_steps_and_nothing_else():
    runner = spins()
    sizes = []
    for rounds in (500, 1000):
        gc.collect()
        tracemalloc.start()
        result = runner.run_sync(Rounds(rounds))
        gc.collect()
        sizes.append(tracemalloc.get_traced_memory()[0])
        tracemalloc.stop()
        assert len(result.journal) == 2 * rounds + 1
    a_step = (sizes[1] - sizes[0]) / 1000
    assert a_step < 600


def test_a_node_costs_the_loop_two_turns_at_most():
    """One for the node, one for the step: a task's end wakes the run without another."""

    async def main():
        asyncio_loop = asyncio.get_running_loop()
        turns, told = 0, []

        def turn():
            nonlocal turns
            turns += 1
            asyncio_loop.call_soon(turn)

        runner = spins(asynchronous=True)
        asyncio_loop.call_soon(turn)
        for rounds in (100, 200):
            begun = turns
            await runner.run(Rounds(rounds))
            told.append(turns - begun)
        return told

    short, long = asyncio.run(main())
    # In each round one async node (two turns) and a plain one, after which others have a turn.
    assert long - short <= 100 * 3
