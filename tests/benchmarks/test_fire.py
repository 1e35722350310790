"""What one trigger costs, beside stock `transitions`.

`pytest tests/benchmarks --benchmark-enable --benchmark-columns=median,ops` shows the figures; compare the
ratios inside of a group, not the absolute times. Without the option each runs once, as a test.
"""

import asyncio

import pytest
from transitions import Machine
from transitions.extensions import HierarchicalMachine, LockedMachine
from transitions.extensions.asyncio import AsyncMachine

from orkeon_transitions.breaker import CircuitBreakerPolicy
from orkeon_transitions.definition import load_definition
from orkeon_transitions.machines import AsyncTaskExecution, TaskExecution
from orkeon_transitions.runtime import AsyncStateMachine, CircuitBreakerMixin, StateMachine

OFF = CircuitBreakerPolicy(max_transitions=0, state_timeout=0, max_state_visits=0, max_total_duration=0)
# All four limits are looked at, and none is ever reached.
HIGH = CircuitBreakerPolicy(
    max_transitions=10**12, state_timeout=10**6, max_state_visits=10**12, max_total_duration=10**6
)
STATES = [f"s{number}" for number in range(10)]
ROWS = [["next", source, dest] for source, dest in zip(STATES, [*STATES[1:], STATES[0]], strict=True)]
TASK_ROUND = ("request_tool_call", "tool_call_completed")


class Model:
    """What users bring."""


def stock(kind):
    model = Model()
    kind(model, states=STATES, transitions=ROWS, initial="s0", auto_transitions=False)
    return model


def guarded(kind, policy):
    model = Model()
    machine = type("Guarded", (CircuitBreakerMixin, kind), {})
    machine(
        model,
        states=STATES,
        transitions=ROWS,
        initial="s0",
        auto_transitions=False,
        circuit_breaker=policy,
    )
    return model


def definition():
    return load_definition({"name": "ring", "initial": "s0", "states": STATES, "transitions": ROWS})


@pytest.fixture
def loop():
    made = asyncio.new_event_loop()
    yield made
    made.close()


@pytest.mark.benchmark(group="a trigger, plain")
@pytest.mark.parametrize("kind", [Machine, LockedMachine, HierarchicalMachine])
def test_stock(benchmark, kind):
    model = stock(kind)
    assert benchmark(model.next) is True


@pytest.mark.benchmark(group="a trigger, plain")
@pytest.mark.parametrize("limits", [OFF, HIGH], ids=["off", "on"])
@pytest.mark.parametrize("kind", [Machine, LockedMachine, HierarchicalMachine])
def test_a_users_guarded_machine(benchmark, kind, limits):
    model = guarded(kind, limits)
    assert benchmark(model.next) is True
    assert model.circuit_status.total_transitions > 0


@pytest.mark.benchmark(group="a trigger, plain")
@pytest.mark.parametrize("limits", [OFF, HIGH], ids=["off", "on"])
def test_a_state_machine(benchmark, limits):
    machine = StateMachine(definition(), policy=limits)
    assert benchmark(machine.fire, "next").accepted


@pytest.mark.benchmark(group="two triggers, a round of a task")
def test_a_task(benchmark):
    machine = TaskExecution(policy=HIGH, max_tool_calls_per_round=10**12)
    machine.begin_execution()

    def tool_round():
        for trigger in TASK_ROUND:
            machine.fire(trigger)

    benchmark(tool_round)
    assert machine.state == "executing"


async def repeated(trigger, *args):
    """A hundred triggers in one run of the loop, so that the loop's own start does not matter."""
    for _ in range(100):
        await trigger(*args)


@pytest.mark.benchmark(group="a hundred triggers, async")
def test_stock_async(benchmark, loop):
    model = stock(AsyncMachine)
    benchmark(lambda: loop.run_until_complete(repeated(model.next)))


@pytest.mark.benchmark(group="a hundred triggers, async")
@pytest.mark.parametrize("limits", [OFF, HIGH], ids=["off", "on"])
def test_a_users_guarded_async_machine(benchmark, loop, limits):
    model = guarded(AsyncMachine, limits)
    benchmark(lambda: loop.run_until_complete(repeated(model.next)))


@pytest.mark.benchmark(group="a hundred triggers, async")
@pytest.mark.parametrize("limits", [OFF, HIGH], ids=["off", "on"])
def test_an_async_state_machine(benchmark, loop, limits):
    machine = AsyncStateMachine(definition(), policy=limits)
    benchmark(lambda: loop.run_until_complete(repeated(machine.fire, "next")))


@pytest.mark.benchmark(group="a hundred rounds of a task, async")
def test_an_async_task(benchmark, loop):
    machine = AsyncTaskExecution(policy=HIGH, max_tool_calls_per_round=10**12)
    loop.run_until_complete(machine.begin_execution())

    async def tool_round():
        for trigger in TASK_ROUND:
            await machine.fire(trigger)

    benchmark(lambda: loop.run_until_complete(repeated(tool_round)))
    assert machine.state == "executing"
