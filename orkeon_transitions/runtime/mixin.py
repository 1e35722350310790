"""The circuit breaker on a user's own machine, in the idiom of `transitions`.

A trigger passes two places. At the **gate** nothing has been called yet: a broken circuit, and the limits
that need no knowledge of the row (1, 2, 4, 5), stop it there. At the **wall** a row has been chosen and its
conditions have passed, and still no `before` has run: the limits that depend on the row (3, 6) stop it there.
What counts is what is written: `set_state` for a move, the beginning of the `after` stage for an internal
row.

Everything here is a place inside of `transitions` 0.9.3, or one of the `_breaker_*` methods that are called
from it. The engine replaces those methods; the places stay the same.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from transitions.core import Event, Machine, Transition, listify
from transitions.extensions.asyncio import AsyncEvent, AsyncMachine, AsyncTransition

from orkeon_transitions.breaker import (
    BreakerCounts,
    CircuitBreakerPolicy,
    CircuitBreakerStatus,
    StateClock,
    Trip,
    judge_departure,
    judge_entry,
)
from orkeon_transitions.errors import CircuitBrokenError

if TYPE_CHECKING:
    _AnyMachine = Machine
else:
    _AnyMachine = object

Row = TypeVar("Row", bound=Transition)

CLOCK_RUNS = StateClock()


def _count_stay(event_data: Any, /, *_args: Any, **_kwargs: Any) -> Any:
    """Stands first among the `after` callbacks of an internal row, whatever these are given."""
    return event_data.machine._breaker_stayed(event_data)


def _counting(row: Row, event_data: Any) -> Row:
    """A twin of an internal row for one execution; the row itself shows only what its owner put there."""
    twin = copy.copy(row)
    twin.after = [partial(_count_stay, event_data), *row.after]
    return twin


class GatedEvent(Event):
    """An event whose triggers pass the gate: inside of a lock, after a queue, outside of `on_exception`."""

    def _trigger(self, event_data: Any) -> bool:
        event_data.breaker_trip = None
        trip = event_data.machine._breaker_gate(event_data)
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
        event_data.breaker_trip = None
        trip = event_data.machine._breaker_gate(event_data)
        if trip is None:
            made = await super()._trigger(event_data)
            trip = event_data.breaker_trip
            if trip is None:
                return made
        answer: bool = await event_data.machine._breaker_trip(event_data, trip)
        return answer


class WalledTransition(Transition):
    """A row with the wall behind its conditions. A trip looks like success, so that no other row is tried."""

    def _eval_conditions(self, event_data: Any) -> bool:
        if not super()._eval_conditions(event_data):
            return False
        event_data.breaker_trip = event_data.machine._breaker_wall(event_data.transition or self, event_data)
        return event_data.breaker_trip is None

    def execute(self, event_data: Any) -> bool:
        """Makes the transition; a trip at the wall answers True as well."""
        row = self if self.dest is not None else _counting(self, event_data)
        return super(WalledTransition, row).execute(event_data) or event_data.breaker_trip is not None


class WalledAsyncTransition(AsyncTransition):
    """The same for rows that are awaited: the wall stands before running callbacks are cancelled."""

    async def _eval_conditions(  # type: ignore[override]  # a coroutine, as in AsyncTransition
        self, event_data: Any
    ) -> bool:
        if not await super()._eval_conditions(event_data):
            return False
        event_data.breaker_trip = event_data.machine._breaker_wall(event_data.transition or self, event_data)
        return event_data.breaker_trip is None

    async def execute(  # type: ignore[override]  # a coroutine, as in AsyncTransition
        self, event_data: Any
    ) -> bool:
        """Makes the transition; a trip at the wall answers True as well."""
        row = self if self.dest is not None else _counting(self, event_data)
        made = await super(WalledAsyncTransition, row).execute(event_data)
        return made or event_data.breaker_trip is not None


class CircuitBreakerMixin(_AnyMachine):
    """Guards a `transitions` machine of any class with a circuit breaker.

    ``class MyMachine(CircuitBreakerMixin, Machine)`` takes what `Machine` takes, and in addition:

    Args:
        circuit_breaker: The limits; `CircuitBreakerPolicy.default()` if None.
        degraded_state: Where a trip moves a model when the policy uses degraded mode; a registered state.
        clock: Monotonic seconds.
        on_circuit_broken: Called once per trip with the `CircuitBreakerStatus`, before the machine moves or
            raises.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if not hasattr(cls, "event_cls"):  # a base class without a machine yet
            return
        is_async = issubclass(cls, AsyncMachine)
        cls.event_cls = cls._breaker_joined("event_cls", GatedAsyncEvent if is_async else GatedEvent)
        row = WalledAsyncTransition if is_async else WalledTransition
        cls.transition_cls = cls._breaker_joined("transition_cls", row)

    @classmethod
    def _breaker_joined(cls, attribute: str, place: type[Any]) -> type[Any]:
        """The machine's own class with the place before it; named so that pickle finds it again."""
        stock: type[Any] = getattr(cls, attribute)
        if issubclass(stock, place):
            return stock
        names = {"__module__": cls.__module__, "__qualname__": f"{cls.__qualname__}.{attribute}"}
        return type(stock.__name__, (place, stock), names)

    def __init__(
        self,
        *args: Any,
        circuit_breaker: CircuitBreakerPolicy | None = None,
        degraded_state: Any = None,
        clock: Callable[[], float] = time.monotonic,
        on_circuit_broken: Callable[[CircuitBreakerStatus], Any] | None = None,
        **kwargs: Any,
    ) -> None:
        self._breaker_policy = circuit_breaker or CircuitBreakerPolicy.default()
        self._breaker_degraded = degraded_state
        self._breaker_clock = clock
        self._breaker_listener = on_circuit_broken
        self._breaker_counts: dict[int, BreakerCounts] = {}
        super().__init__(*args, **kwargs)

    def set_state(self, state: Any, model: Any = None) -> None:
        """Writes a state, as `Machine.set_state` does, and counts it."""
        super().set_state(state, model)
        for each in self.models if model is None else listify(model):
            self._breaker_entered(each, self._breaker_key(getattr(each, self.model_attribute)))

    def _breaker_key(self, state: Any) -> str:
        """The name under which a model's state is counted."""
        name: str = getattr(state, "name", state)
        return name

    def _breaker_gate(self, event_data: Any) -> Trip | None:
        """Judges what needs no knowledge of the row."""
        counts = self._breaker_counts.get(id(event_data.model))
        if counts is None:
            return None
        return counts.trip or judge_departure(self._breaker_policy, counts, self._breaker_clock(), CLOCK_RUNS)

    def _breaker_wall(self, transition: Transition, event_data: Any) -> Trip | None:
        """Judges a row whose conditions have passed."""
        counts = self._breaker_counts.get(id(event_data.model))
        return None if counts is None else judge_entry(self._breaker_policy, counts, transition.dest)

    def _breaker_entered(self, model: Any, state_key: str) -> None:
        """Counts a state that has just been written."""
        counts = self._breaker_counts.get(id(model))
        if counts is not None:
            self._breaker_counts[id(model)] = counts.moved(state_key, self._breaker_clock())

    def _breaker_stayed(self, event_data: Any) -> Any:
        """Counts an internal transition."""
        counts = self._breaker_counts.get(id(event_data.model))
        if counts is not None:
            self._breaker_counts[id(event_data.model)] = counts.moved(None, self._breaker_clock())

    def _breaker_trip(self, event_data: Any, trip: Trip) -> bool | Awaitable[bool]:
        """Raises: the trigger that was asked for is not made."""
        counts = replace(self._breaker_counts[id(event_data.model)], trip=trip)
        self._breaker_counts[id(event_data.model)] = counts
        raise CircuitBrokenError(trip.reason, counts.status(self._breaker_policy, self._breaker_clock()))
