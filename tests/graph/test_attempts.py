"""Retries and time limits of single nodes."""

import asyncio
import threading
from itertools import pairwise

import pytest

from orkeon_transitions import END, START, GraphCircuitBrokenError, StateGraph
from orkeon_transitions.errors import NodeReturnError
from tests.graph.samples import Draft, does, limits, line, ran, sleeps
from tests.virtual_time import now, run


class Flaky:
    """A node that fails so many times before it succeeds, and changes the state each time.

    Attributes:
        calls: When it was called, and what it was given.
    """

    def __init__(self, failures, error=ValueError, *, asynchronous=True):
        self.failures = failures
        self.error = error
        self.calls = []
        self.asynchronous = asynchronous

    def __call__(self, draft):
        return self.later(draft) if self.asynchronous else self.work(draft)

    async def later(self, draft):
        await asyncio.sleep(0)
        self.work(draft)

    def work(self, draft):
        self.calls.append((now(), list(draft.done)))
        draft.done.append(f"attempt {len(self.calls)}")
        if len(self.calls) <= self.failures:
            raise self.error("again")


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("failures", [0, 1, 2])
def test_an_attempt_starts_from_the_state_before_the_node(failures, asynchronous):
    node = Flaky(failures, asynchronous=asynchronous)
    result = ran(line(("a", node), retry=2), Draft(["before"]))
    assert [given for _, given in node.calls] == [["before"]] * (failures + 1)
    assert result.final_state.done == ["before", f"attempt {failures + 1}"]
    assert result.total_transitions == 1  # attempts are one execution of the node


@pytest.mark.parametrize("retry", [0, 1, 2])
def test_so_many_retries_are_one_call_more(retry):  # case F05
    node = Flaky(100)
    with pytest.raises(ValueError, match="again") as error:
        ran(line(("a", node), retry=retry))
    assert len(node.calls) == retry + 1
    assert f"node 'a' (attempt {retry + 1} of {retry + 1})" in error.value.__notes__[0]


def test_the_waits_double_and_are_bounded():  # case F05
    node = Flaky(100)
    with pytest.raises(ValueError, match="again"):
        ran(line(("a", node), retry=8, retry_wait=0.5))
    times = [at for at, _ in node.calls]
    assert [second - first for first, second in pairwise(times)] == [
        0.5,
        1,
        2,
        4,
        5,
        5,
        5,
        5,
    ]


def test_many_retries_do_not_overflow():
    node = Flaky(2000)
    assert ran(line(("a", node), retry=2000, retry_wait=0.001)).trace == ("a",)


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, asyncio.CancelledError])
def test_what_ends_a_program_or_a_task_is_not_retried(error):  # case F05
    node = Flaky(100, error, asynchronous=False)
    with pytest.raises(error):
        ran(line(("a", node), retry=5))
    assert len(node.calls) == 1


@pytest.mark.parametrize("error", [KeyboardInterrupt, asyncio.CancelledError])
def test_nor_is_it_in_an_async_node(error):  # case F05
    calls = []

    async def node(draft):
        calls.append(1)
        raise error

    with pytest.raises(error):
        line(("a", node), retry=5).compile().run_sync(Draft())
    assert len(calls) == 1


def test_a_trip_of_an_inner_graph_is_not_retried():  # case F05
    calls = []
    inner = line(("x", does("x")), ("y", does("y")), policy=limits(max_transitions=1))

    async def node(draft):
        calls.append(1)
        await inner.compile(clock=now).run(draft)

    with pytest.raises(GraphCircuitBrokenError):
        ran(line(("a", node), retry=5))
    assert len(calls) == 1


def test_a_trip_of_the_run_is_not_retried():  # case F05
    calls = []

    async def node(draft):
        calls.append(1)
        await asyncio.sleep(1000)

    with pytest.raises(GraphCircuitBrokenError):
        ran(line(("a", node), retry=5, policy=limits(max_total_duration=5)))
    assert len(calls) == 1


