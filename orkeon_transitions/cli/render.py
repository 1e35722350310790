"""`orkeon render`: a machine as a picture, with a run drawn into it; the tasks of a crew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from orkeon_transitions.cli.app import examples, shared_options
from orkeon_transitions.cli.journals import Chapter, chapters_of, only_one
from orkeon_transitions.cli.own_tools import imported, tools_option
from orkeon_transitions.cli.screen import Mistake, current_screen
from orkeon_transitions.cli.subjects import existing_file, find_machine, is_journal, is_store_url, looks_like

if TYPE_CHECKING:
    from orkeon_transitions.crew import Crew
    from orkeon_transitions.crew.tool import Tool
    from orkeon_transitions.definition import MachineDefinition


@dataclass(frozen=True, slots=True)
class Picture:
    """What is to be drawn: a definition and what is known of a run, or a crew."""

    subject: MachineDefinition | Crew
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
    "orkeon render crew.yaml -o plan.svg",
)


@click.command("render", epilog=EXAMPLES)
@click.argument("subject", metavar="FILE|NAME|LOG|CREW")
@click.option(
    "-o", "--output", required=True, metavar="OUT", help="The picture: .svg, .png, .pdf, .mmd or .dot."
)
@click.option("--snapshot", metavar="FILE", help="Mark the state and the visits of a snapshot (JSON).")
@click.option("--journal", metavar="LOG", help="Mark the way that a machine took according to a journal.")
@click.option("--machine", metavar="NAME|FILE", help="For a LOG that does not name its machine.")
@click.option("--machine-id", metavar="ID", help="Which machine, where the journal has several.")
@tools_option
@shared_options
def command(
    *,
    subject: str,
    output: str,
    snapshot: str | None,
    journal: str | None,
    machine: str | None,
    machine_id: str | None,
    own_tools: tuple[str, ...],
) -> None:
    """Draw a machine, a run of it, or the tasks of a crew.

    The machine is a file, the name of one that ships, or the one of a journal; the crew a file, a folder, or
    the name of a packaged example.
    """
    from orkeon_transitions.diagrams import render

    crew = None if any((snapshot, journal, machine, machine_id)) else _crew(subject, imported(own_tools))
    picture = _picture(subject, snapshot, journal, machine, machine_id) if crew is None else Picture(crew)
    render(picture.subject, output, snapshot=picture.snapshot, trace=picture.trace)
    screen = current_screen()
    if not screen.quiet:
        screen.message(f"wrote {output}")


def _picture(
    subject: str,
    snapshot: str | None,
    journal: str | None,
    machine: str | None,
    machine_id: str | None,
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


def _crew(subject: str, tools: Sequence[Tool]) -> Crew | None:
    """The crew that is named; None if it is none that is named."""
    from orkeon_transitions.crew import example_names, load_crew

    path = Path(subject)
    is_named = path.is_dir() or (subject in example_names() and not path.exists())
    is_file = path.is_file() and not is_journal(path) and looks_like(path) == "crew"
    return load_crew(subject, tools=tools) if is_named or is_file else None


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
