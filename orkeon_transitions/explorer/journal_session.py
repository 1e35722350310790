"""A journal that is stepped through: what each of its machines did."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from orkeon_transitions.definition import MachineDefinition
from orkeon_transitions.explorer.asking import table_of
from orkeon_transitions.explorer.chapters import Chapter, chapter_named, chapters_of
from orkeon_transitions.explorer.exporting import FORMATS, Moment, exported
from orkeon_transitions.explorer.gauges import Gauge, plain_gauge
from orkeon_transitions.explorer.orders import BadOrderError, Export, Order, Rows, Seek, Select
from orkeon_transitions.explorer.scenery import Scenery
from orkeon_transitions.explorer.session import NOTHING_CAN, Session
from orkeon_transitions.explorer.showing import now_of, position_of, source_shown

MOST_MACHINES = 1_000
DRAWN = "Drawn from what was recorded: name the machine's definition to see the rest of it"


class JournalSession(Session):
    """A journal, or a store, that one page steps through. Nothing is fired, no callback is called.

    Args:
        source: The journal's file, or a store's URL.
        machine: What was allowed: a definition, the name of a machine that ships, or a machine file; None:
            what each record names. A machine that nobody has defined is drawn as the record shows it.
        machine_id: The machine that is shown first; None: the first one.

    Raises:
        JournalError: It cannot be read, a line other than the last is damaged, or there is no such machine.
        DefinitionError: The machine's file has problems.
    """

    def __init__(
        self,
        source: str | os.PathLike[str],
        *,
        machine: MachineDefinition | str | os.PathLike[str] | None = None,
        machine_id: str | None = None,
    ) -> None:
        super().__init__()
        self._chapters = chapters_of(os.fspath(source), machine)
        self._sceneries: dict[MachineDefinition, Scenery] = {}
        self._chapter: Chapter | None = None
        if machine_id is not None:
            self._chapter = chapter_named(self._chapters, machine_id)
        elif self._chapters:
            self._chapter = self._chapters[0]
        self._source = source_shown(os.fspath(source))
        self._at: int | None = None
        self._window: Rows | None = None
        # A picture that comes late waits until there is somebody to tell.
        with self._lock:
            self._publish({"page": "journal"})
            self._show_chapter()

    # ------------------------------------------------------------------------------------------- orders
    def _do(self, order: Order) -> dict[str, Any] | None:
        if isinstance(order, Export):
            return self._exported(order.format)
        with self._lock:
            self._look(order)
        return None

    def _look(self, order: Order) -> None:
        match order:
            case Seek(at=at):
                self._at, self._window = at, None
                self._publish(self._moment())
            case Rows():
                self._window = order
                self._publish(self._moment())
            case Select(machine=name):
                found = next((chapter for chapter in self._chapters if chapter.id == name), None)
                if found is None:
                    raise BadOrderError(f"the journal has no machine '{name}'")
                self._chapter, self._at, self._window = found, None, None
                self._show_chapter()
            case _:
                raise BadOrderError(self._refusal(order))

    def _exported(self, wanted: str) -> dict[str, Any]:
        chapter = self._chapter
        if chapter is None:
            raise BadOrderError("nothing was recorded")
        at, replay = position_of(chapter.way, self._at)["at"], chapter.replay
        is_broken = replay.is_circuit_broken and at == chapter.way.last
        broken = replay.broken_reason or "circuit broken" if is_broken else None
        machine_id = replay.machine_id
        moment = Moment.of(chapter.definition, chapter.way, at, machine_id=machine_id, broken=broken)
        return exported(wanted, moment, chapter.lines)

    # ------------------------------------------------------------------------------------------ what is seen
    def _show_chapter(self) -> None:
        chapter = self._chapter
        if chapter is None:
            self._publish({"title": self._title(None), "machines": []})
            return
        self._publish(
            {
                "title": self._title(chapter),
                "picture": self._scenery(chapter).trait,
                "anomalies": chapter.anomalies(),
                "can": {**NOTHING_CAN, "seek": chapter.way.last > 0, "export": list(FORMATS)},
                "machines": self._machines(),
                **self._moment(),
            }
        )

    def _show_picture(self) -> None:
        with self._lock:
            self._show_chapter()

    def _scenery(self, chapter: Chapter) -> Scenery:
        if chapter.definition not in self._sceneries:
            self._sceneries[chapter.definition] = Scenery(chapter.definition, self._show_picture)
        return self._sceneries[chapter.definition]

    def _title(self, chapter: Chapter | None) -> dict[str, Any]:
        note = "Nothing was recorded" if chapter is None else DRAWN if chapter.is_drawn else None
        if len(self._chapters) > MOST_MACHINES:
            note = f"{len(self._chapters):,} machines, of which the first {MOST_MACHINES:,} are listed"
        return {
            "name": self._source if chapter is None else chapter.definition.name,
            "machine_id": None if chapter is None else chapter.replay.machine_id,
            "kind": "journal",
            "source": self._source if chapter is None else chapter.log,
            "note": note,
        }

    def _moment(self) -> dict[str, Any]:
        """What changes when the slider is moved."""
        chapter = self._chapter
        if chapter is None:
            return {}
        way, position = chapter.way, position_of(chapter.way, self._at)
        at, window = position["at"], self._window
        return {
            "now": now_of(way, at, self._scenery(chapter)),
            "triggers": table_of(chapter.definition, way.state(at), taken=way.taken_next(at)),
            "gauges": _gauges(chapter, at),
            "log": way.window_at(at) if window is None else way.window(window.first, window.count),
            "position": position,
        }

    def _machines(self) -> list[dict[str, Any]]:
        if len(self._chapters) < 2:
            return []
        return [
            {
                "id": chapter.id,
                "label": chapter.replay.machine_id,
                "state": chapter.replay.final_state,
                "anomalies": len(chapter.anomalies()),
                "agent": None,
                "status": "broken" if chapter.replay.is_circuit_broken else None,
                "tool_calls": None,
                "tool_budget": None,
                "tokens": None,
                "seconds": None,
                "gauge": None,
                "selected": chapter is self._chapter,
                "kind": chapter.definition.name,
                "steps": len(chapter.steps),
            }
            for chapter in self._chapters[:MOST_MACHINES]
        ]


def _gauges(chapter: Chapter, at: int) -> list[Gauge]:
    """What had been used by then; a journal does not tell what was allowed."""
    steps = chapter.steps
    if not at:
        return []
    step = steps[at - 1]
    budget = next((place for place in range(at - 1, -1, -1) if steps[place].transition_count <= 1), 0)
    visits: Mapping[str, int] = _visits(steps[budget].from_state, steps[budget:at])
    most_visited = max(visits, key=lambda state: (visits[state], state == step.to_state))
    after = steps[at].timestamp if at < len(steps) else None
    shown = [
        plain_gauge("max_transitions", "Transitions", step.transition_count),
        plain_gauge("max_state_visits", f"Visits of {most_visited}", visits[most_visited]),
        plain_gauge(
            "max_total_duration",
            "Time since the first step",
            round((step.timestamp - steps[budget].timestamp).total_seconds(), 3),
            unit="s",
        ),
    ]
    if after is not None:
        stay = round((after - step.timestamp).total_seconds(), 3)
        shown.insert(1, plain_gauge("state_timeout", f"Time in {step.to_state}", stay, unit="s"))
    return shown


def _visits(first: str, steps: list[Any]) -> dict[str, int]:
    visits = {first: 1}
    for step in steps:
        if not step.internal:
            visits[step.to_state] = visits.get(step.to_state, 0) + 1
    return visits
