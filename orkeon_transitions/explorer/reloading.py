"""A subject that is a file: it is read again when a person asks for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from orkeon_transitions.explorer.orders import Order
from orkeon_transitions.explorer.session import Session


class ReloadingSession(Session):
    """Shows whatever a file holds at the moment: a machine, a journal, or what is wrong with it.

    Args:
        opens: Reads the file and gives the session that shows it.
    """

    def __init__(self, opens: Callable[[], Session]) -> None:
        super().__init__()
        self._opens = opens
        self._inner = opens()
        self._follow()

    @property
    def session(self) -> Session:
        """The session that shows the file as it was read last."""
        return self._inner

    @property
    def machine(self) -> Any:
        """The machine that is fired now, or None where nothing is."""
        return getattr(self._inner, "machine", None)

    def view(self) -> dict[str, Any]:
        """All traits as they are now."""
        self._inner.view()  # some look anew when they are asked, and tell what they see
        return super().view()

    def act(self, message: Mapping[str, Any]) -> dict[str, Any] | None:
        """Does what a page asks for: `reload` here, everything else where the subject is."""
        if message != {"do": "reload"}:
            return self._inner.act(message)
        return super().act(message)

    def close(self) -> None:
        """Ends the inner session, too."""
        self._unsubscribe()
        self._inner.close()
        super().close()

    def _do(self, order: Order) -> dict[str, Any] | None:  # noqa: ARG002 (only `reload` comes here)
        inner = self._opens()
        self._unsubscribe()
        chosen = [machine["id"] for machine in self._traits["machines"] if machine["selected"]]
        if chosen:
            # Where it is there still: a file that has changed may have other machines.
            inner.act({"do": "select", "machine": chosen[0]})
        self._inner.close()
        self._inner = inner
        self._follow()
        return None

    def _follow(self) -> None:
        self._unsubscribe = self._inner.follow(self._take)

    def _take(self, changes: Mapping[str, Any]) -> None:
        changed = dict(changes)
        if "can" in changed:
            changed["can"] = {**changed["can"], "reload": True}
        self._publish(changed)
