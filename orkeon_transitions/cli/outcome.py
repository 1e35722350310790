"""A run's result, for a person and for a program."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orkeon_transitions.cli.screen import Screen
from orkeon_transitions.cli.words import STATUS_STYLES, seconds, visible, work_done

if TYPE_CHECKING:
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
    """Writes the result: a line for each task, what went wrong, the files, the output."""
    screen.table(
        ("task", "agent", "status", "transitions", "tool calls", "attempts", "time"),
        [_row(task, board) for task in result.tasks.values()],
        spare=("attempts", "tool calls", "agent", "transitions"),
    )
    for task in result.tasks.values():
        if task.error and task.status != "cancelled":
            status = screen.colored(str(task.status), STATUS_STYLES.get(task.status))
            screen.result(f"{visible(task.id)}: {status}: {visible(task.error)}")
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
    status = screen.colored(str(result.status), STATUS_STYLES.get(result.status))
    screen.result(
        f"{visible(result.crew)}: {status} in {seconds(board.elapsed)} ({', '.join(work_done(result))})"
    )


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
