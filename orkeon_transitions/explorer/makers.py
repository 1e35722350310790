"""How the machines come about that a session fires: a fresh one, and one that goes on from a snapshot."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from orkeon_transitions.definition import MachineDefinition
from orkeon_transitions.explorer.forms import Form, NoForm, Switch, form_for
from orkeon_transitions.runtime import StateMachine, TriggerEvent

if TYPE_CHECKING:
    from orkeon_transitions.facts import Snapshot
    from orkeon_transitions.runtime.base import CommitHook, MachineBase


class Maker(ABC):
    """Makes machines of one kind.

    Attributes:
        definition: Their definition.
        kind: What they are, in words.
    """

    definition: MachineDefinition
    kind: str

    @abstractmethod
    def form(self) -> Form:
        """A form for what their guards judge."""

    @abstractmethod
    def make(self, commit: CommitHook, snapshot: Snapshot | None = None) -> MachineBase[Any, Any]:
        """Makes a machine: a fresh one, or one that goes on from a snapshot."""


class DefinitionMaker(Maker):
    """Machines of a definition alone: each guard is a switch, actions do nothing."""

    def __init__(self, definition: MachineDefinition, clock: Callable[[], float]) -> None:
        self.definition = definition
        self.kind = definition.name.replace("_", " ")
        self._clock = clock
        rows = definition.transitions
        self._guards = {name: Switch(name) for row in rows for name in (*row.conditions, *row.unless)}
        self._actions = dict.fromkeys(
            [name for row in rows for name in (*row.before, *row.after)]
            + [name for state in definition.states for name in (*state.on_enter, *state.on_exit)],
            _nothing,
        )

    def form(self) -> Form:
        """A switch for each guard."""
        return form_for(self.definition) if self._guards else NoForm()

    def make(self, commit: CommitHook, snapshot: Snapshot | None = None) -> MachineBase[Any, Any]:
        """A plain machine."""
        return StateMachine(
            self.definition,
            guards=self._guards,
            actions=self._actions,
            clock=self._clock,
            commit=commit,
            snapshot=snapshot,
        )


def _nothing(event: TriggerEvent) -> None:
    """An action of a definition for which nobody has given a function."""
