"""A run of a crew, from its options to its end, and what may be given to one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Coroutine
from typing import Any

from orkeon_transitions.crew.agent_loop import AgentLoop
from orkeon_transitions.crew.config import CrewConfig
from orkeon_transitions.crew.executors import InterruptedWorkError
from orkeon_transitions.crew.processes import PROCESSES, CrewRun, RunOptions
from orkeon_transitions.crew.results import CrewResult
from orkeon_transitions.crew.run_log import RunLog
from orkeon_transitions.definition import nearest
from orkeon_transitions.errors import OrkeonError

MOST_AT_ONCE = 8
INTERRUPTED_FROM_WITHIN = "a function that the run has called raised KeyboardInterrupt"


def outside_of_a_loop(
    name: str, instead: str, begin: Callable[[], Coroutine[Any, Any, CrewResult]]
) -> CrewResult:
    """What `begin` gives, run on an event loop of its own.

    Raises:
        OrkeonError: A loop runs here: `name` cannot be used, `instead` can.
        KeyboardInterrupt: The person at the terminal, or a function of the program, has raised it.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        try:
            return asyncio.run(begin())
        except asyncio.CancelledError as error:
            if error.args == (INTERRUPTED_FROM_WITHIN,):
                raise KeyboardInterrupt(INTERRUPTED_FROM_WITHIN) from None
            raise
    raise OrkeonError(f"{name} cannot be used while an event loop runs: {instead} instead")


def checked_log(run_log: RunLog) -> RunLog:
    """A run log, if it is one.

    Raises:
        TypeError: It is none.
    """
    if not isinstance(run_log, RunLog):
        raise TypeError(
            f"a run log has begin, read and take_up, {type(run_log).__name__} has not: "
            "store.runs is the one of a MachineStore"
        )
    return run_log


async def run_to_its_end(config: CrewConfig, options: RunOptions) -> CrewResult:
    """Runs a crew whose placeholders are filled; what the agent loop has opened is closed then.

    Raises:
        CancelledError: Also where a tool or another function of the program has raised `KeyboardInterrupt`:
            that would end the event loop, and nobody could wait for what there is by then.
    """
    try:
        return await _finished(config, options)
    except InterruptedWorkError:
        raise asyncio.CancelledError(INTERRUPTED_FROM_WITHIN) from None
    finally:
        if isinstance(options.executor, AgentLoop):
            await options.executor.close()


async def _finished(config: CrewConfig, options: RunOptions) -> CrewResult:
    try:
        run = CrewRun(config, options)
    except BaseException:
        if options.recorder is not None:
            options.recorder.interrupt()
        raise
    try:
        await PROCESSES[run.config.process](run)
    except Exception as error:
        run.finish(error=error)
        raise
    except BaseException:  # a cancellation, or what ends the program
        run.finish(cancelled=True)
        raise
    return run.finish()


def known_agents(names: Collection[str], agents: Collection[str]) -> frozenset[str]:
    """Names of agents, if they are some.

    Raises:
        TypeError: They are one text.
        ValueError: There is no such agent.
    """
    if isinstance(names, str):
        raise TypeError(f"unavailable are names of agents in a list, not the text '{names}'")
    for name in names:
        if name not in agents:
            hint = nearest(name, agents)
            raise ValueError(f"there is no agent '{name}'" + (f", did you mean '{hint}'?" if hint else ""))
    return frozenset(names)


def at_least_one(concurrency: int | None, declared: int | None) -> int:
    """How many may run at once.

    Args:
        concurrency: What the program says, or None.
        declared: What the crew's file says, or None.

    Raises:
        ValueError: It is no whole number from 1.
    """
    if concurrency is None:
        return declared or MOST_AT_ONCE
    if isinstance(concurrency, bool) or not isinstance(concurrency, int) or concurrency < 1:
        raise ValueError(f"concurrency must be a whole number from 1, not {concurrency!r}")
    return concurrency
