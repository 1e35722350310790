"""A run's result, for a person and for a program."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orkeon_transitions.cli.screen import Screen
from orkeon_transitions.cli.words import STATUS_STYLES, seconds, visible, work_done

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orkeon_transitions.cli.board import Board
    from orkeon_transitions.cli.deliverables import Deliverables
    from orkeon_transitions.crew import CrewResult, TaskResult


def result_document(result: CrewResult, deliverables: Deliverables, board: Board) -> dict[str, Any]:
    """The result as JSON data: `status`, `output`, `tasks` as a list, and where the deliverables are."""
    document = result.to_dict()
    for task in document["tasks"]:
        written = deliverables.written(task["id"])
        task["deliverable"] = None if written is None else str(written)
    document["seconds"] = round(board.elapsed, 3)
    return document


def show_result(screen: Screen, result: CrewResult, deliverables: Deliverables, board: Board) -> None:
    """Writes the result: a line for each task, the files, the output, and last what went wrong."""
    screen.table(
        ("task", "agent", "status", "transitions", "tool calls", "attempts", "time"),
        [_row(task, board) for task in result.tasks.values()],
        spare=("transitions", "attempts", "tool calls", "agent", "time"),
    )
    written = [path for task in result.tasks if (path := deliverables.written(task)) is not None]
    if written:
        screen.result()
        screen.result("Deliverables:")
        for path in written:
            screen.result(f"  {visible(_short(path))}")
    if result.output and result.status != "cancelled":
        screen.result()
        screen.result("Output:")
        screen.result(visible(result.output.rstrip()))
    screen.result()
    for name, ended, why in _reasons(result):
        word = screen.colored(ended, STATUS_STYLES.get(ended))
        screen.result(f"{visible(name)}: {word}: {visible(why)}")
    status = screen.colored(str(result.status), STATUS_STYLES.get(result.status))
    screen.result(
        f"{visible(result.crew)}: {status} in {seconds(board.elapsed)} ({', '.join(work_done(result))})"
    )


def _reasons(result: CrewResult) -> Iterator[tuple[str, str, str]]:
    """What went wrong, with whom: with the tasks, and with the run itself. Whoever cancelled it knows why."""
    from orkeon_transitions.crew.processes.outcome import what_went_wrong

    if result.status == "cancelled":
        tasks = [task for task in result.tasks.values() if task.status != "cancelled"]
    else:
        tasks = list(result.tasks.values())
        of_tasks = what_went_wrong(None, tasks) or ""
        if own := (result.error or "").removesuffix(of_tasks).removesuffix("; "):
            yield result.crew, str(result.status), own
    yield from ((task.id, str(task.status), task.error) for task in tasks if task.error)


def _row(task: TaskResult, board: Board) -> tuple[str, ...]:
    took = board.lines[task.id].took
    return (
        task.id,
        task.agent or "",
        str(task.status),
        str(len(task.history)),
        str(task.usage.tool_calls),
        str(task.attempts),
        "" if took is None else seconds(took),
    )


def _short(path: Path) -> str:
    """The path from here, where it lies below this folder."""
    return os.path.relpath(path) if path.is_relative_to(Path.cwd()) else str(path)
