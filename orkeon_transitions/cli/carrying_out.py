"""A run from its beginning to its result, watched: what `orkeon run` and `orkeon resume` have in common."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from orkeon_transitions.cli.app import DEGRADED, FAILED, INTERRUPTED, Command
from orkeon_transitions.cli.board import Board
from orkeon_transitions.cli.deliverables import Deliverables
from orkeon_transitions.cli.interrupts import Interrupts
from orkeon_transitions.cli.live import progress
from orkeon_transitions.cli.outcome import result_document, show_result
from orkeon_transitions.cli.pictures import draw_tasks, picture_folder
from orkeon_transitions.cli.report import report_file, report_text
from orkeon_transitions.cli.screen import Mistake, Screen
from orkeon_transitions.cli.subjects import looks_like, refuse_database
from orkeon_transitions.cli.writing import keep, named
from orkeon_transitions.errors import CrewDefinitionError, OrkeonError, StaleMachineError, place_text
from orkeon_transitions.facts import error_text

if TYPE_CHECKING:
    from orkeon_transitions.crew import Crew, CrewObserver, CrewResult, Tool

CODES = {"completed": 0, "degraded": DEGRADED, "failed": FAILED, "cancelled": INTERRUPTED}
Start = Callable[["CrewObserver"], Coroutine[Any, Any, "CrewResult"]]


@dataclass(frozen=True, slots=True)
class Outputs:
    """What is made of a result, looked at before the run.

    Attributes:
        report: The Markdown file, or None.
        pictures: The folder for pictures, or None.
        as_json: Whether the result is one JSON document.
    """

    report: Path | None
    pictures: Path | None
    as_json: bool

    @classmethod
    def named(cls, report: str | None, diagrams: str | None, *, as_json: bool) -> Outputs:
        """Those of the options.

        Raises:
            Mistake: One cannot be written.
        """
        report_path = None if report is None else report_file(report)
        return cls(report_path, None if diagrams is None else picture_folder(diagrams), as_json)


def output_options(command: Command) -> Command:
    """Adds `--report` and `--diagrams`."""
    command = click.option(
        "--diagrams",
        metavar="DIR",
        callback=named,
        help="Draw each task's machine with the way that it took.",
    )(command)
    return click.option(
        "--report", metavar="FILE.md", callback=named, help="Write the result down in Markdown."
    )(command)


def load(screen: Screen, crew: str, *, strict: bool = False, tools: Sequence[Tool] = ()) -> Crew:
    """Loads a crew and says what was found about it."""
    from orkeon_transitions.crew import load_crew

    try:
        loaded = load_crew(crew, strict=strict, tools=tools)
    except CrewDefinitionError as error:
        refuse_database(Path(crew))
        if looks_like(Path(crew)) == "machine":
            raise Mistake(f"{crew}: is a machine, not a crew") from error
        raise
    for found in loaded.findings:
        words = f"{found.path}: {found.message} [{found.code}]"
        screen.say(found.severity, words, place=place_text(found.file or crew, found.line, found.column))
    return loaded


def carry_out(
    screen: Screen,
    crew: Crew,
    inputs: Mapping[str, Any],
    start: Start,
    outputs: Outputs,
    *,
    around: AbstractContextManager[Any] | None = None,
    resumable: str | None = None,
) -> int:
    """Runs a crew to its end and shows the result.

    Args:
        screen: Where to.
        crew: The crew.
        inputs: What fills the placeholders of its file.
        start: Begins the run, or goes on with it.
        outputs: What is made of the result.
        around: What the run writes to, closed as soon as it is over.
        resumable: How the run can be gone on with if it is interrupted, or None.

    Returns:
        The exit code.
    """
    board = Board.of(crew.name, [(task.id, task.agent) for task in crew.tasks.values()])
    deliverables = Deliverables(crew, inputs)

    def announce() -> None:
        screen.message("interrupted: cancelling the tasks (once more ends the program at once)")

    with Interrupts(announce, lambda: board.result is not None) as interrupts:
        error: Exception | None = None
        with around or nullcontext():
            try:
                result = _watched(screen, board, start, interrupts)
            except Exception as raised:
                if board.result is None:
                    raise
                result, error = board.result, raised
        for line in board.lines.values():
            if line.is_restored:
                deliverables.count_earlier(line.task)
        code = FAILED if error is not None else CODES[result.status]
        try:
            if outputs.as_json:
                screen.json(result_document(result, deliverables, board))
            else:
                show_result(screen, result, deliverables, board)
        except Mistake as unwritten:  # what the run gave goes into the report all the same
            screen.say("error", unwritten.message)
            code = code or FAILED
        stopped = None if error is None else error_text(error)
        _write_down(
            screen,
            outputs,
            draw=lambda folder: draw_tasks(screen, folder, result, board),
            text=lambda drawn: report_text(
                crew, result, deliverables, board, pictures=drawn, stopped=stopped
            ),
        )
        if error is not None and not isinstance(error, OrkeonError):
            raise error
        if error is not None:
            screen.say("error", f"the run was stopped: {error}")
        is_over = error is None and result.status != "cancelled"
        if resumable is not None and not is_over and not isinstance(error, StaleMachineError):
            again = "what was given by --tools, --model and the like is given again"
            screen.say("note", f"{resumable} goes on with it ({again})")
        if interrupts.broke_off:
            screen.finish()
            interrupts.leave()
    return INTERRUPTED if interrupts.came_late else code


def pairs(texts: tuple[str, ...]) -> dict[str, str]:
    """Reads `KEY=VALUE` texts."""
    return dict(map(_pair, texts))


def _pair(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise click.BadParameter(f"'{text}' is not of the form KEY=VALUE", param_hint="'--input'")
    return key.strip(), value


def _write_down(
    screen: Screen,
    outputs: Outputs,
    draw: Callable[[Path], Mapping[str, Path]],
    text: Callable[[Mapping[str, str]], str],
) -> None:
    """Draws the pictures and writes the report that shows them, which is there even if a picture fails."""
    drawn: Mapping[str, Path] = {}
    written: list[Path | None] = []
    try:
        if outputs.pictures is not None:
            drawn = draw(outputs.pictures)
            written += [outputs.pictures] if drawn else []
    finally:
        if outputs.report is not None:
            beside = outputs.report.parent
            links = {task: os.path.relpath(path, beside) for task, path in drawn.items()}
            written.insert(0, keep(screen, outputs.report, text(links)))
    for path in filter(None, written):
        screen.hint(f"written down in {path}")


def _watched(screen: Screen, board: Board, start: Start, interrupts: Interrupts) -> CrewResult:
    """Runs the crew to its end; a run that was interrupted gives what there is of its result."""

    async def run() -> CrewResult:
        task = asyncio.create_task(start(board.observer()))
        interrupts.watch(task)
        try:
            return await task
        except asyncio.CancelledError:
            if board.result is None:
                raise KeyboardInterrupt from None
            return board.result

    try:
        with progress(screen, board):
            return asyncio.run(run())
    except KeyboardInterrupt:
        if board.result is None:
            raise
        return board.result
    finally:
        interrupts.run_is_over()
