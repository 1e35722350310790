"""A run in pictures: the machine of each task with the way that the task took."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from orkeon_transitions.cli.screen import Mistake, Screen
from orkeon_transitions.cli.writing import try_folder
from orkeon_transitions.errors import MissingExtraError, OrkeonError

if TYPE_CHECKING:
    from orkeon_transitions.cli.board import Board
    from orkeon_transitions.crew import CrewResult, TaskResult

LONGEST_NAME = 80


def picture_folder(name: str) -> Path:
    """The folder that pictures are to be drawn into, made before the run.

    Raises:
        Mistake: There cannot be such a folder, or nothing can be written there.
    """
    path = Path(name)
    try:
        try_folder(path)
    except OSError as error:
        raise Mistake(f"--diagrams {name}: cannot be a folder for pictures: {error.strerror}") from error
    return path


def draw_tasks(screen: Screen, folder: Path, result: CrewResult, board: Board) -> dict[str, Path]:
    """Draws every task that was begun: SVG, or Mermaid where there is nothing to lay out SVG with.

    Returns:
        The picture of each; of one that could not be drawn it is said why.
    """
    drawn = [task for task in result.tasks.values() if task.history]
    pictures = {}
    for task, name in zip(drawn, _file_names(task.id for task in drawn), strict=True):
        try:
            pictures[task.id] = _drawn(screen, task, folder / name, board)
        except (OSError, OrkeonError) as error:
            screen.say("error", f"there is no picture of task '{task.id}': {error}")
    return pictures


def _drawn(screen: Screen, task: TaskResult, name: Path, board: Board) -> Path:
    path = name.with_name(f"{name.name}.svg")
    try:
        _draw(task, path, board)
    except MissingExtraError as error:
        screen.warn(f"the pictures are drawn as Mermaid (.mmd): {error}")
        path = name.with_name(f"{name.name}.mmd")
        _draw(task, path, board)
    return path


def _draw(task: TaskResult, path: Path, board: Board) -> None:
    from orkeon_transitions.diagrams import render
    from orkeon_transitions.machines import machine_definition

    machine = board.lines[task.id].machine
    reason = None if machine is None else machine.circuit_status.broken_reason
    snapshot = {"state": task.state, "trip": {"reason": reason} if reason else None}
    render(machine_definition("task_execution"), path, snapshot=snapshot, trace=task.history)


def _file_names(tasks: Iterable[str]) -> Iterator[str]:
    """A name for each task that every file system takes, no two alike."""
    used: set[str] = set()
    for task in tasks:
        name = re.sub(r"[^\w.-]+", "-", task).strip(".-")[:LONGEST_NAME] or "task"
        chosen, number = name, 2
        while chosen.casefold() in used:
            chosen, number = f"{name}-{number}", number + 1
        used.add(chosen.casefold())
        yield chosen
