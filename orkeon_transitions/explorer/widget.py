"""The explorer in a notebook's cell; the one door to anywidget."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, cast

import anywidget
import traitlets

from orkeon_transitions.explorer.assets import script, style

if TYPE_CHECKING:
    from orkeon_transitions.crew import CrewObserver
    from orkeon_transitions.explorer.session import Session


class ExplorerWidget(anywidget.AnyWidget):
    """A session in Jupyter: what it shows is sent to the page, what a person does is passed on.

    A cell that ends with it shows it; shown twice, both show the same. Make one with `explore`.

    What is shown belongs to the session and goes one way. So it is no traits: a page could set them, `log` is
    the widget's own already, and they are not made for two threads at once.

    Args:
        session: The session; it ends with the widget.

    Attributes:
        session: The session.
    """

    # anywidget finds the page's code and its look under these names.
    _esm = traitlets.Unicode().tag(sync=True)
    _css = traitlets.Unicode().tag(sync=True)

    # A widget that was never finished is closed, too, when it is thrown away.
    _unsubscribe: Callable[[], None] | None = None

    def __init__(self, session: Session) -> None:
        self.session = session
        self._shown: dict[str, Any] = {}
        self._sending = threading.RLock()
        self._unsubscribe = session.subscribe(self._show)
        view = session.view()
        # Whoever tells a change waits until the page can be reached, so that none is lost or comes late.
        with self._sending:
            self._shown = view | self._shown
            super().__init__(_esm=script(), _css=style())
        self.on_msg(self._asked)

    @property
    def machine(self) -> Any:
        """The machine that is explored now; None where there is none, as for a journal."""
        return getattr(self.session, "machine", None)

    @property
    def observer(self) -> CrewObserver | None:
        """What shows a run of the crew here, for `crew.run(observer=...)`; None: it is no crew."""
        watch = getattr(self.session, "watch", None)
        return None if watch is None else cast("CrewObserver", watch.observer)

    def close(self) -> None:
        """Ends the session and takes the widget away. A machine of yours goes on; nobody looks at it."""
        unsubscribe, self._unsubscribe = self._unsubscribe, None
        if unsubscribe is not None:
            unsubscribe()
            self.session.close()
        super().close()

    def get_state(
        self, key: str | Iterable[str] | None = None, drop_defaults: bool = False
    ) -> dict[str, Any]:
        """What a page knows of the widget, or the part of it under some names; ipywidgets asks for it."""
        with self._sending:
            shown = dict(self._shown)
        if key is None:
            state: dict[str, Any] = super().get_state(drop_defaults=drop_defaults)
            return state | shown
        names = [key] if isinstance(key, str) else list(key)
        own = [name for name in names if name not in shown]
        state = super().get_state(own, drop_defaults) if own else {}
        return state | {name: shown[name] for name in names if name in shown}

    def __repr__(self) -> str:
        if self._unsubscribe is None:
            return f"<{type(self).__name__}, closed>"
        name, state = self._shown["title"].get("name"), self._shown["now"].get("state")
        return (
            f"<{type(self).__name__} of '{name or self._shown['page']}'{f' in {state!r}' if state else ''}>"
        )

    def _show(self, changed: Mapping[str, Any]) -> None:
        """Sends what has changed in one message, from whichever thread it is told."""
        with self._sending:
            self._shown.update(changed)
            self.send_state(changed.keys())

    def _asked(self, _widget: Any, message: Any, _buffers: Any) -> None:
        if self._unsubscribe is None:
            return
        answer = self.session.act(message)
        if answer is not None:
            self.send(answer)
