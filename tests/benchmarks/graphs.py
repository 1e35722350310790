"""One node of a graph: two async nodes in a loop, ours with its breaker on."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, TypedDict

from orkeon_transitions.breaker import CircuitBreakerPolicy
from orkeon_transitions.graph import END, START, StateGraph
from tests.benchmarks.pairs import AbsentError, Effort, Figures, Row, compare

Side = Callable[[int], Coroutine[Any, Any, Any]]
# All limits are on; none is reached.
HIGH = CircuitBreakerPolicy(
    max_transitions=10**9, state_timeout=10**6, max_state_visits=10**9, max_total_duration=10**6
)
# A run has so many nodes at least, so that its beginning does not matter.
LEAST = 200


@dataclass
class Work:
    """The state that runs through our graph."""

    left: int


def ours(nodes: int) -> Side:
    """A run of so many nodes."""

    async def work(state: Work) -> None:
        state.left -= 1

    async def check(state: Work) -> None:
        state.left -= 1

    runner = (
        StateGraph[Work](HIGH)
        .add_node("work", work)
        .add_node("check", check)
        .add_edge(START, "work")
        .add_edge("work", "check")
        .add_conditional_edge("check", lambda state: "work" if state.left > 0 else END, ["work", END])
        .compile()
    )

    async def run(count: int) -> None:
        result = await runner.run(Work(count))
        assert result.final_state.left <= 0

    return run


def langgraph() -> Side:
    """The same in LangGraph, without a checkpointer."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from langgraph.graph import END as LAST
            from langgraph.graph import START as FIRST
            from langgraph.graph import StateGraph as Graph
    except ImportError:
        raise AbsentError("LangGraph") from None

    class Left(TypedDict):
        left: int

    async def work(state: Any) -> Any:
        return {"left": state["left"] - 1}

    async def check(state: Any) -> Any:
        return {"left": state["left"] - 1}

    graph: Any = Graph(Left)
    graph.add_node("work", work)
    graph.add_node("check", check)
    graph.add_edge(FIRST, "work")
    graph.add_edge("work", "check")
    graph.add_conditional_edges(
        "check", lambda state: "work" if state["left"] > 0 else LAST, {"work": "work", LAST: LAST}
    )
    app = graph.compile()

    async def run(count: int) -> None:
        result = await app.ainvoke({"left": count}, {"recursion_limit": 10**9})
        assert result["left"] <= 0

    return run


def burr() -> Side:
    """The same in Apache Burr."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from burr.core import ApplicationBuilder, action, default, expr
    except ImportError:
        raise AbsentError("Burr") from None

    @action(reads=["left"], writes=["left"])
    async def work(state: Any) -> Any:
        return state.update(left=state["left"] - 1)

    @action(reads=["left"], writes=["left"])
    async def check(state: Any) -> Any:
        return state.update(left=state["left"] - 1)

    @action(reads=["left"], writes=[])
    async def last(state: Any) -> Any:
        return state

    async def run(count: int) -> None:
        app = (
            ApplicationBuilder()
            .with_actions(work=work, check=check, last=last)
            .with_transitions(
                ("work", "check"), ("check", "work", expr("left > 0")), ("check", "last", default)
            )
            .with_state(left=count)
            .with_entrypoint("work")
            .build()
        )
        _, _, state = await app.arun(halt_after=["last"])
        assert state["left"] <= 0

    return run


def pydantic_graph() -> Side:
    """The same in pydantic-graph."""
    try:
        import pydantic_graph as peer
    except ImportError:
        raise AbsentError("pydantic-graph") from None
    builder: Any = peer.GraphBuilder(state_type=Work, input_type=int, output_type=int)

    @builder.step
    async def work(ctx: Any) -> int:
        ctx.state.left -= 1
        return int(ctx.state.left)

    @builder.step
    async def check(ctx: Any) -> int:
        ctx.state.left -= 1
        return int(ctx.state.left)

    builder.add(
        builder.edge_from(builder.start_node).to(work),
        builder.edge_from(work).to(check),
        builder.edge_from(check).to(
            builder.decision()
            .branch(builder.match(int, matches=lambda left: left > 0).to(work))
            .branch(builder.match(int, matches=lambda left: left <= 0).to(builder.end_node))
        ),
    )
    graph = builder.build()

    async def run(count: int) -> None:
        result = await graph.run(state=Work(count), inputs=count)
        assert result <= 0

    return run


def bare(nodes: int = 0) -> Side:
    """No library: each node is a task with a timeout, which is the least that a deadline costs."""

    async def work(state: Work) -> None:
        state.left -= 1

    async def run(count: int) -> None:
        state = Work(count)
        while state.left > 0:
            async with asyncio.timeout(10**6):
                await asyncio.create_task(work(state))

    return run


def _beside(make: Callable[[], Side]) -> Callable[[Effort], Figures]:
    def measure(effort: Effort) -> Figures:
        theirs = make()
        with asyncio.Runner() as runner:
            mine = ours(0)
            return compare(
                lambda n: runner.run(mine(n)),
                lambda n: runner.run(theirs(n)),
                effort,
                least=max(LEAST // effort.factor, 2),
            )

    return measure


def _length(effort: Effort) -> Figures:
    """A node of a long run beside a node of a short one: neither cost nor memory may grow."""
    from tests.benchmarks.pairs import Pairs, cpu

    short, long = 1_000 // effort.factor, 20_000 // effort.factor
    run, pairs = ours(0), Pairs()
    with asyncio.Runner() as runner:
        runner.run(run(short))
        for _ in range(effort.rounds):
            pairs.add(cpu(lambda: runner.run(run(long))) / long, cpu(lambda: runner.run(run(short))) / short)
    return pairs.figures()


OURS = "`GraphRunner` per node, async nodes, breaker on"
TABLE = [
    Row("graph-langgraph", OURS, "LangGraph 1.2 without checkpointer", _beside(langgraph), 0.10, 0.05),
    Row("graph-burr", OURS, "Apache Burr", _beside(burr), 0.7, 0.4),
    Row("graph-pydantic-graph", OURS, "pydantic-graph", _beside(pydantic_graph)),
    Row("graph-bare", OURS, "a bare task with a timeout", _beside(bare)),
    Row("graph-length", "a node of a run of 20,000", "a node of a run of 1,000", _length),
]
