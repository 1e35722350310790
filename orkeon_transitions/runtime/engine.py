"""The engine: a `transitions` machine with the mixin, built once per definition and shared by its machines.

It is the reference for what a machine does. A machine is the model; the engine never lists its models, so
that many thousands can share it. Guards and actions are looked up on the machine that fires.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from transitions import EventData, Machine, Transition
from transitions.extensions.asyncio import AsyncEvent, AsyncMachine, AsyncTransition

from orkeon_transitions.breaker import Trip
from orkeon_transitions.definition import MachineDefinition, TransitionDefinition
from orkeon_transitions.runtime import law
from orkeon_transitions.runtime.callbacks import action_of, refuse_awaitable
from orkeon_transitions.runtime.mixin import CircuitBreakerMixin
from orkeon_transitions.runtime.steps import run, run_async

if TYPE_CHECKING:
    from orkeon_transitions.runtime.base import MachineBase
    from orkeon_transitions.runtime.firing import Firing
    from orkeon_transitions.runtime.steps import Effect

    _AnyMachine = Machine
else:
    _AnyMachine = object

STATE_ATTRIBUTE = "_state_name"


class Action:
    """A callback of the engine: the action of that name, on whichever machine fires.

    The engine performs it in `callbacks` instead of calling it: each frame that a trigger spares counts,
    since fifty triggers may be fired inside of each other.
    """

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


class Row:
    """What our rows know beyond those of `transitions`."""

    guards: tuple[tuple[str, bool], ...] = ()
    always = False
    repeatable = True
    dest: str | None


class _PlainRow(Row, Transition):
    def _eval_conditions(self, event_data: EventData) -> bool:
        machine, firing = _of(event_data)
        if not self.guards:
            return not firing.guard_raised
        return run(law.guards_pass(machine, firing, self))


class _AsyncRow(Row, AsyncTransition):
    async def _eval_conditions(  # type: ignore[override]  # a coroutine, as in AsyncTransition
        self, event_data: EventData
    ) -> bool:
        # One after another: `transitions` would gather them, and ask all though the first says no.
        machine, firing = _of(event_data)
        if not self.guards:
            return not firing.guard_raised
        return await run_async(law.guards_pass(machine, firing, self))

    async def _change_state(  # type: ignore[override]  # a coroutine, as in AsyncTransition
        self, event_data: EventData
    ) -> None:
        # The commit hook may be awaited, which `set_state` cannot: it is asked here, between exit and enter.
        machine, firing = _of(event_data)
        engine: Any = event_data.machine
        await engine.get_state(self.source).exit(event_data)
        stopped = await machine._settle(firing, self.dest)
        event_data.update(engine.get_state(self.dest))
        if stopped is not None:
            raise stopped
        await engine.get_state(self.dest).enter(event_data)


class _AsyncEvent(AsyncEvent):
    """An event that keeps what was raised for the law: `transitions` logs it as an error on its way out."""

    async def _process(  # type: ignore[override]  # a coroutine, as in AsyncEvent
        self, event_data: Any
    ) -> None:
        try:
            await super()._process(event_data)
        except BaseException as error:  # noqa: BLE001 (the law raises it again)
            _of(event_data)[1].raised = error


class _Shared(_AnyMachine):
    """What both engines have in common."""

    def __init__(self, definition: MachineDefinition) -> None:
        super().__init__(
            model=None,
            states=[self._state(state.name, state.on_enter, state.on_exit) for state in definition.states],
            initial=definition.initial,
            auto_transitions=False,
            send_event=True,
            # No trigger may have this attribute's name: while rows are added it is one that none can have.
            model_attribute="\n",
            name=definition.name,
        )
        for row in definition.transitions:
            for source in definition.sources_of(row):
                self._add_row(row, source)
        self.model_attribute = STATE_ATTRIBUTE

    def _state(self, name: str, on_enter: Iterable[str], on_exit: Iterable[str]) -> dict[str, Any]:
        # An object per action, so that `transitions` never resolves a name by itself.
        return {"name": name, "on_enter": self._actions(on_enter), "on_exit": self._actions(on_exit)}

    def _actions(self, names: Iterable[str]) -> list[Action]:
        return [Action(name) for name in names]

    def _add_row(self: Any, row: TransitionDefinition, source: str) -> None:
        dest = source if row.dest == "=" else row.dest
        self.add_transition(
            row.trigger, source, dest, before=self._actions(row.before), after=self._actions(row.after)
        )
        made = self.events[row.trigger].transitions[source][-1]
        made.guards = (*((name, True) for name in row.conditions), *((name, False) for name in row.unless))
        made.always, made.repeatable = row.always, row.repeatable

    def rows(self: Any, state: str, trigger: str) -> list[Row]:
        """The rows of a trigger in a state, in file order."""
        event = self.events.get(trigger)
        found: list[Row] = event.transitions.get(state, []) if event is not None else []
        return found

    def sending(self: Any, machine: MachineBase[Any, Any], firing: Firing) -> Effect:
        """The effect that sends a trigger that has rows here through `transitions`."""
        event = self.events[firing.trigger]
        return partial(event._trigger, EventData(None, event, self, machine, (firing,), {}))

    def degrade(self: Any, machine: MachineBase[Any, Any], firing: Firing) -> Any:
        """Moves a tripped machine to its degraded state; exit and enter callbacks run."""
        state = self.get_state(machine._record.state)
        event = self.event_cls(firing.trigger, self)
        data: Any = EventData(state, event, self, machine, (firing,), {})
        data.breaker_trip = None
        data.transition = self.transition_cls(state.name, machine.definition.degraded)
        return data.transition.execute(data)

    def _breaker_gate(self, event_data: EventData) -> Trip | None:
        machine, firing = _of(event_data)
        return law.gate(machine, firing)

    def _breaker_wall(self, transition: Any, event_data: EventData) -> Trip | None:
        machine, firing = _of(event_data)
        dest = transition.source if transition.dest is None else transition.dest
        firing.event.to_state = machine._state_member(dest)
        return law.wall(machine, firing, transition)


class _Engine(_Shared, CircuitBreakerMixin, Machine):
    """The engine of plain machines."""

    transition_cls = _PlainRow

    def callbacks(self, funcs: Iterable[Any], event_data: EventData) -> None:
        """Performs actions, and what the mixin puts among them."""
        for function in funcs:
            if not isinstance(function, Action):
                function(event_data)
                continue
            machine, firing = _of(event_data)
            answer = action_of(machine, function.name)(firing.event)
            refuse_awaitable(answer, f"the action '{function.name}'")

    def set_state(self, state: Any, model: Any = None) -> None:
        model._settle(model._record.firing, getattr(state, "name", state))

    def _breaker_stayed(self, event_data: EventData) -> None:
        machine, firing = _of(event_data)
        machine._settle(firing, None)

    def _breaker_trip(self, event_data: EventData, trip: Trip) -> bool:
        _of(event_data)[1].trip = trip
        return False


class _AsyncEngine(_Shared, CircuitBreakerMixin, AsyncMachine):
    """The engine of async machines."""

    event_cls = _AsyncEvent
    transition_cls = _AsyncRow

    async def callbacks(  # type: ignore[override]  # a coroutine, as in AsyncMachine
        self, funcs: Iterable[Any], event_data: EventData
    ) -> None:
        """Performs actions one after another: `transitions` gathers them, and the others would run on."""
        for function in funcs:
            if isinstance(function, Action):
                machine, firing = _of(event_data)
                answer = action_of(machine, function.name)(firing.event)
            else:
                answer = function(event_data)
            if inspect.isawaitable(answer):
                await answer

    async def cancel_running_transitions(self, model: Any, msg: str | None = None) -> None:
        """Cancels nothing: a machine is held by one trigger at a time, and a second one waits."""

    async def _breaker_stayed(self, event_data: EventData) -> None:
        machine, firing = _of(event_data)
        stopped = await machine._settle(firing, None)
        if stopped is not None:
            raise stopped

    async def _breaker_trip(self, event_data: EventData, trip: Trip) -> bool:
        _of(event_data)[1].trip = trip
        return False


@lru_cache(maxsize=256)
def engine_for(definition: MachineDefinition) -> _Engine:
    """The one engine of a definition for plain machines."""
    return _Engine(definition)


@lru_cache(maxsize=256)
def async_engine_for(definition: MachineDefinition) -> _AsyncEngine:
    """The one engine of a definition for async machines."""
    return _AsyncEngine(definition)


def _of(data: EventData) -> tuple[Any, Firing]:
    firing: Firing = data.args[0]  # type: ignore[index]  # a tuple, whatever the stub says
    return data.model, firing
