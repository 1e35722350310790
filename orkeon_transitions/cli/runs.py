"""`orkeon runs`: the runs of crews that a store keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from orkeon_transitions.cli.app import examples, shared_options
from orkeon_transitions.cli.screen import current_screen
from orkeon_transitions.cli.stores import age, opened_store, store_option, tasks_done

if TYPE_CHECKING:
    from orkeon_transitions.store.runs import StoredRun

EXAMPLES = examples("orkeon runs --store sqlite:///runs.db", "orkeon runs --store sqlite:///runs.db --json")


@click.command("runs", epilog=EXAMPLES)
@store_option(required=True, text="The store")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="No more than N, the last ones.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document instead of a table.")
@shared_options
def command(*, url: str, limit: int | None, as_json: bool) -> None:
    """List the runs that a store keeps, the last written first.

    A run is running, interrupted (nobody works on it any more: `orkeon resume` goes on with it), or ended:
    completed, degraded or failed. A process of this computer that was killed is noticed; of one on another
    computer, all that is known is when it wrote last.
    """
    screen = current_screen()
    with opened_store(url, must_exist=True) as store:
        runs, place = store.runs.listed(limit=limit), store.url
    if as_json:
        screen.json({"store": place, "runs": [_document(run) for run in runs]})
        return
    if not runs:
        screen.result(f"no runs in {place}")
        return
    screen.table(
        ("run", "crew", "status", "tasks done", "begun", "written", "by"),
        [_row(run) for run in runs],
        spare=("by", "begun", "crew"),
    )
    if any(run.status == "interrupted" for run in runs):
        screen.hint("orkeon resume RUN --store ... goes on with one that was interrupted")


def _row(run: StoredRun) -> tuple[str, ...]:
    done, all_of_them = tasks_done(run)
    return (
        run.run_id,
        run.note["crew"],
        run.status,
        f"{done} of {all_of_them}",
        f"{age(run.began_at)} ago",
        f"{age(run.updated_at)} ago",
        run.owner or "",
    )


def _document(run: StoredRun) -> dict[str, Any]:
    done, all_of_them = tasks_done(run)
    return {
        "run_id": run.run_id,
        "status": run.status,
        "crew": run.note["crew"],
        "process": run.note["process"],
        "source": run.note["source"],
        "inputs": run.note["inputs"],
        "tasks": all_of_them,
        "tasks_done": done,
        "began_at": run.began_at,
        "updated_at": run.updated_at,
        "owner": run.owner,
        "output": run.ending.get("output"),
        "error": run.ending.get("error"),
        "machines": dict(run.states),
    }
