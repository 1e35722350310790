"""Runs that end early: a log whose process dies after so many writes, and a run that is cancelled."""

import asyncio
from contextlib import suppress

import pytest

from orkeon_transitions.crew import CrewObserver, load_crew
from orkeon_transitions.errors import OrkeonError

THREE = """\
name: three
process: {process}
goal: About {{topic}}
agents: {{a: {{role: R}}}}
tasks:
  one: {{description: d, agent: a}}
  two: {{description: d, agent: a, dependencies: [one]}}
  three: {{description: d, agent: a}}
"""
INPUTS = {"topic": "x"}
PROCESSES = ["sequential", "parallel", "graph"]


def three(process="sequential", **changes):
    text = THREE.format(process=process)
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    return load_crew(text)


def only(**answers):
    async def work(agent, task, context):
        answer = answers.get(task.id, task.id)
        return await answer() if callable(answer) else answer

    return work


def interrupted(crew, log, run_id="r", **answers):
    """Runs a crew and cancels it as soon as a task hangs; gives the partial result."""
    results = []

    async def main():
        observer = CrewObserver(crew_finished=results.append)
        run = crew.run(INPUTS, run_log=log, run_id=run_id, executor=only(**answers), observer=observer)
        task = asyncio.create_task(run)
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    return results[0]


class DiedError(Exception):
    """Stands for the end of the process."""


class Dying:
    """Passes on to another log the first writes, up to one; that one and those after it fail.

    Args:
        log: The other log.
        writes: How many succeed.
        is_torn: Whether the one after them is made all the same: the process died before it knew.
    """

    def __init__(self, log, writes, *, is_torn=False):
        self._log = log
        self._writes = writes
        self._is_torn = is_torn
        self.has_died = False

    def begin(self, run_id, note):
        return _Hold(self, self._log.begin(run_id, note))

    def read(self, run_id):
        return self._log.read(run_id)

    def take_up(self, run_id, **options):
        return _Hold(self, self._log.take_up(run_id, **options))

    def passes(self):
        """Counts a write; says whether it may be made."""
        if self.has_died:
            raise DiedError
        self._writes -= 1
        self.has_died = self._writes < 0
        return not self.has_died or self._is_torn


class _Hold:
    def __init__(self, log, hold):
        self._log = log
        self._hold = hold

    def record(self, entries):
        if self._log.passes():
            self._hold.record(entries)
        if self._log.has_died:
            raise DiedError

    def release(self, *args, **options):
        if self._log.passes():
            self._hold.release(*args, **options)
        if self._log.has_died:
            raise DiedError


def died(crew, log, writes, run_id="r", *, is_torn=False, **options):
    """Runs a crew until its process dies; says whether it did, and did not end before."""
    dying = Dying(log, writes, is_torn=is_torn)
    try:
        crew.run_sync(run_log=dying, run_id=run_id, **options)
    except DiedError:
        return True
    assert not dying.has_died
    return False


def died_again(crew, log, writes, run_id="r", *, is_torn=False, **options):
    """Goes on with a run until its process dies; says whether it did, and did not end before."""
    dying = Dying(log, writes, is_torn=is_torn)
    with suppress(OrkeonError):  # the last write of all had been made
        try:
            crew.resume_sync(run_id, run_log=dying, take_over=True, **options)
        except DiedError:
            return True
    return False


def resumed(crew, log, run_id="r", **options):
    """Goes on with a run whose process is still this one."""
    return crew.resume_sync(run_id, run_log=log, take_over=True, **options)


def has_no_gap(result):
    """Whether each machine of each task has all of its transitions, once."""
    return all(
        [step.ordinal for step in machine.history] == list(range(1, len(machine.history) + 1))
        for task in result.tasks.values()
        for machine in task.machines
    )
