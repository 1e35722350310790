"""What a page shows of a way, wherever that comes from: a machine that is fired, a journal, a task."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from orkeon_transitions.errors import place_text
from orkeon_transitions.explorer.way import Kind, Row, Way
from orkeon_transitions.facts import Refusal, TransitionResult
from orkeon_transitions.runtime.naming import text_of
from orkeon_transitions.store.replay import is_store_url

if TYPE_CHECKING:
    from orkeon_transitions.definition import Finding
    from orkeon_transitions.explorer.scenery import Scenery


def now_of(
    way: Way,
    at: int,
    scenery: Scenery,
    *,
    busy: Mapping[str, Any] | None = None,
    problem: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """The trait `now`: how things stood after so many steps."""
    state, steps, definition = way.state(at), way.steps(at), scenery.definition
    return {
        "state": state,
        "visits": way.visits(at),
        "taken": scenery.taken(steps),
        "last": scenery.element(steps[-1]) if steps else None,
        "ended": state in definition.final_states,
        "degraded": state == definition.degraded,
        "busy": busy,
        "problem": problem,
    }


def position_of(way: Way, at: int | None) -> dict[str, Any]:
    """The trait `position`; None: the end, wherever that is."""
    at = way.last if at is None else min(at, way.last)
    return {"at": at, "last": way.last, "live": at == way.last}


def step_row(fact: TransitionResult) -> Row:
    """A transition as a row of the log."""
    kind: Kind = "degraded" if fact.degraded else "internal" if fact.internal else "made"
    return Row(
        kind,
        None if fact.trigger is None else text_of(fact.trigger),
        text_of(fact.from_state),
        text_of(fact.to_state),
        stamp(fact.timestamp),
        None if fact.refusal is None else reason_of(fact.refusal),
    )


def reason_of(refusal: Refusal) -> str:
    """Why a trigger is refused, without what stands beside it on the page: the state, the other triggers."""
    reason = refusal.message.rpartition("; ")[0] or refusal.message
    return reason if refusal.kind == "circuit" else reason.partition(": ")[2] or reason


def stamp(moment: datetime | None = None) -> str:
    """A moment as ISO 8601 in UTC; None: now."""
    return (moment or datetime.now(UTC)).astimezone(UTC).isoformat()


def source_shown(source: str) -> str:
    """A file's name; a store's URL without whoever logs in and without options, which may hold secrets."""
    if not is_store_url(source):
        return source
    scheme, _, rest = source.partition("://")
    place = rest.partition("?")[0]
    server, slash, path = place.rpartition("@")[2].partition("/")
    return f"{scheme}://{server}{slash}{path}"


def warnings_of(findings: Iterable[Finding], file: str | None = None) -> list[dict[str, Any]]:
    """What is probably a mistake in a file, with its place: the trait `anomalies`."""
    return [
        {
            "code": finding.code,
            "message": f"{finding.path}: {finding.message}" if finding.path else finding.message,
            "place": place_text(finding.file or file, finding.line, finding.column) or None,
            "position": None,
        }
        for finding in findings
        if finding.severity == "warning"
    ]
