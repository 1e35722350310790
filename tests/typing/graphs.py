"""Checked by mypy, never run: what a graph's types are."""

from dataclasses import dataclass
from datetime import timedelta
from typing import assert_type

from orkeon_transitions import (
    END,
    START,
    CircuitBreakerPolicy,
    GraphCircuitBrokenError,
    MachineDefinition,
    StateGraph,
)
from orkeon_transitions.breaker import BreakerLimit
from orkeon_transitions.errors import NodeReturnError, RoutingError
from orkeon_transitions.graph import GraphCircuitBroken, GraphResult, GraphRunner, GraphStatus, NodeCompleted


@dataclass
class Pipeline:
    pending: list[str]


async def fetch(state: Pipeline) -> Pipeline:
    return state


async def fetch_in_place(state: Pipeline) -> None:
    state.pending.append("a")


def parse(state: Pipeline) -> None:
    state.pending.pop()


async def route(state: Pipeline) -> str:
    return "parse" if state.pending else END


def built() -> StateGraph[Pipeline]:
    return (
        StateGraph[Pipeline](CircuitBreakerPolicy.strict())
        .add_node("fetch", fetch, retry=2, timeout=timedelta(seconds=5))
        .add_node("again", fetch_in_place)
        .add_node("parse", parse)
        .add_node("decide", lambda state: state)
        .add_degraded_node("give up", parse)
        .add_edge(START, "fetch")
        .add_conditional_edge("fetch", route, ["parse", END])
        .add_conditional_edge("parse", lambda state: state.pending[0], {"decide"})
    )


async def used(graph: StateGraph[Pipeline]) -> None:
    assert_type(graph.definition(), MachineDefinition)
    runner = graph.compile()
    assert_type(runner, GraphRunner[Pipeline])
    assert_type(runner.run_sync(Pipeline([])), GraphResult[Pipeline])
    result = await runner.run(Pipeline([]))
    assert_type(result.final_state, Pipeline)
    assert_type(result.trace, tuple[str, ...])
    assert_type(result.status, GraphStatus)
    assert_type(result.duration, timedelta)
    async for completed in runner.stream(Pipeline([])):
        assert_type(completed, NodeCompleted[Pipeline])
        assert_type(completed.state.pending, list[str])
    leave = runner.on_node_completed(completed_node)
    leave()
    runner.on_circuit_broken(broken)
    loaded = StateGraph[Pipeline].from_definition("graph.yaml", {"parse": parse}, {"parse": route})
    assert_type(loaded, StateGraph[Pipeline])


def completed_node(fact: NodeCompleted[Pipeline]) -> None:
    assert_type(fact.ordinal, int)


def broken(fact: GraphCircuitBroken[Pipeline]) -> None:
    assert_type(fact.state, Pipeline)
    assert_type(fact.limit, BreakerLimit | None)


def caught(error: GraphCircuitBrokenError, wrong: NodeReturnError, lost: RoutingError) -> None:
    assert_type(error.reason, str)
    assert_type(error.trace, tuple[str, ...])
    assert_type(error.transition_count, int)
    assert_type(wrong.expected, type)
    assert_type(lost.allowed, tuple[str, ...])
