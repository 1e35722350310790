"""Cancelling a run: between nodes, inside of them, and what is left behind (nothing)."""

import asyncio
import gc
import weakref

import pytest

from orkeon_transitions import StateGraph
from tests.graph.samples import Draft, does, limits, line, loop, sleeps
from tests.virtual_time import now, run


async def cancelled_after(seconds, graph, state=None, **options):
    task = asyncio.create_task(graph.compile(clock=now).run(state or Draft(), **options))
    await asyncio.sleep(seconds)
    task.cancel("enough")
    with pytest.raises(asyncio.CancelledError, match="enough"):
        await task


def test_a_node_that_is_running_is_cancelled():
    draft = Draft()
    run(cancelled_after(5, line(("a", sleeps(1, "a")), ("b", sleeps(1000, "b")), ("c", does("c"))), draft))
    assert draft.done == ["begun a", "a", "begun b"]


def test_a_node_that_is_cancelled_can_tidy_up():
    draft = Draft()

    async def node(draft):
        try:
            await asyncio.sleep(1000)
        finally:
            await asyncio.sleep(1)
            draft.done.append("tidied up")

    run(cancelled_after(5, line(("a", node)), draft))
    assert draft.done == ["tidied up"]


@pytest.mark.parametrize("asynchronous", [False, True])
def test_nodes_that_never_suspend_let_a_cancellation_in(asynchronous):
    async def node(draft):
        draft.done.append("work")

    graph = loop(limits(), node=node if asynchronous else does("work"))

    async def main():
        task = asyncio.create_task(graph.compile().run(Draft()))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(task, 2)

    asyncio.run(main())


def test_between_two_nodes_the_second_does_not_begin():
    async def main():
        draft, task = Draft(), None

        def cancels(draft):
            draft.done.append("a")
            task.cancel()

        task = asyncio.create_task(line(("a", cancels), ("b", does("b"))).compile().run(draft))
        with pytest.raises(asyncio.CancelledError):
            await task
        return draft

    assert run(main()).done == ["a"]


def test_a_wait_before_a_retry_is_cancelled():
    calls = []

    async def node(draft):
        calls.append(now())
        raise ValueError("again")

    run(cancelled_after(3, line(("a", node), retry=9, retry_wait=2)))
    assert len(calls) == 2


def test_a_router_is_cancelled():
    async def route(draft):
        await asyncio.sleep(1000)

    graph = StateGraph[Draft](limits()).add_node("a", does("a")).add_edge("__start__", "a")
    run(cancelled_after(5, graph.add_conditional_edge("a", route, ["a", "__end__"])))


def test_wait_for_ends_a_run():
    async def main():
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(line(("a", sleeps(1000))).compile(clock=now).run(Draft()), 5)
        return now()

    assert run(main()) == 1005


def test_a_run_that_is_over_writes_nothing_more():
    """Its machine may live on in the traceback of an error; the deadline is no longer its business."""
    facts = []

    async def main():
        graph = line(("a", sleeps(1000)), policy=limits(max_total_duration=10))
        await cancelled_after(5, graph, commit=lambda fact, snapshot: facts.append(fact))
        await asyncio.sleep(100)

    run(main())
    assert [fact.to_state for fact in facts] == ["a"]


@pytest.mark.parametrize("ending", ["completes", "fails", "is cancelled"])
def test_a_run_leaves_no_task_and_no_state_behind(ending):
    async def node(draft):
        await asyncio.sleep(1 if ending != "is cancelled" else 1000)
        if ending == "fails":
            raise ValueError("no")

    async def one_run(runner):
        state = Draft()
        task = asyncio.create_task(runner.run(state))
        await asyncio.sleep(5)
        task.cancel()
        await asyncio.wait({task})
        assert task.cancelled() is (ending == "is cancelled")
        if not task.cancelled():
            task.exception()
        return weakref.ref(state)

    async def main():
        runner = line(("a", node), policy=limits(max_total_duration=500)).compile(clock=now)
        state = await one_run(runner)
        assert asyncio.all_tasks() == {asyncio.current_task()}
        gc.collect()
        assert state() is None

    run(main())
