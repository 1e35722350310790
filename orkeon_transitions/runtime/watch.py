"""The one timer of an async machine: it rings when a clock of the breaker runs out while nothing fires."""

from __future__ import annotations

import asyncio
import math
import weakref
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from orkeon_transitions.runtime.async_turns import AsyncTurns

# A limit trips when *more* than allowed has passed, so the timer rings a moment after.
MOMENT = 0.001
# A record's deadline is so much too early at most: its margin, and what adding floats loses.
SLACK = 0.0015
# A clock that was passed in may be slower than the loop's: then the timer looks again, but not too often.
LOOK_AGAIN = 0.01
# What the timer does may fail, as a journal on a full disk does.
TRY_AGAIN = 1.0


class Watch:
    """Holds its machine weakly: a machine that nobody uses any more goes, and its timer with it."""

    __slots__ = ("_due", "_loop", "_machine", "_timer")

    def __init__(self, machine: AsyncTurns[Any, Any]) -> None:
        self._machine = weakref.ref(machine)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._due = math.inf  # on the machine's clock

    def rings_by(self, deadline: float) -> bool:
        """Whether the timer, in the loop that runs, rings before a moment of the machine's clock, if ever."""
        if deadline == math.inf or self._timer is None:
            return deadline == math.inf and self._timer is None
        return self._due <= deadline + SLACK and self._is_at_home()

    def _is_at_home(self) -> bool:
        try:
            return asyncio.get_running_loop() is self._loop
        except RuntimeError:
            return False

    @property
    def is_armed(self) -> bool:
        """Whether the timer is running, in a loop that is."""
        return self._timer is not None and self._loop is not None and not self._loop.is_closed()

    def arm(self, at_least: float = 0.0) -> None:
        """Sees to it that the timer rings when the next clock runs out, if one runs and there is a loop.

        One that rings too early stays: it looks again then, which is cheaper than a new timer for each step.

        Args:
            at_least: Seconds that are waited whatever the clocks say; then the timer is set anew.
        """
        machine = self._machine()
        counts = None if machine is None else machine._counts
        if machine is None or counts is None or counts.trip is not None or machine.is_terminal:
            self.disarm()
            return
        now = machine._clock()
        remaining = counts.remaining(machine.policy, now, machine._state_clock(counts.state))
        if remaining is None:
            self.disarm()
            return
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self.disarm()
            return
        rings_at = loop.time() + max(remaining + MOMENT, at_least)
        if self._timer is not None:
            if not at_least and self._loop is loop and self._timer.when() <= rings_at:
                return
            self._timer.cancel()
        self._due = now + max(remaining, at_least - MOMENT)
        self._loop, self._timer = loop, loop.call_at(rings_at, self._ring)

    def arm_soon(self) -> None:
        """Arms when the loop, if one runs, comes round: a machine must be complete before it is watched."""
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return
        self._loop, self._timer = loop, loop.call_later(0, self._look)
        self._due = -math.inf

    def disarm(self) -> None:
        """Stops the timer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look(self) -> None:
        self._timer = None
        self.arm()

    def _ring(self) -> None:
        self._timer = None
        machine = self._machine()
        if machine is not None and not machine._time_is_up():
            self.arm(LOOK_AGAIN)
