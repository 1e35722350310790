"""How a crew's tasks are run: what every process shares, and one file for each process.

What belongs here: which task is next, and what becomes of those that waited for one that gave nothing. What
never belongs here: how a task is done.
"""

from orkeon_transitions.crew.processes.process import CrewRun, RunOptions
from orkeon_transitions.crew.processes.sequential import run_sequential

__all__ = ["CrewRun", "RunOptions", "run_sequential"]
