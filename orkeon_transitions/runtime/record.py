"""Where one machine is and what its breaker has counted, changed in place; and who waits for the machine.

The law judges frozen `BreakerCounts`, which are made of the record when somebody asks, and put back whole.
What is made at once (`at_once.py`) changes the record itself, and asks no more of the limits than three
comparisons: how many transitions are left, until when no clock can have run out, how often a state was
entered.
"""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from orkeon_transitions.breaker import BreakerCounts, CircuitBreakerPolicy, Repetition, Trip, judge_meters
from orkeon_transitions.runtime.listeners import Kind, Listeners

if TYPE_CHECKING:
    from orkeon_transitions.runtime.base import MachineBase
    from orkeon_transitions.runtime.firing import Firing
    from orkeon_transitions.runtime.moving import MoveEvent
    from orkeon_transitions.runtime.plan import Moves
    from orkeon_transitions.runtime.steps import Steps

# Sums of floats differ in their last digits: this long before a run's time is up, the law itself judges.
MARGIN = 0.001
NOTHING: Moves = {}
NO_VISITS: Mapping[str, int] = {}
NO_AMOUNTS: Mapping[str, float] = {}
NO_REPEATS: Mapping[str, Repetition] = {}
# Held while a machine gets what few machines have, since two threads may be the first.
_FIRST = threading.Lock()


