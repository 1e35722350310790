"""The picture of a machine, laid out once, and which of its arrows a step takes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from orkeon_transitions.definition import MachineDefinition
from orkeon_transitions.definition.models import ANY_STATE, SAME_STATE
from orkeon_transitions.diagrams import to_svg
from orkeon_transitions.diagrams.names import safe_names
from orkeon_transitions.errors import OrkeonError
from orkeon_transitions.explorer.way import Row


class Scenery:
    """A definition's picture and the ids of its parts.

    Attributes:
        definition: The machine.
        trait: The trait `picture`.
    """

    def __init__(self, definition: MachineDefinition) -> None:
        self.definition = definition
        svg: str | None = None
        problem: str | None = None
        try:
            svg = to_svg(definition)
        except OrkeonError as error:
            problem = str(error)
        keys = safe_names(definition.states_by_name)
        self._arrows = _arrows(definition, keys)
        self._elements = {(arrow["from"], arrow["to"]): arrow["element"] for arrow in self._arrows}
        self.trait: dict[str, Any] = {
            "svg": svg,
            "drawing": False,
            "problem": problem,
            "states": [
                {
                    "name": state.name,
                    "label": state.name,
                    "description": state.description,
                    "element": f"state-{keys[state.name]}",
                    "initial": state.name == definition.initial,
                    "final": state.final,
                    "degraded": state.name == definition.degraded,
                }
                for state in definition.states
            ],
            "arrows": self._arrows,
        }

    def element(self, row: Row) -> str | None:
        """The arrow that a step takes; None if the picture has none."""
        return self._elements.get((row.source, row.dest)) or self._elements.get((None, row.dest))

    def taken(self, steps: Iterable[Row]) -> list[str]:
        """The arrows that steps take, each once, in the order in which they were first taken."""
        return list(dict.fromkeys(element for row in steps if (element := self.element(row))))


def _arrows(definition: MachineDefinition, keys: dict[str, str]) -> list[dict[str, Any]]:
    found: dict[tuple[str | None, str | None], list[str]] = {}
    for row in definition.transitions:
        sources = (None,) if row.source == (ANY_STATE,) else row.source
        for source in sources:
            dest = source if row.dest in (None, SAME_STATE) else row.dest
            found.setdefault((source, dest), []).append(row.trigger)
    return [
        {
            "element": f"arrow-{keys.get(source or '', 'any')}-{keys.get(dest or '', 'any')}",
            "from": source,
            "to": dest,
            "triggers": list(dict.fromkeys(triggers)),
        }
        for (source, dest), triggers in found.items()
    ]
