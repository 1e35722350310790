"""An asyncio loop whose time jumps to the next timer: an hour of waiting takes no time, and is exact.

`run(main())` runs a coroutine on such a loop. Inside of it `asyncio.get_running_loop().time` is the clock to
give to a machine, so that the machine and its timer agree.
"""

import asyncio
import heapq
import itertools
import selectors

from orkeon_transitions.runtime.watch import Watch

# For how long other threads may keep the loop waiting before it is called a deadlock.
REAL_PATIENCE = 5.0


class Deadlock(Exception):
    """Every task waits, and no timer will ever wake one."""


class _JumpingSelector(selectors.DefaultSelector):
    loop = None

    def select(self, timeout=None):
        if timeout is None:
            ready = super().select(REAL_PATIENCE)
            if not ready:
                raise Deadlock("all tasks wait, and there is no timer")
            return ready
        ready = super().select(0)
        if not ready and timeout > 0:
            # Exactly to the next timer: adding up the waiting times would gather rounding errors.
            self.loop.now = max(self.loop.now, self.loop._scheduled[0].when())
        return ready


class _InTurn(asyncio.TimerHandle):
    """One of several timers for the same moment: of two machines', the older one's rings first."""

    __slots__ = ("turn",)

    def __lt__(self, other):
        return (self._when, self.turn) < (other._when, other.turn)


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """A loop that never sleeps, and in which no two timers ring in an order that chance has made."""

    def __init__(self, start=1000.0):
        self.now = start
        self._turns = itertools.count()
        self._watches = {}
        selector = _JumpingSelector()
        super().__init__(selector)
        selector.loop = self

    def time(self):
        return self.now

    def call_at(self, when, callback, *args, context=None):
        timer = _InTurn(when, callback, args, self, context)
        timer.turn = next(self._turns)
        owner = getattr(callback, "__self__", None)
        if isinstance(owner, Watch):
            timer.turn, _ = self._watches.setdefault(id(owner), (timer.turn, owner))
        heapq.heappush(self._scheduled, timer)
        timer._scheduled = True
        return timer


def run(main):
    """Runs a coroutine to its end in virtual time, and gives what it returns."""
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        return runner.run(main)


def now():
    """The running loop's time: a clock to give to a machine."""
    return asyncio.get_running_loop().time()
