"""The places inside of `transitions` 0.9.3 at which the breaker stands.

Each class here overrides as little of a stock class as it can, and asks the machine's `_breaker_*` methods.
They add two frames to a trigger, `_trigger` and `execute`; callbacks may nest as deep as they could before.

What one trigger leaves on its `EventData`:

- `breaker_trip`: set to None at the gate, to the `Trip` at the wall. Without it nothing has passed the gate.
- `breaker_promise`: the transition that has passed the wall and is not written yet, if the machine keeps one.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from transitions.core import Event, Machine, Transition
from transitions.extensions.asyncio import AsyncEvent, AsyncMachine, AsyncTransition
from transitions.extensions.nesting import HierarchicalMachine

Row = TypeVar("Row", bound=Transition)


def _asked_at_gate(event_data: Any) -> Any:
    """Clears the marks of a new trigger and asks the gate."""
    event_data.breaker_trip = None
    event_data.breaker_promise = None
    return event_data.machine._breaker_gate(event_data)


def gated_plain(event_data: Any, make: Callable[[], Any]) -> Any:
    """Makes what passes the gate; a trip there, or at the wall, has its consequence."""
    trip = _asked_at_gate(event_data)
    if trip is None:
        made = make()
        trip = event_data.breaker_trip
        if trip is None:
            return made
    return event_data.machine._breaker_trip(event_data, trip)


async def gated_async(event_data: Any, make: Callable[[], Any]) -> Any:
    """The same, awaited."""
    trip = _asked_at_gate(event_data)
    if trip is None:
        made = await make()
        trip = event_data.breaker_trip
        if trip is None:
            return made
    return await event_data.machine._breaker_trip(event_data, trip)


class GatedEvent(Event):
    """An event whose triggers pass the gate: inside of a lock, after a queue, outside of `on_exception`."""

    def _trigger(self, event_data: Any) -> bool:
        # What `gated_plain` does, a frame shorter: triggers may be fired inside of each other.
        trip = _asked_at_gate(event_data)
        if trip is None:
            made = super()._trigger(event_data)
            trip = event_data.breaker_trip
            if trip is None:
                return made
        answer: bool = event_data.machine._breaker_trip(event_data, trip)
        return answer


class GatedAsyncEvent(AsyncEvent):
    """The same for events that are awaited."""

    async def _trigger(  # type: ignore[override]  # a coroutine, as it is in AsyncEvent
        self, event_data: Any
    ) -> bool:
        trip = _asked_at_gate(event_data)
        if trip is None:
            made = await super()._trigger(event_data)
            trip = event_data.breaker_trip
            if trip is None:
                return made
        answer: bool = await event_data.machine._breaker_trip(event_data, trip)
        return answer


def _was_stopped(event_data: Any) -> bool:
    return getattr(event_data, "breaker_trip", None) is not None


def _count_stay(event_data: Any, /, *_args: Any, **_kwargs: Any) -> Any:
    """Stands first among the `after` callbacks of an internal row, whatever these are given."""
    return event_data.machine._breaker_stayed(event_data)


def _is_guarded(machine: Machine) -> bool:
    """Rows may be shared with a machine that has no breaker: states of one machine can be another's."""
    return hasattr(type(machine), "_breaker_wall")


def _for_execution(row: Row, event_data: Any) -> Row:
    """The row itself; for an internal one a twin that counts: the row shows only its owner's callbacks."""
    if row.dest is not None or not _is_guarded(event_data.machine):
        return row
    twin = copy.copy(row)
    twin.after = [partial(_count_stay, event_data), *row.after]
    return twin


def _stopped_at_wall(row: Transition, event_data: Any) -> bool:
    if not _is_guarded(event_data.machine):
        return False
    event_data.breaker_trip = event_data.machine._breaker_wall(event_data.transition or row, event_data)
    return event_data.breaker_trip is not None


def payload_of(event_data: Any) -> dict[str, Any]:
    """What a trigger was called with, by name or by place."""
    return {**{str(place): each for place, each in enumerate(event_data.args)}, **event_data.kwargs}


