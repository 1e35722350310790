"""The circuit breaker on a user's own machine, in the idiom of `transitions`.

A trigger passes two places. At the **gate** nothing has been called yet: a broken circuit, and the limits
that need no knowledge of the row (1, 2, 4, 5), stop it there. At the **wall** a row has been chosen and its
conditions have passed, and still no `before` has run: the limits that depend on the row (3, 6) stop it there.
What counts is what is written: `set_state` for a move, the beginning of the `after` stage for an internal
row.

The places are in `mixin_places`; they call the `_breaker_*` methods of the machine. The engine replaces those
methods; the places stay the same.
"""

from __future__ import annotations

import inspect
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from transitions.core import Machine, State, Transition, listify
from transitions.extensions.asyncio import AsyncMachine

from orkeon_transitions.breaker import (
    CircuitBreakerPolicy,
    CircuitBreakerStatus,
    Trip,
    judge_departure,
    judge_entry,
)
from orkeon_transitions.errors import CircuitBrokenError
from orkeon_transitions.runtime.mixin_degrading import degrade, degrade_async, trigger_name
from orkeon_transitions.runtime.mixin_models import CLOCK_RUNS, WatchedModels
from orkeon_transitions.runtime.mixin_places import (
    gated_async,
    gated_plain,
    guard_classes,
    payload_of,
    wall_embedded,
)
from orkeon_transitions.runtime.mixin_states import entered_key, is_inside, state_key
from orkeon_transitions.runtime.mixin_watch import StatusListener, Watch
from orkeon_transitions.runtime.repeating import repeat

_LOGGER = logging.getLogger(__name__)


