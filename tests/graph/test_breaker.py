"""The breaker of a run: what each limit counts, what a trip tells, what the degraded node does."""

import asyncio
import time

import pytest

from orkeon_transitions import (
    END,
    START,
    CircuitBreakerPolicy,
    CircuitBrokenError,
    GraphCircuitBrokenError,
    StateGraph,
)
from orkeon_transitions.breaker import BreakerLimit
from orkeon_transitions.facts import CircuitBroken
from tests.graph.samples import Draft, does, limits, line, loop, ran, sleeps
from tests.virtual_time import now, run


def broken(graph, **options):
    """Runs a graph that must trip; gives the error and what the subscriber was told."""
    told = []

    async def main():
        runner = graph.compile(clock=now)
        runner.on_circuit_broken(told.append)
        with pytest.raises(GraphCircuitBrokenError) as error:
            await runner.run(Draft(), **options)
        return error.value

    error = run(main())
    [fact] = told
    for name in ("reason", "limit", "node_name", "transition_count", "trace", "state", "status"):
        assert getattr(fact, name) == getattr(error, name)
    assert error.__cause__ is None
    assert error.__suppress_context__ or error.__context__ is None
    return error


# -------------------------------------------------------------------------------------------------- limits
@pytest.mark.parametrize("most", [1, 2, 3, 25])
def test_max_transitions_counts_node_executions_exactly(most):  # case F01
    error = broken(loop(limits(max_transitions=most)))
    assert error.transition_count == len(error.trace) == most
    assert error.trace == (("work", "look") * most)[:most]
    assert error.state.done == ["work"] * ((most + 1) // 2)
    assert error.node_name == ("look" if most % 2 else "work")
    assert error.limit is error.status.limit is BreakerLimit.MAX_TRANSITIONS
    assert error.reason == f"Max transitions exceeded ({most}/{most})"
    assert [step.to_state for step in error.journal] == list(error.trace)
    assert isinstance(error, CircuitBrokenError)


def test_the_message_says_where_and_how_to_allow_more():  # case F01
    message = str(broken(loop(limits(max_transitions=25))))
    for part in (
        "Max transitions exceeded (25/25)",
        "graph 'graph' stopped at node 'look' after 25 node executions",
        "... -> look -> work -> look -> work -> look -> work -> look -> work -> look -> work",
        "`state`",
        "CircuitBreakerPolicy(max_transitions=...)",
    ):
        assert part in message


@pytest.mark.parametrize("most", [1, 2, 5])
def test_max_state_visits_counts_the_executions_of_one_node(most):
    error = broken(loop(limits(max_state_visits=most)))
    assert error.trace == ("work", "look") * most
    assert (error.limit, error.node_name) == (BreakerLimit.MAX_STATE_VISITS, "work")
    assert error.reason.startswith("Cycle detected: state 'work'")
    assert error.reason.endswith(f"(allowed {most})")


@pytest.mark.parametrize("name", ["max_transitions", "max_state_visits"])
@pytest.mark.parametrize("spare", [0, 1])
def test_the_step_to_the_end_is_free(name, spare):
    """Also with a router, and where the limit has just been used up."""
    used = {"max_transitions": 6, "max_state_visits": 3}[name]
    result = ran(loop(limits(**{name: used + spare}), rounds=3))
    assert (result.total_transitions, str(result.status)) == (6, "completed")


@pytest.mark.parametrize("visits", [1, 2])
def test_start_and_end_take_no_visit_and_no_transition(visits):
    nodes = [(f"n{number}", does("x")) for number in range(4)]
    graph = line(*nodes, policy=limits(max_state_visits=visits, max_transitions=4))
    assert ran(graph).total_transitions == 4


def test_a_limit_of_zero_is_none():
    assert ran(loop(limits(), rounds=2000)).total_transitions == 4000


def test_the_default_policy_is_strict_and_trips_without_a_degraded_node():
    error = broken(loop(CircuitBreakerPolicy.strict()))
    assert error.trace == ("work", "look") * 5


def test_the_state_timeout_of_a_policy_is_not_for_nodes():
    policy = limits(state_timeout=1)
    assert ran(line(("a", sleeps(1000)), policy=policy)).final_state.done == ["begun slept", "slept"]


# --------------------------------------------------------------------------------------------------- clocks
def test_the_total_duration_is_judged_before_each_node():
    error = broken(loop(limits(max_total_duration=10), node=sleeps(4, "work")))
    assert error.trace == ("work", "look", "work", "look", "work")
    assert error.limit is BreakerLimit.MAX_TOTAL_DURATION
    assert error.reason.startswith("Max total duration exceeded")


@pytest.mark.parametrize("used", [0, 9])
def test_the_total_duration_ends_the_node_that_is_running(used):
    graph = line(
        ("first", sleeps(used, "first")), ("hung", sleeps(1000, "hung")), policy=limits(max_total_duration=10)
    )
    error = broken(graph)
    assert error.state.done == ["begun first", "first", "begun hung"]
    assert (error.node_name, error.trace) == ("hung", ("first", "hung"))
    assert 10 < error.status.total_elapsed.total_seconds() < 10.1


def test_a_node_that_is_stopped_can_tidy_up():
    async def node(draft):
        try:
            await asyncio.sleep(1000)
        finally:
            await asyncio.sleep(1)
            draft.done.append("tidied up")

    assert broken(line(("work", node), policy=limits(max_total_duration=10))).state.done == ["tidied up"]


def test_the_total_duration_ends_a_router_that_hangs():
    async def route(draft):
        await asyncio.sleep(1000)
        return END

    graph = StateGraph[Draft](limits(max_total_duration=10)).add_node("work", does("work"))
    graph.add_edge(START, "work").add_conditional_edge("work", route, [END])
    error = broken(graph)
    assert (error.node_name, error.trace, error.state.done) == ("work", ("work",), ["work"])


@pytest.mark.parametrize("answer", [Draft(["partial"]), None, "text"])
def test_a_node_that_is_stopped_can_answer_with_what_it_has(answer):
    async def node(draft):
        draft.done.append("begun")
        try:
            await asyncio.sleep(1000)
        except asyncio.CancelledError:
            return answer

    error = broken(line(("work", node), policy=limits(max_total_duration=10)))
    assert error.state.done == (["partial"] if isinstance(answer, Draft) else ["begun"])


class Clock:
    """Seconds that a plain node lets pass without suspending."""

    now = 0.0

    def __call__(self):
        return self.now

    def passes(self, seconds):
        def node(draft):
            self.now += seconds
            draft.done.append("work")

        return node


def test_the_clock_is_looked_at_between_nodes_that_never_suspend():
    clock = Clock()
    runner = loop(limits(max_total_duration=10), node=clock.passes(4)).compile(clock=clock)
    with pytest.raises(GraphCircuitBrokenError, match="Max total duration") as error:
        runner.run_sync(Draft())
    assert error.value.state.done == ["work"] * 3


def test_the_step_to_the_end_is_free_for_a_node_that_was_late():
    clock = Clock()
    runner = line(("a", clock.passes(1000)), policy=limits(max_total_duration=10)).compile(clock=clock)
    assert runner.run_sync(Draft()).final_state.done == ["work"]


@pytest.mark.parametrize("routed", [False, True])
def test_what_an_async_node_finished_though_it_was_late_is_kept(routed):
    """It blocks the loop until after the deadline, so that the timer rings when the work is done."""

    async def node(draft):
        await asyncio.sleep(0)
        time.sleep(0.05)
        return Draft(["late"])

    async def route(draft):
        raise AssertionError("nothing runs once the circuit is broken")

    policy = limits(max_total_duration=0.02)
    graph = (
        StateGraph[Draft](policy)
        .add_node("late", node)
        .add_node("next", does("next"))
        .add_edge(START, "late")
    )
    if routed:
        graph.add_conditional_edge("late", route, ["next"])
    else:
        graph.add_edge("late", "next")
    graph.add_edge("next", END)
    with pytest.raises(GraphCircuitBrokenError, match="Max total duration") as error:
        graph.compile().run_sync(Draft())
    assert error.value.state.done == ["late"]
    assert error.value.trace == ("late",)


def test_an_end_after_a_late_async_node_completes():
    async def node(draft):
        await asyncio.sleep(0)
        time.sleep(0.05)
        draft.done.append("late")

    result = line(("late", node), policy=limits(max_total_duration=0.02)).compile().run_sync(Draft())
    assert (result.final_state.done, str(result.status)) == (["late"], "completed")


# ------------------------------------------------------------------------------------------------- degraded
def degrading(graph, function=None):
    return graph.add_degraded_node("summarise", function or does("partial"))


@pytest.mark.parametrize(
    ("limit", "trace"),
    [
        ({"max_transitions": 3}, ("work", "look", "work", "summarise")),
        ({"max_state_visits": 1}, ("work", "look", "summarise")),
        ({"max_total_duration": 5}, ("work", "look", "work", "summarise")),
    ],
)
def test_the_degraded_node_ends_a_run_that_tripped(limit, trace):
    told, facts = [], []

    async def main():
        graph = degrading(loop(limits(use_degraded_mode=True, **limit), node=sleeps(4, "work")))
        runner = graph.compile(clock=now)
        runner.on_circuit_broken(told.append)
        runner.on_node_completed(lambda fact: told.append((fact.node_name, fact.ordinal, fact.trace)))
        return await runner.run(Draft(), commit=lambda fact, snapshot: facts.append(fact))

    result = run(main())
    assert (str(result.status), result.trace) == ("degraded", trace)
    assert result.total_transitions == len(trace)
    assert result.final_state.done[-1] == "partial"
    assert result.journal[-1].degraded
    assert [type(fact) for fact in facts].count(CircuitBroken) == 1
    assert told[-1] == ("summarise", len(trace), trace)
    assert told[-2].trace == trace[:-1]
    assert told[-2].limit == next(iter(limit))
    assert told[-2].transition_count == told[-2].status.total_transitions == len(trace) - 1


def test_without_degraded_mode_the_degraded_node_does_not_run():
    error = broken(degrading(loop(limits(max_transitions=3))))
    assert "partial" not in error.state.done


def test_a_run_within_its_limits_has_nothing_to_do_with_the_degraded_node():
    result = ran(degrading(loop(limits(use_degraded_mode=True, max_transitions=4), rounds=2)))
    assert (str(result.status), result.final_state.done) == ("completed", ["work", "work"])


def test_the_degraded_node_is_outside_of_the_limits():
    policy = limits(max_total_duration=5, max_transitions=1, use_degraded_mode=True)
    result = ran(degrading(loop(policy), sleeps(1000, "partial")))
    assert result.final_state.done == ["work", "begun partial", "partial"]


def test_what_the_degraded_node_raises_leaves_the_run():
    def fails(draft):
        raise ValueError("no words")

    with pytest.raises(ValueError, match="no words") as error:
        ran(degrading(loop(limits(max_transitions=1, use_degraded_mode=True)), fails))
    assert "node 'summarise'" in error.value.__notes__[0]


def test_a_degraded_node_that_trips_a_machine_of_its_own_is_not_this_run_tripping():
    async def trips(draft):
        await loop(limits(max_transitions=2)).compile(clock=now).run(draft)

    with pytest.raises(GraphCircuitBrokenError, match="after 2 node executions"):
        ran(degrading(loop(limits(max_transitions=1, use_degraded_mode=True)), trips))


@pytest.mark.parametrize("slow", [False, True])
def test_a_trip_while_the_consumer_of_a_stream_takes_its_time_degrades(slow):
    """Also where the commit hook needs a while, so that the move to the degraded state is still under way."""

    async def commit(fact, snapshot):
        await asyncio.sleep(3 if slow else 0)

    async def main():
        graph = degrading(loop(limits(max_total_duration=10, use_degraded_mode=True)))
        seen = []
        async for completed in graph.compile(clock=now).stream(Draft(), commit=commit):
            seen.append(completed.node_name)
            if completed.node_name == "look":
                await asyncio.sleep(11)
        return seen

    assert run(main()) == ["work", "look", "summarise"]


@pytest.mark.parametrize("asynchronous", [False, True])
def test_what_a_router_may_still_do_after_the_consumer_took_too_long(asynchronous):
    """The circuit is broken by then: a plain router may find the end, nothing is awaited any more."""

    def route(draft):
        return END

    async def route_later(draft):
        return END

    async def main():
        graph = StateGraph[Draft](limits(max_total_duration=10)).add_node("work", does("work"))
        graph.add_edge(START, "work").add_conditional_edge(
            "work", route_later if asynchronous else route, [END]
        )
        async for _ in graph.compile(clock=now).stream(Draft()):
            await asyncio.sleep(11)
        return "completed"

    if asynchronous:
        with pytest.raises(GraphCircuitBrokenError, match="stopped at node 'work' after 1 node execution "):
            run(main())
    else:
        assert run(main()) == "completed"


def test_a_router_that_hangs_degrades():
    async def route(draft):
        await asyncio.sleep(1000)

    graph = StateGraph[Draft](limits(max_total_duration=10, use_degraded_mode=True)).add_node(
        "work", does("work")
    )
    graph.add_edge(START, "work").add_conditional_edge("work", route, [END])
    assert ran(degrading(graph)).trace == ("work", "summarise")


def test_a_slow_commit_of_the_degrading_move_is_waited_for():
    async def commit(fact, snapshot):
        await asyncio.sleep(3)

    graph = degrading(
        line(("hung", sleeps(1000)), policy=limits(max_total_duration=10, use_degraded_mode=True))
    )
    assert ran(graph, commit=commit).trace == ("hung", "summarise")


def test_a_node_that_trips_a_machine_of_its_own_is_no_trip_of_the_run():
    told = []
    inner = loop(limits(max_transitions=1))

    async def node(draft):
        await inner.compile(clock=now).run(draft)

    async def main():
        runner = degrading(
            line(("a", node), policy=limits(max_transitions=9, use_degraded_mode=True))
        ).compile(clock=now)
        runner.on_circuit_broken(told.append)
        with pytest.raises(GraphCircuitBrokenError, match="stopped at node 'look'") as error:
            await runner.run(Draft())
        return error.value

    error = run(main())
    assert told == []
    assert "node 'a'" in error.__notes__[0]


def test_a_router_that_trips_a_machine_of_its_own_is_no_trip_of_the_run():
    async def route(draft):
        await loop(limits(max_transitions=1)).compile(clock=now).run(draft)

    graph = StateGraph[Draft](limits()).add_node("a", does("a")).add_edge(START, "a")
    graph.add_conditional_edge("a", route, [END])
    with pytest.raises(GraphCircuitBrokenError, match="stopped at node 'look'"):
        ran(graph)
