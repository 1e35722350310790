"""A world that is lived through on one engine, and everything that could be noticed meanwhile."""

from __future__ import annotations

import asyncio
import logging
import sys
from random import Random
from typing import Any

from orkeon_transitions.breaker import CircuitBreakerPolicy
from tests.properties.differential.callbacks import classes, enums, given, mappings, odd_answers, run_now
from tests.properties.differential.happening import do, settled
from tests.properties.differential.telling import look, plain
from tests.properties.differential.worlds import ACTIONS, GUARDS, TRIGGERS, Op, World
from tests.virtual_time import now, run

# How often, beyond answering, callbacks do something within one step of the script.
MOST_ACTS = 25
TEMPERS = {"calm": 0.06, "lively": 0.2, "wild": 0.5, "deep": 0.1}
ACTS = (
    *(
        "raise",
        "raise",
        "raise",
        "raise",
        "halt",
        "fire",
        "fire",
        "try_fire",
        "try_fire",
        "fire_other",
        "fire_later",
        "wait",
    ),
    *("halt", "spend", "reset", "ask", "permitted", "unlisten", "rewire", "look", "new_policy", "cancel_me"),
)


class Boom(Exception):
    """What a callback raises."""


class Halt(BaseException):
    """What a callback raises that is no `Exception`."""


class Listening(logging.Handler):
    """Writes down what is logged."""

    def __init__(self, life: Life) -> None:
        super().__init__()
        self.life = life

    def emit(self, record: logging.LogRecord) -> None:
        """Takes a record: its text, and the error that goes with it."""
        error = record.exc_info[1] if record.exc_info else None
        self.life.tell("logged", record.name, record.levelname, record.getMessage(), error)