class Record:
    """The running record of one machine.

    Attributes:
        lock: What holds the machine for one trigger at a time.
        clock: Monotonic seconds.
        guards: Guards that the program gave, by name, or None.
        actions: Actions that the program gave, by name, or None.
        firing: The trigger under way, or None.
        depth: How deep triggers are fired inside of each other.
        asked: How many guards are only asked just now, in whichever thread or task.
        later: What was asked for later; None, as long as nothing was.
        listeners: Who hears what happens; None, as long as nobody does.
        is_quiet: Whether nobody ever listened, nor asked for anything later.
        moves: What may be made at once from here, by trigger; nothing where the law must be asked.
        allowed: How many transitions the budget has (infinite: any number).
        most_visits: How often a state may be entered (infinite: any number).
        patience: Seconds that the policy allows in a state (infinite: any number).
        deadline: Monotonic seconds before which no clock can have run out.
        run_ends: Monotonic seconds before which the whole run's clock cannot have run out.
        names: The states in the order of the definition; `visits` has a count for each.
        elsewhere: Visits of states that the definition does not have any more.
        settled: The ordinal of the last transition that has been written completely.

    The others are those of `BreakerCounts`.
    """

    __slots__ = (
        "_epoch",
        "_frozen",
        "actions",
        "active",
        "allowed",
        "asked",
        "clock",
        "deadline",
        "depth",
        "elsewhere",
        "entered_at",
        "firing",
        "guards",
        "is_quiet",
        "later",
        "listeners",
        "lock",
        "most_visits",
        "moves",
        "names",
        "ordinal",
        "patience",
        "repeats",
        "run_ends",
        "running_since",
        "settled",
        "spent",
        "state",
        "transitions",
        "trip",
        "visit",
        "visits",
    )

    names: tuple[str, ...]
    state: str
    entered_at: float
    transitions: int
    ordinal: int
    visits: list[int]
    elsewhere: Mapping[str, int]
    active: float
    running_since: float | None
    spent: Mapping[str, float]
    repeats: Mapping[str, Repetition]
    trip: Trip | None
    visit: int
    settled: int
    moves: Moves
    allowed: float
    most_visits: float
    patience: float
    run_ends: float
    deadline: float

    def __init__(
        self,
        lock: Any,
        clock: Callable[[], float],
        guards: Mapping[str, Any] | None,
        actions: Mapping[str, Any] | None,
    ) -> None:
        self.lock = lock
        self.clock = clock
        self.guards = guards or None
        self.actions = actions or None
        self.firing: Firing | MoveEvent | None = None
        self.depth = 0
        self.asked = 0
        self.later: deque[Callable[[], Steps[Any]]] | None = None
        self.listeners: Listeners | None = None
        self.is_quiet = True
        self._epoch = 0
        self._frozen: tuple[tuple[int, int], BreakerCounts] | None = None

    @property
    def is_free(self) -> bool:
        """Whether no trigger is under way, as whoever holds the machine may ask."""
        return self.depth == 0 and self.firing is None

    # --------------------------------------------------------------------------------------- frozen and back
    def counts(self) -> BreakerCounts:
        """The record as it is, frozen; from any thread, without waiting for a transition under way.

        It is written first `ordinal`, then the rest, then `settled`: a reader that finds them equal before
        and after has read no half of a transition. `put` raises the epoch before and after.
        """
        while True:
            epoch = self._epoch
            key = (epoch, self.settled)
            frozen = self._frozen
            if frozen is not None and frozen[0] == key and self.ordinal == key[1]:
                return frozen[1]
            if not epoch & 1:
                counts = self._copy()
                if self.ordinal == key[1] and self._epoch == epoch:
                    self._frozen = (key, counts)
                    return counts
            time.sleep(0)

    def _copy(self) -> BreakerCounts:
        visits = dict(self.elsewhere)
        visits.update((name, times) for name, times in zip(self.names, self.visits, strict=True) if times)
        return BreakerCounts(
            state=self.state,
            entered_at=self.entered_at,
            transitions=self.transitions,
            ordinal=self.ordinal,
            visits=visits,
            active=self.active,
            running_since=self.running_since,
            spent=self.spent,
            repeats=self.repeats,
            trip=self.trip,
            visit=self.visit,
        )

    def begin(self, machine: MachineBase[Any, Any]) -> None:
        """Begins in the initial state. The first transition, which starts the clocks, is the law's."""
        plan = machine._plan
        self.names = plan.names
        self.state = plan.definition.initial
        self.entered_at = self.clock()
        self.transitions = self.ordinal = self.visit = self.settled = 0
        self.visits = [0] * len(plan.names)
        self.visits[plan.places[self.state]] = 1
        self.elsewhere = NO_VISITS
        self.active = 0.0
        self.running_since = None
        self.spent = NO_AMOUNTS
        self.repeats = NO_REPEATS
        self.trip = None
        self.moves = NOTHING

    def put(self, machine: MachineBase[Any, Any], counts: BreakerCounts) -> None:
        """Takes over what the law has made of the record."""
        names = machine._plan.names
        known = [counts.visits.get(name, 0) for name in names]
        places = machine._plan.places
        elsewhere = {n: times for n, times in counts.visits.items() if n not in places} or NO_VISITS
        self._epoch += 1
        self.names = names
        self.state = counts.state
        self.entered_at = counts.entered_at
        self.transitions = counts.transitions
        self.ordinal = counts.ordinal
        self.visits = known
        self.elsewhere = elsewhere
        self.active = counts.active
        self.running_since = counts.running_since
        self.spent = counts.spent
        self.repeats = counts.repeats
        self.trip = counts.trip
        self.visit = counts.visit
        self.settled = counts.ordinal
        self._epoch += 1
        self._frozen = ((self._epoch, self.settled), counts)
        self.arm(machine)

    def arm(self, machine: MachineBase[Any, Any]) -> None:
        """Works out anew what may be made at once; only for whoever holds the machine."""
        while True:
            policy, hook = machine.policy, machine._commit_hook
            self._arm(machine, policy)
            if machine.policy is policy and machine._commit_hook is hook:
                return

    def disarm(self, policy: CircuitBreakerPolicy) -> None:
        """Leaves the next transition to the law, which arms anew: the policy or the commit hook has changed.

        Any thread may do so at any time: whoever makes a move at once looks for it before it writes.
        """
        self.moves = NOTHING
        self.deadline = -math.inf
        self._limit(policy)

    def _limit(self, policy: CircuitBreakerPolicy) -> None:
        self.allowed = policy.max_transitions or math.inf
        self.most_visits = policy.max_state_visits or math.inf
        self.patience = policy.state_timeout.total_seconds() or math.inf

    def _arm(self, machine: MachineBase[Any, Any], policy: CircuitBreakerPolicy) -> None:
        self._limit(policy)
        self.moves = machine._moves_at_once(self.state) if self._is_free(policy) else NOTHING
        total, since = policy.max_total_duration.total_seconds(), self.running_since
        self.run_ends = math.inf if not total or since is None else since + (total - self.active) - MARGIN
        if total and self.active > total:
            self.run_ends = -math.inf  # whatever a clock says that has been set back
        # Where nothing is made at once, nobody knows better than the law, which looks at the clocks itself.
        self.deadline = -math.inf
        if self.moves:
            allowed = machine._state_clock(self.state).timeout_under(policy) or math.inf
            self.deadline = min(self.entered_at + allowed, self.run_ends)

    def _is_free(self, policy: CircuitBreakerPolicy) -> bool:
        """Whether nothing but a count or a clock may stop a transition; the first one starts the clock."""
        if self.trip is not None or self.running_since is None:
            return False
        return not policy.meters or judge_meters(policy, self.spent) is None

    # ------------------------------------------------------------------------- what most machines never have
    def subscribe(self, kind: Kind, listener: Callable[[Any], object]) -> Callable[[], None]:
        """Adds a listener; see `Listeners`."""
        with _FIRST:
            if self.listeners is None:
                self.listeners = Listeners()
                self.is_quiet = False
        return self.listeners.subscribe(kind, listener)

    def put_down(self, kind: Kind, fact: Callable[[], Any]) -> None:
        """Puts a fact down for those who listen."""
        if self.listeners is not None:
            self.listeners.put(kind, fact)

    def tell(self) -> None:
        """Tells what was put down."""
        if self.listeners is not None:
            self.listeners.tell()

    def ask_later(self, begin: Callable[[], Steps[Any]]) -> None:
        """Queues what is asked for after the transition under way."""
        with _FIRST:
            if self.later is None:
                self.later = deque()
                self.is_quiet = False
        self.later.append(begin)

    def next_asked(self) -> Callable[[], Steps[Any]] | None:
        """What was asked for later, taken from the queue; None if there is nothing more."""
        return self.later.popleft() if self.later else None

    def count_asked(self, change: int) -> None:
        """Counts a guard that is only asked, or that has answered."""
        with _FIRST:
            self.asked += change
