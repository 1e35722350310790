"""Streams, subscriptions and `run_sync`."""

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from datetime import UTC

import pytest

from orkeon_transitions import GraphCircuitBrokenError, OrkeonError
from orkeon_transitions.graph import NodeCompleted
from tests.graph.samples import Draft, does, limits, line, loop, ran, sleeps
from tests.virtual_time import now, run


def test_a_stream_yields_each_node_when_it_is_done():
    async def main():
        draft = Draft()
        async for completed in (
            line(("a", sleeps(5, "a")), ("b", sleeps(5, "b"))).compile(clock=now).stream(draft)
        ):
            assert completed.state is draft
            assert completed.timestamp.tzinfo is UTC
            yield now(), completed.node_name, completed.ordinal, completed.trace, list(draft.done)

    async def collected():
        return [item async for item in main()]

    assert run(collected()) == [
        (1005, "a", 1, ("a",), ["begun a", "a"]),
        (1010, "b", 2, ("a", "b"), ["begun a", "a", "begun b", "b"]),
    ]


def test_facts_keep_their_own_trace_when_the_run_goes_on():
    async def main():
        return [completed async for completed in loop(rounds=2).compile().stream(Draft())]

    seen = run(main())
    assert [fact.trace for fact in seen] == [("work", "look", "work", "look")[:n] for n in (1, 2, 3, 4)]
    assert repr(seen[0]).startswith("NodeCompleted(node_name='work'")
    assert isinstance(seen[0], NodeCompleted)


@pytest.mark.parametrize("close", [False, True])
def test_leaving_a_stream_early_ends_the_run(close):
    draft, facts = Draft(), []

    async def main():
        graph = loop(limits(max_total_duration=10))
        stream = graph.compile(clock=now).stream(draft, commit=lambda fact, snapshot: facts.append(fact))
        if close:
            async with aclosing(stream):
                async for _ in stream:
                    break
        else:
            async for _ in stream:
                break
            del stream
        await asyncio.sleep(100)
        assert asyncio.all_tasks() == {asyncio.current_task()}

    run(main())
    assert draft.done == ["work"]
    assert [fact.to_state for fact in facts] == ["work"]


def test_a_stream_raises_what_the_run_raises():
    async def main():
        seen = []
        with pytest.raises(GraphCircuitBrokenError) as error:
            async for completed in loop(limits(max_transitions=3)).compile().stream(Draft()):
                seen += [completed.node_name]
        assert error.value.trace == tuple(seen) == ("work", "look", "work")

    run(main())


def test_cancelling_the_consumer_of_a_stream_cancels_the_node():
    draft = Draft()

    async def consume():
        async for _ in line(("a", sleeps(1, "a")), ("b", sleeps(1000, "b"))).compile(clock=now).stream(draft):
            pass

    async def main():
        task = asyncio.create_task(consume())
        await asyncio.sleep(5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert asyncio.all_tasks() == {asyncio.current_task()}

    run(main())
    assert draft.done == ["begun a", "a", "begun b"]


# ----------------------------------------------------------------------------------------------- subscribing
def test_subscribers_are_told_in_order_before_the_next_node():
    order = []
    runner = line(("a", lambda draft: order.append("a")), ("b", lambda draft: order.append("b"))).compile()
    runner.on_node_completed(lambda fact: order.append(("first", fact.node_name)))
    leave = runner.on_node_completed(lambda fact: order.append(("second", fact.node_name)))
    runner.run_sync(Draft())
    assert order == ["a", ("first", "a"), ("second", "a"), "b", ("first", "b"), ("second", "b")]
    order.clear()
    leave()
    leave()
    runner.run_sync(Draft())
    assert ("second", "a") not in order
    assert ("first", "b") in order


def test_leaving_the_trips_too():
    told = []
    runner = loop(limits(max_transitions=1)).compile()
    leave = runner.on_circuit_broken(told.append)
    for count in (1, 1):
        with pytest.raises(GraphCircuitBrokenError):
            runner.run_sync(Draft())
        assert len(told) == count
        leave()


def test_a_subscriber_that_raises_is_logged_and_stops_nothing(caplog):
    def raises(fact):
        raise RuntimeError("no")

    told = []
    runner = loop(limits(max_transitions=3)).compile()
    for subscribe in (runner.on_node_completed, runner.on_circuit_broken):
        subscribe(raises)
        subscribe(told.append)
    with caplog.at_level(logging.ERROR), pytest.raises(GraphCircuitBrokenError):
        runner.run_sync(Draft())
    assert len(told) == 4
    assert len(caplog.records) == 4


@pytest.mark.parametrize("listener", [None, asyncio.sleep, "print"])
def test_a_subscriber_is_a_plain_function(listener):
    runner = loop().compile()
    for subscribe in (runner.on_node_completed, runner.on_circuit_broken):
        with pytest.raises(TypeError, match="plain function"):
            subscribe(listener)


# -------------------------------------------------------------------------------------------------- run_sync
def test_run_sync_takes_what_run_takes():
    facts = []
    result = (
        line(("a", does("a")))
        .compile()
        .run_sync(Draft(), commit=lambda fact, snapshot: facts.append(snapshot.machine_id), machine_id="m7")
    )
    assert result.trace == ("a",)
    assert facts == ["m7", "m7"]


def test_run_sync_inside_of_a_loop_says_what_to_do():
    async def main():
        with pytest.raises(OrkeonError, match=r"await runner\.run"):
            loop(rounds=1).compile().run_sync(Draft())

    run(main())


def test_results_are_told_apart_by_what_they_say():
    result = ran(line(("a", does("a"))))
    assert "journal" not in repr(result)
    assert "final_state=Draft(done=['a'])" in repr(result)


def test_one_runner_serves_several_threads():
    told = []
    runner = loop(rounds=20).compile()
    runner.on_node_completed(lambda fact: told.append(fact.node_name))
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: runner.run_sync(Draft()), range(12)))
    assert {result.trace for result in results} == {("work", "look") * 20}
    assert len(told) == 12 * 40
