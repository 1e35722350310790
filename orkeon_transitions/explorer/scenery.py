"""The picture of a machine, laid out once, and which of its arrows a step takes."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from orkeon_transitions.definition import MachineDefinition
from orkeon_transitions.diagrams import scene
from orkeon_transitions.errors import OrkeonError
from orkeon_transitions.explorer.way import Row

if TYPE_CHECKING:
    from orkeon_transitions.diagrams.scene import Scene

log = logging.getLogger(__name__)

# A picture that is ready by then is shown at once; a larger one comes later.
GRACE = 0.5


class Scenery:
    """A definition's picture and the ids of its parts; it is laid out in a thread of its own.

    Args:
        definition: The machine.
        drawn: Called, in that thread, when a picture has come later than the constructor could wait.
        grace: Seconds for which it waits.
    """

    def __init__(
        self, definition: MachineDefinition, drawn: Callable[[], None], grace: float = GRACE
    ) -> None:
        self.definition = definition
        self._drawn = drawn
        self._scene: Scene | None = None
        self._problem: str | None = None
        self._elements: dict[tuple[str | None, str | None], str] = {}
        self._breaker: str | None = None
        self._ready = threading.Event()
        self._lock = threading.Lock()
        self._is_late = False
        threading.Thread(target=self._draw, name="orkeon-explorer-drawing", daemon=True).start()
        self._ready.wait(grace)
        with self._lock:
            self._is_late = not self._ready.is_set()

    @property
    def trait(self) -> dict[str, Any]:
        """The trait `picture`."""
        drawn, definition = self._scene, self.definition
        return {
            "svg": None if drawn is None else drawn.svg,
            "drawing": not self._ready.is_set(),
            "problem": self._problem,
            "states": [
                {
                    "name": state.name,
                    "label": state.name,
                    "description": state.description,
                    "element": None if drawn is None else drawn.states[state.name],
                    "initial": state.name == definition.initial,
                    "final": state.final,
                    "degraded": state.name == definition.degraded,
                }
                for state in definition.states
            ],
            "arrows": []
            if drawn is None
            else [
                {
                    "element": arrow.element,
                    "kind": arrow.kind,
                    "from": arrow.source,
                    "to": arrow.dest,
                    "triggers": list(arrow.triggers),
                }
                for arrow in drawn.arrows
            ],
        }

    def element(self, row: Row) -> str | None:
        """The arrow that a step takes; None if the picture has none."""
        if row.kind == "degraded" and self._breaker is not None:
            return self._breaker
        ways = (row.source, row.dest), (None, row.dest), (None, None)
        return next((self._elements[way] for way in ways if way in self._elements), None)

    def taken(self, steps: Iterable[Row]) -> list[str]:
        """The arrows that steps take, each once, in the order in which they were first taken."""
        made = dict.fromkeys((row.kind == "degraded", row.source, row.dest) for row in steps)
        rows = (Row("degraded" if degraded else "made", None, *ends) for degraded, *ends in made)
        return list(dict.fromkeys(element for row in rows if (element := self.element(row))))

    def _draw(self) -> None:
        try:
            # Several explorers may stand in one page.
            drawn = scene(self.definition, prefix=f"x{os.urandom(4).hex()}-")
            self._elements = {
                (arrow.source, arrow.dest): arrow.element
                for arrow in reversed(drawn.arrows)
                if arrow.kind != "breaker"
            }
            breaker = (arrow.element for arrow in drawn.arrows if arrow.kind == "breaker")
            self._breaker = next(breaker, None)
            self._scene = drawn
        except OrkeonError as error:
            self._problem = str(error)
        except Exception:
            # Without a picture the page has its list of states, and everything else.
            log.exception("the picture of '%s' could not be drawn", self.definition.name)
            self._problem = "the picture could not be drawn; the log says why"
        with self._lock:
            self._ready.set()
            is_late = self._is_late
        if is_late:
            self._drawn()
