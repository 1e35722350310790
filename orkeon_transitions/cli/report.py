"""A run in Markdown: what came out, what each task did and how much of its limits it used."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from orkeon_transitions.cli.limits_used import limits_used
from orkeon_transitions.cli.screen import Mistake
from orkeon_transitions.cli.words import seconds, visible, work_done
from orkeon_transitions.cli.writing import try_file

if TYPE_CHECKING:
    from orkeon_transitions.cli.board import Board
    from orkeon_transitions.cli.deliverables import Deliverables
    from orkeon_transitions.crew import Crew, CrewResult, MachineRun, TaskResult, Usage

COLUMNS = ("task", "agent", "status", "attempts", "transitions", "tool calls", "tokens", "time")
DECISIONS = ("what", "by", "task", "choice", "round", "why")
# What Markdown would take for a mark of its own.
MARKS = re.compile(r"([\\`*_{}\[\]<>#|~])")


def report_file(name: str) -> Path:
    """The file that a report is to be written to, looked at before the run.

    Raises:
        Mistake: It cannot be written.
    """
    path = Path(name)
    if path.suffix.lower() not in {".md", ".markdown"}:
        raise Mistake(f"--report {name}: a report is Markdown, give it a name that ends with .md")
    if path.is_dir():
        raise Mistake(f"--report {name}: is a folder, not a file for the report")
    if not path.parent.is_dir():
        raise Mistake(f"--report {name}: there is no folder {path.parent} for the report")
    if path.exists() and not path.is_file():
        raise Mistake(f"--report {name}: is a pipe or a device, not a file for the report")
    try:
        try_file(path)
    except OSError as error:
        raise Mistake(f"--report {name}: the report could not be written there: {error.strerror}") from error
    return path


def report_text(
    crew: Crew,
    result: CrewResult,
    deliverables: Deliverables,
    board: Board,
    *,
    pictures: Mapping[str, str] | None = None,
    stopped: str | None = None,
) -> str:
    """The whole report.

    Args:
        crew: The crew.
        result: What the run gave, or as much as there is of it.
        deliverables: The files that it promises.
        board: What was seen of it.
        pictures: Where each task's picture is, as seen from the report.
        stopped: What broke the run off, if anything.
    """
    lines = [
        *_head(crew, result, board, stopped),
        *_table(COLUMNS, [_row(task, board) for task in result.tasks.values()]),
        *_decisions(result),
        *_limits(result, board),
        *_output(result.output, "Output", "##"),
    ]
    for task in result.tasks.values():
        lines += _task(task, deliverables.written(task.id), (pictures or {}).get(task.id))
    return visible("\n".join(lines)) + "\n"


def _head(crew: Crew, result: CrewResult, board: Board, stopped: str | None) -> Iterator[str]:
    yield from (f"# {_plain(result.crew)}", "")
    if crew.config.goal:
        yield from (_plain(crew.config.goal), "")
    yield f"- Status: **{result.status}** in {seconds(board.elapsed)}"
    yield f"- Process: {crew.config.process}; run `{result.run_id}`"
    yield f"- {', '.join(work_done(result))}, {_spent(result.usage)}"
    if stopped is not None:
        yield f"- The run was stopped: {_plain(stopped)}"
    if result.error:
        yield f"- Why: {_plain(result.error)}"
    yield ""


def _spent(usage: Usage) -> str:
    """`1,234 tokens (1,000 read, 234 written), $0.0123`."""
    money = f", ${usage.usd:.4f}" if usage.usd else ""
    return f"{usage.tokens:,} tokens ({usage.input_tokens:,} read, {usage.output_tokens:,} written){money}"


def _row(task: TaskResult, board: Board) -> tuple[str, ...]:
    took = board.lines[task.id].took
    return (
        task.id,
        task.agent or "",
        str(task.status),
        str(task.attempts),
        str(len(task.history)),
        str(task.usage.tool_calls),
        f"{task.usage.tokens:,}",
        "" if took is None else seconds(took),
    )


def _limits(result: CrewResult, board: Board) -> Iterator[str]:
    """How much of its limits the last machine of each task used."""
    columns, rows = limits_used((task, board.lines[task.id]) for task in result.tasks.values())
    if rows:
        yield from ("## Limits used", "")
        yield from _table(columns, [[row.get(name, "") for name in columns] for row in rows])


def _decisions(result: CrewResult) -> Iterator[str]:
    """What was decided on the way, where the process decides."""
    if not result.decisions:
        return
    yield from ("## Decisions", "")
    rows = [
        (one.kind, one.by or "the process", one.task, one.choice, str(one.round), one.why)
        for one in result.decisions
    ]
    yield from _table(DECISIONS, rows)


def _task(task: TaskResult, deliverable: Path | None, picture: str | None) -> Iterator[str]:
    who = f" by {_plain(task.agent)}" if task.agent else ""
    yield from (f"## {_plain(task.id)}: {task.status}{who}", "")
    if task.error:
        yield f"- Why: {_plain(task.error)}"
    if deliverable is not None:
        yield f"- Deliverable: `{deliverable}`"
    for number, machine in enumerate(task.machines):
        before = {earlier.agent for earlier in task.machines[:number]}
        begun = "Begun again" if machine.agent in before else "Begun"
        why = f" ({_plain(machine.error)})" if machine.error and len(task.machines) > 1 else ""
        yield f"- {begun} by {_plain(machine.agent)}: {_path(machine)}{why}"
    if picture is not None:
        yield f"- Picture: [{_plain(picture)}]({_link(picture)})"
    yield ""
    if picture is not None and not picture.endswith(".mmd"):
        yield from (f"![The way that {_plain(task.id)} took]({_link(picture)})", "")
    yield from _output(task.output, "Output", "###")


def _path(machine: MachineRun) -> str:
    states = [str(step.to_state) for step in machine.history]
    return " → ".join([str(machine.history[0].from_state), *states] if states else [machine.state])


def _output(output: str, title: str, level: str) -> Iterator[str]:
    """A text as it is, between fences that it does not hold itself."""
    if not output:
        return
    longest = max(map(len, re.findall(r"`+", output)), default=0)
    fence = "`" * max(3, longest + 1)
    yield from (f"{level} {title}", "", fence, output.rstrip("\n"), fence, "")


def _link(path: str) -> str:
    """A path as the target of a link, whatever is in it."""
    return quote(path.replace(os.sep, "/"), safe="/.-_~")


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(columns)} |"
    yield f"|{' --- |' * len(columns)}"
    for row in rows:
        yield f"| {' | '.join(map(_plain, row))} |"
    yield ""


def _plain(text: str) -> str:
    """A text in one line in which Markdown finds nothing to do."""
    return MARKS.sub(r"\\\1", " ".join(text.split()))
