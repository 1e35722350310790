"""What a stock machine of `transitions` does with a config, ours does: same states, same callbacks."""

import asyncio

import pytest
from hypothesis import given
from transitions import Machine, MachineError
from transitions.extensions.asyncio import AsyncMachine

from orkeon_transitions.runtime import AsyncStateMachine, StateMachine
from tests.properties.runs import Broken, settled, steps
from tests.runtime.samples import limits
from tests.strategies import ACTIONS, GUARDS, machine_definitions


class Stock:
    """A stock machine's model: its guards and actions write down what happens."""

    def __init__(self, machine_class, definition):
        self.step = None
        self.log = []
        for number, name in enumerate(GUARDS):
            setattr(self, name, lambda data, n=number: self.answer(GUARDS[n], self.step.answers[n]))
        for name in ACTIONS:
            setattr(self, name, lambda data, n=name: self.act(n, data.event.name, data.transition))
        self.known = set(machine_class(model=self, **definition.to_transitions()).events)

    def answer(self, name, answer):
        self.log.append(("guard", name))
        return answer

    def act(self, name, trigger, row):
        dest = row.source if row.dest is None else row.dest
        self.log.append(("action", name, trigger, row.source, dest, self.state))
        if self.step.broken == name:
            raise Broken(name)

    async def fire(self):
        if self.step.trigger not in self.known:
            return False
        try:
            return await settled(self.trigger(self.step.trigger))
        except MachineError:
            return False
        except Broken as error:
            return str(error)


class Ours:
    """Our machine with all limits off, its guards and actions the same."""

    def __init__(self, machine_class, definition):
        self.step = None
        self.log = []
        guards = {n: (lambda e, i=number, n=n: self.answer(n, i)) for number, n in enumerate(GUARDS)}
        actions = {name: (lambda e, n=name: self.act(n, e)) for name in ACTIONS}
        self.machine = machine_class(definition, policy=limits(), guards=guards, actions=actions)

    @property
    def state(self):
        return self.machine.state

    def answer(self, name, number):
        self.log.append(("guard", name))
        return self.step.answers[number]

    def act(self, name, event):
        self.log.append(("action", name, event.trigger, event.from_state, event.to_state, self.state))
        if self.step.broken == name:
            raise Broken(name)

    async def fire(self):
        try:
            return bool(await settled(self.machine.try_fire(self.step.trigger)))
        except Broken as error:
            return str(error)


def configs():
    return machine_definitions(timeouts=False)


async def compare(stock, ours, path, keep=lambda entry: True):
    for step in path:
        stock.step = ours.step = step
        assert await stock.fire() == await ours.fire()
        assert stock.state == ours.state
        assert [entry for entry in stock.log if keep(entry)] == [entry for entry in ours.log if keep(entry)]


@given(definition=configs(), path=steps())
def test_a_plain_machine_does_what_a_stock_one_does(definition, path):  # case A05, case A07, case A09
    asyncio.run(compare(Stock(Machine, definition), Ours(StateMachine, definition), path))


@given(definition=configs(), path=steps(broken=False))
def test_an_async_machine_does_what_a_stock_one_does(definition, path):
    """Stock machines gather: they ask every guard though one says no. Everything else is the same."""

    async def main():
        stock, ours = Stock(AsyncMachine, definition), Ours(AsyncStateMachine, definition)
        await compare(stock, ours, path, keep=lambda entry: entry[0] == "action")

    asyncio.run(main())


@given(definition=configs(), path=steps())
def test_both_kinds_of_our_machine_do_the_same(definition, path):
    asyncio.run(compare(Ours(StateMachine, definition), Ours(AsyncStateMachine, definition), path))


@pytest.mark.parametrize("engine", ["auto", "stock"])
def test_every_engine_is_the_reference(engine):
    """There is one engine for now; whichever is faster later must pass what stands above."""
    assert StateMachine("initial: a\nstates: [a]\n", engine=engine).state == "a"
