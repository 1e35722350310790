"""One call of a node or a router, bound to the machine's visit of that node."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import Any

from orkeon_transitions.graph.machine import GraphMachine
from orkeon_transitions.graph.topology import Node

LONGEST_WAIT = 5.0


async def attempt(machine: GraphMachine, node: Node[Any], state: Any) -> Any:
    """Calls a node once, within its time.

    Raises:
        TimeoutError: It took longer than its `timeout`; one that never suspends is judged when it is done.
        CircuitBrokenError: The machine's circuit broke meanwhile.
    """
    if node.timeout is None:
        return await call(machine, node.function, state)
    loop = asyncio.get_running_loop()
    started = loop.time()
    try:
        async with asyncio.timeout(node.timeout) as limit:
            answer = await call(machine, node.function, state)
    except TimeoutError:
        if not limit.expired():
            raise  # the node's own
    else:
        if loop.time() - started <= node.timeout:
            return answer
    raise TimeoutError(f"node '{node.name}' took more than {node.timeout:g} s")


async def call(machine: GraphMachine, function: Callable[[Any], Any], state: Any) -> Any:
    """Calls a plain or async function of the state. What it awaits ends with the visit of the node."""
    answer = function(state)
    if not inspect.isawaitable(answer):
        return answer
    # The degraded node runs where the machine has ended, outside of the budget.
    return await (answer if machine.is_terminal else machine.during(answer))


async def pause(machine: GraphMachine, node: Node[Any], attempts: int) -> None:
    """Waits before another attempt, if the circuit allows one.

    Raises:
        CircuitBrokenError: It does not.
    """
    await machine.check_circuit()
    wait = min(node.retry_wait * 2.0 ** min(attempts - 1, 30), LONGEST_WAIT)
    await machine.during(asyncio.sleep(wait))
