"""Building a graph: what each call refuses at once, and what a built graph says of itself."""

from datetime import timedelta
from enum import Enum, StrEnum

import pytest

from orkeon_transitions import END, START, CircuitBreakerPolicy, StateGraph
from tests.graph.samples import Draft, does, limits, line, loop, ran


def graph_of_two():
    return StateGraph[Draft]().add_node("a", does("a")).add_node("b", does("b"))


@pytest.mark.parametrize(
    ("name", "why"),
    [
        (START, "reserved"),
        (END, "reserved"),
        ("a", "already"),
        ("spare", "already"),
        ("", "empty"),
        ("  ", "empty"),
        ("*", "meaning of its own"),
        ("=", "meaning of its own"),
        ("line\nend", "control character U\\+000A"),
        (None, "is text"),
        (5, "is text"),
        (b"a", "is text"),
    ],
)
def test_a_node_needs_a_name_of_its_own(name, why):
    graph = graph_of_two().add_degraded_node("spare", does("spare"))
    with pytest.raises(ValueError, match=why):
        graph.add_node(name, does("x"))


def test_one_degraded_node_is_enough():
    graph = graph_of_two()
    with pytest.raises(ValueError, match="'a' already"):
        graph.add_degraded_node("a", does("x"))
    graph.add_degraded_node("spare", does("x"))
    with pytest.raises(ValueError, match="degraded node already: 'spare'"):
        graph.add_degraded_node("other", does("x"))


@pytest.mark.parametrize("function", [None, "work", 5])
def test_a_node_is_a_function(function):
    with pytest.raises(TypeError, match="node 'x' must be a function"):
        StateGraph().add_node("x", function)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"retry": -1}, "retry"),
        ({"retry": True}, "retry"),
        ({"retry": 1.5}, "retry"),
        ({"retry": "2"}, "retry"),
        ({"timeout": 0}, "more than 0"),
        ({"timeout": timedelta(0)}, "more than 0"),
        ({"timeout": -1}, "not negative"),
        ({"timeout": float("nan")}, "number of seconds"),
        ({"timeout": float("inf")}, "number of seconds"),
        ({"timeout": "5"}, "number of seconds"),
        ({"timeout": True}, "number of seconds"),
        ({"retry_wait": -0.1}, "retry_wait"),
        ({"retry_wait": None}, "retry_wait"),
    ],
)
def test_options_of_a_node_out_of_range(options, why):
    with pytest.raises(ValueError, match=f"node 'x'.*{why}"):
        StateGraph().add_node("x", does("x"), **options)


@pytest.mark.parametrize(
    ("source", "target", "why"),
    [
        (END, "a", "no edge leaves END"),
        ("a", START, "no edge enters START"),
        ("a", "bb", "no node 'bb', did you mean 'b'"),
        ("ghost", "a", "no node 'ghost'"),
        ("b", "a", "'b' has an edge already"),
        (START, "a", f"'{START}' has an edge already"),
        ("spare", END, "is the degraded node"),
        ("a", "spare", "is the degraded node"),
        (None, "a", "is text"),
        ("a", None, "is text"),
    ],
)
def test_edges_that_cannot_be(source, target, why):
    graph = graph_of_two().add_degraded_node("spare", does("x")).add_edge(START, "a").add_edge("b", END)
    with pytest.raises(ValueError, match=why):
        graph.add_edge(source, target)


@pytest.mark.parametrize(
    ("source", "targets", "why"),
    [
        (END, ["a"], "no edge leaves END"),
        ("a", ["b", START], "no edge enters START"),
        ("ghost", ["a"], "no node 'ghost'"),
        ("b", ["a"], "'b' has an edge already"),
        ("a", ["b", ""], "empty"),
    ],
)
def test_conditional_edges_that_cannot_be(source, targets, why):
    graph = graph_of_two().add_conditional_edge("b", lambda draft: "a", ["a", END])
    with pytest.raises(ValueError, match=why):
        graph.add_conditional_edge(source, lambda draft: "a", targets)
    with pytest.raises(ValueError, match="has an edge already"):
        graph.add_edge("b", "a")


def test_a_router_is_a_function_and_targets_a_list():
    graph = graph_of_two()
    with pytest.raises(TypeError, match="router of node 'a'"):
        graph.add_conditional_edge("a", "b", ["b"])
    with pytest.raises(TypeError, match="not the text 'b'"):
        graph.add_conditional_edge("a", lambda draft: "b", "b")


def test_what_was_refused_has_changed_nothing():
    graph = line(("a", does("a")))
    before = graph.definition()
    for wrong in (
        lambda: graph.add_node("a", does("x")),
        lambda: graph.add_node("b", None),
        lambda: graph.add_edge("a", "b"),
        lambda: graph.add_edge("a", END),
        lambda: graph.add_conditional_edge("a", lambda draft: END, [END]),
    ):
        with pytest.raises((ValueError, TypeError)):
            wrong()
    assert graph.definition() == before
    assert ran(graph).final_state.done == ["a"]


class Name(StrEnum):
    WORK = "work"
    LOOK = "look"


class OldName(str, Enum):  # noqa: UP042 (programs that are older than StrEnum write this)
    WORK = "work"
    LOOK = "look"


@pytest.mark.parametrize("names", [Name, OldName])
def test_members_of_text_enums_are_names(names):
    graph = (
        StateGraph[Draft]()
        .add_node(names.WORK, does("work"))
        .add_node("look", does("look"))
        .add_edge(START, "work")
        .add_conditional_edge(names.WORK, lambda draft: names.LOOK, [names.LOOK])
        .add_edge(names.LOOK, END)
    )
    assert ran(graph).trace == ("work", "look")


def test_the_policy_is_strict_unless_it_is_given():
    assert StateGraph().policy == CircuitBreakerPolicy.strict()
    assert StateGraph(CircuitBreakerPolicy.permissive()).policy == CircuitBreakerPolicy.permissive()
    with pytest.raises(TypeError, match="CircuitBreakerPolicy, not 'strict'"):
        StateGraph("strict")


def test_a_graph_that_goes_on_growing_does_not_change_its_runners():
    graph = StateGraph[Draft]().add_node("a", does("a")).add_edge(START, "a")
    graph.add_conditional_edge("a", lambda draft: END, ["b", END]).add_node("b", does("b"))
    graph.add_edge("b", END)
    runner = graph.compile()
    graph.add_node("c", does("c"))
    assert runner.run_sync(Draft()).trace == ("a",)
    assert "c" not in runner.definition.states_by_name
    assert "c" in graph.definition().states_by_name


def test_a_graph_says_what_it_is():
    graph = loop(limits(max_transitions=3))
    assert repr(graph) == "<StateGraph 'graph' nodes=2>"
    assert repr(graph.compile()) == "<GraphRunner 'graph' nodes=2>"
    assert StateGraph(name="pipeline").name == "pipeline"
    assert graph.compile().policy == graph.policy == limits(max_transitions=3)


def test_a_graph_without_nodes_only_ends():
    result = ran(StateGraph[Draft]().add_edge(START, END))
    assert (result.trace, result.total_transitions, str(result.status)) == ((), 0, "completed")
