"""How often models are asked: at most so many requests in any minute, for an agent and for the whole crew.

Whoever wants to ask waits for a slot. Waiting is work of the machine's state like the request itself, so that
the state's clock bounds it.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Mapping

from orkeon_transitions.crew.config import CrewConfig

MINUTE = 60.0

Sleep = Callable[[float], Awaitable[object]]


class Pace:
    """At most so many beginnings in any window of time, in the order in which they were asked for.

    Args:
        most: How many.
        clock: Monotonic seconds.
        window: How many seconds the window has.
    """

    def __init__(self, most: int, clock: Callable[[], float], window: float = MINUTE) -> None:
        self._most = most
        self._clock = clock
        self._window = window
        self._slots: deque[float] = deque()

    def slot(self) -> float:
        """Takes the next free slot, and says at which time it is."""
        now = self._clock()
        while self._slots and len(self._slots) > self._most and self._slots[0] <= now - self._window:
            self._slots.popleft()
        at = now
        if len(self._slots) >= self._most:
            at = max(now, self._slots[-self._most] + self._window)
        self._slots.append(at)
        return at

    def give_back(self, at: float) -> None:
        """A slot was not used. Those who wait behind it keep theirs."""
        if at in self._slots:
            self._slots.remove(at)


class Paces:
    """The paces of one run.

    Args:
        crew: Requests a minute for the whole crew; 0 or None: as many as there are.
        agents: The same, by the key of an agent.
        clock: Monotonic seconds.
        sleep: Waits for some seconds.
    """

    def __init__(
        self,
        crew: int | None,
        agents: Mapping[str, int | None],
        clock: Callable[[], float],
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._clock = clock
        self._sleep = sleep
        self._crew = Pace(crew, clock) if crew else None
        self._agents = {name: Pace(most, clock) for name, most in agents.items() if most}

    @classmethod
    def of(cls, config: CrewConfig, clock: Callable[[], float], sleep: Sleep) -> Paces | None:
        """Those of a crew, or None: it says nothing about rates."""
        agents = {agent.id: agent.max_rpm for agent in config.agents.values()}
        is_bounded = config.max_rpm or any(agents.values())
        return cls(config.max_rpm, agents, clock, sleep) if is_bounded else None

    async def turn(self, agent: str, waits: Callable[[float], object]) -> None:
        """Waits until an agent may make a request.

        Args:
            agent: The agent's key.
            waits: Is told how many seconds it will take, if it has to wait.
        """
        both = [pace for pace in (self._agents.get(agent), self._crew) if pace is not None]
        taken = [(pace, pace.slot()) for pace in both]
        at = max((slot for _, slot in taken), default=0.0)
        is_told = False
        try:
            while taken and (left := at - self._clock()) > 0:
                if not is_told:
                    waits(left)
                    is_told = True
                await self._sleep(left)
        except BaseException:
            for pace, slot in taken:
                pace.give_back(slot)
            raise
