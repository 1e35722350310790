"""Ctrl-C while a crew runs: the first one cancels the tasks, the second one ends the program at once.

Once there is a result, that is written down first, whatever the second one ends.

Where a command only waits for it, as one that serves a page, it is the end that is meant.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import signal
import sys
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NoReturn, Self

from orkeon_transitions.cli.app import INTERRUPTED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ABORTED = b"\norkeon: aborted; what was done until here is in the journal, if one was kept\n"
WRITES = b"\norkeon: the result is being written down (once more ends the program at once)\n"
LOOKS_EVERY = 0.1
SHOW_CURSOR = b"\x1b[?25h"


class Interrupts:
    """Listens to SIGINT, SIGTERM and SIGHUP (the terminal was closed) while it is entered.

    Python's own handler would raise KeyboardInterrupt at any line, a half-written one included; here the
    run's task is cancelled, so that each machine reaches its end.

    Args:
        on_first: Called once, in the loop, when the first signal arrives; it may say something.
        has_result: Whether there is a result by now, which would be lost if the program ended at once.

    Attributes:
        asked: Whether a signal has arrived.
        broke_off: Whether the loop was left while something in it still went on.
        came_late: Whether a signal has arrived when the run was over, and all that was left was writing.
    """

    def __init__(self, on_first: Callable[[], None], has_result: Callable[[], bool] = lambda: False) -> None:
        self.asked = self.broke_off = self.came_late = False
        self._on_first = on_first
        self._has_result = has_result
        self._is_over = False
        self._task: asyncio.Task[Any] | None = None
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in _listened_to():
                self._before[number] = signal.signal(number, self._heard)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def watch(self, task: asyncio.Task[Any]) -> None:
        """Names the task that the first signal cancels."""
        self._task = task
        if self.asked:
            task.cancel()

    def run_is_over(self) -> None:
        """Tells that all that is left is to write down what came out."""
        self._is_over = True

    def leave(self) -> NoReturn:
        """Ends the program, whatever still goes on in it, once all is written down."""
        os._exit(INTERRUPTED)

    def _heard(self, *_: object) -> None:
        if self._is_over and not self.came_late:
            self.came_late = True
            _say(WRITES)
        elif self._is_over or (self.asked and (self.broke_off or not self._has_result())):
            _abort()
        elif self.asked:
            self.broke_off = True
            raise KeyboardInterrupt
        else:
            self._first()

    def _first(self) -> None:
        self.asked = True
        if self._task is not None:
            self._task.get_loop().call_soon_threadsafe(self._cancel)

    def _cancel(self) -> None:
        self._on_first()
        if self._task is not None:
            self._task.cancel()


class Ending:
    """Hears, while it is entered, that a command that has no end of its own is to end."""

    def __init__(self) -> None:
        self._is_asked = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in _listened_to():
                self._before[number] = signal.signal(number, self._heard)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def wait(self, goes_on: Callable[[], bool]) -> None:
        """Waits for it, or until there is nothing left to wait for."""
        # A handler may interrupt any line: an event's lock could be held there, a flag has none.
        while goes_on() and not self._is_asked:
            time.sleep(LOOKS_EVERY)

    def _heard(self, *_: object) -> None:
        self._is_asked = True


def only_end() -> None:
    """Lets a signal only end the program, which has nothing more to do than that."""
    if threading.current_thread() is threading.main_thread():
        for number in _listened_to():
            signal.signal(number, lambda *_: os._exit(INTERRUPTED))
        # Then the interpreter forgets every handler, and Ctrl-C would kill what has an exit code by now.
        atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)


def _listened_to() -> Iterator[int]:
    yield from (signal.SIGINT, signal.SIGTERM)
    hang_up = getattr(signal, "SIGHUP", None)  # Windows has none
    if hang_up is not None and signal.getsignal(hang_up) is not signal.SIG_IGN:  # as under nohup
        yield hang_up


def _abort() -> None:
    """Ends the program here and now: a tool in a thread of its own could hold up any other way out."""
    if sys.stderr is not None and sys.stderr.isatty():
        _say(SHOW_CURSOR)
    _say(ABORTED)
    os._exit(INTERRUPTED)


def _say(text: bytes) -> None:
    """Writes at once, past what a stream may be in the middle of; there may be nobody to tell any more."""
    with suppress(OSError):
        os.write(2, text)
