"""Who is inside of a guard that is only asked, or of an awaited commit hook: there, nothing can be fired.

A trigger that fires has its `Firing`, by which its callbacks are known. `can_fire` holds no machine, and an
awaited commit hook runs in a task of its own: both are known by their context.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import Context, ContextVar, copy_context
from typing import TYPE_CHECKING, Any

from orkeon_transitions.errors import MachineBusyError

if TYPE_CHECKING:
    from orkeon_transitions.runtime.base import MachineBase

    Machine = MachineBase[Any, Any]

# How often a guard may be asked inside of itself: one that asks what is permitted would never come to an end.
ASKING_LIMIT = 4


class Inside:
    """One guard that is asked, or one commit that is awaited (then there is no guard).

    Tasks and timers that begin meanwhile inherit it, and keep it when it has long ended.
    """

    __slots__ = ("guard", "is_open", "machine")

    def __init__(self, machine: Machine, guard: str | None) -> None:
        self.machine = id(machine)
        self.guard = guard
        self.is_open = True


_inside: ContextVar[tuple[Inside, ...]] = ContextVar("inside", default=())


@contextmanager
def asking(machine: Machine, guard: str) -> Iterator[None]:
    """Marks this thread or task as being inside of a guard that is only asked."""
    outer, inside = _inside.get(), Inside(machine, guard)
    _inside.set((*outer, inside))
    machine._record.count_asked(1)
    try:
        yield
    finally:
        machine._record.count_asked(-1)
        inside.is_open = False
        _inside.set(outer)


def asks_itself(machine: Machine, guard: str) -> bool:
    """Whether a guard has asked for its own answer too often to be asked once more."""
    return sum(each.guard == guard for each in _open_ones(machine)) >= ASKING_LIMIT


def inside_of_commit(machine: Machine) -> tuple[Inside, Context]:
    """A context in which to start an awaited commit hook, and what to close when it has ended."""
    context, inside = copy_context(), Inside(machine, None)
    context.run(_inside.set, (*_inside.get(), inside))
    return inside, context


def outside() -> Context:
    """A copy of the context that is inside of nothing: for tasks of a machine's own."""
    context = copy_context()
    context.run(_inside.set, ())
    return context


def refuse_inside(machine: Machine, what: str) -> None:
    """Refuses what a guard fires although it was only asked, or a commit hook while it is awaited.

    Raises:
        MachineBusyError: It is fired inside of one.
    """
    if not _inside.get():  # as a rule: every trigger comes here
        return
    ones = _open_ones(machine)
    if not ones:
        return
    name = machine.definition.name
    where = f"a guard of machine '{name}', which was only asked"
    if ones[-1].guard is None:
        where = f"the commit hook of machine '{name}', which has not written its state yet"
    raise MachineBusyError(f"'{what}' came inside of {where}: use fire_later to do it afterwards")


def _open_ones(machine: Machine) -> list[Inside]:
    return [each for each in _inside.get() if each.is_open and each.machine == id(machine)]
