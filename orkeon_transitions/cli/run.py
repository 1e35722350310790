"""`orkeon run`: a crew from its file to its result."""

from __future__ import annotations

import asyncio
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from orkeon_transitions.cli.app import DEGRADED, FAILED, INTERRUPTED, examples, shared_options
from orkeon_transitions.cli.board import Board
from orkeon_transitions.cli.deliverables import Deliverables
from orkeon_transitions.cli.interrupts import Interrupts
from orkeon_transitions.cli.live import progress
from orkeon_transitions.cli.outcome import result_document, show_result
from orkeon_transitions.cli.pictures import draw_tasks, picture_folder
from orkeon_transitions.cli.report import report_file, report_text
from orkeon_transitions.cli.screen import Mistake, Screen, current_screen
from orkeon_transitions.cli.subjects import looks_like
from orkeon_transitions.errors import CrewDefinitionError, OrkeonError, place_text

if TYPE_CHECKING:
    from orkeon_transitions.crew import Crew, CrewResult
    from orkeon_transitions.store import JsonlJournal

CODES = {"completed": 0, "degraded": DEGRADED, "failed": FAILED, "cancelled": INTERRUPTED}
EXAMPLES = examples(
    "orkeon run 103-ts-codebase-with-fsm",
    "orkeon run my-crew.yaml --input topic=parsers --journal run.jsonl",
    "orkeon run my-crew.yaml --report report.md --diagrams pictures",
    "orkeon run my-crew.yaml --json | jq .status",
)


@click.command("run", epilog=EXAMPLES)
@click.argument("crew")
@click.option("--model", type=click.Choice(["offline"]), help="Which model answers: only `offline` is there.")
@click.option(
    "--input", "inputs", multiple=True, metavar="KEY=VALUE", help="Fills {KEY} in the file; repeatable."
)
@click.option("--journal", metavar="FILE", help="Write each transition down before it becomes visible.")
@click.option("--report", metavar="FILE.md", help="Write the result down in Markdown.")
@click.option("--diagrams", metavar="DIR", help="Draw each task's machine with the way that it took.")
@click.option("--strict", is_flag=True, help="Refuse a crew file with unknown keys.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document instead of tables.")
@shared_options
@click.pass_context
def command(
    context: click.Context,
    *,
    crew: str,
    model: str | None,  # noqa: ARG001 - there is one model, and it is chosen already
    inputs: tuple[str, ...],
    journal: str | None,
    report: str | None,
    diagrams: str | None,
    strict: bool,
    as_json: bool,
) -> None:
    """Run a crew: a file, a folder, or an example that ships.

    Progress goes to standard error, the result to standard output. Ctrl-C cancels the tasks and says what was
    done; pressed again, it ends the program at once. A journal that cannot be opened is exit code 2; one that
    cannot be written stops the run, exit code 1.
    """
    screen = current_screen()
    given = dict(_pair(text) for text in inputs)
    report_path = None if report is None else report_file(report)
    loaded = _loaded(crew, strict=strict)
    for found in loaded.findings:
        words = f"{found.path}: {found.message} [{found.code}]"
        screen.say(found.severity, words, place=place_text(found.file or crew, found.line, found.column))
    picture_path = None if diagrams is None else picture_folder(diagrams)
    board = Board.of(loaded.name, [(task.id, task.agent) for task in loaded.tasks.values()])
    deliverables = Deliverables(loaded, given)
    error: OrkeonError | None = None
    with _opened(journal) as opened:
        try:
            result = _run(screen, loaded, board, inputs=given, journal=opened)
        except OrkeonError as raised:
            if board.result is None:
                raise
            result, error = board.result, raised
    if as_json:
        screen.json(result_document(result, deliverables, board))
    else:
        show_result(screen, result, deliverables, board)
    if report_path is not None:
        _write(report_path, report_text(loaded, result, deliverables, board))
    if picture_path is not None:
        draw_tasks(screen, picture_path, result, board)
    if error is not None:
        screen.say("error", f"the run was stopped: {error}")
    context.exit(FAILED if error is not None else CODES[result.status])


def _loaded(crew: str, *, strict: bool) -> Crew:
    from orkeon_transitions.crew import load_crew

    try:
        return load_crew(crew, strict=strict)
    except CrewDefinitionError as error:
        if looks_like(Path(crew)) == "machine":
            raise Mistake(f"{crew}: is a machine, not a crew") from error
        raise


def _pair(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise click.BadParameter(f"'{text}' is not of the form KEY=VALUE", param_hint="'--input'")
    return key.strip(), value


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Mistake(f"{path}: cannot be written: {error.strerror}") from error


def _opened(journal: str | None) -> AbstractContextManager[JsonlJournal | None]:
    from orkeon_transitions.store import JsonlJournal

    return nullcontext() if journal is None else JsonlJournal(journal)


def _run(screen: Screen, crew: Crew, board: Board, **options: Any) -> CrewResult:
    """Runs the crew to its end; a run that was interrupted gives what there is of its result."""

    async def run(interrupts: Interrupts) -> CrewResult:
        task = asyncio.create_task(crew.run(observer=board.observer(), **options))
        interrupts.watch(task)
        try:
            return await task
        except asyncio.CancelledError:
            if board.result is None:
                raise KeyboardInterrupt from None
            return board.result

    def announce() -> None:
        screen.message("interrupted: cancelling the tasks (once more ends the program at once)")

    with Interrupts(announce) as interrupts, progress(screen, board):
        return asyncio.run(run(interrupts))
