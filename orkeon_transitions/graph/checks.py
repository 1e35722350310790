"""What can be wrong with a graph before it runs: all of it at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from orkeon_transitions.definition import nearest
from orkeon_transitions.errors import Problem
from orkeon_transitions.graph.topology import END, START, Topology

Graph = Topology[Any]


def find_problems(topology: Graph) -> list[Problem]:
    """Everything for which a graph cannot be compiled.

    There is nothing exactly when an edge leaves `START`, every target is known, and every node can be reached
    from `START` and can reach `END`.
    """
    return [
        *_missing_edges(topology),
        *unknown_targets(topology),
        *_never_reached(topology),
        *_never_ending(topology),
    ]


def unknown_targets(topology: Graph) -> Iterator[Problem]:
    """Targets that are no nodes."""
    known = {**topology.nodes, END: None}
    for source, target, _ in topology.ways():
        if target not in known:
            yield problem(source, f"the target '{target}' is no node", nearest(target, known))


def problem(node: str, message: str, hint: str | None = None) -> Problem:
    """A problem of a graph: its path is the node."""
    return Problem(file=None, line=None, column=None, path=node, message=message, hint=hint)


def _missing_edges(topology: Graph) -> Iterator[Problem]:
    if not _targets(topology, START):
        yield problem(START, "no edge from START: nothing says where the graph begins")
    for name in topology.nodes:
        if not _targets(topology, name):
            yield problem(name, f"node '{name}' has no outgoing edge")


def _never_reached(topology: Graph) -> Iterator[Problem]:
    reached, waiting = {START}, [START]
    while waiting:
        found = {target for target in _targets(topology, waiting.pop()) if target in topology.nodes} - reached
        reached |= found
        waiting += found
    for name in topology.nodes:
        if name not in reached:
            yield problem(name, f"node '{name}' cannot be reached from START")


def _never_ending(topology: Graph) -> Iterator[Problem]:
    """Nodes with a way out, none of whose ways comes to `END`."""
    ending = _ending(topology)
    lost = [name for name in topology.nodes if name not in ending and _targets(topology, name)]
    told: set[str] = set()
    for name in lost:
        if name in told:
            continue
        if cycle := _fixed_cycle(topology, name):
            told.update(cycle)
            path = " -> ".join([*cycle, cycle[0]])
            yield problem(name, f"{path} is a cycle that no router can leave")
        else:
            yield problem(name, f"END cannot be reached from node '{name}'")


def _ending(topology: Graph) -> set[str]:
    before: dict[str, list[str]] = {}
    for source, target, _ in topology.ways():
        before.setdefault(target, []).append(source)
    ending, waiting = {END}, [END]
    while waiting:
        found = set(before.get(waiting.pop(), ())) - ending
        ending |= found
        waiting += found
    return ending


def _fixed_cycle(topology: Graph, start: str) -> list[str]:
    """The cycle of unconditional edges on which a node lies, or an empty list."""
    path, at = {start: None}, start
    while (edge := topology.edges.get(at)) is not None and edge.router is None:
        at = edge.targets[0]
        if at in path:
            return list(path) if at == start else []
        path[at] = None
    return []


def _targets(topology: Graph, name: str) -> tuple[str, ...]:
    edge = topology.edges.get(name)
    return edge.targets if edge else ()
