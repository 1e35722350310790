"""An async machine whose clocks are watched, in virtual time; it writes down when it heard of what."""

import asyncio
from functools import partial

from orkeon_transitions.runtime import AsyncStateMachine
from tests.virtual_time import now

WATCHED = """
name: watched
initial: idle
degraded: limp
states:
  - {name: idle, timeout: 0}
  - {name: work, on_enter: entered}
  - {name: waiting, timeout: 10, on_timeout: give_up, on_exit: left}
  - {name: late, timeout: 0, on_enter: entered}
  - {name: limp, final: true, on_enter: entered}
  - {name: done, final: true}
transitions:
  - [start, idle, work]
  - [rest, [work, late], idle]
  - {trigger: wait, source: [idle, work], dest: waiting}
  - {trigger: give_up, source: waiting, dest: late, conditions: may_give_up}
  - {trigger: tick, source: [idle, work, waiting], dest: null, after: entered}
  - {trigger: again, source: work, dest: "="}
  - [finish, "*", done]
"""


class Watched(AsyncStateMachine):
    """Writes down when it heard of what."""

    def __init__(self, may=True, entered=None, left=None, sure=bool, definition=WATCHED, **options):
        self.heard = []
        callbacks = {"entered": entered or _nothing, "left": left or _nothing}
        guards = {"may_give_up": lambda e: may, "sure": sure}
        super().__init__(definition, guards=guards, actions=callbacks, **{"clock": now, **options})
        for kind in ("transition", "refused", "circuit_broken"):
            getattr(self, f"on_{kind}")(partial(self.hear, kind))

    def hear(self, kind, fact):
        self.heard.append((kind, round(now() - 1000, 1), fact))

    def told(self, kind):
        return [(at, fact) for k, at, fact in self.heard if k == kind]


def _nothing(event):
    return None


async def passing(seconds):
    await asyncio.sleep(seconds)
