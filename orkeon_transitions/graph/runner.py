"""Runs a compiled graph, as often as wanted; runs share nothing but the graph."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from datetime import timedelta
from typing import Any, Generic

from orkeon_transitions.breaker import CircuitBreakerPolicy
from orkeon_transitions.definition import MachineDefinition
from orkeon_transitions.errors import OrkeonError
from orkeon_transitions.facts import Snapshot
from orkeon_transitions.graph.defining import define, guards_of
from orkeon_transitions.graph.facts import GraphCircuitBroken, GraphResult, NodeCompleted
from orkeon_transitions.graph.machine import Choice, GraphMachine
from orkeon_transitions.graph.run import GraphRun
from orkeon_transitions.graph.topology import END, S, Topology
from orkeon_transitions.graph.trail import Trail
from orkeon_transitions.runtime.base import CommitHook
from orkeon_transitions.runtime.listeners import Listeners


class GraphRunner(Generic[S]):
    """A graph that is ready to run: `StateGraph.compile()` makes it.

    Each run fires a machine of its own, an `AsyncStateMachine` of `definition`: one step into each node. Its
    circuit breaker is asked before each node: `max_transitions` counts node executions, `max_state_visits`
    those of one node, `max_total_duration` is a deadline for the node that is running, too. The step to `END`
    is free. `state_timeout` does not apply to nodes (a state of the definition may have its own `timeout`).

    A node's work is awaited in a task of its own. Plain functions run in the loop: while one of them works
    nothing else does, and no limit can stop it before it returns.
    """

    def __init__(
        self,
        topology: Topology[S],
        *,
        clock: Callable[[], float] = time.monotonic,
        trace_limit: int | None = None,
    ) -> None:
        self._topology = topology
        self._definition = define(topology, of_run=True)
        self._guards = {
            guard: Choice(topology.state_name(target)) for (_, target), guard in guards_of(topology).items()
        }
        # A node is bounded by its own `timeout` and by the whole run's time.
        self._run_policy = topology.policy.model_copy(update={"state_timeout": timedelta(0)})
        self._clock = clock
        self._trace_limit = _checked_limit(trace_limit)
        self._listeners = Listeners()

    @property
    def definition(self) -> MachineDefinition:
        """The machine that runs fire."""
        return self._definition

    @property
    def policy(self) -> CircuitBreakerPolicy:
        """The limits of each run."""
        return self._topology.policy

    def on_node_completed(self, listener: Callable[[NodeCompleted[S]], object]) -> Callable[[], None]:
        """Subscribes a plain function to every node that has done its work, in any run.

        Called in order, before the next node; one that raises is logged and stops nothing.

        Returns:
            The function that unsubscribes.

        Raises:
            TypeError: It is a coroutine function, or no function.
        """
        return self._listeners.subscribe("transition", listener)

    def on_circuit_broken(self, listener: Callable[[GraphCircuitBroken[S]], object]) -> Callable[[], None]:
        """Subscribes a plain function to every run that the breaker stops; as `on_node_completed`."""
        return self._listeners.subscribe("broken", listener)

    async def run(
        self,
        state: S,
        *,
        commit: CommitHook | None = None,
        machine_id: str | None = None,
        snapshot: Snapshot | None = None,
    ) -> GraphResult[S]:
        """Runs the graph to its end, or goes on with a run.

        Args:
            state: The state to begin with. Nodes work on this object; it is not copied.
            commit: The commit hook of the run's machine, such as a `JsonlJournal`.
            machine_id: The name of the run's machine in journals.
            snapshot: Where the machine of an earlier run was left. Its limits stay as far used as they were;
                a node that was running is run again, with the state that is given here.

        Raises:
            GraphCircuitBrokenError: A limit was passed, and there is no degraded node or the policy does not
                use it. The error has the state and the trace.
            RoutingError: A router answered a name that its edge does not declare.
            NodeReturnError: A node returned something else than the state.
            TimeoutError: The last attempt of a node took longer than its `timeout`.
            GuardRejectedError: The machine refused the step.
            Exception: What a node, in its last attempt, or a router raises leaves the run as it is, with a
                note that says where.
        """
        return await self._begin(state, commit, machine_id, snapshot).complete()

    def run_sync(
        self,
        state: S,
        *,
        commit: CommitHook | None = None,
        machine_id: str | None = None,
        snapshot: Snapshot | None = None,
    ) -> GraphResult[S]:
        """Runs the graph outside of an event loop; arguments and errors as for `run`.

        Raises:
            OrkeonError: An event loop is running: there, `await runner.run(...)`.
        """
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(self.run(state, commit=commit, machine_id=machine_id, snapshot=snapshot))
        raise OrkeonError("run_sync cannot be used while an event loop runs: await runner.run(...) instead")

    async def stream(
        self,
        state: S,
        *,
        commit: CommitHook | None = None,
        machine_id: str | None = None,
        snapshot: Snapshot | None = None,
    ) -> AsyncGenerator[NodeCompleted[S], None]:
        """Runs the graph and yields each node when it has done its work; arguments and errors as for `run`.

        The next node begins when the next item is asked for; the time until then counts as the run's. Leaving
        the loop early ends the run: no node is running at that moment.
        """
        completions = self._begin(state, commit, machine_id, snapshot).completions()
        try:
            async for completed in completions:
                yield completed
        finally:
            await completions.aclose()

    def _begin(
        self, state: S, commit: CommitHook | None, machine_id: str | None, snapshot: Snapshot | None
    ) -> GraphRun[S]:
        machine = GraphMachine(
            self._definition,
            Trail(self._topology.state_name(END), self._trace_limit),
            policy=self._run_policy,
            guards=self._guards,
            clock=self._clock,
            commit=commit,
            machine_id=machine_id,
            snapshot=snapshot,
        )
        return GraphRun(self._topology, machine, state, self._listeners, self._clock)

    def __repr__(self) -> str:
        return f"<GraphRunner '{self._topology.name}' nodes={len(self._topology.nodes)}>"

    def _repr_mimebundle_(self, **_limits: Any) -> dict[str, Any]:
        from orkeon_transitions.diagrams import mimebundle  # noqa: PLC0415 (drawing is loaded when needed)

        bundle: dict[str, Any] = mimebundle(self)
        return bundle


def _checked_limit(given: int | None) -> int | None:
    if given is not None and (isinstance(given, bool) or not isinstance(given, int) or given < 0):
        raise ValueError(f"trace_limit is a whole number of steps, 0 or more, or None for all, not {given!r}")
    return given
