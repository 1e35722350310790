"""The record of a machine: what holds is what was last said, whoever said it and whenever."""

import asyncio

import pytest

from orkeon_transitions.errors import CircuitBrokenError
from orkeon_transitions.runtime import AsyncStateMachine
from tests.runtime.samples import RING, limits

ACTING = RING.replace("[next, c, a]", "{trigger: next, source: c, dest: a, before: act}")


def test_a_hook_attached_while_an_action_is_awaited_hears_of_all_that_follows():
    async def main():
        heard = []

        async def commit(fact, snapshot):
            heard.append((fact.ordinal, snapshot.state))

        async def act(event):
            if not heard:
                machine.attach_commit(commit)

        machine = AsyncStateMachine(ACTING, policy=limits(), actions={"act": act})
        for _ in range(5):
            await machine.fire("next")
        assert heard == [(3, "a"), (4, "b"), (5, "c")]

    asyncio.run(main())


def test_what_is_spent_while_an_action_is_awaited_counts():
    async def main():
        async def act(event):
            machine.spend(tokens=11)

        machine = AsyncStateMachine(ACTING, policy=limits(meters={"tokens": 10}), actions={"act": act})
        for _ in range(3):
            await machine.fire("next")
        with pytest.raises(CircuitBrokenError, match="Budget exhausted"):
            await machine.fire("next")

    asyncio.run(main())
