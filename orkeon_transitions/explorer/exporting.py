"""What a page takes along: a picture of what it shows, or the log as a journal's lines."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from orkeon_transitions.definition import MachineDefinition
from orkeon_transitions.diagrams import to_png, to_svg
from orkeon_transitions.errors import OrkeonError
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


def exported(
    wanted: str,
    definition: MachineDefinition,
    way: Way,
    at: int,
    *,
    machine_id: str | None,
    broken: str | None,
    lines: Callable[[], Iterable[bytes]],
) -> dict[str, Any]:
    """The answer to a page that takes something along.

    Args:
        wanted: `png`, `svg` or `jsonl`.
        definition: The machine.
        way: What has happened.
        at: After how many steps it is shown.
        machine_id: The machine's own name.
        broken: Why the circuit is broken at that moment, or None.
        lines: Gives the journal's lines.

    Raises:
        BadOrderError: There is no such format, or the picture cannot be drawn.
    """
    if wanted not in FORMATS:
        raise BadOrderError(f"'{wanted}' cannot be taken along: {', '.join(FORMATS)} can")
    name = "-".join(_ODD.sub("-", part).strip("-.") for part in (definition.name, machine_id or "") if part)
    is_log = wanted == "jsonl"
    content = b"".join(lines()) if is_log else _picture(wanted, definition, way, at, broken)
    data = base64.b64encode(content).decode()
    return {"download": {"name": f"{name or 'machine'}.{wanted}", "type": _TYPES[wanted], "data": data}}


def _picture(wanted: str, definition: MachineDefinition, way: Way, at: int, broken: str | None) -> bytes:
    snapshot: Mapping[str, Any] = {
        "state": way.state(at),
        "visits": way.visits(at),
        "transition_count": at,
        "trip": None if broken is None else {"reason": broken},
    }
    trace = [_Step(row.source, row.trigger, row.dest) for row in way.steps(at)]
    try:
        if wanted == "png":
            return to_png(definition, snapshot=snapshot, trace=trace)
        return to_svg(definition, snapshot=snapshot, trace=trace).encode()
    except OrkeonError as error:
        raise BadOrderError(str(error)) from error