@pytest.mark.parametrize("wait", [0, 3])
@pytest.mark.parametrize("asynchronous", [False, True])
def test_retries_end_with_the_total_duration(wait, asynchronous):  # case F05
    """No storm: the clock is looked at before each attempt, also of nodes that never suspend."""
    moments = [0.0]

    def node(draft):
        moments[0] += 1
        raise ValueError("again")

    async def later(draft):
        await asyncio.sleep(1)
        raise ValueError("again")

    graph = line(
        ("a", later if asynchronous else node),
        retry=10**9,
        retry_wait=wait,
        policy=limits(max_total_duration=10),
    )

    async def main():
        clock = now if asynchronous or wait else lambda: moments[0]
        with pytest.raises(GraphCircuitBrokenError, match="Max total duration") as error:
            await graph.compile(clock=clock).run(Draft())
        return error.value

    assert run(main()).node_name == "a"


def test_a_degraded_node_sees_what_the_last_attempt_did():
    async def node(draft):
        draft.done.append("begun")
        await asyncio.sleep(4)
        raise ValueError("again")

    policy = limits(max_total_duration=10, use_degraded_mode=True)
    graph = line(("a", node), retry=100, policy=policy).add_degraded_node("d", does("partial"))
    assert ran(graph).final_state.done == ["begun", "partial"]


def test_a_state_that_cannot_be_copied_says_what_needs_the_copy():
    with pytest.raises(TypeError) as error:
        ran(line(("a", does("a")), retry=1), Draft([threading.Lock()]))
    assert "node 'a' cannot be copied, which its retry needs" in error.value.__notes__[0]
    assert ran(line(("a", does("a"))), Draft([threading.Lock()])).trace == ("a",)


def test_a_wrong_type_is_not_retried():
    calls = []
    with pytest.raises(NodeReturnError):
        ran(line(("a", lambda draft: calls.append(1) or "text"), retry=5))
    assert len(calls) == 1


# --------------------------------------------------------------------------------------------- time limits
def test_an_attempt_that_takes_too_long_is_cancelled():
    draft = Draft()
    with pytest.raises(TimeoutError, match="node 'a' took more than 2 s") as error:
        ran(line(("a", sleeps(1000)), timeout=2), draft)
    assert draft.done == ["begun slept"]
    assert "node 'a'" in error.value.__notes__[0]


def test_an_attempt_in_time_is_not_disturbed():
    assert ran(line(("a", sleeps(1)), ("b", sleeps(1)), timeout=2)).trace == ("a", "b")


def test_the_time_is_each_attempts_own():
    waits = iter([5, 5, 1])

    async def node(draft):
        await asyncio.sleep(next(waits))

    assert ran(line(("a", node), timeout=2, retry=2)).duration.total_seconds() == pytest.approx(5.3)


def test_a_timeout_of_the_nodes_own_stays_what_it_is():
    own = TimeoutError("the page")

    async def node(draft):
        raise own

    with pytest.raises(TimeoutError) as error:
        ran(line(("a", node), timeout=2))
    assert error.value is own


def test_a_node_that_never_suspends_fails_when_it_is_done():
    def blocks(draft):
        asyncio.get_running_loop().now += 3
        draft.done.append("late")

    draft = Draft()
    with pytest.raises(TimeoutError, match="more than 2 s"):
        ran(line(("a", blocks), timeout=2), draft)
    assert draft.done == ["late"]


def test_the_total_duration_comes_before_a_longer_timeout():
    with pytest.raises(GraphCircuitBrokenError, match="Max total duration"):
        ran(line(("a", sleeps(1000)), timeout=100, policy=limits(max_total_duration=5)))


def test_nodes_have_options_of_their_own():
    graph = StateGraph[Draft](limits()).add_node("a", Flaky(1), retry=1).add_node("b", sleeps(5), timeout=6)
    graph.add_edge(START, "a").add_edge("a", "b").add_edge("b", END)
    assert ran(graph).trace == ("a", "b")
