"""What a stock machine of `transitions` does with a config, ours does: same states, same callbacks."""

import asyncio

import pytest
from hypothesis import given
from transitions import Machine, MachineError
from transitions.extensions.asyncio import AsyncMachine

from orkeon_transitions.runtime import AsyncStateMachine, StateMachine
from tests.properties.differential.tame import SUBJECTS, drawn, lived_tamely
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

    def __init__(self, machine_class, definition, engine):
        self.step = None
        self.log = []
        guards = {n: (lambda e, i=number, n=n: self.answer(n, i)) for number, n in enumerate(GUARDS)}
        actions = {name: (lambda e, n=name: self.act(n, e)) for name in ACTIONS}
        given = {"guards": guards, "actions": actions, "engine": engine}
        self.machine = machine_class(definition, policy=limits(), **given)

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


each_engine = pytest.mark.parametrize("engine", ["auto", "stock"])


@each_engine
@given(definition=configs(), path=steps())
def test_a_plain_machine_does_what_a_stock_one_does(engine, definition, path):  # case A05, case A07, case A09
    asyncio.run(compare(Stock(Machine, definition), Ours(StateMachine, definition, engine), path))


@each_engine
@given(definition=configs(), path=steps(broken=False))
def test_an_async_machine_does_what_a_stock_one_does(engine, definition, path):
    """Stock machines gather: they ask every guard though one says no. Everything else is the same."""

    async def main():
        stock, ours = Stock(AsyncMachine, definition), Ours(AsyncStateMachine, definition, engine)
        await compare(stock, ours, path, keep=lambda entry: entry[0] == "action")

    asyncio.run(main())


@given(definition=configs(), path=steps())
def test_both_kinds_of_our_machine_do_the_same(definition, path):
    asyncio.run(
        compare(Ours(StateMachine, definition, "auto"), Ours(AsyncStateMachine, definition, "stock"), path)
    )


@pytest.mark.parametrize("subject", [each for each in SUBJECTS if each != "bare"])
def test_callbacks_that_fire_and_raise_do_what_they_do_on_a_stock_machine(subject, begin, pytestconfig):
    for seed in range(begin, begin + pytestconfig.getoption("worlds") // 4):
        bare, ours = lived_tamely(seed, "bare"), lived_tamely(seed, subject)
        assert bare == ours, f"world {seed}:\n{drawn(seed)[0].to_yaml()}"
