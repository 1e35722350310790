"""Compiling a graph: every problem at once, and none where there is none."""

import pytest

from orkeon_transitions import END, START, GraphDefinitionError, StateGraph, check_definition
from tests.graph.samples import Draft, does, line, loop


def graph_of(*names):
    graph = StateGraph[Draft]()
    for name in names:
        graph.add_node(name, does(name))
    return graph


def choose(*targets):
    return lambda draft: targets[0], list(targets)


def problems_of(graph):
    with pytest.raises(GraphDefinitionError) as error:
        graph.compile()
    for problem in error.value.problems:
        assert (problem.file, problem.line, problem.column) == (None, None, None)
        assert problem.message in str(error.value)
    return [(problem.path, problem.message) for problem in error.value.problems]


def test_every_problem_at_once():
    graph = (
        graph_of("a", "dead", "alone", "loop1", "loop2", "lost")
        .add_conditional_edge("a", *choose("dead", "loop1", "lost", "reviw"))
        .add_edge("alone", END)
        .add_edge("loop1", "loop2")
        .add_edge("loop2", "loop1")
        .add_edge("lost", "dead")
    )
    unreachable = [
        (name, f"node '{name}' cannot be reached from START")
        for name in ("a", "dead", "alone", "loop1", "loop2", "lost")
    ]
    assert problems_of(graph) == [
        (START, "no edge from START: nothing says where the graph begins"),
        ("dead", "node 'dead' has no outgoing edge"),
        ("a", "the target 'reviw' is no node"),
        *unreachable,
        ("a", "END cannot be reached from node 'a'"),
        ("loop1", "loop1 -> loop2 -> loop1 is a cycle that no router can leave"),
        ("lost", "END cannot be reached from node 'lost'"),
    ]


def test_an_unknown_target_comes_with_the_nearest_name():
    graph = graph_of("review").add_edge(START, "review").add_conditional_edge("review", *choose("reviw", END))
    with pytest.raises(GraphDefinitionError, match="did you mean 'review'") as error:
        graph.compile()
    assert [problem.hint for problem in error.value.problems] == ["review"]
    with pytest.raises(GraphDefinitionError, match="'reviw' is no node"):
        graph.definition()


@pytest.mark.parametrize(
    ("edges", "found"),
    [
        ([(START, "a"), ("a", "a")], ["a -> a is a cycle that no router can leave"]),
        ([(START, "a"), ("a", "b"), ("b", "a")], ["a -> b -> a is a cycle that no router can leave"]),
        (
            [(START, "a"), ("a", "b"), ("b", "b")],
            ["END cannot be reached from node 'a'", "b -> b is a cycle that no router can leave"],
        ),
    ],
)
def test_cycles_of_fixed_edges_are_told_once_with_their_path(edges, found):
    graph = graph_of(*sorted({source for source, _ in edges} - {START}))
    for edge in edges:
        graph.add_edge(*edge)
    assert [message for _, message in problems_of(graph)] == found


def test_a_trap_that_a_router_cannot_leave():
    graph = graph_of("a", "b").add_edge(START, "a").add_conditional_edge("a", *choose("b", END))
    graph.add_conditional_edge("b", *choose("b"))
    assert problems_of(graph) == [("b", "END cannot be reached from node 'b'")]


def test_a_router_without_targets_is_no_way_out():
    graph = graph_of("a").add_edge(START, "a").add_conditional_edge("a", *choose(END)[:1], [])
    assert problems_of(graph) == [("a", "node 'a' has no outgoing edge")]


def test_an_empty_graph_has_no_beginning():
    assert problems_of(StateGraph()) == [(START, "no edge from START: nothing says where the graph begins")]


def test_an_end_among_the_targets_is_fine():  # case F02
    graph = graph_of("a").add_edge(START, "a").add_conditional_edge("a", *choose(END, "a"))
    assert graph.compile().run_sync(Draft()).trace == ("a",)


@pytest.mark.parametrize(
    "graph",
    [
        loop(),
        line(("a", does("a")), ("b", does("b"))),
        line(("a", does("a"))).add_degraded_node("d", does("d")),
    ],
)
def test_the_machine_of_a_graph_that_compiles_has_no_findings(graph):
    assert check_definition(graph.compile().definition) == []
