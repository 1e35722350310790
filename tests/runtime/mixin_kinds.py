"""Every machine class of `transitions` with the mixin before it, and a way to fire that suits all."""

import asyncio
import inspect
import itertools

from transitions.extensions import MachineFactory
from transitions.extensions.asyncio import AsyncMachine
from transitions.extensions.diagrams import GraphMachine

from orkeon_transitions.breaker import CircuitBreakerPolicy
from orkeon_transitions.runtime.mixin import CircuitBreakerMixin

NO_LIMITS = {"max_transitions": 0, "state_timeout": 0, "max_state_visits": 0, "max_total_duration": 0}


def _all_kinds():
    for graph, nested, locked, awaited in itertools.product([False, True], repeat=4):
        try:
            yield MachineFactory.get_predefined(graph=graph, nested=nested, locked=locked, asyncio=awaited)
        except ValueError:  # locked and async does not exist
            continue


KINDS = list(_all_kinds())
SYNC = [kind for kind in KINDS if not issubclass(kind, AsyncMachine)]
ASYNC = [kind for kind in KINDS if issubclass(kind, AsyncMachine)]
NESTED = [kind for kind in KINDS if "Hierarchical" in kind.__name__]
LOCKED = [kind for kind in KINDS if "Locked" in kind.__name__]

TRANSITIONS = [
    ["next", "a", "b"],
    ["next", "b", "a"],
    ["tick", "*", None],
    ["again", "*", "="],
    ["end", "*", "done"],
]


class Clock:
    """A clock that stands until it is told otherwise."""

    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


class Model:
    """What users bring: a plain object."""


def policy(**limits):
    return CircuitBreakerPolicy(**{**NO_LIMITS, **limits})


def guard(kind):
    """The kind with the mixin before it."""
    return type("Guarded", (CircuitBreakerMixin, kind), {})


def machine(kind, model=None, *, limits=None, **options):
    """A guarded machine of the kind, and its model."""
    model = Model() if model is None else model
    if issubclass(kind, GraphMachine):
        options.setdefault("graph_engine", "mermaid")
    options.setdefault("states", ["a", "b", "degraded", "done"])
    options.setdefault("transitions", TRANSITIONS)
    options.setdefault("auto_transitions", False)
    options.setdefault("initial", "a")
    made = guard(kind)(model, circuit_breaker=policy(**(limits or {})), **options)
    return made, model


def fire(trigger, *args, **kwargs):
    """Calls a trigger, and awaits it where that is needed."""
    outcome = trigger(*args, **kwargs)
    return asyncio.run(_awaited(outcome)) if inspect.isawaitable(outcome) else outcome


async def _awaited(outcome):
    return await outcome
