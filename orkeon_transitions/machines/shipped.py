"""What the machines that ship have in common: a class knows its own definition."""

from __future__ import annotations

from typing import Any, ClassVar, TypeVar

from orkeon_transitions.machines.catalog import machine_definition
from orkeon_transitions.runtime.base import MachineBase

S = TypeVar("S")
E = TypeVar("E")


class ShippedMachine(MachineBase[S, E]):
    """The half of a shipped machine that its plain and its async class share.

    It stands before `StateMachine` or `AsyncStateMachine` among the bases, so that guards, fields and the
    constructor are written once.
    """

    MACHINE: ClassVar[str]

    def __init__(self, **options: Any) -> None:
        super().__init__(machine_definition(self.MACHINE), **options)


def whole_number(name: str, value: Any) -> int:
    """Checks a limit that counts something.

    Raises:
        ValueError: It is no whole number, or negative.
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"{name} must be a whole number that is not negative, not {value!r}")
    return value
