"""The machine that one run fires."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from orkeon_transitions.definition import MachineDefinition
from orkeon_transitions.runtime import AsyncStateMachine, TriggerEvent


class GraphMachine(AsyncStateMachine[str, str]):
    """An `AsyncStateMachine` of a graph's definition, whose guards compare the router's answer.

    Args:
        definition: The graph's.
        targets: By guard, the state whose choice it confirms.
        **options: Those of `AsyncStateMachine`.

    Attributes:
        chosen: The state that was chosen for the next step; the step uses it up.
    """

    persisted = ("chosen",)

    def __init__(self, definition: MachineDefinition, targets: Mapping[str, str], **options: Any) -> None:
        self.chosen: str | None = None
        guards = {guard: partial(self._chose, target) for guard, target in targets.items()}
        super().__init__(definition, guards=guards, **options)

    def _chose(self, target: str, event: TriggerEvent) -> bool:  # noqa: ARG002 (guards are given an event)
        return self.chosen == target

    def _fields_after(self, event: TriggerEvent) -> Mapping[str, Any]:
        return {**super()._fields_after(event), "chosen": None}

    def retire(self) -> None:
        """Stops its timer: a run that is over must not trip, nor write to a journal, later on."""
        self._watch.disarm()
