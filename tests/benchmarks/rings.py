"""One trigger: a ring of ten states, each row with a guard, a `before` and an `after`, on every side."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from transitions import Machine
from transitions.extensions import LockedMachine
from transitions.extensions.asyncio import AsyncMachine

from orkeon_transitions.breaker import CircuitBreakerPolicy
from orkeon_transitions.definition import MachineDefinition, load_definition
from orkeon_transitions.runtime import AsyncStateMachine, CircuitBreakerMixin, StateMachine
from tests.benchmarks.pairs import AbsentError, Effort, Figures, Row, compare

STATES = [f"s{number}" for number in range(10)]
PARTS: dict[str, Any] = {"conditions": "ready", "before": "prepare_it", "after": "note_it"}
ROWS: list[dict[str, Any]] = [
    {"trigger": "advance", "source": source, "dest": dest, **PARTS}
    for source, dest in zip(STATES, [*STATES[1:], STATES[0]], strict=True)
]
# Twelve triggers in all: the others are there, and are not fired.
ROWS += [
    {"trigger": f"jump_{n}", "source": STATES[n % 10], "dest": STATES[(n + 5) % 10], **PARTS}
    for n in range(11)
]
CONFIG: dict[str, Any] = {"initial": "s0", "states": STATES, "transitions": ROWS}
# All four limits are looked at, and none is ever reached.
HIGH = CircuitBreakerPolicy(
    max_transitions=10**9, state_timeout=10**6, max_state_visits=10**9, max_total_duration=10**6
)


def ring() -> MachineDefinition:
    """The definition that our machines share."""
    return load_definition({"name": "ring", **CONFIG})


class Ring(StateMachine):
    """Ours."""

    def ready(self, event: Any) -> bool:
        return True

    def prepare_it(self, event: Any) -> None:
        pass

    def note_it(self, event: Any) -> None:
        pass


class AsyncRing(AsyncStateMachine):
    """Ours, async."""

    async def ready(self, event: Any) -> bool:
        return True

    async def prepare_it(self, event: Any) -> None:
        pass

    async def note_it(self, event: Any) -> None:
        pass


class Model:
    """A model of a stock machine."""

    advance: Callable[[], bool]

    def ready(self) -> bool:
        return True

    def prepare_it(self) -> None:
        pass

    def note_it(self) -> None:
        pass


class AsyncModel:
    """A model of a stock async machine."""

    advance: Callable[[], Awaitable[bool]]

    async def ready(self) -> bool:
        return True

    async def prepare_it(self) -> None:
        pass

    async def note_it(self) -> None:
        pass


class Guarded(CircuitBreakerMixin, Machine):
    """A stock machine with our mixin."""


def stock(kind: Any, model: Any, **options: Any) -> Any:
    """A stock machine's model."""
    kind(model, auto_transitions=False, **CONFIG, **options)
    return model


def times(call: Callable[..., object], *args: Any) -> Callable[[int], None]:
    """Calls it so many times."""

    def repeated(count: int) -> None:
        for _ in range(count):
            call(*args)

    return repeated


def _fire_beside(make: Callable[[], Callable[[int], None]]) -> Callable[[Effort], Figures]:
    def run(effort: Effort) -> Figures:
        machine = Ring(ring(), policy=HIGH)
        figures = compare(times(machine.fire, "advance"), make(), effort)
        assert machine.transition_count > 0
        return figures

    return run


def _by_name(effort: Effort) -> Figures:
    machine, model = Ring(ring(), policy=HIGH), stock(Machine, Model())

    def ours(count: int) -> None:
        for _ in range(count):
            machine.advance()

    def theirs(count: int) -> None:
        for _ in range(count):
            model.advance()

    return compare(ours, theirs, effort)


def _mixin(effort: Effort) -> Figures:
    guarded = stock(Guarded, Model(), circuit_breaker=HIGH)
    return compare(times(guarded.advance), times(stock(Machine, Model()).advance), effort)


def _python_statemachine() -> Callable[[int], None]:
    try:
        from statemachine import State
        from statemachine import StateMachine as Peer
    except ImportError:
        raise AbsentError("python-statemachine") from None
    states = {name: State(initial=name == "s0") for name in STATES}
    triggers: dict[str, Any] = {}
    for row in ROWS:
        made = states[row["source"]].to(
            states[row["dest"]], cond="ready", before="prepare_it", after="note_it"
        )
        triggers[row["trigger"]] = triggers[row["trigger"]] | made if row["trigger"] in triggers else made
    methods = {name: getattr(Model, name) for name in ("ready", "prepare_it", "note_it")}
    machine = type("Peer", (Peer,), {**states, **triggers, **methods})()
    return times(machine.advance)


def _async(effort: Effort) -> Figures:
    with asyncio.Runner() as runner:

        async def started() -> tuple[AsyncRing, Any]:
            return AsyncRing(ring(), policy=HIGH), stock(AsyncMachine, AsyncModel())

        machine, model = runner.run(started())

        async def ours(count: int) -> None:
            for _ in range(count):
                await machine.fire("advance")

        async def theirs(count: int) -> None:
            for _ in range(count):
                await model.advance()

        figures = compare(lambda n: runner.run(ours(n)), lambda n: runner.run(theirs(n)), effort)
        assert machine.transition_count > 0
        return figures


FIRE = "protected `fire`, all four limits, thread-safe"
TABLE = [
    Row(
        "fire",
        FIRE,
        "a trigger of a bare `transitions.Machine`, no limits, no lock",
        _fire_beside(lambda: times(stock(Machine, Model()).advance)),
        0.15,
        0.08,
    ),
    Row("by-name", "the same, called by its name: `fsm.advance()`", "`model.advance()`, bare", _by_name),
    Row(
        "fire-locked",
        FIRE,
        "a trigger of a `LockedMachine`",
        _fire_beside(lambda: times(stock(LockedMachine, Model()).advance)),
    ),
    Row(
        "fire-python-statemachine",
        FIRE,
        "a trigger of python-statemachine",
        _fire_beside(_python_statemachine),
    ),
    Row(
        "async",
        "protected trigger of `AsyncStateMachine`, async guard and callbacks",
        "a trigger of a bare `AsyncMachine`",
        _async,
        0.08,
        0.03,
    ),
    Row("mixin", "a trigger of a `Machine` with `CircuitBreakerMixin`", "the same without it", _mixin),
]
