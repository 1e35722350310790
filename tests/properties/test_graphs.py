"""Graphs of any shape: what compiles, how a run goes, and the way through a definition and back."""

from collections import Counter
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orkeon_transitions import (
    END,
    START,
    CircuitBreakerPolicy,
    GraphCircuitBrokenError,
    GraphDefinitionError,
    StateGraph,
    check_definition,
    load_definition,
)
from tests.strategies import any_names
from tests.virtual_time import run

MOST_NODES = 20


@dataclass
class Walk:
    """A state: what routers will choose, and what was done."""

    choices: list
    done: list = field(default_factory=list)


@st.composite
def shapes(draw, names=None, healthy=False):
    """Names and ways: `{source: (targets, has_router)}`; healthy ones compile."""
    drawn = st.integers(0, MOST_NODES - 1).map("n{}".format) if names is None else names
    nodes = draw(st.lists(drawn, min_size=1, max_size=MOST_NODES, unique=True))
    ways = {}
    for number, source in enumerate([START, *nodes]):
        following = [*nodes, END][number]
        fixed = st.just((following,)) if healthy else st.tuples(st.sampled_from([*nodes, END]))
        routed = st.lists(st.sampled_from([*nodes, END]), max_size=4, unique=True)
        if healthy:
            routed = routed.map(lambda targets, also=following: list(dict.fromkeys([*targets, also])))
        way = st.tuples(fixed, st.just(False)) | st.tuples(routed.map(tuple), st.just(True))
        ways[source] = draw(way if healthy else way | st.none())
    return nodes, {source: way for source, way in ways.items() if way is not None}


def choose(targets):
    return lambda walk: targets[walk.choices.pop() % len(targets)] if walk.choices else targets[-1]


def built(nodes, ways, policy=None):
    graph = StateGraph[Walk](policy)
    for name in nodes:
        graph.add_node(name, lambda walk, name=name: walk.done.append(name))
    for source, (targets, has_router) in ways.items():
        if has_router:
            graph.add_conditional_edge(source, choose(targets), targets)
        else:
            graph.add_edge(source, targets[0])
    return graph


def closure(starts, nexts):
    found, waiting = set(starts), list(starts)
    while waiting:
        for name in nexts.get(waiting.pop(), ()):
            if name not in found:
                found.add(name)
                waiting.append(name)
    return found


@given(shapes() | shapes(healthy=True))
def test_a_graph_compiles_exactly_when_every_node_is_reached_and_can_end(shape):
    nodes, ways = shape
    forward = {source: targets for source, (targets, _) in ways.items()}
    backward = {}
    for source, targets in forward.items():
        for target in targets:
            backward.setdefault(target, []).append(source)
    everything = {START, *nodes}
    right = everything <= closure([START], forward) and everything <= closure([END], backward)
    graph = built(nodes, ways)
    if right:
        assert check_definition(graph.compile().definition) == []
    else:
        with pytest.raises(GraphDefinitionError) as error:
            graph.compile()
        assert {problem.path for problem in error.value.problems} <= everything


@given(shapes(healthy=True))
def test_a_healthy_shape_compiles(shape):
    built(*shape).compile()


def walked(nodes, ways, choices, policy):
    """What a run must do: its trace, and the node at which it trips (None: it ends)."""
    choices, trace, visits, at = list(choices), [], Counter(), START
    while True:
        targets, has_router = ways[at]
        target = choose(targets)(Walk(choices)) if has_router else targets[0]
        if target == END:
            return trace, None
        if policy.max_transitions and len(trace) >= policy.max_transitions:
            return trace, target
        if policy.max_state_visits and visits[target] >= policy.max_state_visits:
            return trace, target
        trace.append(target)
        visits[target] += 1
        at = target


CHOICES = st.lists(st.integers(0, 11), max_size=40)


@given(shapes(healthy=True), CHOICES, st.integers(0, 12), st.integers(0, 4), st.booleans())
def test_a_run_ends_or_trips_where_the_model_does(shape, choices, transitions, visits, degrades):
    policy = CircuitBreakerPolicy(
        max_transitions=transitions or 200, max_state_visits=visits, use_degraded_mode=degrades
    )
    nodes, ways = shape
    trace, tripped_at = walked(nodes, ways, choices, policy)
    graph, walk, told = built(nodes, ways, policy), Walk(list(choices)), []
    if degrades:
        graph.add_degraded_node("spare", lambda walk: walk.done.append("spare"))
    runner = graph.compile()
    runner.on_node_completed(lambda fact: told.append(fact.node_name))

    async def main():
        return await runner.run(walk)

    if tripped_at is not None and not degrades:
        with pytest.raises(GraphCircuitBrokenError) as error:
            run(main())
        assert (error.value.node_name, error.value.state) == (tripped_at, walk)
        outcome, journal = error.value.trace, error.value.journal
        expected_journal = trace
    else:
        result = run(main())
        trace += [] if tripped_at is None else ["spare"]
        assert str(result.status) == ("completed" if tripped_at is None else "degraded")
        outcome, journal = result.trace, result.journal
        expected_journal = [*trace, *([END] if tripped_at is None else [])]
    assert list(outcome) == walk.done == told == trace
    assert [step.to_state for step in journal] == expected_journal
    assert [step.ordinal for step in journal] == list(range(1, len(journal) + 1))


@given(shapes(any_names().filter(lambda name: name not in {START, END}), healthy=True), CHOICES)
def test_a_graph_comes_back_from_its_definition(shape, choices):
    nodes, ways = shape
    policy = CircuitBreakerPolicy(max_transitions=30, max_state_visits=0)
    graph = built(nodes, ways, policy)
    definition = graph.definition()
    assert load_definition(definition.to_yaml()) == definition
    again = StateGraph.from_definition(
        definition.to_yaml(),
        {name: lambda walk, name=name: walk.done.append(name) for name in nodes},
        {source: choose(targets) for source, (targets, has_router) in ways.items() if has_router},
    )
    assert again.definition() == definition
    traces = []
    for each in (graph, again):
        try:
            traces.append(each.compile().run_sync(Walk(list(choices))).trace)
        except GraphCircuitBrokenError as error:
            traces.append((error.reason, error.trace))
    assert traces[0] == traces[1]
