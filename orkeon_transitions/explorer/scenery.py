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
    from orkeon_transitions.diagrams import Scene, SceneArrow

log = logging.getLogger(__name__)

# A picture that is ready by then is shown at once; a larger one comes later.
GRACE = 0.5


class Drawing:
    """A picture that is laid out in a thread of its own.

    Args:
        draw: Draws it, with every id beginning as it is told.
        drawn: Called, in that thread, when the picture has come later than the constructor could wait.
        grace: Seconds for which it waits; None: `GRACE`.

    Attributes:
        scene: The picture; None: it is not there yet, or there is none.
        problem: Why there is none, or None.
    """

    def __init__(
        self, draw: Callable[[str], Scene], drawn: Callable[[], None], grace: float | None = None
    ) -> None:
        self.scene: Scene | None = None
        self.problem: str | None = None
        self._draw = draw
        self._drawn = drawn
        self._ready = threading.Event()
        self._lock = threading.Lock()
        self._is_late = False
        threading.Thread(target=self._work, name="orkeon-explorer-drawing", daemon=True).start()
        self._ready.wait(GRACE if grace is None else grace)
        with self._lock:
            self._is_late = not self._ready.is_set()

    @property
    def is_ready(self) -> bool:
        """Whether the picture is there, or will never be."""
        return self._ready.is_set()

    def _work(self) -> None:
        try:
            # Several explorers may stand in one page.
            self.scene = self._draw(f"x{os.urandom(4).hex()}-")
        except OrkeonError as error:
            self.problem = str(error)
        except Exception:
            # Without a picture the page has its lists, and everything else.
            log.exception("a picture of the explorer could not be drawn")
            self.problem = "the picture could not be drawn; the log says why"
        with self._lock:
            self._ready.set()
            is_late = self._is_late
        if is_late:
            self._drawn()


class Scenery:
    """A definition's picture and the ids of its parts.

    Args:
        definition: The machine.
        drawn: Called when the picture has come later than the constructor could wait.
        grace: Seconds for which it waits; None: `GRACE`.
    """

    def __init__(
        self, definition: MachineDefinition, drawn: Callable[[], None], grace: float | None = None
    ) -> None:
        self.definition = definition
        self._found: dict[tuple[str | None, str, str], str | None] = {}
        self._drawing = Drawing(lambda prefix: scene(definition, prefix=prefix), drawn, grace)

    @property
    def trait(self) -> dict[str, Any]:
        """The trait `picture`."""
        drawn, definition = self._drawing.scene, self.definition
        return {
            "svg": None if drawn is None else drawn.svg,
            "drawing": not self._drawing.is_ready,
            "problem": self._drawing.problem,
            "wordless": drawn is not None and drawn.wordless,
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
            "arrows": [
                {
                    "element": arrow.element,
                    "kind": arrow.kind,
                    "from": arrow.source,
                    "to": arrow.dest,
                    "triggers": list(arrow.triggers),
                }
                for arrow in self._arrows
            ],
        }

    @property
    def _arrows(self) -> tuple[SceneArrow, ...]:
        return () if self._drawing.scene is None else self._drawing.scene.arrows

    def element(self, row: Row) -> str | None:
        """The arrow that a step takes; None if the picture has none."""
        if not self._arrows:
            return None
        key = None if row.kind == "degraded" else row.trigger, row.source, row.dest
        if key not in self._found:
            self._found[key] = self._look_for(row)
        return self._found[key]

    def taken(self, steps: Iterable[Row]) -> list[str]:
        """The arrows that steps take, each once, in the order in which they were first taken."""
        return list(dict.fromkeys(element for row in steps if (element := self.element(row))))

    def _look_for(self, row: Row) -> str | None:
        """The arrow of the row itself, else the one that stands for every state, else one between the two."""

        def rank(arrow: SceneArrow) -> int | None:
            if arrow.kind == "breaker":
                return 0 if row.kind == "degraded" else None
            if row.kind == "degraded" or arrow.source not in (None, row.source):
                return None
            if arrow.dest != row.dest and not (arrow.dest is None and row.source == row.dest):
                return None
            return (0 if row.trigger in arrow.triggers else 2) + (arrow.source is None)

        ranked = [(rank(arrow), place) for place, arrow in enumerate(self._arrows)]
        best = min(((found, place) for found, place in ranked if found is not None), default=None)
        return None if best is None else self._arrows[best[1]].element
