"""Which triggers there are, which are permitted, and why the others are not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orkeon_transitions.definition.models import SAME_STATE
from orkeon_transitions.explorer.showing import reason_of
from orkeon_transitions.explorer.workers import settled

if TYPE_CHECKING:
    from orkeon_transitions.definition import MachineDefinition
    from orkeon_transitions.explorer.forms import Form
    from orkeon_transitions.runtime.base import MachineBase


async def triggers_of(machine: MachineBase[Any, Any], form: Form) -> list[dict[str, Any]]:
    """The triggers of a machine as the page shows them: those of its state first.

    Guards are asked, with what the form holds, so it may take long.
    """
    definition, state = machine.definition, machine.snapshot().state
    here = definition.triggers_from(state)
    shown = []
    for name in here:
        asked: Any = machine
        context, payload = form.given(machine, name)
        refusal = await settled(asked.why_not(name, context, **payload))
        shown.append(
            {
                "name": name,
                "permitted": refusal is None,
                "why": None if refusal is None else reason_of(refusal),
                "kind": None if refusal is None else refusal.kind,
                "to": destinations(definition, state, name),
                "description": description_of(definition, state, name),
            }
        )
    ended = state in definition.final_states
    shown += [_elsewhere(definition, name, ended=ended) for name in definition.triggers if name not in here]
    return shown


def destinations(definition: MachineDefinition, state: str, trigger: str) -> list[str]:
    """Where a trigger may lead from a state."""
    rows = (row for row in definition.rows_by_state.get(state, ()) if row.trigger == trigger)
    return list(dict.fromkeys(state if row.dest in (None, SAME_STATE) else str(row.dest) for row in rows))


def description_of(definition: MachineDefinition, state: str, trigger: str) -> str | None:
    """What the definition says of a trigger in a state."""
    rows = (row for row in definition.rows_by_state.get(state, ()) if row.trigger == trigger)
    return next((row.description for row in rows if row.description), None)


def _elsewhere(definition: MachineDefinition, name: str, *, ended: bool) -> dict[str, Any]:
    sources = dict.fromkeys(
        source
        for row in definition.transitions
        if row.trigger == name
        for source in definition.sources_of(row)
    )
    why = "the machine has ended" if ended else f"not from here: only from {', '.join(sources)}"
    return {
        "name": name,
        "permitted": False,
        "why": why,
        "kind": "terminal" if ended else "invalid",
        "to": [],
        "description": None,
        "elsewhere": True,
    }


def table_of(definition: MachineDefinition, state: str, *, taken: str | None) -> list[dict[str, Any]]:
    """The triggers of a state where nothing can be fired: what leads where, and which one was taken next."""
    here = definition.triggers_from(state) if state in definition.states_by_name else ()
    return [
        {
            "name": name,
            "permitted": False,
            "why": "a run is looked at: nothing is fired by hand",
            "kind": None,
            "to": destinations(definition, state, name),
            "description": description_of(definition, state, name),
            "next": name == taken,
        }
        for name in here
    ]
