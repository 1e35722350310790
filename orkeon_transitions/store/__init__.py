"""Remembers: facts written down before they become visible, and folded again into what happened.

What belongs here is the way between a fact and a place where it lasts: `JsonlJournal`, a file of lines that
needs nothing else, and `MachineStore`, a database from which machines come back and which several processes
may share; and replay, which reads either without a machine. A fact and the snapshot that it leads to are
written together or not at all, and only by a writer who knew the machine as it was. SQL stays below
`database`; a `MEMORY.md` is a pointer to a session, never its store. What never belongs here: a callback
that is fired, a limit that is judged, a picture. `orkeon docs persistence` shows which one to take for what.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from orkeon_transitions.errors import MissingExtraError
from orkeon_transitions.store.fold import Anomaly, Replay, Step
from orkeon_transitions.store.journal import JsonlJournal
from orkeon_transitions.store.memory_entry import SessionPointer
from orkeon_transitions.store.memory_file import recall, recall_all, remember
from orkeon_transitions.store.replay import recorded_machines, replay, replay_each

if TYPE_CHECKING:
    from orkeon_transitions.store.machine_store import MachineStore
    from orkeon_transitions.store.stored import StoredMachine

__all__ = [
    "Anomaly",
    "JsonlJournal",
    "MachineStore",
    "Replay",
    "SessionPointer",
    "Step",
    "StoredMachine",
    "recall",
    "recall_all",
    "recorded_machines",
    "remember",
    "replay",
    "replay_each",
]

_IN_DATABASE = frozenset({"MachineStore", "StoredMachine"})


def __getattr__(name: str) -> Any:
    """Loads what needs a database when it is asked for.

    Raises:
        MissingExtraError: SQLAlchemy is not installed.
        AttributeError: There is no such name.
    """
    if name not in _IN_DATABASE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if find_spec("sqlalchemy") is None:
        raise MissingExtraError(
            f"{name} keeps machines in a database, which needs SQLAlchemy.", extra="store"
        )
    from orkeon_transitions.store import machine_store  # noqa: PLC0415 (only who asks loads SQLAlchemy)

    return getattr(machine_store, name)
