"""Crews that run out of the box; after an installation they are named without a path.

What belongs here: their files, and the functions that stand in for the world outside of one of them; they are
given to the crew as a program gives its own tools to `load_crew`. What never belongs here: an import of
another room, and anything that a crew of a user could not have.
"""

from orkeon_transitions.examples.outside import functions_of

__all__ = ["functions_of"]
