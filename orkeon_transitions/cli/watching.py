"""`--watch`: a run that goes on at the terminal, looked at on a page in the browser as well."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

import click

from orkeon_transitions.cli.app import INTERRUPTED, Command
from orkeon_transitions.cli.interrupts import Ending
from orkeon_transitions.cli.pages import HOST, Page, Wanted, check_extra, page_options, served_page
from orkeon_transitions.cli.screen import Screen

if TYPE_CHECKING:
    from orkeon_transitions.crew import Crew, CrewObserver
    from orkeon_transitions.explorer import CrewSession, CrewWatch

LAST_WORDS = 0.1  # seconds for what is on its way


@dataclass(frozen=True, slots=True)
class Watcher:
    """Whoever looks at a run besides the terminal; nobody, where there is no page.

    Attributes:
        screen: The terminal.
        watch: What follows the run for the page, or None.
        page: The page, or None.
    """

    screen: Screen
    watch: CrewWatch | None = None
    page: Page | None = None

    def told_too(self, observer: CrewObserver) -> CrewObserver:
        """An observer that tells the page what it is told, and opens the page when the run has begun."""
        if self.watch is None or self.page is None:
            return observer
        from orkeon_transitions.crew import CrewObserver

        page = self.page

        def begun(_: object) -> None:
            page.open()

        opening = CrewObserver(status_moved=begun, task_started=begun, task_restored=begun)
        return both(both(observer, self.watch.observer), opening)

    def stay(self, code: int) -> None:
        """Keeps the page until Ctrl-C for a person at the terminal; a run that was interrupted ends it."""
        if self.page is None or code == INTERRUPTED or not _is_for_a_person():
            return
        with Ending() as ending:
            self.screen.message("the run's page stays until Ctrl-C")
            ending.wait(self.page.is_there)


def watch_options(command: Command) -> Command:
    """Adds `--watch` and where its page is."""
    return click.option("--watch", is_flag=True, help="Follow the run on a page in the browser.")(
        page_options(command)
    )


def wanted_page(
    *, watch: bool, as_json: bool, host: str | None, port: int | None, opens: bool
) -> Wanted | None:
    """The page that the options ask for, or None.

    Raises:
        UsageError: They contradict each other.
        MissingExtraError: What a page takes is not installed.
    """
    if not watch:
        for option, is_given in (("--host", host), ("--port", port is not None), ("--no-open", not opens)):
            if is_given:
                raise click.UsageError(f"{option} goes with --watch")
        return None
    if as_json:
        raise click.UsageError("--watch and --json: a page is for a person, a document for a program")
    check_extra()
    return Wanted(host or HOST, port, opens=opens)


@contextmanager
def watched(screen: Screen, crew: Crew, wanted: Wanted | None) -> Iterator[Watcher]:
    """Serves the page of a run, if one is wanted."""
    if wanted is None:
        yield Watcher(screen)
        return
    from orkeon_transitions.explorer import CrewSession, CrewWatch

    watch = CrewWatch(crew)
    opened: WeakSet[CrewSession] = WeakSet()

    def looks() -> CrewSession:
        session = CrewSession(watch)
        opened.add(session)
        return session

    with served_page(screen, wanted, looks) as page:
        screen.message(f"the run's page: {page.url}")
        if not _is_for_a_person():
            screen.say("note", "the page ends with the run; at a terminal it stays until Ctrl-C")
        yield Watcher(screen, watch, page)
        for session in opened:
            session.refresh()
        if opened:  # what a page was told last should not be that the run goes on
            time.sleep(LAST_WORDS)


def _is_for_a_person() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


def both(first: CrewObserver, second: CrewObserver) -> CrewObserver:
    """An observer that tells two of them everything, the first one first."""
    from orkeon_transitions.crew import CrewObserver
    from orkeon_transitions.crew.observing import tell

    def told(one: Callable[[Any], Any] | None, other: Callable[[Any], Any] | None) -> Any:
        if one is None or other is None:
            return one or other

        def to_both(fact: Any) -> None:
            tell(one, fact)
            tell(other, fact)

        return to_both

    names = [field.name for field in fields(CrewObserver)]
    return CrewObserver(**{name: told(getattr(first, name), getattr(second, name)) for name in names})
