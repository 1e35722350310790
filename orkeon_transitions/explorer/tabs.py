"""The tabs in which the page is open: a session for each, found again when its page comes back."""

from __future__ import annotations

import asyncio
import re
import secrets
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from orkeon_transitions.crew.threads import call_anything

if TYPE_CHECKING:
    from orkeon_transitions.explorer.session import Session

MOST_TABS = 32
PATIENCE = 300.0
# A page that is loaded again says hello before the connection of the page that it was is gone.
OVERLAP = 0.5
_NAME = re.compile(r"[A-Za-z0-9_-]{8,64}")


class TooManyTabsError(Exception):
    """As many tabs are open as there may be."""


class Visit:
    """A page that is connected to its tab.

    Attributes:
        page: The page's own name, another one each time that it is loaded.
        over: Called when another connection takes its place.
    """

    def __init__(self, page: str, over: Callable[[], None]) -> None:
        self.page = page
        self.over = over
        self.ended = asyncio.Event()


class Tab:
    """A tab of the browser.

    Attributes:
        name: Its own name, which the browser keeps.
        page: The name of the page that was connected to it last.
        visit: Who is connected to it; None: nobody at the moment.
        left: When nobody was any more, on the clock of the tabs.
    """

    def __init__(self, name: str, page: str, opening: asyncio.Task[Session]) -> None:
        self.name = name
        self.page = page
        self.visit: Visit | None = None
        self.left = 0.0
        self._opening = opening

    async def session(self) -> Session:
        """The session, once it is open; one that could not be opened raises what it raised."""
        return await asyncio.shield(self._opening)

    def end(self) -> None:
        """Closes the session, whoever is connected, and as soon as it is open if it is not yet."""
        if self.visit is not None:
            self.visit.over()
        self._opening.add_done_callback(_close)


class Tabs:
    """All tabs. Belongs to one event loop.

    Args:
        make: Opens a session; called in a thread.
        most: How many tabs there may be at once.
        patience: How many seconds a tab is kept that nobody is connected to.
        clock: Monotonic seconds.
    """

    def __init__(
        self,
        make: Callable[[], Session],
        *,
        most: int = MOST_TABS,
        patience: float = PATIENCE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.patience = patience
        self._make = make
        self._most = most
        self._clock = clock
        self._tabs: dict[str, Tab] = {}

    async def enter(self, name: str, page: str, over: Callable[[], None]) -> tuple[Tab, Visit, bool]:
        """Connects a page with its tab.

        A tab that was duplicated comes with the name of the first one; it gets another.

        Args:
            name: What the browser has kept as the tab's name; any text.
            page: The page's own name, another one each time that it is loaded.
            over: Called when another connection takes the place of this one.

        Returns:
            The tab, this visit of it, and whether its page had been there before and was loaded again.

        Raises:
            TooManyTabsError: As many tabs are open as there may be.
        """
        self.sweep()
        before = self._tabs.get(name)
        if before is not None and before.visit is not None and before.visit.page != page:
            await _ended(before.visit, OVERLAP)
        tab = self._tabs.get(name)
        is_duplicate = tab is not None and tab.visit is not None and tab.visit.page != page
        if tab is None or is_duplicate:
            is_free = not is_duplicate and _NAME.fullmatch(name) is not None
            tab = self._begun(name if is_free else secrets.token_urlsafe(16), page)
        elif tab.visit is not None:
            tab.visit.over()
        is_loaded_again, tab.page = tab.page != page, page
        tab.visit = Visit(page, over)
        return tab, tab.visit, is_loaded_again

    def leave(self, tab: Tab, visit: Visit) -> None:
        """Says that a page is not connected any more; one that takes its place stays so."""
        visit.ended.set()
        if tab.visit is visit:
            tab.visit = None
            tab.left = self._clock()

    def forget(self, tab: Tab) -> None:
        """Ends a tab, so that its page begins anew when it comes back."""
        if self._tabs.get(tab.name) is tab:
            del self._tabs[tab.name]
        tab.end()

    def sweep(self) -> None:
        """Ends the tabs that nobody has been connected to for too long."""
        long_ago = self._clock() - self.patience
        for tab in list(self._tabs.values()):
            if tab.visit is None and tab.left <= long_ago:
                self.forget(tab)

    def close(self) -> None:
        """Ends all of them."""
        for tab in list(self._tabs.values()):
            self.forget(tab)

    def _begun(self, name: str, page: str) -> Tab:
        if len(self._tabs) >= self._most:
            deserted = [tab for tab in self._tabs.values() if tab.visit is None]
            if not deserted:
                raise TooManyTabsError
            self.forget(min(deserted, key=lambda tab: tab.left))
        tab = self._tabs[name] = Tab(name, page, asyncio.create_task(self._open()))
        return tab

    async def _open(self) -> Session:
        session: Session = await call_anything(self._make)
        return session


async def _ended(visit: Visit, most: float) -> None:
    """Waits for the end of a visit, a while at most."""
    try:
        await asyncio.wait_for(visit.ended.wait(), most)
    except TimeoutError:
        return


def _close(opening: asyncio.Task[Session]) -> None:
    if not opening.cancelled() and opening.exception() is None:
        opening.result().close()