class CircuitBreakerMixin(WatchedModels):
    """Guards a `transitions` machine of any class with a circuit breaker.

    ``class MyMachine(CircuitBreakerMixin, Machine)`` takes what `Machine` takes, and in addition the
    arguments below. Each model gets `circuit_status` (a `CircuitBreakerStatus`), `reset_circuit_breaker()`
    and, where the policy has meters, `spend(tokens=812)`; like triggers, they are not bound over an attribute
    that the model already has.

    A trip raises `CircuitBrokenError`, or, with `use_degraded_mode` and a degraded state, moves the model
    there and answers False. From then on every trigger raises, until the breaker is reset: `final` means
    nothing here and no timer watches the clocks. A trip is raised past `on_exception`. In a hierarchical
    machine the breaker counts full active configurations: one trigger that moves two parallel states makes
    two transitions. A row that is added with `repeatable=False` is what `max_repeats` counts.

    Args:
        circuit_breaker: The limits; `CircuitBreakerPolicy.default()` if None.
        degraded_state: Where a trip moves a model when the policy uses degraded mode; a registered state.
        clock: Monotonic seconds.
        on_circuit_broken: Called once per trip with the `CircuitBreakerStatus`, before the machine moves or
            raises; may be a coroutine function on an async machine. What it raises is logged.

    Raises:
        ValueError: `degraded_state` is not registered.
        TypeError: An argument is of the wrong type.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if not hasattr(cls, "event_cls"):  # a base class without a machine yet
            return
        order = cls.__mro__
        if order.index(CircuitBreakerMixin) > order.index(Machine):
            raise TypeError(f"class {cls.__name__}: CircuitBreakerMixin goes before the machine's class")
        guard_classes(cls)

    def __init__(
        self,
        *args: Any,
        circuit_breaker: CircuitBreakerPolicy | None = None,
        degraded_state: Any = None,
        clock: Callable[[], float] = time.monotonic,
        on_circuit_broken: StatusListener | None = None,
        **kwargs: Any,
    ) -> None:
        self._breaker_policy = _checked_policy(circuit_breaker)
        self._breaker_clock = clock
        self._breaker_listener = _checked_listener(on_circuit_broken, isinstance(self, AsyncMachine))
        self._breaker_watches: dict[int, Watch] = {}
        super().__init__(*args, **kwargs)
        self._breaker_degraded = self._breaker_checked_state(degraded_state)

    def _breaker_checked_state(self, state: Any) -> str | None:
        if state is None:
            return None
        if isinstance(state, State):
            state = state.name
        try:
            self.get_state(state)
        except ValueError:
            raise ValueError(f"degraded_state '{state}' is not a registered state") from None
        return state_key(self, state)

    # What `transitions` calls ------------------------------------------------------------------------------

    def set_state(self, state: Any, model: Any = None) -> None:
        """Writes a state, as `Machine.set_state` does, and counts it."""
        super().set_state(state, model)
        for each in self.models if model is None else listify(model):
            self._breaker_entered(each, self._breaker_key(getattr(each, self.model_attribute)))

    def _trigger_event(self, event_data: Any, trigger: str) -> Any:
        """The gate of a hierarchical machine; the events of other machines have one each."""
        event_data.breaker_trigger = trigger
        make = partial(super()._trigger_event, event_data, trigger)  # type: ignore[misc]  # HierarchicalMachine's
        gated = gated_async if isinstance(self, AsyncMachine) else gated_plain
        return gated(event_data, make)

    def _add_machine_states(self, state: Any, remap: Any) -> None:
        """Takes over another hierarchical machine's states, and guards the rows that come with them."""
        super()._add_machine_states(state, remap)  # type: ignore[misc]  # HierarchicalMachine's
        wall_embedded(self)  # type: ignore[arg-type]  # only hierarchical machines come here

    # What the places call; the engine replaces these --------------------------------------------------------

    def _breaker_gate(self, event_data: Any) -> Trip | None:
        """Judges what needs no knowledge of the row (limits 1, 2, 4, 5)."""
        watch = self._breaker_find(event_data.model)
        if watch is None:
            return None
        event_data.breaker_seen = watch.counts.transitions
        return self._breaker_judged(watch)

    def _breaker_judged(self, watch: Watch) -> Trip | None:
        if watch.counts.trip is not None:
            return watch.counts.trip
        counts = watch.ahead(self._breaker_caller())
        return judge_departure(self._breaker_policy, counts, self._breaker_clock(), CLOCK_RUNS)

    def _breaker_wall(self, transition: Transition, event_data: Any) -> Trip | None:
        """Judges a row whose conditions have passed (limits 3 and 6).

        Conditions may have fired triggers themselves, and one trigger may move several parallel states: what
        was made since the gate is judged again.
        """
        watch = self._breaker_find(event_data.model)
        if watch is None:
            return None
        policy, caller, entered = self._breaker_policy, self._breaker_caller(), transition.dest
        trip, repetition = None, None
        if watch.counts.trip is not None or watch.counts.transitions != getattr(
            event_data, "breaker_seen", None
        ):
            trip = self._breaker_judged(watch)
        if trip is None and policy.max_state_visits:
            entered = entered_key(transition, event_data)
            trip = judge_entry(policy, watch.ahead(caller), entered)
        if trip is None and policy.max_repeats and not getattr(transition, "repeatable", True):
            repetition, trip = repeat(policy, watch.counts, event_data.event.name, payload_of(event_data))
        if trip is None:
            event_data.breaker_promise = watch.promise(entered, caller, repetition)
        return trip

    def _breaker_entered(self, model: Any, state_key: str) -> None:
        """Counts a state that has just been written."""
        watch = self._breaker_find(model)
        if watch is not None:
            watch.written(state_key, self._breaker_clock(), self._breaker_caller())

    def _breaker_stayed(self, event_data: Any) -> Any:
        """Counts an internal transition."""
        watch = self._breaker_find(event_data.model)
        if watch is not None:
            watch.written(None, self._breaker_clock(), self._breaker_caller())

    def _breaker_trip(self, event_data: Any, trip: Trip) -> bool | Awaitable[bool]:
        """Publishes a new trip, then degrades the model or raises.

        Returns:
            False: the trigger that was asked for was not made. On an async machine to be awaited.
        """
        if isinstance(self, AsyncMachine):
            return self._breaker_trip_async(event_data, trip)
        broken = self._breaker_broken(event_data, trip)
        if broken.is_new:
            self._breaker_publish(broken.error.status)
        if broken.refuge is None:
            raise broken.error
        degrade(self, event_data, broken.refuge)
        return False

    async def _breaker_trip_async(self, event_data: Any, trip: Trip) -> bool:
        broken = self._breaker_broken(event_data, trip)
        if broken.is_new:
            heard = self._breaker_publish(broken.error.status)
            if inspect.isawaitable(heard):
                await self._breaker_heard(heard)
        if broken.refuge is None:
            raise broken.error
        await degrade_async(self, event_data, broken.refuge)
        return False

    # The default's own business ----------------------------------------------------------------------------

    def _breaker_broken(self, event_data: Any, trip: Trip) -> _Broken:
        """Breaks the circuit, if it is not broken yet, and says what follows."""
        watch = self._breaker_known(event_data.model)
        is_new = watch.counts.trip is None
        refuge = self._breaker_refuge(event_data.model, watch) if is_new else None
        if is_new:
            watch.counts = replace(watch.counts, trip=trip)
        message = f"{trip.reason} (trigger '{trigger_name(event_data)}' in state '{watch.counts.state}')"
        return _Broken(is_new, refuge, CircuitBrokenError(message, self._breaker_status(event_data.model)))

    def _breaker_refuge(self, model: Any, watch: Watch) -> str | None:
        """Where a trip moves the model; None: nowhere, it raises.

        Inside of another transition's `before` or `on_exit` it raises too: that transition would write its
        own state over the degraded one.
        """
        if not self._breaker_policy.use_degraded_mode or watch.promised(self._breaker_caller()):
            return None
        return None if is_inside(self, model, self._breaker_degraded) else self._breaker_degraded

    def _breaker_publish(self, status: CircuitBreakerStatus) -> Any:
        if self._breaker_listener is None:
            return None
        try:
            return self._breaker_listener(status)
        except Exception:
            _LOGGER.exception("%son_circuit_broken raised", self.name)
            return None

    async def _breaker_heard(self, heard: Awaitable[Any]) -> None:
        try:
            await heard
        except Exception:
            _LOGGER.exception("%son_circuit_broken raised", self.name)

    def _breaker_caller(self) -> Any:
        """Who fires: on an async machine the outermost task, whose callbacks nest; another one cancels it."""
        return self.current_context.get() if isinstance(self, AsyncMachine) else None


@dataclass(frozen=True, slots=True)
class _Broken:
    """What a trip leads to.

    Attributes:
        is_new: Whether the circuit was whole before.
        refuge: The degraded state to move to; None: raise.
        error: What to raise.
    """

    is_new: bool
    refuge: str | None
    error: CircuitBrokenError


def _checked_policy(policy: CircuitBreakerPolicy | None) -> CircuitBreakerPolicy:
    if policy is None:
        return CircuitBreakerPolicy.default()
    if not isinstance(policy, CircuitBreakerPolicy):
        raise TypeError(f"circuit_breaker must be a CircuitBreakerPolicy, not {type(policy).__name__}")
    return policy


def _checked_listener(listener: StatusListener | None, is_async: bool) -> StatusListener | None:
    if listener is not None and not callable(listener):
        raise TypeError("on_circuit_broken must be callable")
    if inspect.iscoroutinefunction(listener) and not is_async:
        raise TypeError("on_circuit_broken is a coroutine function, and this machine is not async")
    return listener
