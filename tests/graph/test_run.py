"""One run: the order of things, what nodes and routers may return, what their errors say."""

import asyncio
import copy
import pickle
from collections import deque
from dataclasses import dataclass
from enum import StrEnum

import pytest

from orkeon_transitions import END, START, OrkeonError, StateGraph
from orkeon_transitions.errors import NodeReturnError, RoutingError
from orkeon_transitions.graph import GraphStatus
from tests.graph.samples import Draft, does, limits, line, loop, ran, sleeps


def routed(answer, targets=("work", END)):
    """A node whose router gives this answer."""
    return (
        StateGraph[Draft]()
        .add_node("work", does("work"))
        .add_edge(START, "work")
        .add_conditional_edge("work", lambda draft: answer, targets)
    )


def test_the_pipeline_of_the_seed():
    @dataclass
    class Pipeline:
        pending: deque
        results: list

    def process(state):
        state.results.append(state.pending.popleft().upper())
        return state

    graph = (
        StateGraph[Pipeline]()
        .add_node("process", process)
        .add_node("decide", lambda state: state)
        .add_edge(START, "process")
        .add_edge("process", "decide")
        .add_conditional_edge("decide", lambda s: "process" if s.pending else END, ["process", END])
    )
    result = graph.compile().run_sync(Pipeline(deque("abc"), []))
    assert result.final_state.results == ["A", "B", "C"]
    assert result.trace == ("process", "decide") * 3
    assert result.total_transitions == 6
    assert result.status is GraphStatus.COMPLETED


def test_the_duration_is_that_of_the_clock():
    result = ran(line(("a", sleeps(30)), ("b", sleeps(12.5))))
    assert result.duration.total_seconds() == 42.5


async def an_async_node(draft):
    await asyncio.sleep(1)
    draft.done.append("work")


def gives_a_coroutine(draft):
    return an_async_node(draft)


def gives_a_task(draft):
    return asyncio.ensure_future(an_async_node(draft))


class AsyncCallable:
    async def __call__(self, draft):
        await an_async_node(draft)


class Awaited:
    def __init__(self, draft):
        self.draft = draft

    def __await__(self):
        yield from an_async_node(self.draft).__await__()
        return self.draft


@pytest.mark.parametrize(
    "node", [does("work"), an_async_node, gives_a_coroutine, gives_a_task, AsyncCallable(), Awaited]
)
def test_a_node_is_plain_or_async_or_gives_something_to_await(node):
    assert ran(line(("work", node))).final_state.done == ["work"]


def test_a_node_that_returns_another_state_replaces_it():
    first, second = Draft(["old"]), Draft(["new"])
    result = ran(line(("a", lambda draft: second), ("b", does("b"))), first)
    assert result.final_state is second
    assert (first.done, second.done) == (["old"], ["new", "b"])


def test_a_node_that_returns_none_keeps_the_state():
    first = Draft()
    assert ran(line(("a", lambda draft: None)), first).final_state is first


def test_a_state_may_be_none_from_the_beginning():
    graph = StateGraph().add_node("a", lambda state: None).add_edge(START, "a").add_edge("a", END)
    assert graph.compile().run_sync(None).final_state is None


class Rough(Draft):
    pass


class Fine(Draft):
    pass


@pytest.mark.parametrize(
    ("given", "returned"),
    [(Draft(), Rough()), (Rough(), Draft()), (Rough(), Rough()), ({}, {"a": 1}), (1, 2)],
)
def test_states_of_one_kind_may_follow_each_other(given, returned):
    assert ran(line(("a", lambda state: returned)), given).final_state is returned


class Unshown:
    def __repr__(self):
        raise RuntimeError("not now")


async def gives_items(draft):
    yield draft


@pytest.mark.parametrize(
    ("given", "returned"),
    [
        (Draft(), "text"),
        (Draft(), 5),
        (Draft(), False),
        (Draft(), object()),
        (Draft(), {"done": []}),
        (Draft(), Draft),
        (Draft(), Unshown()),
        (Draft(), "x" * 10_000),
        (Rough(), Fine()),
        (None, Draft()),
    ],
)
def test_a_node_that_returns_something_else_is_named(given, returned):
    given = given if given is None else type(given)()
    graph = StateGraph().add_node("first", lambda state: state).add_node("work", lambda state: returned)
    graph.add_edge(START, "first").add_edge("first", "work").add_edge("work", END)
    with pytest.raises(NodeReturnError, match=r"node 'work' returned .* of type") as error:
        graph.compile().run_sync(given)
    assert error.value.node == "work"
    assert error.value.value is returned
    assert error.value.expected is type(given)
    assert error.value.trace == ("first", "work")
    assert error.value.state is given
    assert len(str(error.value)) < 400
    assert type(given).__name__ in str(error.value)


def test_an_async_generator_is_no_node():
    with pytest.raises(NodeReturnError, match="async_generator"):
        ran(line(("work", gives_items)))


