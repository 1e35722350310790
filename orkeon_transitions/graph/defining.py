"""From nodes and edges to the definition of the machine that a run fires."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orkeon_transitions.definition import MachineDefinition, StateDefinition, TransitionDefinition
from orkeon_transitions.definition.names import unused
from orkeon_transitions.errors import GraphDefinitionError
from orkeon_transitions.graph.checks import unknown_targets
from orkeon_transitions.graph.topology import END, START, STEP, Topology

Graph = Topology[Any]
Way = tuple[str, str]
# As in YAML that people write: `route_chose_end`, not `route_chose___end__`.
_SPOKEN = {START: "start", END: "end"}


def define(topology: Graph, *, of_run: bool = False) -> MachineDefinition:
    """Makes the definition: a state per node, a row per way, a guard per way that a router may choose.

    Args:
        topology: The graph.
        of_run: Whether it is what runs name in their records. Their limits are in their snapshots; a graph
            that was read from a definition runs that one, whatever limits a run was given.

    Raises:
        GraphDefinitionError: A router's target is no node.
    """
    if problems := list(unknown_targets(topology)):
        raise GraphDefinitionError(problems)
    guards = guards_of(topology)
    origin, degraded = topology.origin, topology.degraded
    return MachineDefinition(
        name=topology.name,
        description=origin.description if origin else None,
        initial=topology.state_name(START),
        states=(
            _state(topology, START, timeout=0),
            *(_state(topology, name) for name in topology.nodes),
            _state(topology, END, final=True),
            *([_state(topology, degraded.name, final=True)] if degraded else []),
        ),
        transitions=tuple(_row(topology, (source, target), guards) for source, target, _ in topology.ways()),
        degraded=degraded.name if degraded else None,
        circuit_breaker=origin.circuit_breaker if of_run and origin else topology.policy,
        guards={name: _meaning(topology, way) for way, name in guards.items()},
    )


def guards_of(topology: Graph) -> Mapping[Way, str]:
    """The name of the guard for each way that a router may choose: `<node>_chose_<target>`."""
    names: dict[Way, str] = {}
    taken: set[str] = set()
    for source, target, edge in topology.ways():
        if edge.router is not None:
            names[source, target] = unused(_guard_name(source, target), taken)
            taken.add(names[source, target])
    return names


def _state(topology: Graph, name: str, **content: Any) -> StateDefinition:
    """The state of a node; what the origin says of it stays."""
    spoken = topology.state_name(name)
    known = topology.origin.states_by_name.get(spoken) if topology.origin else None
    return known or StateDefinition(name=spoken, **content)


def _row(topology: Graph, way: Way, guards: Mapping[Way, str]) -> TransitionDefinition:
    source, target = way
    guard = guards.get(way)
    known = _origin_row(topology, way)
    return TransitionDefinition(
        trigger=STEP,
        source=(topology.state_name(source),),
        dest=topology.state_name(target),
        conditions=() if guard is None else (guard,),
        # Whoever has nothing left to do may end, whatever the limits say.
        always=target == END,
        description=known.description if known else None,
    )


def _meaning(topology: Graph, way: Way) -> str:
    known = _origin_row(topology, way)
    said = (
        topology.origin.guards.get(known.conditions[0])
        if topology.origin and known and known.conditions
        else None
    )
    source, target = (_SPOKEN.get(name, name) for name in way)
    return said or f"The router of {source} chose {target}"


def _origin_row(topology: Graph, way: Way) -> TransitionDefinition | None:
    if topology.origin is None:
        return None
    source, target = map(topology.state_name, way)
    rows = topology.origin.rows_by_state.get(source, ())
    return next((row for row in rows if row.dest == target), None)


def _guard_name(source: str, target: str) -> str:
    parts = (_SPOKEN.get(name, name) for name in (source, target))
    name = "_chose_".join(
        "".join(char if f"a{char}".isidentifier() else "_" for char in part) for part in parts
    )
    return name if name.isidentifier() else f"_{name}"
