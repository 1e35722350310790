"""Who hears what happened: in order, after the state is written, outside of the machine's lock."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable
from typing import Any, Literal

from orkeon_transitions.runtime.callbacks import is_async, is_generator

Kind = Literal["transition", "refused", "broken"]
Listener = Callable[[Any], object]

log = logging.getLogger("orkeon_transitions")


class Listeners:
    """The subscriptions of one machine, and the facts that wait to be told.

    Facts are told in the order in which they were put down, by one thread at a time. A listener that raises
    is logged and stops nobody else.
    """

    __slots__ = ("_by_kind", "_subscribing", "_telling", "_waiting")

    def __init__(self) -> None:
        # Each kind's tuple is replaced as a whole, so that telling needs no lock against subscribing; those
        # that replace it need one against each other.
        self._by_kind: dict[Kind, tuple[Listener, ...]] = {}
        self._subscribing = threading.RLock()
        self._waiting: deque[tuple[Kind, Callable[[], Any]]] = deque()
        self._telling = threading.Lock()

    def subscribe(self, kind: Kind, listener: Listener) -> Callable[[], None]:
        """Adds a listener; gives the function that removes it (calling that twice does no harm).

        Raises:
            TypeError: It is no function, or one that nobody would run: a coroutine function, a generator.
        """
        if not callable(listener) or is_async(listener) or is_generator(listener):
            raise TypeError(f"a listener is a plain function of one fact, not {listener!r}")
        entry: list[Listener] = [listener]
        with self._subscribing:
            self._by_kind[kind] = (*self._by_kind.get(kind, ()), listener)

        def unsubscribe() -> None:
            with self._subscribing:
                if not entry:
                    return
                removed = entry.pop()
                kept = list(self._by_kind[kind])
                kept.remove(removed)
                self._by_kind[kind] = tuple(kept)

        return unsubscribe

    def hears(self, kind: Kind) -> bool:
        """Whether anybody has subscribed to facts of a kind."""
        return bool(self._by_kind.get(kind))

    def put(self, kind: Kind, fact: Callable[[], Any]) -> None:
        """Puts a fact down, if anybody listens; it is read when it is told: its error may still come."""
        if self._by_kind.get(kind):
            self._waiting.append((kind, fact))

    def tell(self) -> None:
        """Tells what waits, unless another thread, or this one further down, is telling already."""
        while self._waiting and self._telling.acquire(blocking=False):
            try:
                while self._waiting:
                    kind, fact = self._waiting.popleft()
                    self._tell_one(kind, fact())
            finally:
                self._telling.release()

    def _tell_one(self, kind: Kind, fact: Any) -> None:
        for listener in self._by_kind.get(kind, ()):
            try:
                listener(fact)
            except Exception:
                # It is a stranger's code, and no part of the transition.
                log.exception("a listener of a machine raised; the machine goes on")
