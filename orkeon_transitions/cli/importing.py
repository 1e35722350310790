"""`orkeon import`: a crew of another framework as one crew file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from orkeon_transitions.cli.app import examples, shared_options
from orkeon_transitions.cli.own_tools import tools_option
from orkeon_transitions.cli.screen import Mistake, current_screen

if TYPE_CHECKING:
    from orkeon_transitions.crew import Tool
    from orkeon_transitions.crew.importing import ImportedCrew

EXAMPLES = examples(
    "orkeon import crewai src/my_project/config",
    "orkeon import crewai my_project -o my-crew.yaml",
)


@click.command("import", epilog=EXAMPLES)
@click.argument("framework", type=click.Choice(["crewai"]), expose_value=False)
@click.argument("folder")
@click.option("-o", "--output", metavar="FILE.yaml", help="Where to; standard output if left out.")
@click.option("--force", is_flag=True, help="Write over a file that is there.")
@tools_option
@shared_options
def command(*, folder: str, output: str | None, force: bool, own_tools: list[Tool]) -> None:
    """Make one crew file of CrewAI's agents.yaml and tasks.yaml.

    The folder is that of the two files, or of a project that has them in `config/` or `src/*/config/`.
    `orkeon run` takes the same folder: they run as they are, too. What has no effect here is switched off in
    the new file and named; comments stay where they can. What a task writes comes to where it came before,
    if -o says where the new file will lie.
    """
    from orkeon_transitions.crew.importing import import_crewai

    target = None if output is None else _target(output, force=force)
    imported = import_crewai(folder, tools=own_tools, beside=None if target is None else target.parent)
    screen = current_screen()
    for note in imported.notes:
        screen.say("note", note)
    if target is None:
        screen.raw(imported.text)
        return
    _check_apart(target, imported)
    _write(target, imported.text, force=force)
    if not screen.quiet:
        screen.result(f"wrote {target}")
    if target.stem in {"crew", "config"} and target.resolve().parent == imported.files[0].resolve().parent:
        screen.say("note", f"the folder has agents and tasks twice now; name the file: orkeon run {target}")


def _target(output: str, *, force: bool) -> Path:
    """The file that is to be written, looked at before anything is read.

    Raises:
        Mistake: It cannot become a crew file, or is there already.
    """
    path = Path(output)
    if path.suffix.lower() not in {".yaml", ".yml"}:
        raise Mistake(f"-o {output}: a crew file has a name that ends with .yaml or .yml")
    if path.is_dir():
        raise Mistake(f"-o {output}: is a folder, not a file")
    if not path.parent.is_dir():
        raise Mistake(f"-o {output}: there is no folder {path.parent}")
    if os.path.lexists(path) and not force:
        raise Mistake(f"-o {output}: is there already; --force writes over it")
    return path


def _check_apart(target: Path, imported: ImportedCrew) -> None:
    """Sees to it that the new file does not take the place of one that it is made of, whatever is forced.

    Raises:
        Mistake: It would.
    """
    for file in imported.files:
        if os.path.lexists(target) and target.exists() and target.samefile(file):
            raise Mistake(f"-o {target}: is one of the files that it is made of")


def _write(target: Path, text: str, *, force: bool) -> None:
    try:
        with target.open("w" if force else "x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError:  # somebody was quicker
        raise Mistake(f"-o {target}: is there already; --force writes over it") from None
    except OSError as error:
        raise Mistake(f"{target}: cannot be written: {error.strerror}") from error
