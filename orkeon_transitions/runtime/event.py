"""What guards and actions are given, and the shape of a trigger that is called by its name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from orkeon_transitions.facts import TransitionResult


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


class Trigger(Protocol):
    """A trigger of a plain machine, called by its name: the same as `fire`."""

    def __call__(self, context: Any = None, /, **payload: Any) -> TransitionResult:
        """Fires it."""


class AsyncTrigger(Protocol):
    """A trigger of an async machine, called by its name: the same as `fire`."""

    async def __call__(self, context: Any = None, /, **payload: Any) -> TransitionResult:
        """Fires it."""
