"""The builder: nodes and edges, one after another, until they are compiled."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, Generic, Self

from orkeon_transitions.breaker import CircuitBreakerPolicy
from orkeon_transitions.definition import MachineDefinition, nearest
from orkeon_transitions.errors import GraphDefinitionError
from orkeon_transitions.graph.checks import find_problems
from orkeon_transitions.graph.defining import define
from orkeon_transitions.graph.reading import read_topology
from orkeon_transitions.graph.runner import GraphRunner
from orkeon_transitions.graph.topology import (
    END,
    START,
    Edge,
    Node,
    NodeFunction,
    Router,
    S,
    Topology,
    node_name,
)


class StateGraph(Generic[S]):
    """Nodes that work on one state of the type `S`, and edges that say which one comes next (seed 002).

    Methods that add something give the graph back, so that they can be chained. `compile()` checks the whole
    and gives a runner; the graph can be changed and compiled again, without an effect on earlier runners.

    Args:
        policy: The limits of each run; `CircuitBreakerPolicy.strict()` if not given.
        name: The name of the graph's machine in messages, journals and pictures.
    """

    def __init__(self, policy: CircuitBreakerPolicy | None = None, *, name: str = "graph") -> None:
        if policy is not None and not isinstance(policy, CircuitBreakerPolicy):
            raise TypeError(f"policy must be a CircuitBreakerPolicy, not {policy!r}")
        self._policy = policy or CircuitBreakerPolicy.strict()
        self._name = node_name(name)
        self._nodes: dict[str, Node[S]] = {}
        self._edges: dict[str, Edge[S]] = {}
        self._degraded: Node[S] | None = None
        self._origin: MachineDefinition | None = None

    @classmethod
    def from_definition(
        cls,
        definition: MachineDefinition | Mapping[str, Any] | str | Path,
        nodes: Mapping[str, NodeFunction[S]],
        routers: Mapping[str, Router[S]] | None = None,
        policy: CircuitBreakerPolicy | None = None,
    ) -> Self:
        """Makes a graph of a machine definition, as `definition()` gives it or as YAML declares it.

        The initial state is `START`, the final one `END`, the degraded one (if there is one) the degraded
        node; every other state is a node. The one trigger is `step`. A state with several rows, or with a
        guarded one, needs a router; its rows' guards then mean what the router answers.

        Args:
            definition: A definition, or what `load_definition` reads.
            nodes: The function of each node, the degraded one included.
            routers: The router of each state that needs one.
            policy: The limits; the definition's own if not given, else strict.

        Raises:
            GraphDefinitionError: With everything for which the definition is no graph, or does not suit the
                functions.
            DefinitionError: It is no definition at all.
        """
        topology = read_topology(definition, nodes, routers or {}, policy)
        graph = cls(topology.policy, name=topology.name)
        graph._nodes.update(topology.nodes)
        graph._edges.update(topology.edges)
        graph._degraded, graph._origin = topology.degraded, topology.origin
        return graph

    @property
    def policy(self) -> CircuitBreakerPolicy:
        """The limits of each run."""
        return self._policy

    @property
    def name(self) -> str:
        """The name of the graph's machine."""
        return self._name

    def add_node(
        self,
        name: str,
        function: NodeFunction[S],
        *,
        retry: int = 0,
        timeout: float | timedelta | None = None,
        retry_wait: float | timedelta = 0.1,
    ) -> Self:
        """Adds a node.

        Args:
            name: Any text of its own.
            function: An async or plain function of the state. It returns the whole state (no partial update),
                or None when it changed the state in place.
            retry: How many more attempts it gets when one raises: `retry=2` are three calls at most. Each
                one begins with a copy (`copy.deepcopy`) of the state as it was before the node; all count as
                one execution. A cancellation, a `KeyboardInterrupt` and a trip of a circuit breaker are never
                retried.
            timeout: Seconds that one attempt may take before it is cancelled and fails with a `TimeoutError`.
                A function that never suspends cannot be stopped; it fails when it is done.
            retry_wait: Seconds before the second attempt; doubled for each one after it, 5 at most.

        Raises:
            ValueError: The name is reserved or taken, or an option is out of range.
            TypeError: The function cannot be called.
        """
        name = self._new_name(name)
        self._nodes[name] = Node.checked(name, function, retry, timeout, retry_wait)
        return self

    def add_degraded_node(self, name: str, function: NodeFunction[S]) -> Self:
        """Adds the node that runs once, outside of all limits, when a limit was passed.

        It needs a policy with `use_degraded_mode`; it has no edges.

        Raises:
            ValueError: The name is reserved or taken, or there is a degraded node already.
            TypeError: The function cannot be called.
        """
        if self._degraded is not None:
            raise ValueError(f"there is a degraded node already: '{self._degraded.name}'")
        name = self._new_name(name)
        self._degraded = Node.checked(name, function)
        return self

    def add_edge(self, source: str, target: str) -> Self:
        """Adds the one way out of a node.

        Args:
            source: A node that was added before, or `START`.
            target: A node that was added before, or `END`.

        Raises:
            ValueError: It leaves `END` or enters `START`, an end is unknown, or the source has an edge.
        """
        source, target = self._source(source), self._target(target)
        if target != END and target not in self._nodes:
            raise ValueError(self._unknown(target, [*self._nodes, END]))
        self._edges[source] = Edge((target,))
        return self

    def add_conditional_edge(self, source: str, router: Router[S], targets: Iterable[str]) -> Self:
        """Adds the ways out of a node, among which a router chooses.

        Args:
            source: A node that was added before, or `START`.
            router: An async or plain function of the state that gives the name of a target. It is asked once
                each time, after the node has done its work.
            targets: The names that it may give. They need not be added yet; `compile()` looks for them.

        Raises:
            ValueError: It leaves `END` or enters `START`, the source is unknown, or has an edge.
            TypeError: The router cannot be called, or `targets` is one text.
        """
        source = self._source(source)
        if not callable(router):
            raise TypeError(f"the router of node '{source}' must be a function of the state, not {router!r}")
        if isinstance(targets, str):
            raise TypeError(f"the targets of node '{source}' are a list of names, not the text '{targets}'")
        self._edges[source] = Edge(tuple(dict.fromkeys(map(self._target, targets))), router)
        return self

    def definition(self) -> MachineDefinition:
        """The machine that this graph is: a state per node, the trigger `step`, a guard per router's choice.

        Raises:
            GraphDefinitionError: A router's target is no node.
        """
        return define(self._topology())

    def compile(
        self, *, clock: Callable[[], float] = time.monotonic, trace_limit: int | None = None
    ) -> GraphRunner[S]:
        """Checks the graph and makes it ready to run.

        Args:
            clock: Monotonic seconds.
            trace_limit: How many of the last nodes and steps a run remembers for its trace and journal; None:
                all. With a limit a run needs no more memory in the end than in the beginning, however long
                it is; counts, limits and the commit hook are not concerned.

        Raises:
            ValueError: `trace_limit` is no whole number, or negative.
            GraphDefinitionError: With every problem: no edge from `START`, a node without an outgoing edge,
                an unknown target, a node that cannot be reached or from which `END` cannot be reached, a
                cycle that no router can leave.
        """
        topology = self._topology()
        if problems := find_problems(topology):
            raise GraphDefinitionError(problems)
        return GraphRunner(topology, clock=clock, trace_limit=trace_limit)

    def _topology(self) -> Topology[S]:
        """The graph as it is now; what is added later does not change it."""
        return Topology(
            name=self._name,
            policy=self._policy,
            nodes=dict(self._nodes),
            edges=dict(self._edges),
            degraded=self._degraded,
            origin=self._origin,
        )

    def _new_name(self, given: str) -> str:
        name = node_name(given)
        if name in self._reserved():
            raise ValueError(f"'{name}' is reserved: it is no name for a node")
        if name in self._nodes or (self._degraded is not None and name == self._degraded.name):
            raise ValueError(f"there is a node '{name}' already")
        return name

    def _reserved(self) -> set[str]:
        topology = self._topology()
        return {START, END, topology.state_name(START), topology.state_name(END)}

    def _source(self, given: str) -> str:
        name = node_name(given)
        if name == END:
            raise ValueError("no edge leaves END")
        if name != START and name not in self._nodes:
            raise ValueError(self._unknown(name, [*self._nodes, START]))
        if name in self._edges:
            raise ValueError(f"node '{name}' has an edge already: a node has one, fixed or conditional")
        return name

    def _target(self, given: str) -> str:
        name = node_name(given)
        if name == START:
            raise ValueError("no edge enters START")
        return name

    def _unknown(self, name: str, known: list[str]) -> str:
        if self._degraded is not None and name == self._degraded.name:
            return f"'{name}' is the degraded node, which has no edges"
        hint = nearest(name, known)
        return f"there is no node '{name}'" + (f", did you mean '{hint}'?" if hint else "")

    def __repr__(self) -> str:
        return f"<StateGraph '{self._name}' nodes={len(self._nodes)}>"

    def _repr_mimebundle_(self, **_limits: Any) -> dict[str, Any]:
        from orkeon_transitions.diagrams import mimebundle  # noqa: PLC0415 (drawing is loaded when needed)

        try:
            definition = self.definition()
        except GraphDefinitionError:
            return {"text/plain": repr(self)}
        return dict(mimebundle(definition, text=repr(self)))
