"""Typed state graphs (seed 002): nodes that work on one state, edges that say who comes next.

What belongs here is the way from nodes, edges and routers to a `MachineDefinition`, what can be wrong with
them, and the order of one run: step, node, router, step. The steps themselves are made by an
`AsyncStateMachine` of that definition, and its breaker is the run's. What never belongs here: a second way to
make a transition, a limit of its own, agents and tasks. Begin with `StateGraph()`, `add_node`, `add_edge` and
`compile().run_sync(state)`; `orkeon docs migration` has one beside LangGraph's.
"""

from orkeon_transitions.graph.facts import GraphCircuitBroken, GraphResult, GraphStatus, NodeCompleted
from orkeon_transitions.graph.runner import GraphRunner
from orkeon_transitions.graph.state_graph import StateGraph
from orkeon_transitions.graph.topology import END, START

__all__ = [
    "END",
    "START",
    "GraphCircuitBroken",
    "GraphResult",
    "GraphRunner",
    "GraphStatus",
    "NodeCompleted",
    "StateGraph",
]
