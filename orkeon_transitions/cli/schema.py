"""`orkeon schema`: the JSON Schema of a machine file or a crew file, for editors and programs."""

from __future__ import annotations

import click

from orkeon_transitions.cli.app import examples, shared_options
from orkeon_transitions.cli.screen import current_screen

EXAMPLES = examples(
    "orkeon schema machine > machine.schema.json",
    "orkeon schema crew > crew.schema.json",
)


@click.command("schema", epilog=EXAMPLES)
@click.argument("kind", type=click.Choice(["machine", "crew"]))
@shared_options
def command(kind: str) -> None:
    """Print the JSON Schema of a machine file or a crew file."""
    if kind == "machine":
        from orkeon_transitions.definition import machine_schema

        current_screen().json(machine_schema())
    else:
        from orkeon_transitions.crew import crew_schema

        current_screen().json(crew_schema())
