"""A machine with work to do, and work that knows what became of it, in virtual time."""

import asyncio

from orkeon_transitions.runtime import AsyncStateMachine
from tests.runtime.samples import limits
from tests.virtual_time import now

WORK = """
name: worker
initial: idle
degraded: limp
states:
  - {name: idle, timeout: 0}
  - {name: work, timeout: 30}
  - {name: failed, timeout: 0}
  - {name: patient, timeout: 0}
  - {name: waiting, timeout: 10, on_timeout: give_up}
  - {name: limp, final: true}
  - {name: done, final: true}
transitions:
  - [begin, [idle, failed], work]
  - {trigger: finish, source: work, dest: done, conditions: good, after: note}
  - {trigger: fail, source: work, dest: failed, after: note}
  - {trigger: tick, source: [work, waiting], dest: null}
  - {trigger: again, source: work, dest: "="}
  - [wait, [idle, work], waiting]
  - [give_up, waiting, failed]
  - [leave, "*", patient]
  - {trigger: cancel, source: "*", dest: done, always: true}
"""


class Worker(AsyncStateMachine):
    """Writes down what it was told of its work."""

    def __init__(self, is_good=True, **options):
        self.is_good = is_good
        self.notes = []
        super().__init__(WORK, **{"policy": limits(), "clock": now, **options})

    def good(self, event):
        return self.is_good

    def note(self, event):
        self.notes.append((event.trigger, dict(event.payload)))


class Work:
    """Work that takes its time and knows what became of it."""

    def __init__(self, seconds=5, result=42, error=None, tidy=0):
        self.seconds, self.result, self.error, self.tidy = seconds, result, error, tidy
        self.fate = "not begun"

    async def do(self):
        self.fate = "begun"
        try:
            await asyncio.sleep(self.seconds)
        except asyncio.CancelledError:
            self.fate = "cancelled"
            await asyncio.sleep(self.tidy)
            raise
        self.fate = "done"
        if self.error is not None:
            raise self.error
        return self.result


async def working(**options):
    machine = Worker(**options)
    await machine.fire("begin")
    return machine


async def started(coroutine):
    task = asyncio.create_task(coroutine)
    await asyncio.sleep(0.1)
    return task
