"""The way back: from a machine definition and functions to the parts of a graph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from orkeon_transitions.breaker import CircuitBreakerPolicy
from orkeon_transitions.definition import (
    MachineDefinition,
    StateDefinition,
    TransitionDefinition,
    load_definition,
    nearest,
)
from orkeon_transitions.definition.models import SAME_STATE
from orkeon_transitions.definition.places import Path as Place
from orkeon_transitions.definition.places import dotted
from orkeon_transitions.errors import GraphDefinitionError, Problem
from orkeon_transitions.graph.topology import END, START, STEP, Edge, Node, Topology, end_state

Found = tuple[Place, str, str | None]


def read_topology(
    definition: MachineDefinition | Mapping[str, Any] | str | Path,
    nodes: Mapping[str, Any],
    routers: Mapping[str, Any],
    policy: CircuitBreakerPolicy | None,
) -> Topology[Any]:
    """Reads a definition as a graph; see `StateGraph.from_definition`."""
    machine = load_definition(definition)
    found = [*_ends(machine), *_states(machine), *_rows(machine)]
    if not found:
        found = [*_functions(machine, nodes), *_routers(machine, routers)]
    if found:
        raise GraphDefinitionError(_problem(machine, *each) for each in found)
    names, degraded = _node_names(machine), machine.degraded
    edges = {
        START if name == machine.initial else name: _edge(machine, name, routers)
        for name, rows in machine.rows_by_state.items()
        if rows
    }
    return Topology(
        name=machine.name,
        policy=policy or machine.circuit_breaker or CircuitBreakerPolicy.strict(),
        nodes={name: Node.checked(name, nodes[name]) for name in names if name != degraded},
        edges=edges,
        degraded=None if degraded is None else Node.checked(degraded, nodes[degraded]),
        origin=machine,
    )


def _ends(machine: MachineDefinition) -> Iterator[Found]:
    """Where runs begin and end: one initial, one final, and perhaps one degraded state."""
    ends = [name for name in machine.final_states if name != machine.degraded]
    if len(ends) != 1:
        found = f"{len(ends)}: {', '.join(sorted(ends))}" if ends else "none"
        yield (
            ("states",),
            f"a graph has one final state (besides the degraded one), this machine has {found}",
            None,
        )
    if machine.initial in machine.final_states or machine.initial == machine.degraded:
        yield ("initial",), f"a graph begins in a state of its own, '{machine.initial}' is an end", None
    if machine.degraded is not None and machine.degraded not in machine.final_states:
        yield ("degraded",), f"the degraded node ends a run: '{machine.degraded}' must be final", None


def _states(machine: MachineDefinition) -> Iterator[Found]:
    for number, state in enumerate(machine.states):
        place = ("states", number)
        for key in ("on_enter", "on_exit", "on_timeout"):
            if getattr(state, key):
                yield (*place, key), f"'{key}' has no meaning in a graph: what is done is done by nodes", None
        if state.name in (START, END) and _is_node(machine, state):
            yield place, f"'{state.name}' is reserved: it is no name for a node", None


def _rows(machine: MachineDefinition) -> Iterator[Found]:
    for number, row in enumerate(machine.transitions):
        place = ("transitions", number)
        if row.trigger != STEP:
            yield (*place, "trigger"), f"a graph knows the trigger '{STEP}' only, not '{row.trigger}'", None
        for key in ("before", "after", "unless"):
            if getattr(row, key):
                yield (*place, key), f"'{key}' has no meaning in a graph: a step only moves", None
        if len(row.conditions) > 1:
            yield (*place, "conditions"), "a step has one guard, which means what the router chose", None
        if message := _wrong_dest(machine, row):
            yield (*place, "dest"), message, None


def _wrong_dest(machine: MachineDefinition, row: TransitionDefinition) -> str | None:
    sources = machine.sources_of(row)
    if row.dest is None:
        return "a step goes to a node: it cannot be internal"
    if row.dest == machine.initial or (row.dest == SAME_STATE and machine.initial in sources):
        return f"no edge enters the start, '{machine.initial}'"
    if row.dest == machine.degraded:
        return f"no edge enters the degraded node, '{row.dest}'"
    return None


def _functions(machine: MachineDefinition, nodes: Mapping[str, Any]) -> Iterator[Found]:
    """Nodes without a function, and functions without a node."""
    names = _node_names(machine)
    for number, state in enumerate(machine.states):
        if state.name in names and state.name not in nodes:
            yield ("states", number), f"no function is given for node '{state.name}'", None
    for name in nodes:
        if name not in names:
            yield (), f"a function is given for '{name}', which is no node", nearest(name, names)


def _routers(machine: MachineDefinition, routers: Mapping[str, Any]) -> Iterator[Found]:
    for number, state in enumerate(machine.states):
        rows = machine.rows_by_state[state.name]
        if (len(rows) > 1 or any(row.conditions for row in rows)) and _router(
            machine, state.name, routers
        ) is None:
            yield (
                ("states", number),
                f"no router is given for node '{state.name}', which has several ways",
                None,
            )
    leaving = [name for name, rows in machine.rows_by_state.items() if rows]
    known = [START, *leaving] if machine.initial in leaving else leaving
    for name, router in routers.items():
        if name not in known:
            yield (), f"a router is given for '{name}', which has no ways out", nearest(name, known)
        elif not callable(router):
            yield (), f"the router of node '{name}' must be a function of the state, not {router!r}", None


def _edge(machine: MachineDefinition, state: str, routers: Mapping[str, Any]) -> Edge[Any]:
    known = {end_state(machine): END}
    rows = machine.rows_by_state[state]
    dests = (state if row.dest == SAME_STATE else str(row.dest) for row in rows)
    targets = tuple(dict.fromkeys(known.get(dest, dest) for dest in dests))
    return Edge(targets, _router(machine, state, routers))


def _router(machine: MachineDefinition, state: str, routers: Mapping[str, Any]) -> Any:
    return routers.get(state, routers.get(START) if state == machine.initial else None)


def _is_node(machine: MachineDefinition, state: StateDefinition) -> bool:
    is_end = state.final and state.name != machine.degraded
    return state.name != machine.initial and not is_end


def _node_names(machine: MachineDefinition) -> list[str]:
    """The states that need a function, the degraded one among them."""
    return [state.name for state in machine.states if _is_node(machine, state)]


def _problem(machine: MachineDefinition, path: Place, message: str, hint: str | None) -> Problem:
    """A problem with the place in the file, where the definition came from one."""
    origin = machine.origin
    return Problem(origin.file, *origin.place(path), dotted(path), message, hint)
