"""What the tests of this room are made of: a clock, policies with one limit, small definitions."""

import inspect
import sys
from contextlib import contextmanager

from orkeon_transitions.breaker import CircuitBreakerPolicy
from orkeon_transitions.definition import load_definition
from orkeon_transitions.facts import BreakerReset, CircuitBroken, TransitionFailed, TransitionResult

OFF = {"max_transitions": 0, "state_timeout": 0, "max_state_visits": 0, "max_total_duration": 0}

# Three states in a ring, an internal and a reflexive row, an end.
RING = """
name: ring
initial: a
states: [a, b, c, {name: end, final: true}]
transitions:
  - [next, a, b]
  - [next, b, c]
  - [next, c, a]
  - {trigger: tick, source: [a, b, c], dest: null}
  - {trigger: again, source: [a, b, c], dest: "="}
  - [finish, [a, b, c], end]
"""

# One row with every kind of callback, and what belongs to both of its states.
STAGES = """
name: stages
initial: a
states:
  - {name: a, on_exit: leave_a, on_enter: enter_a}
  - {name: b, on_enter: enter_b, on_exit: leave_b}
  - {name: end, final: true}
transitions:
  - {trigger: go, source: a, dest: b, conditions: may, unless: forbidden, before: first, after: last}
  - {trigger: stay, source: a, dest: null, conditions: may, unless: forbidden, before: first, after: last}
  - {trigger: again, source: a, dest: "=", conditions: may, unless: forbidden, before: first, after: last}
  - {trigger: on, source: b, dest: end}
  - {trigger: back, source: b, dest: a}
"""
STAGE_ACTIONS = ("leave_a", "enter_a", "enter_b", "leave_b", "first", "last")

# A working state, a degraded one, and a way out for whoever cancels.
GUARDED = """
name: guarded
initial: work
degraded: limp
states: [work, other, {name: limp, final: true}, {name: done, final: true}, {name: cancelled, final: true}]
transitions:
  - [go, work, other]
  - [go, other, work]
  - {trigger: tick, source: [work, other], dest: null}
  - {trigger: call, source: [work, other], dest: null, repeatable: false}
  - [finish, [work, other], done]
  - {trigger: cancel, source: "*", dest: cancelled, always: true}
"""


class Clock:
    """Monotonic seconds that a test turns by hand."""

    def __init__(self, now=1000.0):
        self.now = now

    def __call__(self):
        return self.now

    def advance(self, seconds):
        self.now += seconds


def limits(**given):
    """A policy with these limits and no other."""
    return CircuitBreakerPolicy(**{**OFF, **given})


def quiet(**options):
    """Options of a machine that never trips by itself."""
    return {"policy": limits(), **options}


def stage_callbacks(log, may=True, forbidden=False):
    """Guards and actions for `STAGES` that write down their names."""

    def answering(name, answer):
        def guard(event):
            log.append(name)
            return answer

        return guard

    def noting(name):
        return lambda event: log.append(name)

    guards = {"may": answering("may", may), "forbidden": answering("forbidden", forbidden)}
    return {"guards": guards, "actions": {name: noting(name) for name in STAGE_ACTIONS}}


def follow(facts):
    """Checks each committed fact, and its snapshot, against those before; gives where they lead from `a`."""
    state, broken = "a", False
    for fact, snapshot in facts:
        if isinstance(fact, TransitionResult):
            assert fact.from_state == state
            state = fact.to_state
        elif isinstance(fact, CircuitBroken):
            assert not broken
            broken = True
        elif isinstance(fact, BreakerReset):
            broken = False
        else:
            assert isinstance(fact, TransitionFailed)
        assert (snapshot.state, snapshot.trip is not None) == (state, broken)
    return state, broken


def data_of(snapshot):
    """A snapshot as it comes back from a file."""
    return snapshot.model_dump_json()


@contextmanager
def stack_of(frames):
    """A recursion limit; under a tracer (coverage, a debugger) Python 3.11 counts awaited frames twice."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(frames if sys.gettrace() is None else 2 * frames)
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


class Kind:
    """One kind of machine, driven by the same test: what is awaited on an async machine is awaited here."""

    def __init__(self, machine_class, runner=None):
        self.machine_class = machine_class
        self.runner = runner

    @property
    def is_async(self):
        return self.runner is not None

    def make(self, definition, **options):
        """Makes a machine; a text is a definition."""
        return self.machine_class(load_definition(definition), **options)

    def wait(self, answer):
        """Gives the answer, awaited where it has to be."""
        if not inspect.isawaitable(answer):
            return answer

        async def waiting():
            return await answer

        return self.runner.run(waiting())

    def fire(self, machine, /, *arguments, **payload):
        return self.wait(machine.fire(*arguments, **payload))

    def try_fire(self, machine, /, *arguments, **payload):
        return self.wait(machine.try_fire(*arguments, **payload))

    def call(self, function, /, *arguments, **options):
        """Calls a plain function inside of the loop, and lets what it started go on."""
        if self.runner is None:
            return function(*arguments, **options)

        async def calling():
            import asyncio

            answer = function(*arguments, **options)
            for _ in range(10):
                await asyncio.sleep(0)
            return answer

        return self.runner.run(calling())
