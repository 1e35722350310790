"""What happens to a world's machines from outside, one step of its script after the other."""

from __future__ import annotations

import asyncio
import inspect
from typing import TYPE_CHECKING, Any

from orkeon_transitions.breaker import CircuitBreakerPolicy
from tests.properties.differential.worlds import ACTIONS, TRIGGERS, Op

if TYPE_CHECKING:
    from tests.properties.differential.life import Life

KINDS = ("transition", "refused", "circuit_broken")


async def settled(answer: Any) -> Any:
    """An answer of either kind of machine."""
    return await answer if inspect.isawaitable(answer) else answer


async def do(life: Life, op: Op) -> Any:
    """One step, and what it gives."""
    machine, trigger = life.machines[op.machine], op.trigger
    if trigger in machine.definition.triggers and life.chance(0.85):
        trigger = life.likely(machine)
    if op.what == "by_name":
        return await settled(getattr(machine, trigger)(op.context, **op.payload))
    if life.enums is not None and trigger in life.world.definition.triggers and life.chance(0.5):
        trigger = life.enums[1](trigger)
    match op.what:
        case "fire" | "try_fire" | "why_not" | "can_fire" | "fire_later":
            return await settled(getattr(machine, op.what)(trigger, op.context, **op.payload))
        case "permitted":
            return await settled(machine.permitted_triggers(op.context))
        case "check":
            return await settled(machine.check_circuit())
        case "misuse":
            return await settled(machine.fire(life.rng.choice((None, 3.5, "", object, ACTIONS))))
        case "burst":
            return [await settled(machine.try_fire(trigger, **op.payload)) for _ in range(7)]
        case "wait":
            return await life.wait(op.seconds)
        case "during":
            return await machine.during(_work(life, op), done=trigger, failed=life.rng.choice(TRIGGERS))
        case "together":
            return await _together(life, op)
    return _around(life, op, machine)


def _around(life: Life, op: Op, machine: Any) -> Any:
    """Steps that fire nothing."""
    match op.what:
        case "spend":
            return machine.spend(tokens=op.seconds + 2)
        case "reset":
            return machine.reset_circuit_breaker()
        case "restore":
            life.machines[op.machine] = life.make(op.machine, snapshot=machine.snapshot())
            return life.listen(op.machine, "transition")
        case "listen":
            return life.listen(op.machine, life.rng.choice(KINDS))
        case "unlisten":
            return life.unsubscribe[op.number % len(life.unsubscribe)]()
        case "new_policy":
            machine.policy = CircuitBreakerPolicy(max_transitions=3, max_state_visits=2, state_timeout=4)
        case "rewire":
            life.rewire(machine, op.machine, op.name)
    return None


async def _work(life: Life, op: Op) -> str:
    """Work that is bound to a visit."""
    await asyncio.sleep(op.seconds)
    life.tell("worked", op.number)
    if life.chance(0.3):
        raise life.error("work")
    return "done"


async def _together(life: Life, op: Op) -> list[Any]:
    """Several things at once, some of them cancelled on their way."""

    async def begun(part: Op, after: float) -> None:
        await asyncio.sleep(after)
        await life.perform(part)

    # No two begin in the same moment, so that their order is nobody's choice.
    tasks = [
        asyncio.create_task(begun(part, number / 7 + life.rng.choice((0, 0, 1))))
        for number, part in enumerate(op.parts)
    ]
    loop = asyncio.get_running_loop()
    for task in tasks:
        if life.chance(0.25):
            loop.call_later(life.rng.choice((0.25, 1.6, 3.3)), task.cancel)
    return await asyncio.gather(*tasks, return_exceptions=True)
