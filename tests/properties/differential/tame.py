"""Worlds that a stock machine of `transitions` knows as well: no limits, guards that answer yes or no.

The same random callbacks are given to a bare `Machine` or `AsyncMachine` and to ours on either engine. They
raise, and they fire: at once where a state has been entered (that both know), or later (`queued` there,
`fire_later` here). What ours does of its own (limits, refusals, results) is left out.
"""

from __future__ import annotations

import asyncio
from random import Random
from typing import Any

from transitions import EventData, Machine, MachineError
from transitions.extensions.asyncio import AsyncMachine

from orkeon_transitions.breaker import CircuitBreakerPolicy
from orkeon_transitions.definition import MachineDefinition, load_definition
from orkeon_transitions.runtime import AsyncStateMachine, StateMachine
from tests.properties.differential.callbacks import run_now
from tests.properties.differential.happening import settled
from tests.properties.differential.worlds import OFF

GUARDS = ("ready", "allowed")
# By where they stand: only those that follow the writing of the state may fire at once.
EARLY, LATE = ("before_a", "before_b"), ("after_a", "after_b")
TRIGGERS = ("go", "turn", "call")
SUBJECTS = ("bare", "stock", "auto")


class Boom(Exception):
    """What a callback raises."""


def drawn(seed: int) -> tuple[MachineDefinition, list[tuple[str, dict[str, int]]]]:
    """A definition, and the triggers that are fired with their payloads."""
    rng = Random(seed)
    names = ["a", "b", "c", "d"][: rng.randint(1, 4)]
    # A bare async machine gathers the callbacks of one list, ours awaits them one after another.
    most = 1 if seed % 2 else 2

    def some(among: tuple[str, ...], chance: float = 0.5) -> list[str]:
        return rng.sample(among, rng.randint(1, most)) if rng.random() < chance else []

    rows = [
        {
            "trigger": rng.choice(TRIGGERS),
            "source": "*" if rng.random() < 0.25 else rng.sample(names, rng.randint(1, len(names))),
            "dest": rng.choice([*names, "=", None]),
            "conditions": some(GUARDS, 0.4),
            "unless": some(GUARDS, 0.2),
            "before": some(EARLY),
            "after": some(LATE),
        }
        for _ in range(rng.randint(1, 9))
    ]
    states = [
        {
            "name": name,
            "on_exit": some(EARLY),
            "on_enter": some(LATE),
            "final": name != "a" and rng.random() < 0.1,
        }
        for name in names
    ]
    script = [
        (rng.choice(TRIGGERS), {"n": rng.randint(0, 9)} if rng.random() < 0.5 else {})
        for _ in range(rng.randint(3, 15))
    ]
    return load_definition({"name": "tame", "initial": "a", "states": states, "transitions": rows}), script


class Subject:
    """One machine, bare or ours, and what was noticed of it."""

    def __init__(self, seed: int, subject: str, *, is_async: bool, is_queued: bool) -> None:
        self.definition, self.script = drawn(seed)
        self.seed, self.is_bare, self.is_async, self.is_queued = seed, subject == "bare", is_async, is_queued
        self.log: list[Any] = []
        self.rng = Random(seed)
        self.acts = 0
        self.machine: Any = self._bare() if self.is_bare else self._ours(subject)

    def _bare(self) -> Any:
        model = type("Model", (), {})()
        for name in (*GUARDS, *EARLY, *LATE):
            setattr(model, name, self.callback(name))
        kind = AsyncMachine if self.is_async else Machine
        # Queued there, a refusal would empty the queue; ours goes on with the next one.
        options = {"queued": self.is_queued, "ignore_invalid_triggers": self.is_queued}
        made = kind(model=model, **(self.definition.to_transitions() | options))
        self.known = set(made.events)
        return model

    def _ours(self, engine: str) -> Any:
        kind: Any = AsyncStateMachine if self.is_async else StateMachine
        return kind(
            self.definition,
            policy=CircuitBreakerPolicy(**OFF),
            guards={name: self.callback(name) for name in GUARDS},
            actions={name: self.callback(name) for name in (*EARLY, *LATE)},
            engine=engine,
        )

    def callback(self, name: str) -> Any:
        """The callback of that name."""
        if not self.is_async:
            return lambda event: run_now(self.behave(name, event))

        async def waits(event: Any) -> Any:
            return await self.behave(name, event)

        return waits

    async def behave(self, name: str, event: Any) -> Any:
        """Notices what there is to notice, and answers, raises or fires."""
        if name in GUARDS:
            if not self.is_async:  # there all are asked, here until one says no
                self.log.append((name, self.fields(event, with_dest=False)))
            # The same answer however often it is asked.
            return Random(f"{self.seed} {len(self.script)} {name} {self.machine.state}").random() < 0.8
        self.log.append((name, self.fields(event), self.machine.state))
        if self.acts > 6:
            return None
        chance = self.rng.random()
        if chance < 0.1 and not self.is_queued:
            self.acts += 1
            raise Boom(f"{name} {self.acts}")
        if chance < 0.35 and (name in LATE or self.is_queued):
            self.acts += 1
            await self.fire(self.rng.choice(TRIGGERS), {"nested": self.acts}, later=self.is_queued)
        return None

    def fields(self, event: Any, *, with_dest: bool = True) -> Any:
        """What an event says."""
        if isinstance(event, EventData):
            row = event.transition
            dest = row.source if row.dest is None else row.dest
            told = (event.event.name, row.source, dict(event.kwargs))
            return (*told, dest) if with_dest else told
        told = (event.trigger, event.from_state, dict(event.payload))
        return (*told, event.to_state) if with_dest else told

    async def fire(self, trigger: str, payload: dict[str, int], *, later: bool = False) -> None:
        """Fires, and notices what comes of it."""
        try:
            accepted = await self.fired(trigger, payload, later=later)
        except Boom as error:
            self.log.append(("raised", str(error)))
            if self.rng.random() < 0.5:
                raise
        else:
            self.log.append(("fired", trigger, None if self.is_queued else accepted))

    async def fired(self, trigger: str, payload: dict[str, int], *, later: bool) -> bool:
        """Fires on either kind of machine; a refusal is a no."""
        if not self.is_bare:
            if later:
                self.machine.fire_later(trigger, **payload)
                return True
            return bool(await settled(self.machine.try_fire(trigger, **payload)))
        if trigger not in self.known:
            return False
        try:
            return bool(await settled(self.machine.trigger(trigger, **payload)))
        except MachineError:
            return False

    async def live(self) -> list[Any]:
        """Fires one trigger after the other."""
        for number, (trigger, payload) in enumerate(self.script):
            self.rng, self.acts = Random(self.seed * 100 + number), 0
            try:
                await self.fire(trigger, payload)
            except Boom:
                self.log.append("left it")
            self.log.append(("then", self.machine.state))
        return self.log


def lived_tamely(seed: int, subject: str) -> list[Any]:
    """Everything that could be noticed: plain and async, with and without a queue, by the seed."""
    is_async, is_queued = seed % 2 == 1, seed % 4 > 1
    if not is_async:
        return run_now(Subject(seed, subject, is_async=False, is_queued=is_queued).live())

    async def main() -> list[Any]:
        return await Subject(seed, subject, is_async=True, is_queued=is_queued).live()

    return asyncio.run(main())
