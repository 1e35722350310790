"""Crews that run out of the box; after an installation they are named without a path.

What belongs here: their files, the functions that stand in for the world outside of one of them, which the
crew is given as a program gives its own tools to `load_crew`, and the pictures that the README shows. What
never belongs here: an import of another room, and anything that a crew of a user could not have. Begin with
`orkeon run 103-ts-codebase-with-fsm`.
"""

from orkeon_transitions.examples.outside import functions_of

__all__ = ["functions_of"]
