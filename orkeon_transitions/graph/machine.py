"""The machine that one run fires."""

from __future__ import annotations

from typing import Any

from orkeon_transitions.definition import MachineDefinition
from orkeon_transitions.facts import TransitionResult
from orkeon_transitions.graph.trail import Trail
from orkeon_transitions.runtime import AsyncStateMachine, TriggerEvent


class GraphMachine(AsyncStateMachine[str, str]):
    """An `AsyncStateMachine` of a graph's definition, which takes its steps down.

    Args:
        definition: The graph's.
        trail: Where the steps go, also those that the breaker makes.
        **options: Those of `AsyncStateMachine`.

    Attributes:
        trail: Where the steps go.
        has_waited: Whether the loop has had a turn since the last step.
    """

    def __init__(self, definition: MachineDefinition, trail: Trail, **options: Any) -> None:
        self.trail = trail
        self.has_waited = False
        super().__init__(definition, **options)

    def _written(self, event: TriggerEvent, result: TransitionResult) -> None:
        super()._written(event, result)
        self.trail.add(result)
        self.has_waited = False

    def retire(self) -> None:
        """Stops its timer: a run that is over must not trip, nor write to a journal, later on."""
        self._watch.disarm()


class Choice:
    """A guard: whether the router has chosen this state. Its answer is the context of the step."""

    __slots__ = ("_state",)

    def __init__(self, state: str) -> None:
        self._state = state

    def __call__(self, event: TriggerEvent) -> bool:
        """Compares what was chosen."""
        return bool(event.context == self._state)
