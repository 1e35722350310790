"""The callbacks of a world: in every form that a program may give them, all ending in `life.behave`."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Coroutine
from functools import partial, partialmethod
from typing import TYPE_CHECKING, Any

from orkeon_transitions.breaker import CircuitBreakerPolicy, StateClock
from orkeon_transitions.runtime import AsyncStateMachine, StateMachine
from orkeon_transitions.runtime.callbacks import PlainAction, TypedGuard
from tests.properties.differential.worlds import ACTIONS, GUARDS, World, members

if TYPE_CHECKING:
    from tests.properties.differential.life import Life

IN_MAPPINGS = ("mapping", "object", "partial", "typed")


def run_now(steps: Coroutine[Any, Any, Any]) -> Any:
    """Runs a coroutine that never waits."""
    try:
        steps.send(None)
    except StopIteration as end:
        return end.value
    steps.close()
    raise AssertionError("it waited")


class Callback:
    """One callback of a world, whatever its form; an object of this class is one itself."""

    def __init__(self, life: Life, name: str, form: str, machine: int) -> None:
        self.life, self.name, self.form, self.machine = life, name, form, machine

    def __call__(self, event: Any) -> Any:
        steps = self.life.behave(self.machine, self.name, self.form, event, may_wait=self.life.world.is_async)
        # On an async machine this is a plain function that gives an awaitable.
        return steps if self.life.world.is_async else run_now(steps)


def given(life: Life, name: str, form: str, machine: int) -> Any:
    """A callback in one of the forms for mappings and attributes."""
    callback = Callback(life, name, form, machine)
    if form == "object":
        return callback
    if form == "partial":
        return partial(lambda first, event: first(event), callback)
    if form == "typed":
        if name in GUARDS:
            return TypedGuard(callback, int)
        return PlainAction(lambda from_state, to_state: callback((from_state, to_state)))
    if life.world.is_async and life.is_coroutine_function(name):

        async def waits(event: Any) -> Any:
            return await life.behave(machine, name, form, event, may_wait=True)

        return waits

    def at_once(event: Any) -> Any:
        return run_now(life.behave(machine, name, form, event, may_wait=False))

    return at_once


def _method(life: Life, name: str, form: str) -> Any:
    """A callback as a class has it."""
    if form == "static":
        return staticmethod(given(life, name, form, 0))
    if form == "class":

        def of_class(cls: type, event: Any) -> Any:
            return Callback(life, name, cls.__name__, 0)(event)

        return classmethod(of_class)
    if form == "partialmethod":

        def with_word(self: Any, word: str, event: Any) -> Any:
            return Callback(life, name, word, life.index_of(self))(event)

        return partialmethod(with_word, "with a word")
    if life.world.is_async and life.is_coroutine_function(name):

        async def waits(self: Any, event: Any) -> Any:
            return await life.behave(life.index_of(self), name, form, event, may_wait=True)

        return waits

    def at_once(self: Any, event: Any) -> Any:
        return run_now(life.behave(life.index_of(self), name, form, event, may_wait=False))

    return at_once


def mappings(life: Life, machine: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """The guards and actions that are given to a machine's constructor."""
    places = life.world.places[machine]
    chosen = {name: given(life, name, form, machine) for name, form in places.items() if form in IN_MAPPINGS}
    return (
        {name: each for name, each in chosen.items() if name in GUARDS},
        {name: each for name, each in chosen.items() if name in ACTIONS},
    )


def classes(life: Life) -> tuple[type, type]:
    """The class of a world's machines, and one that is made from it."""
    world = life.world
    base: Any = AsyncStateMachine if world.is_async else StateMachine
    forms = world.places[0]
    all_names = (*GUARDS, *ACTIONS)
    inherited = {name: _method(life, name, "inherited") for name in all_names}
    own = {
        name: _method(life, name, "method" if form in IN_MAPPINGS else form)
        for name, form in forms.items()
        if form != "inherited"
    }
    above = type("Above", (base,), {**inherited, **_hooks(life, world)})
    if world.enums == "class":
        above.STATES, above.TRIGGERS = enums(world)  # type: ignore[attr-defined]  # class variables of machines
    first = type("First", (above,), own)
    overridden = {name: _method(life, name, f"second {name}") for name in (GUARDS[0], ACTIONS[0])}
    return first, type("Second", (first,), overridden)


def enums(world: World) -> tuple[Any, Any]:
    """The Enums of a world's states and triggers."""
    definition = world.definition
    return members(tuple(definition.states_by_name), "States"), members(definition.triggers, "Triggers")


def _hooks(life: Life, world: World) -> dict[str, Any]:
    """What the class overrides of what machines do."""
    hooks: dict[str, Any] = {}
    if "fields" in world.hooks:

        def fields_after(self: Any, event: Any) -> dict[str, Any]:
            life.tell("fields", life.index_of(self), event)
            if life.chance(0.03):
                raise life.error("fields")
            return {"moves": self.moves + 1, "last": str(event.to_state)}

        hooks |= {"persisted": ("moves", "last"), "moves": 0, "last": "", "_fields_after": fields_after}
    if "written" in world.hooks:

        def written(self: Any, event: Any, result: Any) -> None:
            life.tell("written", life.index_of(self), event, result, self.state, self.transition_count)

        hooks["_written"] = written
    if "clock" in world.hooks:
        hooks["patience"] = 6
        hooks["_state_clock"] = lambda self, state: StateClock(self.patience if state.endswith("1") else 0)
    if "budget" in world.hooks:
        hooks["budget_starts"] = frozenset({"go"})
    if "default" in world.hooks:
        hooks["_default_policy"] = lambda self: CircuitBreakerPolicy(
            max_transitions=6, use_degraded_mode=True
        )
    if "fire" in world.hooks:
        hooks["fire"] = _overridden_fire(life, world)
    return hooks


def _overridden_fire(life: Life, world: World) -> Any:
    if not world.is_async:

        def fire(self: Any, trigger: Any, context: Any = None, /, **payload: Any) -> Any:
            life.tell("fired", life.index_of(self), trigger)
            return StateMachine.fire(self, trigger, context, **payload)

        return fire

    async def fire_async(self: Any, trigger: Any, context: Any = None, /, **payload: Any) -> Any:
        life.tell("fired", life.index_of(self), trigger)
        return await AsyncStateMachine.fire(self, trigger, context, **payload)

    return fire_async


def odd_answers(life: Life) -> tuple[Any, ...]:
    """What a guard or an action may answer, though it should not."""

    class Unsure:
        def __bool__(self) -> bool:
            raise life.error("unsure")

    async def later() -> bool:
        return True

    def steps() -> Any:
        yield True

    async def awaited() -> bool:
        await asyncio.sleep(0)
        return False

    if life.world.is_async:
        return ("yes", "", None, None, None, 0, 1, [], [0], Unsure(), steps())
    made = later()
    made.close()  # it is never awaited by a plain machine; closed, it warns of nothing
    assert inspect.isawaitable(made)
    awaited_too = awaited()
    awaited_too.close()
    return ("yes", "", None, None, None, 0, 1, [], [0], Unsure(), steps(), made, awaited_too)
