"""What every session is: traits that are shown, orders that are taken, listeners that are told."""

from __future__ import annotations

import logging
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

from orkeon_transitions.errors import OrkeonError
from orkeon_transitions.explorer.orders import BadOrderError, Order, read_order

log = logging.getLogger(__name__)

Listener = Callable[[Mapping[str, Any]], None]

NOTHING_CAN: Mapping[str, Any] = {
    "fire": False,
    "undo": False,
    "reset": False,
    "reset_breaker": False,
    "seek": False,
    "edit": False,
    "export": [],
}


def empty_traits() -> dict[str, Any]:
    """Each trait as it is where there is nothing to show."""
    return {
        "page": "loading",
        "title": {"name": "", "machine_id": None, "kind": "", "source": None, "note": None, "is_copy": False},
        "picture": {"svg": None, "drawing": False, "problem": None, "states": [], "arrows": []},
        "now": {
            "state": None,
            "visits": {},
            "taken": [],
            "last": None,
            "ended": False,
            "degraded": False,
            "busy": None,
            "problem": None,
        },
        "triggers": [],
        "form": {"kind": "none", "fields": []},
        "gauges": [],
        "log": {"total": 0, "first": 0, "rows": []},
        "position": {"at": 0, "last": 0, "live": True},
        "can": dict(NOTHING_CAN),
        "machines": [],
        "crew": None,
        "problems": [],
        "anomalies": [],
    }


class Session(ABC):
    """One subject that is looked at by one page.

    It is told what to do and tells what has changed, from any thread. What it shows is plain JSON that nobody
    changes once it is shown.
    """

    def __init__(self) -> None:
        # Held while listeners are told, so that two threads' changes arrive in the order in which they are.
        self._lock = threading.RLock()
        self._traits = empty_traits()
        self._listeners: list[Listener] = []
        self._closed = False

    def view(self) -> dict[str, Any]:
        """All traits as they are now. It waits for nobody and calls nothing of the user's."""
        with self._lock:
            return dict(self._traits)

    def act(self, message: Mapping[str, Any]) -> dict[str, Any] | None:
        """Does what a page asks for.

        Args:
            message: `{"do": name, ...}`.

        Returns:
            What the page is answered: `{"download": {name, type, data}}`, `{"error": text}` or None.
        """
        try:
            if self._closed:
                raise BadOrderError("this page is not looked at any more: load it again")
            order = read_order(message)
            allowed_by = order.allowed_by
            if allowed_by is not None and not self._traits["can"][allowed_by]:
                raise BadOrderError(self._refusal(order))
            return self._do(order)
        except (BadOrderError, OrkeonError) as error:
            return {"error": str(error)}

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Tells a function each change: the traits that are new. Gives the function that ends this."""
        with self._lock:
            self._listeners.append(listener)

        def unsubscribe() -> None:
            with self._lock:
                if listener in self._listeners:
                    self._listeners.remove(listener)

        return unsubscribe

    def follow(self, listener: Listener) -> Callable[[], None]:
        """Tells a function all traits, and from then on each change; as `subscribe`."""
        with self._lock:
            listener(self.view())
            return self.subscribe(listener)

    def close(self) -> None:
        """Ends the session: nobody is told anything any more."""
        with self._lock:
            self._closed = True
            self._listeners.clear()

    @abstractmethod
    def _do(self, order: Order) -> dict[str, Any] | None:
        """Carries an order out.

        Raises:
            BadOrderError: It cannot be done here.
        """

    def _refusal(self, order: Order) -> str:
        """Why an order is not taken now."""
        return f"'{order.model_dump()['do']}' is not possible here"

    def _publish(self, changes: Mapping[str, Any]) -> None:
        """Shows what has changed, and tells it."""
        with self._lock:
            changed = {name: value for name, value in changes.items() if self._traits[name] != value}
            if not changed or self._closed:
                return
            self._traits.update(changed)
            for listener in tuple(self._listeners):
                try:
                    listener(changed)
                except Exception:
                    # A page that cannot be told must not stop the machine that it looks at.
                    log.exception("a listener of an explorer's session raised; the session goes on")
