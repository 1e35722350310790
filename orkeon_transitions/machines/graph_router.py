"""The graph process of a crew (seed 002): execute a task, ask the router, go on or end."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from orkeon_transitions.machines.shipped import ShippedMachine
from orkeon_transitions.runtime import AsyncStateMachine, AsyncTrigger, StateMachine, Trigger, TriggerEvent


class GraphRouterState(StrEnum):
    """The nodes of the graph process; `end` is final."""

    START = "start"
    EXECUTE_TASK = "execute_task"
    ROUTE = "route"
    END = "end"


class GraphRouterTrigger(StrEnum):
    """A state graph knows one trigger: the step to the next node."""

    STEP = "step"


class _RouterRules(ShippedMachine[GraphRouterState, GraphRouterTrigger]):
    """The router's answer and the guards that compare it, written once for both kinds of machine."""

    MACHINE = "graph_router"
    STATES = GraphRouterState
    TRIGGERS = GraphRouterTrigger
    persisted = ("chosen",)

    def __init__(self, **options: Any) -> None:
        self.chosen: str | None = None
        super().__init__(**options)

    def route_chose_execute_task(self, event: TriggerEvent) -> bool:
        """Guard of the step back to `execute_task`."""
        return self._chose(event, GraphRouterState.EXECUTE_TASK)

    def route_chose_end(self, event: TriggerEvent) -> bool:
        """Guard of the step to `end`."""
        return self._chose(event, GraphRouterState.END)

    def _chose(self, event: TriggerEvent, node: GraphRouterState) -> bool:
        return bool(event.payload.get("chosen", self.chosen) == node)

    def _fields_after(self, event: TriggerEvent) -> Mapping[str, Any]:
        changes = super()._fields_after(event)
        return {**changes, "chosen": None} if event.from_state is GraphRouterState.ROUTE else changes


class GraphRouter(_RouterRules, StateMachine[GraphRouterState, GraphRouterTrigger]):
    """The graph process of a crew.

    `fsm.step(chosen="end")` tells the answer with the step, or the program sets `fsm.chosen` before it; the
    step out of `route` uses it up.

    Args:
        **options: Those of `StateMachine`, but the definition.

    Attributes:
        chosen: The node that the router chose, or None while it has not answered.
    """

    step: Trigger


class AsyncGraphRouter(_RouterRules, AsyncStateMachine[GraphRouterState, GraphRouterTrigger]):
    """The graph process of a crew, on an async machine; everything else is as in `GraphRouter`."""

    step: AsyncTrigger
