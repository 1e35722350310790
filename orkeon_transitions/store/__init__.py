"""Remembers: facts written down before they become visible, and folded again into what happened.

What belongs here is the way between a fact and a place where it lasts, and replay, which reads such a place
without a machine. What never belongs here: a callback that is fired, a limit that is judged, a picture.
"""

from typing import Any

from orkeon_transitions.errors import OrkeonError
from orkeon_transitions.store.fold import Anomaly, Replay, Step
from orkeon_transitions.store.journal import JsonlJournal
from orkeon_transitions.store.replay import recorded_machines, replay, replay_each

__all__ = ["Anomaly", "JsonlJournal", "Replay", "Step", "recorded_machines", "replay", "replay_each"]


def __getattr__(name: str) -> Any:
    """Refuses by name what is not there yet.

    Raises:
        OrkeonError: For `MachineStore`.
        AttributeError: For every other name.
    """
    if name == "MachineStore":
        raise OrkeonError(
            "MachineStore, the store in a database, is not part of this version: "
            "keep facts with JsonlJournal and states with machine.snapshot()"
        )
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
