"""`orkeon replay`: what a journal says happened, step by step, and where it looks wrong."""

from __future__ import annotations

from dataclasses import asdict, fields
from itertools import compress
from typing import TYPE_CHECKING, Any

import click

from orkeon_transitions.cli.app import FAILED, examples, shared_options
from orkeon_transitions.cli.journals import Chapter, chapters_of
from orkeon_transitions.cli.screen import Screen, current_screen
from orkeon_transitions.cli.words import counted, visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orkeon_transitions.store import Replay
    from orkeon_transitions.store.fold import Step

BAR = 30
STEP_COLUMNS = ("step", "date", "time (UTC)", "after", "from", "trigger", "to", "remark")
# A step begins where the one before it ended, so that `from` is the last to be missed.
STEP_SPARE = ("after", "from")

EXAMPLES = examples(
    "orkeon replay run.jsonl",
    "orkeon replay run.jsonl --machine-id crew-1/collect",
    "orkeon replay agent.log --machine hermes_agent --json",
)


@click.command("replay", epilog=EXAMPLES)
@click.argument("log")
@click.option(
    "--machine", metavar="NAME|FILE", help="The machine's definition, where the log does not name it."
)
@click.option("--machine-id", metavar="ID", help="Which machine (`session_id`), where the log has several.")
@click.option("--strict", is_flag=True, help="Exit code 1 if there is an anomaly.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document instead of tables.")
@shared_options
@click.pass_context
def command(
    context: click.Context,
    *,
    log: str,
    machine: str | None,
    machine_id: str | None,
    strict: bool,
    as_json: bool,
) -> None:
    """Say what happened, according to a journal.

    LOG is a journal that `orkeon run --journal` or JsonlJournal wrote, or a structured transition log with
    timestamp, session_id, trigger, from_state and to_state. A torn last line costs a warning. An anomaly is
    shown and changes nothing, unless --strict is given. A log of several machines is summed up; --machine-id
    shows one of them. With --json, several machines are a list under `machines`.
    """
    screen = current_screen()
    chapters = chapters_of(log, machine, machine_id)
    if as_json:
        documents = [_document(chapter) for chapter in chapters]
        screen.json(documents[0] if len(documents) == 1 else {"machines": documents})
    elif len(chapters) == 1:
        _show(screen, log, chapters[0])
    else:
        _sum_up(screen, log, chapters)
    if strict and any(chapter.replay.anomalies for chapter in chapters):
        context.exit(FAILED)


def _document(chapter: Chapter) -> dict[str, Any]:
    replay = chapter.replay
    return (
        {"machine": chapter.definition.name}
        | {field.name: getattr(replay, field.name) for field in fields(replay)}
        | {
            "steps": [step._asdict() for step in replay.steps],
            "anomalies": [asdict(anomaly) for anomaly in replay.anomalies],
        }
    )


def _show(screen: Screen, log: str, chapter: Chapter) -> None:
    replay = chapter.replay
    days = {step.timestamp.date() for step in replay.steps}
    day = f", {days.pop()}" if len(days) == 1 else ""
    screen.result(f"{chapter.definition.name} {visible(replay.machine_id or '(nobody)')}{day}")
    screen.result()
    if replay.steps:
        rows = list(_step_rows(replay))
        shown = [name not in ("date", "remark") for name in STEP_COLUMNS]
        shown[STEP_COLUMNS.index("date")] = not day
        shown[-1] = any(row[-1] for row in rows)
        screen.table(
            list(compress(STEP_COLUMNS, shown)),
            [list(compress(row, shown)) for row in rows],
            spare=STEP_SPARE,
            below="remark" if shown[-1] else None,
        )
        screen.result()
    most = max(replay.histogram.values())
    screen.table(
        ("state", "visits", ""),
        [(state, str(n), "█" * max(1, round(BAR * n / most))) for state, n in replay.histogram.items()],
    )
    screen.result()
    _show_anomalies(screen, log, replay)
    screen.result(f"final state: {visible(replay.final_state)}{_end_words(chapter)}")


def _step_rows(replay: Replay) -> Iterator[tuple[str, ...]]:
    before = None
    for step in replay.steps:
        passed = "" if before is None else f"{(step.timestamp - before).total_seconds():+.3f} s"
        new_day = before is None or before.date() != step.timestamp.date()
        before = step.timestamp
        yield (
            str(step.ordinal),
            f"{step.timestamp:%Y-%m-%d}" if new_day else "",
            step.timestamp.strftime("%H:%M:%S.%f")[:-3],
            passed,
            step.from_state,
            step.trigger or "(the clock)",
            step.to_state,
            _remark(step, replay),
        )


def _remark(step: Step, replay: Replay) -> str:
    if step.degraded:
        # The reason of a circuit that is still broken stands below, with the final state.
        told = step.reason is None or step.reason.startswith(replay.broken_reason or "\n")
        return "by the breaker" if told else f"by the breaker: {step.reason}"
    if step.error:
        return f"then failed: {step.error}"
    return "internal" if step.internal else ""


def _end_words(chapter: Chapter) -> str:
    replay = chapter.replay
    words = [counted(len(replay.steps), "transition") + " made"]
    if len(replay.steps) != replay.transition_count:
        words.append(f"{replay.transition_count} in the current budget")
    if replay.is_circuit_broken:
        words.append(f"circuit broken: {replay.broken_reason}" if replay.broken_reason else "circuit broken")
    else:
        words.append("circuit whole")
    if replay.final_state in chapter.definition.final_states:
        words.append("ended")
    return f" ({'; '.join(words)})"


def _show_anomalies(screen: Screen, log: str, replay: Replay) -> None:
    for anomaly in replay.anomalies:
        label = screen.colored("anomaly:", "yellow")
        screen.result(f"{visible(log)}:{anomaly.line}: {label} {visible(anomaly.message)} [{anomaly.code}]")
    if replay.anomalies:
        screen.result()


def _sum_up(screen: Screen, log: str, chapters: list[Chapter]) -> None:
    screen.table(
        ("machine id", "machine", "steps", "final state", "anomalies"),
        [
            (
                str(chapter.replay.machine_id),
                chapter.definition.name,
                str(len(chapter.replay.steps)),
                chapter.replay.final_state,
                str(len(chapter.replay.anomalies) or ""),
            )
            for chapter in chapters
        ],
        spare=("machine", "steps"),
    )
    screen.result()
    for chapter in chapters:
        _show_anomalies(screen, log, chapter.replay)
    screen.hint("--machine-id ID shows the steps of one")