def _close_promise(event_data: Any) -> None:
    promise = getattr(event_data, "breaker_promise", None)
    if promise is not None:
        promise.close()


def _came_by_no_trigger(event_data: Any) -> bool:
    """`to_state()` of a hierarchical machine executes a row of its own."""
    return not hasattr(event_data, "breaker_trip") and _is_guarded(event_data.machine)


class WalledTransition(Transition):
    """A row with the wall behind its conditions.

    Attributes:
        repeatable: False: `max_repeats` counts how often in a row it is taken with an equal payload.
    """

    repeatable: bool = True

    def __init__(self, *args: Any, repeatable: bool = True, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.repeatable = repeatable

    def _eval_conditions(self, event_data: Any) -> bool:
        return super()._eval_conditions(event_data) and not _stopped_at_wall(self, event_data)

    def execute(self, event_data: Any) -> bool:
        """Makes the transition; after a trip at the wall no row calls anything any more."""
        if _came_by_no_trigger(event_data):
            made: bool = gated_plain(event_data, partial(self.execute, event_data))
            return made
        if _was_stopped(event_data):
            return False
        row = _for_execution(self, event_data)
        try:
            return super(WalledTransition, row).execute(event_data)
        finally:
            _close_promise(event_data)


class WalledAsyncTransition(AsyncTransition):
    """The same for rows that are awaited: the wall stands before running callbacks are cancelled."""

    repeatable: bool = True

    def __init__(self, *args: Any, repeatable: bool = True, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.repeatable = repeatable

    async def _eval_conditions(  # type: ignore[override]  # a coroutine, as in AsyncTransition
        self, event_data: Any
    ) -> bool:
        return await super()._eval_conditions(event_data) and not _stopped_at_wall(self, event_data)

    async def execute(  # type: ignore[override]  # a coroutine, as in AsyncTransition
        self, event_data: Any
    ) -> bool:
        """Makes the transition; after a trip at the wall no row calls anything any more."""
        if _came_by_no_trigger(event_data):
            made: bool = await gated_async(event_data, partial(self.execute, event_data))
            return made
        if _was_stopped(event_data):
            return False
        row = _for_execution(self, event_data)
        try:
            return await super(WalledAsyncTransition, row).execute(event_data)
        finally:
            _close_promise(event_data)


def guard_classes(machine_cls: type[Machine]) -> None:
    """Puts the places in front of a machine class's own event and transition classes.

    A hierarchical machine has its gate in `_trigger_event`; its events need none.
    """
    is_async = issubclass(machine_cls, AsyncMachine)
    if not issubclass(machine_cls, HierarchicalMachine):
        event: type[Event] = GatedAsyncEvent if is_async else GatedEvent
        machine_cls.event_cls = _joined(machine_cls, "event_cls", event)
    row = WalledAsyncTransition if is_async else WalledTransition
    machine_cls.transition_cls = _joined(machine_cls, "transition_cls", row)


def _joined(machine_cls: type[Machine], attribute: str, place: type[Any]) -> type[Any]:
    """The machine's class with the place before it, named so that pickle finds it again."""
    stock: type[Any] = getattr(machine_cls, attribute)
    if issubclass(stock, place):
        return stock
    names = {"__module__": machine_cls.__module__, "__qualname__": f"{machine_cls.__qualname__}.{attribute}"}
    return type(stock.__name__, (place, stock), names)


def wall_embedded(machine: HierarchicalMachine) -> None:
    """Walls the rows of another machine whose states have just become a part of this one."""
    scopes: list[Any] = [machine.scoped]
    while scopes:
        scope = scopes.pop()
        scopes += scope.states.values()
        for event in scope.events.values():
            for rows in event.transitions.values():
                rows[:] = [_walled(row, machine.transition_cls) for row in rows]


def _walled(row: Any, walled_cls: type[Any]) -> Any:
    if isinstance(row, WalledTransition | WalledAsyncTransition):
        return row
    if not issubclass(walled_cls, type(row)):  # a class of the other machine's own
        walled_cls = type(type(row).__name__, (WalledTransition, type(row)), {})
    twin = object.__new__(walled_cls)
    twin.__dict__.update(row.__dict__)
    return twin
