"""What is allowed: YAML text with positions, read into frozen models and checked.

What belongs here is the way from a text, a file or a mapping to a `MachineDefinition`, and what can be said
of a definition without running it. What never belongs here: a machine that moves, a clock, a callback.
"""

from orkeon_transitions.definition.models import MachineDefinition, StateDefinition, TransitionDefinition

__all__ = ["MachineDefinition", "StateDefinition", "TransitionDefinition"]
