"""`orkeon explore`: a machine, a run or a crew on a page in the browser."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import click

from orkeon_transitions.cli.app import examples, shared_options
from orkeon_transitions.cli.interrupts import Ending
from orkeon_transitions.cli.pages import HOST, Wanted, check_extra, page_options, served_page
from orkeon_transitions.cli.screen import Mistake, current_screen
from orkeon_transitions.cli.stores import opened_store
from orkeon_transitions.cli.subjects import find_machine, is_store_url

if TYPE_CHECKING:
    from orkeon_transitions.explorer import Session

EXAMPLES = examples(
    "orkeon explore task_execution",
    "orkeon explore my-machine.yaml --port 9000",
    "orkeon explore run.jsonl --machine-id crew-1/collect",
    "orkeon explore sqlite:///runs.db",
    "orkeon explore agent.log --machine hermes_agent --no-open",
)

# A file with problems may have been meant as a journal.
WITH_MACHINES = frozenset({"journal", "problems"})


@click.command("explore", epilog=EXAMPLES)
@click.argument("subject", metavar="FILE|NAME|LOG|URL")
@page_options
@click.option("--machine", metavar="NAME|FILE", help="For a LOG that does not name its machine.")
@click.option("--machine-id", metavar="ID", help="Which machine is shown first, where there are several.")
@shared_options
def command(
    *,
    subject: str,
    port: int | None,
    host: str | None,
    no_open: bool,
    machine: str | None,
    machine_id: str | None,
) -> None:
    """Touch a machine, or step through a run, on a page in the browser.

    A machine, a file or one that ships, can be fired, trigger by trigger. A journal or a store is stepped
    through. A file with problems opens, too, and shows them; loading the page again reads it again. Each tab
    has a machine of its own.

    The page's address goes to standard output. It is served on this computer only, until Ctrl-C, and loads
    nothing from the network. Who has the address can use it.
    """
    check_extra()
    screen = current_screen()
    wanted = Wanted(host or HOST, port, opens=not no_open)
    opening = _Opening(subject, machine, machine_id)

    with Ending() as ending, opening, served_page(screen, wanted, opening) as page:
        if not screen.quiet:
            from orkeon_transitions.explorer.showing import source_shown

            screen.message(f"exploring {source_shown(subject)}; Ctrl-C ends it")
        screen.raw(f"{page.url}\n")
        page.open()
        ending.wait(page.is_there)


class _Opening:
    """Opens a session for each tab. The first one is open before a page is served: it may be refused."""

    def __init__(self, subject: str, machine: str | None, machine_id: str | None) -> None:
        self._subject = subject
        self._machine = machine
        self._machine_id = machine_id
        self._lock = threading.Lock()
        self._first: Session | None = None

    def __enter__(self) -> Self:
        if is_store_url(self._subject):
            # A file may be mended while its page is open; a store that is not there is a slip.
            with opened_store(self._subject, must_exist=True):
                pass
        if self._machine is not None:
            find_machine(self._machine)
        first = self._open()
        try:
            self._check(first.view())
        except BaseException:
            first.close()
            raise
        self._first = first
        return self

    def __call__(self) -> Session:
        first = self._taken()
        return self._open() if first is None else first

    def __exit__(self, *_: object) -> None:
        first = self._taken()
        if first is not None:
            first.close()

    def _check(self, view: Mapping[str, Any]) -> None:
        """Refuses options that do not fit what was opened."""
        for option, value in (("--machine", self._machine), ("--machine-id", self._machine_id)):
            if value is not None and view["page"] not in WITH_MACHINES:
                raise click.UsageError(f"{self._subject} is no journal: {option} goes with a journal")
        problems = view["problems"]
        if self._machine_id is not None and problems and all(found["line"] is None for found in problems):
            raise Mistake(f"{self._subject}: {problems[0]['message']}")

    def _taken(self) -> Session | None:
        with self._lock:
            first, self._first = self._first, None
            return first

    def _open(self) -> Session:
        from orkeon_transitions.explorer import open_session

        return open_session(self._subject, machine=self._machine, machine_id=self._machine_id)
