"""The store that an option names: opened for one command, and the runs in it for people."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from orkeon_transitions.cli.app import Command
from orkeon_transitions.cli.subjects import is_store_url, store_url
from orkeon_transitions.cli.words import seconds

if TYPE_CHECKING:
    from orkeon_transitions.store import MachineStore
    from orkeon_transitions.store.runs import StoredRun

STORE = "ORKEON_STORE"
MEMORY = frozenset({"sqlite://", "sqlite:///", "sqlite:///:memory:"})
DONE = frozenset({"completed", "degraded"})


def store_option(*, required: bool, text: str) -> Callable[[Command], Command]:
    """The option `--store`, whose value the environment may give for all commands."""
    return click.option(
        "--store",
        "url",
        metavar="URL",
        envvar=STORE,
        required=required,
        callback=_lasting,
        help=f"{text}: sqlite:///runs.db, or postgresql+psycopg://... (also: {STORE}).",
    )


def _lasting(_context: click.Context, _option: click.Parameter, url: str | None) -> str | None:
    """Refuses a database that would be gone with the command, and a file's name without its scheme."""
    if url is not None and url.strip() and not is_store_url(url):
        raise click.BadParameter(f"'{url}' is no URL: a store in that file is named {store_url(url)}")
    if url in MEMORY:
        raise click.BadParameter(f"'{url}' is in memory and gone with the command: name a file or a server")
    return url


@contextmanager
def opened_store(url: str, *, must_exist: bool = False) -> Iterator[MachineStore]:
    """Opens a store.

    Raises:
        MissingExtraError: What it needs is not installed.
        JournalError: It cannot be opened.
    """
    from orkeon_transitions.store import MachineStore

    with MachineStore(url, must_exist=must_exist) as store:
        yield store


def resume_words(run_id: str, place: str) -> str:
    """The command that goes on with a run; a password in the URL has to be put in again."""
    return f"orkeon resume {run_id} --store {place}"


def tasks_done(run: StoredRun) -> tuple[int, int]:
    """How many tasks of a run have given something, and how many there are."""
    tasks = run.note["tasks"]
    return sum(_state_of(run, task) in DONE for task in tasks), len(tasks)


def _state_of(run: StoredRun, task: str) -> str | None:
    """The state of a task's last machine, or of the task itself where several agents have one each."""
    first = f"{run.run_id}/{task}"
    states = [state for name, state in run.states.items() if name == first or name.startswith(f"{first}#")]
    return states[-1] if states else run.states.get(f"{run.run_id}:task/{task}")


def age(moment: datetime, now: datetime | None = None) -> str:
    """How long ago something was: `12 s`, `2:05`, `3 days`."""
    passed = ((now or datetime.now(UTC)) - moment).total_seconds()
    return f"{passed // 86_400:.0f} days" if passed >= 2 * 86_400 else seconds(max(0, passed))
