"""What guards and actions are given, and the shape of a trigger that is called by its name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from orkeon_transitions.definition import TransitionDefinition
from orkeon_transitions.facts import TransitionResult

if TYPE_CHECKING:
    from orkeon_transitions.runtime.base import MachineBase


class TriggerEvent:
    """One attempt to make a transition, as its guards and actions see it.

    Attributes:
        trigger: What was fired.
        from_state: The state in which it was fired.
        to_state: The state to which the chosen row leads; None while guards are asked.
        context: The object that the guards judge, or None.
        payload: The keyword arguments of the call.
    """

    __slots__ = ("context", "from_state", "payload", "to_state", "trigger")

    def __init__(self, trigger: Any, from_state: Any, context: Any, payload: Mapping[str, Any]) -> None:
        self.trigger = trigger
        self.from_state = from_state
        self.to_state: Any = None
        self.context = context
        self.payload = payload

    @property
    def kwargs(self) -> Mapping[str, Any]:
        """The payload, by the word that `transitions` uses."""
        return self.payload

    def __repr__(self) -> str:
        return f"TriggerEvent({self.trigger!r}, {self.from_state!r} -> {self.to_state!r})"


class BoundTrigger:  # noqa: D101 (its docstring is the property below)
    __slots__ = ("_machine", "_name")

    def __init__(self, machine: MachineBase[Any, Any], name: str) -> None:
        self._machine = machine
        self._name = name

    @property
    def __doc__(self) -> str:  # type: ignore[override]  # what `help` shows is made of the definition
        """What `help` shows of a trigger."""
        rows = [row for row in self._machine.definition.transitions if row.trigger == self._name]
        return "\n".join([f"Fires '{self._name}': the same as fire('{self._name}').", "", *map(_told, rows)])

    def __call__(self, context: Any = None, /, **payload: Any) -> Any:
        """Fires it."""
        machine: Any = self._machine
        return machine.fire(self._name, context, **payload)

    def __repr__(self) -> str:
        return f"<trigger '{self._name}' of {self._machine!r}>"


def _told(row: TransitionDefinition) -> str:
    dest = {None: "stays", "=": "enters it again"}.get(row.dest, f"-> {row.dest}")
    guards = [*row.conditions, *(f"not {name}" for name in row.unless)]
    guarded = f", if {' and '.join(guards)}" if guards else ""
    return f"{', '.join(row.source)} {dest}{guarded}{f'. {row.description}' if row.description else ''}"


class Trigger(Protocol):
    """A trigger of a plain machine, called by its name: the same as `fire`."""

    def __call__(self, context: Any = None, /, **payload: Any) -> TransitionResult:
        """Fires it."""


class AsyncTrigger(Protocol):
    """A trigger of an async machine, called by its name: the same as `fire`."""

    async def __call__(self, context: Any = None, /, **payload: Any) -> TransitionResult:
        """Fires it."""
