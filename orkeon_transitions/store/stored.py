"""A stored machine as a list shows it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class StoredMachine:
    """What a store knows of a machine without making it.

    Attributes:
        machine_id: The machine's own name.
        machine: The name of its definition.
        definition_hash: The content hash of the definition with which it was last saved.
        state: The state's name.
        version: How often it was written: the number of its facts, as long as nobody calls `save`.
        ordinal: The last transition's number.
        is_terminal: Whether it has ended.
        is_broken: Whether its circuit is broken.
        created_at: When it was added, in UTC.
        updated_at: When it was last written, in UTC.
        is_loadable: Whether it can be loaded; not if only its journal was imported.
    """

    machine_id: str
    machine: str
    definition_hash: str
    state: str
    version: int
    ordinal: int
    is_terminal: bool
    is_broken: bool
    created_at: datetime
    updated_at: datetime
    is_loadable: bool = True
