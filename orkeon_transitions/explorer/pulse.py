"""Telling a page what has changed, not more often than it can be looked at."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

PAUSE = 0.1
REST = 4
log = logging.getLogger(__name__)


class Pulse:
    """A thread that does one thing again whenever it was asked for, with a pause in between.

    Args:
        beat: What it does.
        pause: Seconds in which it is done once at most.
    """

    def __init__(self, beat: Callable[[], None], pause: float = PAUSE) -> None:
        self._beat = beat
        self._pause = pause
        self._wanted = threading.Event()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._work, name="orkeon-explorer-pulse", daemon=True)
        self._thread.start()

    def want(self) -> None:
        """Asks for it, from any thread; returns at once."""
        self._wanted.set()

    def close(self) -> None:
        """Lets the thread end."""
        self._over.set()
        self._wanted.set()

    def _work(self) -> None:
        while True:
            self._wanted.wait()
            if self._over.is_set():
                return
            self._wanted.clear()
            began = time.monotonic()
            try:
                self._beat()
            except Exception:
                # The next one may go well, and nobody else would tell the page anything.
                log.exception("a look of the explorer failed; the next one comes")
            # Whatever it costs, most of the time is left to those who are looked at.
            self._over.wait(max(self._pause, REST * (time.monotonic() - began)))
