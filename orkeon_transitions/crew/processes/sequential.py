"""One task after another; each sees the outputs before it.

A task with `async_execution` is begun in its turn and not waited for: what comes after it goes on, until
something needs it. What a task needs it names as its dependencies; a task that names none needs all that
comes before it, as its description may be about any of that, unless it is such a task itself. What a task
sees does not depend on who is quicker: of the others that were not waited for, only those that it needs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from orkeon_transitions.crew.processes.process import CrewRun


async def run_sequential(run: CrewRun) -> None:
    """Runs the tasks in the order of their dependencies, otherwise in file order."""
    if any(run.config.tasks[task_id].async_execution for task_id in run.order):
        await _Overlapping(run).run()
        return
    for task_id in run.order:
        if (job := run.prepare(task_id)) is not None:
            await run.perform(job)


class _Overlapping:
    """A sequential run in which some tasks are not waited for."""

    def __init__(self, run: CrewRun) -> None:
        self._run = run
        self._begun: dict[str, asyncio.Task[None]] = {}
        self._room = asyncio.Semaphore(run.options.concurrency)

    async def run(self) -> None:
        """Runs all tasks; what breaks one of them off, such as a journal, ends all of them."""
        try:
            async with asyncio.TaskGroup() as group:
                for place, task_id in enumerate(self._run.order):
                    before = self._run.order[:place]
                    if self._run.config.tasks[task_id].async_execution:
                        self._begun[task_id] = group.create_task(self._perform(task_id, before))
                    else:
                        await self._perform(task_id, before)
        except BaseExceptionGroup as errors:
            # Whoever runs the crew waits for what the journal raises, not for a group of it.
            raise errors.exceptions[0] from None

    async def _perform(self, task_id: str, before: Sequence[str]) -> None:
        needed = self._needed(task_id, before)
        for one in needed & self._begun.keys():
            await self._begun[one]
        async with self._room:
            job = self._run.prepare(task_id)
            if job is None:
                return
            seen = [one for one in before if one in needed or one not in self._begun]
            earlier = {one: job.earlier[one] for one in seen if one in job.earlier}
            await self._run.perform(replace(job, earlier=earlier))

    def _needed(self, task_id: str, before: Sequence[str]) -> set[str]:
        """The tasks that must have ended before a task begins."""
        tasks = self._run.config.tasks
        task = tasks[task_id]
        if not task.dependencies and not task.async_execution:
            return set(before)
        needed: set[str] = set()
        waiting = list(task.dependencies)
        while waiting:
            one = waiting.pop()
            if one not in needed:
                needed.add(one)
                waiting += tasks[one].dependencies
        return needed
