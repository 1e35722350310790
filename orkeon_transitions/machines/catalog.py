"""The definitions that ship, by name."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from orkeon_transitions.definition import MachineDefinition, load_definition, nearest
from orkeon_transitions.errors import DefinitionError, Problem

SUFFIX = ".yaml"


def _folder() -> Traversable:
    return files(__package__) / "yaml"


@cache
def machine_names() -> tuple[str, ...]:
    """The names of the machines that ship, sorted."""
    names = (file.name for file in _folder().iterdir())
    return tuple(sorted(name.removesuffix(SUFFIX) for name in names if name.endswith(SUFFIX)))


def machine_definition(name: str) -> MachineDefinition:
    """Gives the definition of a machine that ships; the same object each time.

    Args:
        name: One of `machine_names()`.

    Raises:
        DefinitionError: There is no such machine; the problem names the nearest one, and the message all.
    """
    if name in machine_names():
        return _definition(name)
    message = f"no machine named {name!r} ships: there are {', '.join(machine_names())}"
    raise DefinitionError([Problem(None, None, None, "", message, nearest(str(name), machine_names()))])


@cache
def _definition(name: str) -> MachineDefinition:
    return load_definition((_folder() / f"{name}{SUFFIX}").read_text(encoding="utf-8"))
