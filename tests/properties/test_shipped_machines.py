"""The machines that ship, with fields and clocks of their own, go the same way on both engines."""

from random import Random

import pytest

from orkeon_transitions import machines
from orkeon_transitions.breaker import CircuitBreakerPolicy
from orkeon_transitions.errors import OrkeonError
from tests.properties.differential.callbacks import run_now
from tests.properties.differential.happening import settled
from tests.properties.differential.telling import look, plain
from tests.virtual_time import now, run

KINDS = ("TaskExecution", "HermesAgentFSM", "GraphRouter", "TaskStatus", "AgentStatus", "CrewStatus")
PAYLOADS = {
    "task": ("write it", "", None),
    "tool_name": ("search", "unknown"),
    "result": (1, {"a": [1]}, None),
    "error": (ValueError("no"), "text"),
    "plan": (["a", "b"], []),
}


class Journey:
    """One machine, driven at random."""

    def __init__(self, name, seed, engine, is_async):
        self.rng = Random(seed)
        self.log = []
        self.time = 1000.0
        self.is_async = is_async
        kind = getattr(machines, f"Async{name}" if is_async else name)
        given = () if name != "HermesAgentFSM" else ("session",)
        options = {"engine": engine, "clock": now if is_async else lambda: self.time}
        options["commit"] = lambda fact, snapshot: self.log.append(("commit", plain(fact), plain(snapshot)))
        if given == ():
            options["machine_id"] = "m"
        if self.rng.random() < 0.5:
            options["policy"] = CircuitBreakerPolicy(
                max_transitions=self.rng.choice((0, 6)),
                max_state_visits=self.rng.choice((0, 3)),
                use_degraded_mode=self.rng.random() < 0.5,
                max_repeats=self.rng.choice((0, 2)),
            )
        self.machine = kind(*given, **options)
        self.machine.on_transition(lambda result: self.log.append(("heard", plain(result))))
        if given:
            self.machine.register_tool("search")
            self.machine.plan_steps = ["look", "write"]

    async def step(self):
        machine, rng = self.machine, self.rng
        permitted = await settled(machine.permitted_triggers())
        known = list(machine.definition.triggers)
        trigger = rng.choice(permitted) if permitted and rng.random() < 0.8 else rng.choice(known)
        payload = {name: rng.choice(values) for name, values in PAYLOADS.items() if rng.random() < 0.5}
        context = rng.choice((None, None, machines.TaskExecutionGuardContext(tool_call_count=10), 3))
        try:
            self.log.append(plain(await settled(machine.fire(trigger, context, **payload))))
        except (OrkeonError, TypeError) as error:
            self.log.append(plain(error))
        self.time += rng.choice((0, 0, 1, 40))
        if rng.random() < 0.05:
            machine.reset_circuit_breaker()
        fields = {name: plain(getattr(machine, name)) for name in machine.persisted}
        self.log.append((look(machine), fields))

    async def whole(self, most=40):
        for _ in range(most):
            await self.step()
        return self.log


def journey(name, seed, engine, is_async):
    """Everything that could be noticed on the way."""
    if not is_async:
        return run_now(Journey(name, seed, engine, is_async=False).whole())

    async def main():
        return await Journey(name, seed, engine, is_async=True).whole()

    return run(main())


@pytest.mark.parametrize("is_async", [False, True], ids=["plain", "async"])
@pytest.mark.parametrize("name", KINDS)
def test_a_shipped_machine_goes_the_same_way_on_both_engines(name, is_async, begin):
    for seed in range(begin, begin + 15):
        stock = journey(name, seed, "stock", is_async)
        assert len(stock) >= 80
        assert stock == journey(name, seed, "auto", is_async), f"seed {seed}"
