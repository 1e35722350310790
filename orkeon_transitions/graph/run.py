"""One run of a graph: router, step, node, and again. The machine makes the steps."""

from __future__ import annotations

import asyncio
import copy
import inspect
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any, Generic, Literal

from orkeon_transitions.breaker import BreakerLimit
from orkeon_transitions.definition import nearest
from orkeon_transitions.errors import (
    CircuitBrokenError,
    GraphCircuitBrokenError,
    InvalidTransitionError,
    NodeReturnError,
    RoutingError,
)
from orkeon_transitions.facts import CircuitBroken
from orkeon_transitions.graph.attempts import begin, call, pause
from orkeon_transitions.graph.facts import GraphCircuitBroken, GraphResult, GraphStatus, NodeCompleted
from orkeon_transitions.graph.machine import GraphMachine
from orkeon_transitions.graph.topology import END, STEP, Edge, Node, Router, S, Topology
from orkeon_transitions.runtime.listeners import Listeners

_SHOWN_NODES = 10


class GraphRun(Generic[S]):
    """One run. It is made for one state and used once.

    Attributes:
        state: The state, as the last node left it; during a node, what that node works on.
        status: How the run ends, as far as is known.
    """

    def __init__(
        self,
        topology: Topology[S],
        machine: GraphMachine,
        state: S,
        listeners: Listeners,
        clock: Callable[[], float],
    ) -> None:
        self.state = state
        self.status = GraphStatus.COMPLETED
        self._topology = topology
        self._machine = machine
        self._trail = machine.trail
        self._listeners = listeners
        self._clock = clock
        self._started = clock()
        self._at = topology.node_at(machine.state)
        self._end = topology.state_name(END)
        # Another process was stopped in it: nobody knows how far it came.
        self._unfinished = topology.nodes.get(self._at)
        self._status_at_trip = machine.circuit_status
        machine.on_circuit_broken(self._take_trip_down)

    async def completions(self) -> AsyncGenerator[NodeCompleted[S], None]:
        """Runs node after node; yields when each one has done its work."""
        try:
            while (node := await self._next()) is not None:
                completed = self._completed(await self._execute(node))
                self._tell("transition", completed)
                yield completed
        finally:
            self._machine.retire()

    async def complete(self) -> GraphResult[S]:
        """Runs node after node to the end; gives what the run gave."""
        try:
            while (node := await self._next()) is not None:
                done = await self._execute(node)
                if self._listeners.hears("transition"):
                    self._tell("transition", self._completed(done))
        finally:
            self._machine.retire()
        return GraphResult(
            final_state=self.state,
            trace=self._trail.nodes.last(),
            total_transitions=self._trail.nodes.count,
            duration=timedelta(seconds=self._clock() - self._started),
            status=self.status,
            journal=self._trail.steps.last(),
        )

    def _completed(self, done: Node[S]) -> NodeCompleted[S]:
        return NodeCompleted(
            done.name, self.state, self._trail.nodes.count, datetime.now(UTC), self._trail.nodes
        )

    def _take_trip_down(self, broken: CircuitBroken) -> None:
        self._status_at_trip = broken.status

    # ------------------------------------------------------------------------------------------------- steps
    async def _next(self) -> Node[S] | None:
        """Steps on; gives the node that is to run then, or None at the end."""
        if self.status is GraphStatus.DEGRADED:
            return None
        if self._at == END:  # a run that goes on, and had ended
            return None
        if self._machine.is_terminal:  # the time was up while nothing ran, and the machine has degraded
            return await self._tripped(self._at)
        if self._unfinished is not None and not self._machine.is_circuit_broken:
            node, self._unfinished = self._unfinished, None
            return node
        edge = self._topology.edges[self._at]
        if edge.router is None:
            return await self._step(edge.targets[0])
        try:
            target = await self._route(edge, edge.router)
        except CircuitBrokenError:
            if not self._machine.is_circuit_broken:
                raise
        else:
            return await self._step(target)
        return await self._tripped(self._at)

    async def _step(self, target: str) -> Node[S] | None:
        if target != END and not self._machine.has_waited:
            # A node that never suspends lets a cancellation and the clock in here.
            await asyncio.sleep(0)
        try:
            result = await self._machine.fire(STEP, self._end if target == END else target)
            is_made = result.accepted
        except (CircuitBrokenError, InvalidTransitionError):
            # Also where a timer has moved the machine to its degraded state meanwhile, in which it has ended.
            if not self._machine.is_circuit_broken:
                raise
            is_made = False
        if not is_made:
            return await self._tripped(self._at if target == END else target)
        self._at = target
        return None if target == END else self._topology.nodes[target]

    async def _route(self, edge: Edge[S], router: Router[S]) -> str:
        """Asks the router of the node that has just run."""
        try:
            answer = call(self._machine, router, self.state)
            if inspect.isawaitable(answer):
                answer = await answer
        except Exception as error:
            self._note(error, f"raised by the router of node '{self._at}'")
            raise
        target = edge.target_of(answer, end=self._end)
        if target is None:
            raise self._misrouted(edge, answer)
        return target

    def _misrouted(self, edge: Edge[S], answer: Any) -> RoutingError:
        hint = nearest(answer, edge.targets) if isinstance(answer, str) else None
        return RoutingError(
            self._at, answer, edge.targets, hint=hint, trace=self._trail.nodes.last(), state=self.state
        )

    # ------------------------------------------------------------------------------------------------- nodes
    async def _execute(self, node: Node[S]) -> Node[S]:
        """Runs a node, or the degraded node where the time was up meanwhile; gives the one that was run."""
        try:
            self.state = await self._perform(node)
        except CircuitBrokenError as error:
            if not self._machine.is_circuit_broken or self.status is GraphStatus.DEGRADED:
                raise
            # A node that was told to stop may have answered with what it had.
            if self._is_state(error.result):
                self.state = error.result
        else:
            return node
        degraded = await self._tripped(node.name)
        self.state = await self._perform(degraded)
        return degraded

    async def _perform(self, node: Node[S]) -> S:
        """Calls a node until it succeeds, or fails for good; gives the state that it leaves."""
        before = self._copy(node, self.state) if node.retry else self.state
        attempts = 0
        while True:
            attempts += 1
            try:
                answer = begin(self._machine, node, self.state)
                if inspect.isawaitable(answer):
                    answer = await answer
            except Exception as error:
                if attempts > node.retry or isinstance(error, CircuitBrokenError):
                    self._note(
                        error, f"raised by node '{node.name}' (attempt {attempts} of {node.retry + 1})"
                    )
                    raise
            else:
                return self._checked(node, answer)
            await pause(self._machine, node, attempts)
            self.state = self._copy(node, before)

    def _copy(self, node: Node[S], state: S) -> S:
        try:
            return copy.deepcopy(state)
        except Exception as error:
            self._note(error, f"the state of node '{node.name}' cannot be copied, which its retry needs")
            raise

    def _checked(self, node: Node[S], answer: Any) -> S:
        """The state after a node."""
        if answer is None or answer is self.state:
            return self.state
        if not self._is_state(answer):
            raise NodeReturnError(
                node.name, answer, type(self.state), trace=self._trail.nodes.last(), state=self.state
            )
        checked: S = answer
        return checked

    def _is_state(self, answer: Any) -> bool:
        """Whether an answer is a state: of the type of the one before, or of a type above or below it."""
        state: Any = self.state
        kind = type(answer)
        return isinstance(answer, type(state)) or (kind is not object and isinstance(state, kind))

    # ----------------------------------------------------------------------------------------------- telling
    async def _tripped(self, node_name: str) -> Node[S]:
        """Tells of the trip; gives the degraded node.

        Raises:
            GraphCircuitBrokenError: There is none, or the policy does not use it.
        """
        with suppress(CircuitBrokenError):
            # The timer's task may not have finished its move to the degraded state.
            await self._machine.check_circuit()
        status = self._status_at_trip
        # Without the degraded node, if the machine has moved there already.
        count = min(self._trail.nodes.count, status.total_transitions)
        told = GraphCircuitBroken(
            reason=status.broken_reason or "",
            limit=status.limit,
            node_name=node_name,
            transition_count=count,
            trace=self._trail.nodes.last(count),
            state=self.state,
            status=status,
        )
        self._tell("broken", told)
        degraded = self._topology.degraded
        if degraded is not None and self._machine.is_terminal:
            self.status = GraphStatus.DEGRADED
            return degraded
        raise GraphCircuitBrokenError(
            self._sentence(told),
            status,
            node_name=node_name,
            trace=told.trace,
            state=self.state,
            journal=self._trail.steps.last(),
            transition_count=count,
        )

    def _sentence(self, told: GraphCircuitBroken[S]) -> str:
        times = told.transition_count
        executions = "1 node execution" if times == 1 else f"{times} node executions"
        where = f"CircuitBreakerPolicy({told.limit or 'limit'}=...)"
        if told.limit is BreakerLimit.STATE_TIMEOUT:
            # The policy's own does not apply to nodes.
            where = f"The `timeout` of that state in the definition of '{self._topology.name}'"
        return (
            f"{told.reason}; graph '{self._topology.name}' stopped at node '{told.node_name}' after "
            f"{executions} ({self._shown_trace()}); what it had reached is in "
            f"`state`. {where} allows more, 0 switches that limit off"
        )

    def _shown_trace(self) -> str:
        last = self._trail.nodes.last()[-_SHOWN_NODES:]
        shown = ("...", *last) if len(last) < self._trail.nodes.count else last
        return " -> ".join(shown) or "none"

    def _note(self, error: Exception, what: str) -> None:
        error.add_note(f"{what} of graph '{self._topology.name}'; the run went: {self._shown_trace()}")

    def _tell(self, kind: Literal["transition", "broken"], fact: Any) -> None:
        self._listeners.put(kind, lambda: fact)
        self._listeners.tell()