class Life:
    """One world on one engine."""

    def __init__(self, world: World, engine: str) -> None:
        self.world = world
        self.engine = engine
        self.log: list[Any] = []
        self.machines: list[Any] = []
        # All that were ever made: when one is forgotten, its timer goes, and that moment is nobody's choice.
        self.made: dict[int, tuple[int, Any]] = {}
        self.time = 1000.0
        self.rng = Random(world.seed)
        self.acts = 0
        self.events: dict[int, tuple[int, Any]] = {}
        self.raised = 0
        self.unsubscribe: list[Any] = []
        self.given: list[tuple[dict[str, Any], dict[str, Any]]] = []
        # The second machine's goes slower: see `pause`.
        self.clocks = (self.clock, lambda: self.clock() * 0.999)
        self.classes = classes(self)
        self.enums = None if world.enums == "none" else enums(world)

    # ------------------------------------------------------------------------------------------ noticing
    def tell(self, what: str, *parts: Any) -> None:
        """Writes down what could be noticed, and when."""
        self.log.append((what, self.clock(), *(plain(part) for part in parts)))

    def clock(self) -> float:
        """The machines' clock."""
        return now() if self.world.is_async else self.time

    def index_of(self, machine: Any) -> int:
        """Which machine it is, or which one's forerunner."""
        return self.made[id(machine)][0]

    def number_of(self, event: Any) -> int:
        """Which event it is: that guards and actions see the same one is something to rely on."""
        number, _ = self.events.setdefault(id(event), (len(self.events), event))
        return number

    # ------------------------------------------------------------------------------------------ chance
    def chance(self, likely: float) -> bool:
        """Whether it happens."""
        return self.rng.random() < likely

    def error(self, where: str) -> Boom:
        """An error like no other."""
        self.raised += 1
        return Boom(f"{where} {self.raised}")

    def likely(self, machine: Any) -> str:
        """A trigger that has a row here, if there is one."""
        definition = self.world.definition
        here = definition.triggers_from(getattr(machine.state, "value", machine.state))
        return self.rng.choice(here or definition.triggers or TRIGGERS)

    def is_coroutine_function(self, name: str) -> bool:
        """Whether the callback of that name is one."""
        return (self.world.seed // 2 + (*GUARDS, *ACTIONS).index(name)) % 3 > 0

    # --------------------------------------------------------------------------------------- callbacks
    async def behave(self, number: int, name: str, form: str, event: Any, *, may_wait: bool) -> Any:
        """What every callback does: notice, do something perhaps, answer."""
        machine = self.machines[number]
        self.tell("called", number, name, form, self.number_of(event), event, machine.state)
        self.tell("meanwhile", machine.transition_count, machine.is_terminal, machine.is_circuit_broken)
        if self.world.temper == "deep" and name == "note" and len(self.log) < 1500:
            await self.act("fire", number, name, may_wait=may_wait)
        elif self.acts < MOST_ACTS and self.chance(TEMPERS[self.world.temper]):
            self.acts += 1
            await self.act(self.rng.choice(ACTS), number, name, may_wait=may_wait)
        if self.chance(TEMPERS[self.world.temper] / 2):
            return self.rng.choice(odd_answers(self))
        if self.world.temper == "deep":
            return True
        says_yes = self.chance(0.3 if name == "allowed" else 0.85)
        # Some say no by saying nothing.
        return says_yes or (None if name == "open_now" else False)

    async def act(self, what: str, number: int, name: str, *, may_wait: bool) -> None:
        """One thing that a callback does beyond answering."""
        self.tell("act", what, number, name)
        machine = self.machines[number]
        trigger = self.likely(machine)
        fires = {"fire": machine, "try_fire": machine, "fire_other": self.machines[1 - number]}
        if what in fires and (may_wait or not self.world.is_async):
            catches = self.chance(0.5)
            method = "fire" if what == "fire" else "try_fire"
            try:
                result = await settled(getattr(fires[what], method)(trigger, 3, nested=name))
                self.tell("nested", result)
            except Exception as error:
                self.tell("nested raised", error)
                if not catches:
                    raise
        elif what == "raise":
            raise self.error(name)
        elif what == "halt" and self.chance(0.5):
            raise Halt(name)
        elif what == "cancel_me" and self.world.is_async and self.chance(0.5):
            raise asyncio.CancelledError(name)
        elif what == "wait":
            await self.wait(self.rng.choice((1, 1, 3, 8)), may_wait=may_wait)
        elif what in ("ask", "permitted") and (may_wait or not self.world.is_async):
            asked = machine.permitted_triggers(3) if what == "permitted" else machine.why_not(trigger)
            self.tell("asked", await settled(asked))
        else:
            self.small_act(what, machine, number, name, trigger)

    def small_act(self, what: str, machine: Any, number: int, name: str, trigger: str) -> None:
        """What is over at once, on either kind of machine."""
        if what == "fire_later":
            machine.fire_later(trigger, later=name)
        elif what == "spend":
            machine.spend(tokens=4)
        elif what == "reset":
            machine.reset_circuit_breaker()
        elif what == "unlisten" and self.unsubscribe:
            self.rng.choice(self.unsubscribe)()
        elif what == "rewire":
            self.rewire(machine, number, self.rng.choice((*GUARDS, *ACTIONS)))
        elif what == "new_policy":
            machine.policy = CircuitBreakerPolicy(max_transitions=self.rng.choice((1, 4)))
        elif what == "look":
            self.log.append(("looked", look(machine)))

    def rewire(self, machine: Any, number: int, name: str) -> None:
        """Gives a callback anew, after the machine was made."""
        how = self.rng.choice(("attribute", "attribute", "no attribute", "mapping", "no mapping", "class"))
        fresh = given(self, name, f"{how} {self.rng.randint(0, 9)}", number)
        mapping = self.given[number][0 if name in GUARDS else 1]
        self.tell("rewired", how, number, name)
        if how == "attribute":
            setattr(machine, name, fresh)
        elif how == "no attribute":
            machine.__dict__.pop(name, None) if hasattr(machine, "__dict__") else None
        elif how == "mapping":
            mapping[name] = fresh
        elif how == "no mapping":
            mapping.pop(name, None)
        else:
            setattr(type(machine), name, staticmethod(fresh))

    async def wait(self, seconds: float, *, may_wait: bool = True) -> None:
        """Time goes by."""
        if not self.world.is_async:
            self.time += seconds
        elif may_wait:
            await asyncio.sleep(seconds)

    # ----------------------------------------------------------------------------------------- listeners
    def listener(self, kind: str, number: int) -> Any:
        """A listener that may do this and that."""
        place = len(self.unsubscribe)

        def listen(fact: Any) -> None:
            machine = self.machines[number]
            self.tell("heard", kind, number, fact, machine.state)
            if self.acts >= MOST_ACTS or not self.chance(TEMPERS[self.world.temper]):
                return
            self.acts += 1
            what = self.rng.choice(("raise", "leave", "fire", "fire_later"))
            self.tell("heard and", what)
            if what == "raise":
                raise self.error(kind)
            if what == "leave":
                self.unsubscribe[place]()
            elif what == "fire" and not self.world.is_async:
                machine.try_fire(self.rng.choice(TRIGGERS))
            elif what == "fire_later":
                machine.fire_later(self.rng.choice(TRIGGERS))

        return listen

    def commit_hook(self, number: int, kind: str) -> Any:
        """The commit hook of a machine, or None."""
        if kind == "none":
            return None

        def commit(fact: Any, snapshot: Any) -> None:
            state = self.machines[number].state if number < len(self.machines) else None
            self.tell("committed", number, fact, snapshot, state)
            if kind == "raising" and self.chance(0.2):
                raise self.error("commit")

        async def commit_later(fact: Any, snapshot: Any) -> None:
            commit(fact, snapshot)
            await asyncio.sleep(self.rng.choice((0, 1)))
            self.tell("has committed", number, self.machines[number].state)

        return commit_later if kind == "async" and self.world.is_async else commit

    # ------------------------------------------------------------------------------------------ living
    def make(self, number: int, **options: Any) -> Any:
        """Makes a machine, or goes on from a snapshot."""
        guards, actions = mappings(self, number)
        self.given[number : number + 1] = [(guards, actions)]
        kind = self.classes[self.world.kinds[number]]
        options |= {"guards": guards, "actions": actions, "clock": self.clocks[number], "engine": self.engine}
        options["commit"] = self.commit_hook(number, self.world.commits[number])
        if self.world.enums == "given" and self.enums:
            options["states"], options["triggers"] = self.enums
        if "snapshot" in options:
            made = kind.restore(self.world.definition, options.pop("snapshot"), **options)  # type: ignore[attr-defined]  # a machine's class
        else:
            policy = self.world.policies[number]
            made = kind(self.world.definition, policy=policy, machine_id=f"m{number}", **options)
        self.made[id(made)] = (number, made)
        return made

    async def live(self) -> None:
        """Everything that happens."""
        if self.world.is_async:
            asyncio.get_running_loop().set_exception_handler(
                lambda loop, told: self.tell("loop", told.get("message"), told.get("exception"))
            )
        for number in range(2):
            await self.pause(number)
            self.machines.append(self.make(number))
            for kind in ("transition", "refused", "circuit_broken"):
                if kind != "refused" or self.world.seed % 3:
                    self.listen(number, kind)
        for op in self.world.script:
            self.rng, self.acts = Random(self.world.seed * 1000 + op.number), 0
            await self.pause(op.machine)
            self.revive(op.machine)
            await self.perform(op)
            self.log.append(("then", op.number, *(look(machine) for machine in self.machines)))
        if self.world.is_async:
            await asyncio.sleep(500)
            self.log.append(("in the end", *(look(machine) for machine in self.machines)))

    async def pause(self, number: int) -> None:
        """Keeps timers of different machines apart: which one is first in one moment is by chance."""
        if self.world.is_async and number:
            await asyncio.sleep(0.137)

    def revive(self, number: int) -> None:
        """Lets a machine that has come to an end go on, more often than not."""
        machine = self.machines[number]
        if machine.is_circuit_broken and self.chance(0.5):
            try:
                machine.reset_circuit_breaker()
            except (Boom, Halt) as error:  # of the commit hook, or of what it was held up by
                self.tell("not revived", error)
        if machine.is_terminal and self.chance(0.5):
            self.machines[number] = self.make(number)

    def listen(self, number: int, kind: str) -> None:
        """Subscribes a listener."""
        subscribe = getattr(self.machines[number], f"on_{kind}")
        self.unsubscribe.append(subscribe(self.listener(kind, number)))

    async def perform(self, op: Op) -> None:
        """One thing that happens, and what comes of it."""
        self.tell("op", op.number, op.what, op.machine, op.trigger)
        try:
            answer = await do(self, op)
        except (Exception, Halt) as error:
            self.tell("raised", error)
        except asyncio.CancelledError as error:
            if (task := asyncio.current_task()) is not None and task.cancelling():
                raise
            self.tell("raised", error)
        else:
            self.tell("answered", answer)


def lived(world: World, engine: str) -> list[Any]:
    """Everything that could be noticed in a world on an engine."""
    life = Life(world, engine)
    handler, loggers = (
        Listening(life),
        [logging.getLogger(name) for name in ("orkeon_transitions", "asyncio")],
    )
    before = [(logger.propagate, logger.level) for logger in loggers]
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, 8_000))
    for logger in loggers:
        logger.addHandler(handler)
        logger.propagate = False
    try:
        if world.is_async:
            run(life.live())
        else:
            run_now(life.live())
    except Exception as error:  # what no step was to meet: a machine that cannot be looked at any more
        life.log.append(("the world ended", plain(error)))
    finally:
        sys.setrecursionlimit(limit)
        for logger, (propagate, level) in zip(loggers, before, strict=True):
            logger.removeHandler(handler)
            logger.propagate, logger.level = propagate, level
    return life.log
