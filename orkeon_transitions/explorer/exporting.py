"""What a page takes along: a picture of what it shows, or the log as a journal's lines."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from orkeon_transitions.definition import MachineDefinition
from orkeon_transitions.diagrams import to_png, to_svg
from orkeon_transitions.explorer.orders import BadOrderError
from orkeon_transitions.explorer.way import Way

FORMATS = ("png", "svg", "jsonl")
_TYPES = {"png": "image/png", "svg": "image/svg+xml", "jsonl": "application/jsonl"}
_ODD = re.compile(r"[^\w.-]+")


@dataclass(frozen=True, slots=True)
class _Step:
    """A step of a way, as pictures know it."""

    from_state: str
    trigger: str | None
    to_state: str


@dataclass(frozen=True, slots=True)
class Moment:
    """What a picture is drawn of: how things stood after so many steps. Nobody changes it while it is drawn.

    Attributes:
        definition: The machine.
        machine_id: The machine's own name, or None.
        state: Its state.
        visits: Entries by state.
        trace: The steps that led there.
        broken: Why its circuit is broken, or None.
    """

    definition: MachineDefinition
    machine_id: str | None
    state: str
    visits: Mapping[str, int]
    trace: tuple[_Step, ...]
    broken: str | None

    @classmethod
    def of(
        cls, definition: MachineDefinition, way: Way, at: int, *, machine_id: str | None, broken: str | None
    ) -> Moment:
        """The moment after so many steps of a way."""
        trace = tuple(_Step(row.source, row.trigger, row.dest) for row in way.steps(at))
        return cls(definition, machine_id, way.state(at), way.visits(at), trace, broken)

    @property
    def name(self) -> str:
        """A name for a file: the machine's and its own, without what paths are made of."""
        parts = (_ODD.sub("-", part).strip("-.") for part in (self.definition.name, self.machine_id or ""))
        return "-".join(filter(None, parts)) or "machine"

    def drawn(self, wanted: str) -> bytes:
        """The picture.

        Raises:
            OrkeonError: It cannot be drawn.
        """
        snapshot: Mapping[str, Any] = {
            "state": self.state,
            "visits": self.visits,
            "transition_count": len(self.trace),
            "trip": None if self.broken is None else {"reason": self.broken},
        }
        if wanted == "png":
            return to_png(self.definition, snapshot=snapshot, trace=self.trace)
        return to_svg(self.definition, snapshot=snapshot, trace=self.trace).encode()


def exported(wanted: str, moment: Moment, lines: Callable[[], Iterable[bytes]]) -> dict[str, Any]:
    """The answer to a page that takes something along. A large picture takes a while.

    Args:
        wanted: `png`, `svg` or `jsonl`.
        moment: What is shown.
        lines: Gives the journal's lines.

    Raises:
        BadOrderError: There is no such format.
        OrkeonError: The picture cannot be drawn.
    """
    if wanted not in FORMATS:
        raise BadOrderError(f"'{wanted}' cannot be taken along: {', '.join(FORMATS)} can")
    content = b"".join(lines()) if wanted == "jsonl" else moment.drawn(wanted)
    data = base64.b64encode(content).decode()
    return {"download": {"name": f"{moment.name}.{wanted}", "type": _TYPES[wanted], "data": data}}
