"""What a program gives to a store, checked before anything is done."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, TypeVar

from orkeon_transitions.errors import OrkeonError
from orkeon_transitions.runtime.base import MachineBase
from orkeon_transitions.runtime.naming import text_of

M = TypeVar("M", bound=MachineBase[Any, Any])


def new_machine(kind: type[M], args: Sequence[Any], options: Mapping[str, Any]) -> M:
    """Makes a machine of a class.

    Raises:
        TypeError: It is no class of machines, or an option is the store's own.
    """
    _check_kind(kind)
    _refuse_own(options, "commit")
    return kind(*args, **options)


def asked_for(kind: type, args: Sequence[Any], options: Mapping[str, Any]) -> tuple[Sequence[Any], str]:
    """What a machine's constructor takes first, and the machine's own name, which comes last.

    Raises:
        TypeError: There is no name, it is no class of machines, or an option is the store's own.
        OrkeonError: No machine can have that name.
    """
    _check_kind(kind)
    _refuse_own(options, "commit", "snapshot", "machine_id")
    if not args or not isinstance(args[-1], str):
        raise TypeError(f"load takes the machine's own name last: store.load({kind.__name__}, ..., 'name')")
    check_name(args[-1])
    return args[:-1], args[-1]


def _check_kind(kind: Any) -> None:
    if not isinstance(kind, type) or not issubclass(kind, MachineBase):
        raise TypeError(f"a store makes machines of a class such as StateMachine, {_kind_of(kind)} is none")


def _refuse_own(options: Mapping[str, Any], *names: str) -> None:
    for name in names:
        if name in options:
            raise TypeError(f"'{name}' is what the store itself gives to its machines")


def checked_limit(limit: Any) -> int | None:
    """How many of a list are wanted; None: all.

    Raises:
        TypeError: It is no whole number.
        ValueError: It is negative.
    """
    if limit is None:
        return None
    if not isinstance(limit, int) or isinstance(limit, bool):
        raise TypeError(f"limit must be a whole number, not {limit!r:.40}")
    if limit < 0:
        raise ValueError("limit must not be negative")
    return limit


def check_machine(machine: Any) -> None:
    """Refuses what is no machine.

    Raises:
        TypeError: It is none.
    """
    if not isinstance(machine, MachineBase):
        raise TypeError(
            f"a store keeps a StateMachine or an AsyncStateMachine, {_kind_of(machine)} is neither"
        )


def _kind_of(value: Any) -> str:
    return value.__name__ if isinstance(value, type) else f"an object of {type(value).__name__}"


def check_name(machine_id: str) -> None:
    """Refuses a name that not every database can hold, or that nobody could read.

    Raises:
        OrkeonError: It is empty, or has something in it that cannot be printed.
        TypeError: It is no text.
    """
    if not isinstance(machine_id, str):
        raise TypeError(f"a machine's name is a text, not {_kind_of(machine_id)}")
    if not machine_id or not machine_id.isprintable():
        raise OrkeonError(f"a stored machine's name must be a text that can be printed, not {machine_id!r}")


def state_name(state: Any) -> str | None:
    """The name of a state that is given by its name or its Enum member; None: any."""
    return None if state is None else text_of(state)


def moment_before(idle_for: timedelta | float | None) -> float | None:
    """Seconds since the epoch at which something must have rested that was idle for so long.

    Raises:
        ValueError: The time is negative.
    """
    if idle_for is None:
        return None
    seconds = idle_for.total_seconds() if isinstance(idle_for, timedelta) else idle_for
    if not seconds >= 0:
        raise ValueError("idle_for must not be negative")
    return time.time() - seconds


def is_in_loop() -> bool:
    """Whether this is asked inside of a running event loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
