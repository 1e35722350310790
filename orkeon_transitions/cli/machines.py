"""`orkeon machines`: the catalog, and the table of one machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from orkeon_transitions.cli.app import examples, shared_options
from orkeon_transitions.cli.screen import current_screen
from orkeon_transitions.cli.subjects import find_machine

if TYPE_CHECKING:
    from orkeon_transitions.definition import MachineDefinition
    from orkeon_transitions.definition.models import StateDefinition, TransitionDefinition


EXAMPLES = examples(
    "orkeon machines",
    "orkeon machines task_execution",
    "orkeon machines my-machine.yaml --json",
)


@click.command("machines", epilog=EXAMPLES)
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="One JSON document instead of a table.")
@shared_options
def command(name: str | None, as_json: bool) -> None:
    """List the machines that ship, or show the table of one.

    NAME is a machine that ships or a machine file.
    """
    if name is None:
        _list(as_json=as_json)
    else:
        _show(find_machine(name), as_json=as_json)


def _list(*, as_json: bool) -> None:
    from orkeon_transitions.machines import machine_definition, machine_names

    definitions = [machine_definition(name) for name in machine_names()]
    if as_json:
        current_screen().json({"machines": [_summary(definition) for definition in definitions]})
        return
    current_screen().table(
        ("name", "states", "triggers", "what it is for"),
        [(d.name, str(len(d.states)), str(len(d.triggers)), d.description or "") for d in definitions],
    )
    current_screen().hint("`orkeon machines NAME` shows one, `orkeon render NAME -o FILE.svg` draws it")


def _summary(definition: MachineDefinition) -> dict[str, Any]:
    return {
        "name": definition.name,
        "description": definition.description,
        "states": [state.name for state in definition.states],
        "triggers": list(definition.triggers),
    }


def _show(definition: MachineDefinition, *, as_json: bool) -> None:
    screen = current_screen()
    if as_json:
        screen.json(definition.to_dict())
        return
    screen.result(f"{definition.name}: {definition.description or 'no description'}")
    screen.result()
    screen.table(("state", "what it is"), [(s.name, _state_words(definition, s)) for s in definition.states])
    screen.result()
    screen.table(
        ("trigger", "from", "to", "guard"),
        [_row_words(definition, row) for row in definition.transitions],
        below="guard",
    )


def _state_words(definition: MachineDefinition, state: StateDefinition) -> str:
    words = []
    if state.name == definition.initial:
        words.append("initial")
    if state.final:
        words.append("final")
    if state.name == definition.degraded:
        words.append("degraded")
    if state.timeout == 0:
        words.append("patient")
    elif state.timeout is not None:
        words.append(f"{state.timeout:g} s at most")
    if state.on_timeout:
        words.append(f"then {state.on_timeout}")
    if state.description:
        words.append(state.description)
    return ", ".join(words)


def _row_words(definition: MachineDefinition, row: TransitionDefinition) -> tuple[str, str, str, str]:
    every = len(definition.states) - len(definition.final_states)
    source = f"* (each of {every})" if row.source == ("*",) else ", ".join(row.source)
    dest = {"=": "(the same, re-entered)", None: "(stays)"}.get(row.dest, row.dest)
    guards = [definition.guards.get(name, name) for name in row.conditions]
    guards += [f"not: {definition.guards.get(name, name)}" for name in row.unless]
    return row.trigger + (" (always)" if row.always else ""), source, str(dest), "; ".join(guards)
