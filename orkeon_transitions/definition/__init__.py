"""What is allowed: YAML text with positions, read into frozen models and checked.

What belongs here is the way from a text, a file or a mapping to a `MachineDefinition`, and what can be said
of a definition without running it. What never belongs here: a machine that moves, a clock, a callback.
`orkeon docs machine-files` shows how to write one, `orkeon docs yaml-keys` has every key.
"""

from orkeon_transitions.definition.checks import check_definition
from orkeon_transitions.definition.findings import Finding
from orkeon_transitions.definition.models import MachineDefinition, StateDefinition, TransitionDefinition
from orkeon_transitions.definition.names import nearest
from orkeon_transitions.definition.places import Source
from orkeon_transitions.definition.reading import load_definition
from orkeon_transitions.definition.schema import machine_schema
from orkeon_transitions.definition.source import read_source

__all__ = [
    "Finding",
    "MachineDefinition",
    "Source",
    "StateDefinition",
    "TransitionDefinition",
    "check_definition",
    "load_definition",
    "machine_schema",
    "nearest",
    "read_source",
]
