"""From whatever a person names to the session that shows it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from orkeon_transitions.definition import MachineDefinition, load_definition
from orkeon_transitions.explorer.machine_session import MachineSession
from orkeon_transitions.explorer.session import Session
from orkeon_transitions.machines import machine_definition, machine_names


def open_session(subject: Any, **options: Any) -> Session:
    """Opens what a person wants to look at.

    Args:
        subject: A `MachineDefinition`, the name of a machine that ships, or a machine file.
        **options: Those of the session.

    Raises:
        TypeError: It is nothing that can be shown.
    """
    if isinstance(subject, MachineDefinition):
        return MachineSession(subject, **options)
    if isinstance(subject, str) and subject in machine_names():
        return MachineSession(machine_definition(subject), **options)
    if isinstance(subject, str | os.PathLike):
        return MachineSession(load_definition(Path(subject)), source=str(subject), **options)
    raise TypeError(f"an object of {type(subject).__name__} cannot be explored")