@pytest.mark.parametrize(
    "answer", ["reviw", "", None, True, False, 0, 5, ["work"], START, "END", Unshown(), does]
)
def test_a_router_must_answer_a_declared_name(answer):  # case F02
    with pytest.raises(
        RoutingError, match=r"the router of node 'work' answered .* allows 'work', '__end__'"
    ) as error:
        ran(routed(answer))
    assert error.value.node == "work"
    assert error.value.value is answer
    assert error.value.allowed == ("work", END)
    assert error.value.trace == ("work",)
    assert error.value.state.done == ["work"]
    assert isinstance(error.value, OrkeonError)


def test_a_router_may_not_answer_a_node_that_its_edge_does_not_declare():  # case F02
    graph = (
        StateGraph[Draft]()
        .add_node("work", does("work"))
        .add_node("review", does("review"))
        .add_edge(START, "work")
        .add_edge("review", END)
        .add_conditional_edge("work", lambda draft: END, ["review"])
    )
    with pytest.raises(RoutingError, match="answered '__end__'; its edge allows 'review'"):
        ran(graph)


def test_a_misspelt_answer_comes_with_the_nearest_name():  # case F02
    with pytest.raises(RoutingError, match="answered 'wrok' \\(did you mean 'work'\\?\\)"):
        ran(routed("wrok"))


class Answer(StrEnum):
    WORK = "work"


def test_a_router_may_be_async_and_answer_with_a_member_of_a_text_enum():
    async def route(draft):
        await asyncio.sleep(1)
        return Answer.WORK if len(draft.done) < 3 else END

    graph = StateGraph[Draft]().add_node("work", does("work")).add_edge(START, "work")
    graph.add_conditional_edge("work", route, ["work", END])
    assert ran(graph).trace == ("work",) * 3


def test_a_router_may_say_where_the_graph_begins():
    graph = StateGraph[Draft]().add_node("a", does("a")).add_node("b", does("b"))
    graph.add_edge("a", END).add_edge("b", END)
    graph.add_conditional_edge(START, lambda draft: draft.done[0], ["a", "b"])
    assert ran(graph, Draft(["b"])).trace == ("b",)
    with pytest.raises(RoutingError, match=f"node '{START}'") as error:
        ran(graph, Draft(["c"]))
    assert error.value.trace == ()


def test_a_router_runs_once_after_its_node():
    order = []

    def route(draft):
        order.append("route")
        return "work" if order.count("route") < 3 else END

    graph = StateGraph[Draft]().add_node("work", lambda draft: order.append("work")).add_edge(START, "work")
    graph.add_conditional_edge("work", route, ["work", END])
    ran(graph)
    assert order == ["work", "route"] * 3


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("part", ["node", "router"])
def test_what_a_node_or_a_router_raises_leaves_the_run_with_a_note(part, asynchronous):
    error = ValueError("no such paper")

    def fails(draft):
        raise error

    async def fails_later(draft):
        await asyncio.sleep(1)
        raise error

    bad = fails_later if asynchronous else fails
    graph = (
        StateGraph[Draft](name="papers")
        .add_node("first", does("first"))
        .add_node("work", bad if part == "node" else does("work"))
        .add_edge(START, "first")
        .add_edge("first", "work")
        .add_conditional_edge("work", bad if part == "router" else lambda draft: END, [END])
    )
    with pytest.raises(ValueError, match="no such paper") as raised:
        ran(graph)
    assert raised.value is error
    [note] = error.__notes__
    assert f"{part}" in note
    assert "'work'" in note
    assert "graph 'papers'" in note
    assert note.endswith("first -> work")


def test_the_note_of_a_long_run_shows_its_end():
    def fails_late(draft):
        draft.done.append("work")
        if len(draft.done) == 12:
            raise KeyError("twelve")

    with pytest.raises(KeyError) as error:
        ran(loop(rounds=100, node=fails_late))
    assert error.value.__notes__[0].endswith("... -> " + " -> ".join(["look", "work"] * 5))


def test_runs_of_one_runner_share_nothing():
    runner = loop(rounds=3, node=sleeps(0, "work")).compile()

    async def main():
        return await asyncio.gather(*(runner.run(Draft([n])) for n in range(20)))

    results = asyncio.run(main())
    assert [result.final_state.done[0] for result in results] == list(range(20))
    assert {result.trace for result in results} == {("work", "look") * 3}
    assert {result.journal[-1].ordinal for result in results} == {7}


def test_a_graph_may_run_inside_of_a_node_of_another():
    inner = loop(rounds=2).compile()

    async def node(draft):
        await inner.run(draft)

    assert ran(line(("inner", node), ("last", does("last")))).final_state.done == ["work", "work", "last"]


@pytest.mark.parametrize(
    "through", [copy.copy, copy.deepcopy, lambda error: pickle.loads(pickle.dumps(error))]
)
def test_errors_of_a_run_go_from_process_to_process(through):
    runners = [
        loop(limits(max_transitions=1)).compile(),
        routed("wrok").compile(),
        line(("work", lambda draft: 5)).compile(),
    ]
    for runner in runners:
        with pytest.raises(OrkeonError) as error:
            runner.run_sync(Draft())
        other = through(error.value)
        assert (type(other), str(other)) == (type(error.value), str(error.value))
        assert (other.trace, other.state) == (("work",), error.value.state)
