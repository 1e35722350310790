"""One call of a node or a router, bound to the machine's visit of that node."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from math import inf
from typing import Any

from orkeon_transitions.graph.machine import GraphMachine
from orkeon_transitions.graph.topology import Node

LONGEST_WAIT = 5.0


def begin(machine: GraphMachine, node: Node[Any], state: Any) -> Any:
    """Begins one attempt of a node: gives its answer, or what is to be awaited for it.

    Raises, now or when awaited:
        TimeoutError: It took longer than its `timeout`; one that never suspends is judged when it is done.
        CircuitBrokenError: The machine's circuit broke meanwhile.
    """
    return call(machine, node.function, state) if node.timeout is None else _in_time(machine, node, state)


def call(machine: GraphMachine, function: Callable[[Any], Any], state: Any) -> Any:
    """Calls a plain or async function of the state: gives its answer, or what is to be awaited for it.

    What it awaits ends with the visit of the node.
    """
    answer = function(state)
    if not inspect.isawaitable(answer):
        return answer
    if machine.is_terminal:  # the degraded node, which runs outside of the budget
        return answer
    machine.has_waited = True
    return machine.during(answer)


async def _in_time(machine: GraphMachine, node: Node[Any], state: Any) -> Any:
    loop, allowed = asyncio.get_running_loop(), node.timeout or inf
    started = loop.time()
    try:
        async with asyncio.timeout(allowed) as limit:
            answer = call(machine, node.function, state)
            if inspect.isawaitable(answer):
                answer = await answer
    except TimeoutError:
        if not limit.expired():
            raise  # the node's own
    else:
        if loop.time() - started <= allowed:
            return answer
    raise TimeoutError(f"node '{node.name}' took more than {allowed:g} s")


async def pause(machine: GraphMachine, node: Node[Any], attempts: int) -> None:
    """Waits before another attempt, if the circuit allows one.

    Raises:
        CircuitBrokenError: It does not.
    """
    await machine.check_circuit()
    wait = min(node.retry_wait * 2.0 ** min(attempts - 1, 30), LONGEST_WAIT)
    await machine.during(asyncio.sleep(wait))
