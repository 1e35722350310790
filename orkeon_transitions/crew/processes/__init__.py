"""How a crew's tasks are run: what every process shares, and one file for each process.

What belongs here: which task is next, and what becomes of those that waited for one that gave nothing. What
never belongs here: how a task is done. A process knows `process.py` and no other process.
"""

from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType

from orkeon_transitions.crew.processes.autonomous import run_autonomous
from orkeon_transitions.crew.processes.consensual import run_consensual
from orkeon_transitions.crew.processes.graph import run_graph
from orkeon_transitions.crew.processes.hierarchical import run_hierarchical
from orkeon_transitions.crew.processes.parallel import run_parallel
from orkeon_transitions.crew.processes.process import CrewRun, RunOptions
from orkeon_transitions.crew.processes.sequential import run_sequential

PROCESSES: Mapping[str, Callable[[CrewRun], Awaitable[None]]] = MappingProxyType(
    {
        "sequential": run_sequential,
        "parallel": run_parallel,
        "graph": run_graph,
        "hierarchical": run_hierarchical,
        "consensual": run_consensual,
        "autonomous": run_autonomous,
    }
)

__all__ = ["PROCESSES", "CrewRun", "RunOptions"]
