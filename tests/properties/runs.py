"""Random runs of random machines: what is drawn, and how a machine of either kind is driven through it."""

import asyncio
import inspect
from dataclasses import dataclass

from hypothesis import strategies as st

from orkeon_transitions.definition import load_definition
from orkeon_transitions.runtime import AsyncStateMachine, StateMachine
from tests.strategies import (
    ACTIONS,
    GUARDS,
    identifiers,
    machine_configs,
    machine_definitions,
    policies,
)
from tests.virtual_time import now

KINDS = [StateMachine, AsyncStateMachine]


@dataclass(frozen=True)
class Step:
    """One thing that happens to a machine."""

    trigger: str
    answers: tuple[bool, ...]
    broken: str | None
    payload: int
    seconds: int
    spent: int
    reset: bool


def steps(most=12, broken=True):
    """What happens to a machine, one after the other; `broken` names an action that raises at that step."""
    step = st.builds(
        Step,
        trigger=identifiers("t", 4),
        answers=st.tuples(*(st.sampled_from([True, True, False]) for _ in GUARDS)),
        broken=st.sampled_from([None, None, None, *ACTIONS]) if broken else st.none(),
        payload=st.integers(0, 1),
        seconds=st.sampled_from([0, 0, 0, 1, 5, 30, 300]),
        spent=st.sampled_from([0, 0, 0, 1, 1000]),
        reset=st.sampled_from([True] + 9 * [False]),
    )
    return st.lists(step, max_size=most)


def definitions():
    """Definitions with limits of every kind."""
    return machine_definitions(policy=st.none() | policies())


@st.composite
def definitions_with_ways_out(draw):
    """The same, and some states fire a trigger when their time is up."""
    config = draw(machine_configs(policy=st.none() | policies()))
    for state in config["states"]:
        here = [row for row in config["transitions"] if {"*", state["name"]} & set(row["source"])]
        triggers = sorted({row["trigger"] for row in here})
        if triggers and not state["final"] and draw(st.booleans()):
            state |= {"timeout": draw(st.integers(1, 30)), "on_timeout": draw(st.sampled_from(triggers))}
    return load_definition(config)


class Broken(Exception):
    """What an action raises that was told to."""


class Subject:
    """A machine, and the hand that turns its clock, its guards and its actions."""

    def __init__(self, machine_class, definition, snapshot=None, **options):
        # What a timer does before the first step meets willing guards and actions.
        self.step = Step("", (True,) * len(GUARDS), None, 0, 0, 0, False)
        self.log = []
        self.facts = []
        guards = {name: (lambda e, n=number: self.step.answers[n]) for number, name in enumerate(GUARDS)}
        actions = {name: self._action(name) for name in ACTIONS}
        given = {"guards": guards, "actions": actions, "clock": now, "commit": self._commit, **options}
        if snapshot is None:
            self.machine = machine_class(definition, **given)
        else:
            self.machine = machine_class.restore(definition, snapshot, **given)

    def _action(self, name):
        def action(event):
            self.log.append((name, self.machine.state))
            if self.step.broken == name:
                raise Broken(name)

        return action

    def _commit(self, fact, snapshot):
        self.facts.append((fact, snapshot))

    async def prepare(self, step):
        """Everything of a step but its trigger."""
        self.step = step
        meters = [meter for meter in self.machine.policy.meters if meter.isidentifier()]
        if step.spent and meters:
            self.machine.spend(**{meters[0]: step.spent})
        if step.reset:
            self.machine.reset_circuit_breaker()

    async def fire(self):
        """Fires the step's trigger; gives the result, or what was raised."""
        try:
            return await settled(self.machine.try_fire(self.step.trigger, None, n=self.step.payload))
        except Broken as error:
            return error

    async def go(self, step):
        """One whole step."""
        await asyncio.sleep(step.seconds)
        await self.prepare(step)
        return await self.fire()


async def settled(answer):
    """An answer of either kind of machine."""
    return await answer if inspect.isawaitable(answer) else answer


def shape(outcome):
    """What two machines that go the same way have in common in an outcome."""
    if isinstance(outcome, Exception):
        return repr(outcome)
    return (
        outcome.from_state,
        outcome.to_state,
        outcome.trigger,
        outcome.ordinal,
        outcome.transition_count,
        outcome.accepted,
        outcome.state_changed,
        outcome.degraded,
        outcome.internal,
        outcome.refusal,
        repr(outcome.error),
    )
