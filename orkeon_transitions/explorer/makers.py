"""How the machines come about that a session fires: a fresh one, and one that goes on from a snapshot."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from orkeon_transitions.definition import MachineDefinition
from orkeon_transitions.explorer.forms import Form, Switch, Switches
from orkeon_transitions.explorer.shipped_forms import hermes_form, router_form, task_form
from orkeon_transitions.explorer.typed_forms import TypedForm
from orkeon_transitions.machines import (
    AgentStatus,
    CrewStatus,
    GraphRouter,
    HermesAgentFSM,
    TaskExecution,
    TaskStatus,
)
from orkeon_transitions.runtime import StateMachine, TriggerEvent
from orkeon_transitions.runtime.callbacks import TypedGuard

if TYPE_CHECKING:
    from orkeon_transitions.breaker import CircuitBreakerPolicy
    from orkeon_transitions.facts import Snapshot
    from orkeon_transitions.runtime.base import CommitHook, MachineBase

Clock = Callable[[], float]

SHIPPED: dict[str, type[StateMachine[Any, Any]]] = {
    kind.MACHINE: kind
    for kind in (TaskExecution, HermesAgentFSM, GraphRouter, TaskStatus, AgentStatus, CrewStatus)
}
FORMS: dict[str, Callable[[], Form]] = {
    TaskExecution.MACHINE: task_form,
    HermesAgentFSM.MACHINE: hermes_form,
    GraphRouter.MACHINE: router_form,
}
KINDS = {
    TaskExecution.MACHINE: "task life cycle",
    HermesAgentFSM.MACHINE: "agent's session",
    GraphRouter.MACHINE: "graph router",
    TaskStatus.MACHINE: "status of a task",
    AgentStatus.MACHINE: "status of an agent",
    CrewStatus.MACHINE: "status of a crew",
}
SESSION_ID = "explorer"


class Maker(ABC):
    """Makes machines of one kind.

    Attributes:
        definition: Their definition.
        kind: What they are, in words.
    """

    definition: MachineDefinition
    kind: str = "machine"

    @abstractmethod
    def form(self) -> Form:
        """A form for what their guards judge."""

    @abstractmethod
    def make(self, commit: CommitHook, snapshot: Snapshot | None = None) -> MachineBase[Any, Any]:
        """Makes a machine: a fresh one, or one that goes on from a snapshot.

        Raises:
            Exception: What a constructor of the user's raises.
        """


class DefinitionMaker(Maker):
    """Machines of a definition alone: each guard is a switch, actions do nothing."""

    def __init__(
        self, definition: MachineDefinition, clock: Clock, policy: CircuitBreakerPolicy | None
    ) -> None:
        self.definition = definition
        rows = definition.transitions
        self._guards = {name: Switch(name) for row in rows for name in (*row.conditions, *row.unless)}
        actions = [name for row in rows for name in (*row.before, *row.after)]
        actions += [name for state in definition.states for name in (*state.on_enter, *state.on_exit)]
        self._actions = dict.fromkeys(actions, _nothing)
        self._clock, self._policy = clock, policy

    def form(self) -> Form:
        """A switch for each guard."""
        return Switches(self.definition) if self._guards else Form()

    def make(self, commit: CommitHook, snapshot: Snapshot | None = None) -> MachineBase[Any, Any]:
        """A plain machine."""
        return StateMachine(
            self.definition,
            guards=self._guards,
            actions=self._actions,
            clock=self._clock,
            policy=self._policy,
            commit=commit,
            snapshot=snapshot,
        )


def _nothing(event: TriggerEvent) -> None:
    """An action of a definition for which nobody has given a function."""


class ShippedMaker(Maker):
    """Machines of a class that ships, with its own guards and counters."""

    def __init__(self, name: str, clock: Clock, policy: CircuitBreakerPolicy | None) -> None:
        self._class = SHIPPED[name]
        self.kind = KINDS[name]
        self._options: dict[str, Any] = {"clock": clock, "policy": policy}
        self.definition = self._make().definition

    def form(self) -> Form:
        """The form of what its guards judge."""
        return FORMS.get(self.definition.name, Form)()

    def make(self, commit: CommitHook, snapshot: Snapshot | None = None) -> MachineBase[Any, Any]:
        """A plain machine of the class."""
        return self._make(snapshot, commit=commit)

    def _make(self, snapshot: Snapshot | None = None, **options: Any) -> StateMachine[Any, Any]:
        if snapshot is not None:
            return self._class.restore(snapshot, **self._options, **options)
        needed = {"session_id": SESSION_ID} if self._class is HermesAgentFSM else {}
        machine: StateMachine[Any, Any] = self._class(**{**needed, **self._options, **options})
        return machine


class LiveMaker(Maker):
    """Copies of a machine of the user's: as it was when it was first looked at, or was after a step.

    Args:
        machine: The machine.
        context: The class of the context that its guards judge, an object of that class, or None: what its
            guards themselves say, if they do.
    """

    def __init__(self, machine: MachineBase[Any, Any], context: Any = None) -> None:
        self.machine = machine
        self.definition = machine.definition
        self.kind = type(machine).__name__
        self._first = machine.snapshot()
        self._context = _context_of(machine) if context is None else context

    def form(self) -> Form:
        """The fields of the context's class; those of the class that ships; or none."""
        context = self._context
        if isinstance(context, type):
            return TypedForm(context)
        if context is not None:
            return TypedForm(type(context), lambda _: context)
        return FORMS.get(getattr(self.machine, "MACHINE", ""), Form)()

    def make(self, commit: CommitHook, snapshot: Snapshot | None = None) -> MachineBase[Any, Any]:
        """A copy; its guards and actions are the machine's own."""
        machine, kind, record = self.machine, type(self.machine), self.machine._record
        plan = machine._plan
        options: dict[str, Any] = {
            "guards": record.guards,
            "actions": record.actions,
            "states": type(next(iter(plan.states.values()))) if plan.states and kind.STATES is None else None,
            "triggers": type(next(iter(plan.triggers.values())))
            if plan.triggers and kind.TRIGGERS is None
            else None,
        }
        parameters = list(inspect.signature(kind).parameters)
        source = [self.definition] if parameters[:1] == ["definition"] else []
        given = {name: value for name, value in options.items() if value}
        return kind.restore(*source, snapshot or self._first, **given, clock=machine._clock, commit=commit)


def _context_of(machine: MachineBase[Any, Any]) -> type | None:
    """The one type of context for which the guards of a builder's machine ask."""
    guards = (machine._record.guards or {}).values()
    asked = {guard.context for guard in guards if isinstance(guard, TypedGuard) and guard.context is not None}
    return asked.pop() if len(asked) == 1 else None
