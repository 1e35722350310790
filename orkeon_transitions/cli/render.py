"""`orkeon render`: a machine as a picture, with a run drawn into it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from orkeon_transitions.cli.app import examples, shared_options
from orkeon_transitions.cli.journals import Chapter, chapters_of, only_one
from orkeon_transitions.cli.screen import Mistake, current_screen
from orkeon_transitions.cli.subjects import existing_file, find_machine, is_journal, is_store_url

if TYPE_CHECKING:
    from orkeon_transitions.definition import MachineDefinition


@dataclass(frozen=True, slots=True)
class Picture:
    """What is to be drawn: a definition and what is known of a run."""

    definition: MachineDefinition
    snapshot: Any = None
    trace: Any = None

    @classmethod
    def of_chapter(cls, chapter: Chapter) -> Picture:
        """A machine as a journal left it."""
        return cls(chapter.definition, chapter.snapshot, chapter.steps)


EXAMPLES = examples(
    "orkeon render task_execution -o task.svg",
    "orkeon render my-machine.yaml -o my-machine.png --snapshot state.json",
    "orkeon render task_execution -o run.svg --journal run.jsonl --machine-id t1",
    "orkeon render run.jsonl -o run.png --machine-id crew-1/collect",
)


@click.command("render", epilog=EXAMPLES)
@click.argument("subject", metavar="FILE|NAME|LOG")
@click.option(
    "-o", "--output", required=True, metavar="OUT", help="The picture: .svg, .png, .pdf, .mmd or .dot."
)
@click.option("--snapshot", metavar="FILE", help="Mark the state and the visits of a snapshot (JSON).")
@click.option("--journal", metavar="LOG", help="Mark the way that a machine took according to a journal.")
@click.option("--machine", metavar="NAME|FILE", help="For a LOG that does not name its machine.")
@click.option("--machine-id", metavar="ID", help="Which machine, where the journal has several.")
@shared_options
def command(
    *,
    subject: str,
    output: str,
    snapshot: str | None,
    journal: str | None,
    machine: str | None,
    machine_id: str | None,
) -> None:
    """Draw a machine, or a run of it.

    The machine is a file, the name of one that ships, or the one of a journal.
    """
    from orkeon_transitions.diagrams import render

    picture = _picture(subject, snapshot, journal, machine, machine_id)
    render(picture.definition, output, snapshot=picture.snapshot, trace=picture.trace)
    screen = current_screen()
    if not screen.quiet:
        screen.message(f"wrote {output}")


def _picture(
    subject: str, snapshot: str | None, journal: str | None, machine: str | None, machine_id: str | None
) -> Picture:
    if snapshot is not None and journal is not None:
        raise click.UsageError("--snapshot and --journal both say where the machine is: give one of them")
    path = Path(subject)
    if is_store_url(subject) or (path.is_file() and is_journal(path)):
        if snapshot is not None or journal is not None:
            raise click.UsageError(
                f"{subject} is a journal itself: --snapshot and --journal go with a machine"
            )
        return Picture.of_chapter(only_one(chapters_of(subject, machine, machine_id), "one"))
    if machine is not None:
        raise click.UsageError(f"{subject} is no journal: --machine goes with a journal")
    if machine_id is not None and journal is None:
        raise click.UsageError("--machine-id goes with a journal")
    if journal is not None:
        return Picture.of_chapter(only_one(chapters_of(journal, subject, machine_id), "one"))
    definition = find_machine(subject)
    return (
        Picture(definition) if snapshot is None else Picture(definition, _read_snapshot(snapshot, definition))
    )


def _read_snapshot(name: str, definition: MachineDefinition) -> Any:
    from pydantic import ValidationError

    from orkeon_transitions.facts import Snapshot

    content = existing_file(name, "snapshot").read_bytes()
    try:
        snapshot = Snapshot.model_validate_json(content)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise Mistake(f"{name}: no snapshot: {place + ': ' if place else ''}{first['msg']}") from error
    if snapshot.machine != definition.name:
        raise Mistake(f"{name}: a snapshot of machine '{snapshot.machine}', not of '{definition.name}'")
    return snapshot
