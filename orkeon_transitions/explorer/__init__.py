"""A machine that you can touch, in Jupyter and in a browser.

What belongs here is a session, what it shows of its subject and what a person may do with it: fire, undo,
look back, take a picture along. A session is told what to do and tells what has changed; both are plain JSON,
so that one page serves a notebook's cell and a browser's tab. `server` is the door to Starlette, `serving`
to uvicorn, `widget` to anywidget; each is loaded when it is asked for. What never belongs here: a rule of
firing, a picture that is laid out in another way than everywhere else, a page that loads anything from afar.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from orkeon_transitions.explorer.crew_session import CrewSession
    from orkeon_transitions.explorer.crew_watch import CrewWatch
    from orkeon_transitions.explorer.journal_session import JournalSession
    from orkeon_transitions.explorer.machine_session import MachineSession
    from orkeon_transitions.explorer.notebook import explore
    from orkeon_transitions.explorer.opening import open_session
    from orkeon_transitions.explorer.problems_session import ProblemsSession
    from orkeon_transitions.explorer.session import Session

_MODULES = {
    "CrewSession": "crew_session",
    "CrewWatch": "crew_watch",
    "JournalSession": "journal_session",
    "MachineSession": "machine_session",
    "ProblemsSession": "problems_session",
    "Session": "session",
    "explore": "notebook",
    "open_session": "opening",
}

__all__ = [
    "CrewSession",
    "CrewWatch",
    "JournalSession",
    "MachineSession",
    "ProblemsSession",
    "Session",
    "explore",
    "open_session",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        value = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'", name=name)
