"""What work gave, or why it failed, is not lost where it could not be reported."""

import asyncio

import pytest

from orkeon_transitions.errors import MachineBusyError, StateLeftError
from orkeon_transitions.runtime import AsyncStateMachine
from tests.runtime.samples import GUARDED, RING, quiet
from tests.virtual_time import now, run

SLOW = """
name: slow
initial: a
states: [a, b]
transitions:
  - {trigger: tick, source: a, dest: null, before: linger}
  - [go, a, b]
"""


async def working(result=5, error=None):
    await asyncio.sleep(1)
    if error is not None:
        raise error
    return result


async def busy():
    """A machine that another task holds for longer than anybody waits."""

    async def linger(event):
        await asyncio.sleep(100)

    machine = AsyncStateMachine(SLOW, **quiet(clock=now, lock_timeout=1, actions={"linger": linger}))
    holder = asyncio.ensure_future(machine.fire("tick"))
    await asyncio.sleep(0)
    return machine, holder


def test_a_result_is_kept_where_the_machine_is_busy():
    async def main():
        machine, holder = await busy()
        with pytest.raises(MachineBusyError) as raised:
            await machine.during(working(), done="go")
        assert raised.value.result == 5
        await holder

    run(main())


def test_an_error_is_kept_where_the_machine_is_busy():
    async def main():
        machine, holder = await busy()
        error = OSError("no tool")
        with pytest.raises(MachineBusyError) as raised:
            await machine.during(working(error=error), failed="go")
        assert raised.value.__cause__ is error
        assert raised.value.result is None
        await holder

    run(main())


def test_the_second_of_two_works_keeps_its_result():
    async def main():
        machine = AsyncStateMachine(GUARDED, **quiet(clock=now))
        works = [machine.during(working(number), done="go") for number in (1, 2)]
        first, second = await asyncio.gather(*works, return_exceptions=True)
        assert first == 1
        assert isinstance(second, StateLeftError)
        assert second.result == 2

    run(main())


@pytest.mark.parametrize("name", ["done", "failed"])
def test_what_is_no_trigger_is_said_before_the_work_begins(name):
    async def main():
        begun = []

        async def work():
            begun.append(1)

        machine = AsyncStateMachine(RING, **quiet(clock=now))
        with pytest.raises(TypeError, match="a state or trigger is a text or an Enum member, not int: 5"):
            await machine.during(work(), **{name: 5})
        await asyncio.sleep(1)
        assert begun == []

    run(main())


def test_work_goes_on_in_another_loop():
    machine = AsyncStateMachine(RING, **quiet())

    async def first():
        return await machine.during(asyncio.sleep(0, 1))

    async def second():
        work = asyncio.ensure_future(machine.during(asyncio.sleep(10)))
        await asyncio.sleep(0.01)
        assert await machine.fire("next")
        with pytest.raises(StateLeftError):
            await work

    assert asyncio.run(first()) == 1
    asyncio.run(second())
