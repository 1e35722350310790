"""`orkeon replay`: what a journal says happened, step by step, and where it looks wrong."""

from __future__ import annotations

import re
from datetime import UTC
from itertools import compress
from typing import TYPE_CHECKING, Any

import click

from orkeon_transitions.cli.app import FAILED, examples, shared_options
from orkeon_transitions.cli.journals import Chapter, chapters_of, only_one
from orkeon_transitions.cli.screen import Screen, current_screen
from orkeon_transitions.cli.words import counted, visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orkeon_transitions.store import Replay
    from orkeon_transitions.store.fold import Step

BAR = 30
STEP_COLUMNS = ("step", "date", "time (UTC)", "after", "from", "trigger", "to", "remark")
# A step begins where the one before it ended, so `from` is missed late; the days stand in the headline, too.
STEP_SPARE = ("after", "from", "date")

EXAMPLES = examples(
    "orkeon replay run.jsonl",
    "orkeon replay run.jsonl --machine-id crew-1/collect --diagram way.svg",
    "orkeon replay sqlite:///machines.db --machine-id t1 --at 3",
    "orkeon replay agent.log --machine hermes_agent --json",
)


Moment = tuple[int, int | None]


def _moment(context: click.Context, option: click.Parameter, value: str | None) -> Moment | None:
    """The number of a step, and of which recording it is: `3`; `2/3` where a name was recorded again."""
    if value is None:
        return None
    match = re.fullmatch(r"(?:([0-9]{1,18})/)?([0-9]{1,18})", value)
    if match is None:
        raise click.BadParameter(
            f"'{value}' is no step: give its number as the table shows it, such as 3 or 2/3", context, option
        )
    return int(match[2]), None if match[1] is None else int(match[1])


@click.command("replay", epilog=EXAMPLES)
@click.argument("log", metavar="LOG|URL")
@click.option(
    "--machine", metavar="NAME|FILE", help="The machine's definition, where the log does not name it."
)
@click.option("--machine-id", metavar="ID", help="Which machine (`session_id`), where there are several.")
@click.option(
    "--at",
    "moment",
    metavar="N",
    callback=_moment,
    help="How things stood after step N; 0: before the first.",
)
@click.option("--diagram", metavar="OUT", help="Draw the way taken: .svg, .png, .pdf, .mmd or .dot.")
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
    moment: Moment | None,
    diagram: str | None,
    strict: bool,
    as_json: bool,
) -> None:
    """Say what happened, according to a journal.

    LOG is a journal that `orkeon run --journal` or JsonlJournal wrote, or a structured transition log with
    timestamp, session_id, trigger, from_state and to_state. URL is that of a store, such as
    sqlite:///machines.db. A torn last line costs a warning. An anomaly is shown and changes nothing, unless
    --strict is given. Several machines are summed up; --machine-id shows one of them. With --json, several
    machines are a list under `machines`.
    """
    screen = current_screen()
    chapters = chapters_of(log, machine, machine_id)
    if moment is not None:
        chapters = [only_one(chapters, "whose step --at means").at(*moment)]
    if diagram is not None:
        _draw(screen, only_one(chapters, "which one --diagram draws"), diagram)
    if as_json:
        documents = [_document(chapter, moment) for chapter in chapters]
        screen.json(documents[0] if len(documents) == 1 else {"machines": documents})
    elif len(chapters) == 1:
        _show(screen, chapters[0], only_last=moment is not None)
    else:
        _sum_up(screen, chapters)
    if strict and any(chapter.replay.anomalies for chapter in chapters):
        context.exit(FAILED)


def _document(chapter: Chapter, moment: Moment | None) -> dict[str, Any]:
    at = {} if moment is None else {"at": moment[0]}
    return {"machine": chapter.definition.name} | at | chapter.replay.to_dict()


def _draw(screen: Screen, chapter: Chapter, output: str) -> None:
    from orkeon_transitions.diagrams import render

    render(chapter.definition, output, snapshot=chapter.snapshot, trace=chapter.steps)
    if not screen.quiet:
        screen.message(f"wrote {output}")


def _show(screen: Screen, chapter: Chapter, *, only_last: bool) -> None:
    """Shows one machine.

    Args:
        screen: Where.
        chapter: What happened.
        only_last: Whether of its steps only the last one is shown, after which everything else is as told.
    """
    replay = chapter.replay
    rows = list(_step_rows(replay))[-1 if only_last else 0 :]
    days = sorted({step.timestamp.astimezone(UTC).date() for step in replay.steps[-len(rows) :]})
    when = f", {days[0]}" if days else ""
    if len(days) > 1:
        when += f" to {days[-1]}"
    again = f" (recorded {replay.lives} times)" if replay.lives > 1 else ""
    screen.result(f"{chapter.definition.name} {visible(replay.machine_id or '(nobody)')}{again}{when}")
    screen.result()
    if rows:
        shown = [name not in ("date", "remark") for name in STEP_COLUMNS]
        shown[STEP_COLUMNS.index("date")] = len(days) > 1
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
    _show_anomalies(screen, chapter)
    label = "state then" if only_last else "final state"
    screen.result(f"{label}: {visible(replay.final_state)}{_end_words(chapter)}")


def _step_rows(replay: Replay) -> Iterator[tuple[str, ...]]:
    before: Step | None = None
    for step in replay.steps:
        at = step.timestamp.astimezone(UTC)
        since = None if before is None else before.timestamp.astimezone(UTC)
        yield (
            f"{step.life}/{step.ordinal}" if replay.lives > 1 else str(step.ordinal),
            f"{at:%Y-%m-%d}" if since is None or since.date() != at.date() else "",
            at.strftime("%H:%M:%S.%f")[:-3],
            "" if since is None else f"{(at - since).total_seconds():+.3f} s",
            step.from_state,
            step.trigger or "(the clock)",
            step.to_state,
            _remark(step, before, replay),
        )
        before = step


def _remark(step: Step, before: Step | None, replay: Replay) -> str:
    if step.degraded:
        # The reason of a circuit that is still broken stands below, with the final state.
        told = step.reason is None or step.reason.startswith(replay.broken_reason or "\n")
        return "by the breaker" if told else f"by the breaker: {step.reason}"
    words = []
    if before is not None and before.life != step.life:
        words.append("recorded anew")
    elif before is not None and step.transition_count == 1:
        words.append("new budget")
    if step.internal:
        words.append("internal")
    if step.error:
        words.append(f"then failed: {step.error}")
    return "; ".join(words)


def _end_words(chapter: Chapter) -> str:
    replay = chapter.replay
    words = [counted(len(chapter.steps), "transition") + " made"]
    if len(chapter.steps) != replay.transition_count:
        words.append(f"{replay.transition_count} in the current budget")
    if replay.is_circuit_broken:
        words.append(f"circuit broken: {replay.broken_reason}" if replay.broken_reason else "circuit broken")
    else:
        words.append("circuit whole")
    if replay.final_state in chapter.definition.final_states:
        words.append("ended")
    return f" ({'; '.join(words)})"


def _show_anomalies(screen: Screen, chapter: Chapter) -> None:
    for anomaly in chapter.replay.anomalies:
        label = screen.colored("anomaly:", "yellow")
        place = visible(chapter.place(anomaly.line))
        screen.result(f"{place}: {label} {visible(anomaly.message)} [{anomaly.code}]")
    if chapter.replay.anomalies:
        screen.result()


def _sum_up(screen: Screen, chapters: list[Chapter]) -> None:
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
        _show_anomalies(screen, chapter)
    screen.hint("--machine-id ID shows the steps of one")
