"""A run in Markdown: what came out, what each task did and how much of its limits it used."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from orkeon_transitions.cli.screen import Mistake
from orkeon_transitions.cli.words import seconds, visible, work_done

if TYPE_CHECKING:
    from orkeon_transitions.cli.board import Board, TaskLine
    from orkeon_transitions.cli.deliverables import Deliverables
    from orkeon_transitions.crew import Crew, CrewResult, MachineRun, TaskResult

COLUMNS = ("task", "agent", "status", "attempts", "transitions", "tool calls", "time")
LIMITS = ("task", "transitions", "most visits of a state", "retries", "tool calls in a round")
# What Markdown would take for a mark of its own.
MARKS = re.compile(r"([\\`*_{}\[\]<>#|~])")


def report_file(name: str) -> Path:
    """The file that a report is to be written to, looked at before the run.

    Raises:
        Mistake: It cannot become a file.
    """
    path = Path(name)
    if path.suffix.lower() not in {".md", ".markdown"}:
        raise Mistake(f"--report {name}: a report is Markdown, give it a name that ends with .md")
    if path.is_dir():
        raise Mistake(f"--report {name}: is a folder, not a file for the report")
    if not path.parent.is_dir():
        raise Mistake(f"--report {name}: there is no folder {path.parent} for the report")
    return path


def report_text(crew: Crew, result: CrewResult, deliverables: Deliverables, board: Board) -> str:
    """The whole report."""
    lines = [
        *_head(crew, result, board),
        *_table(COLUMNS, [_row(task, board) for task in result.tasks.values()]),
        *_limits(result, board),
        *_output(result.output, "Output", "##"),
    ]
    for task in result.tasks.values():
        lines += _task(task, deliverables.written(task.id))
    return visible("\n".join(lines)) + "\n"


def _head(crew: Crew, result: CrewResult, board: Board) -> Iterator[str]:
    facts = (*work_done(result), f"{result.usage.tokens:,} tokens")
    yield from (f"# {_plain(result.crew)}", "")
    if crew.config.goal:
        yield from (_plain(crew.config.goal), "")
    yield f"- Status: **{result.status}** in {seconds(board.elapsed)}"
    yield f"- Process: {crew.config.process}; run `{result.run_id}`"
    yield f"- {', '.join(facts)}"
    if result.error:
        yield f"- Why: {_plain(result.error)}"
    yield ""


def _row(task: TaskResult, board: Board) -> tuple[str, ...]:
    took = board.lines[task.id].took
    return (
        task.id,
        task.agent or "",
        str(task.status),
        str(task.attempts),
        str(len(task.history)),
        str(task.usage.tool_calls),
        "" if took is None else seconds(took),
    )


def _limits(result: CrewResult, board: Board) -> Iterator[str]:
    """How much of its limits the last machine of each task used."""
    rows = [_used(board.lines[task]) for task in result.tasks if board.lines[task].machine is not None]
    if rows:
        yield from ("## Limits used", "")
        yield from _table(LIMITS, rows)


def _used(line: TaskLine) -> tuple[str, ...]:
    status, used = line.machine.circuit_status, line.machine.guard_context
    policy = status.policy
    visits = max(status.state_visit_histogram.values(), default=0)
    return (
        line.task,
        _of(status.total_transitions, policy.max_transitions),
        _of(visits, policy.max_state_visits),
        f"{used.retry_count} of {used.max_retries}",
        f"{used.tool_call_count} of {used.max_tool_calls_per_round}",
    )


def _of(used: int, most: int) -> str:
    return f"{used} of {most}" if most else f"{used}, no limit"


def _task(task: TaskResult, deliverable: Path | None) -> Iterator[str]:
    who = f" by {_plain(task.agent)}" if task.agent else ""
    yield from (f"## {_plain(task.id)}: {task.status}{who}", "")
    if task.error:
        yield f"- Why: {_plain(task.error)}"
    if deliverable is not None:
        yield f"- Deliverable: `{deliverable}`"
    for number, machine in enumerate(task.machines, start=1):
        begun = "Begun" if number == 1 else "Begun again"
        why = f" ({_plain(machine.error)})" if machine.error and len(task.machines) > 1 else ""
        yield f"- {begun} by {_plain(machine.agent)}: {_path(machine)}{why}"
    yield ""
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


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(columns)} |"
    yield f"|{' --- |' * len(columns)}"
    for row in rows:
        yield f"| {' | '.join(map(_plain, row))} |"
    yield ""


def _plain(text: str) -> str:
    """A text in one line in which Markdown finds nothing to do."""
    return MARKS.sub(r"\\\1", " ".join(text.split()))
