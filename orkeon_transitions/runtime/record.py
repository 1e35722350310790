"""Where one machine is and what its breaker has counted, changed in place: a few slots, whatever it does.

The law judges frozen `BreakerCounts`, which are made of the record when somebody asks, and put back whole.
What is made at once (`plan.py`) changes the record itself, and asks no more of the limits than two
comparisons: how many transitions are left, and until when no clock can have run out.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from orkeon_transitions.breaker import BreakerCounts, CircuitBreakerPolicy, Repetition, Trip, judge_meters

if TYPE_CHECKING:
    from orkeon_transitions.runtime.base import MachineBase
    from orkeon_transitions.runtime.plan import Move, Moves

# Sums of floats differ in their last digits; this long before the end of the run the law itself judges.
MARGIN = 0.001


class Record:
    """The running record of one machine.

    Attributes:
        moves: What may be made at once from here, by trigger; nothing where the law must be asked.
        allowed: How many transitions the budget has (infinite: any number).
        most_visits: How often a state may be entered (infinite: any number).
        patience: Seconds that the policy allows in a state (infinite: any number).
        deadline: Monotonic seconds before which no clock can have run out.
        run_ends: Monotonic seconds before which the whole run's clock cannot have run out.
        epoch: Odd while the record is being changed. A reader that finds it changed looks again.

    The others are those of `BreakerCounts`.
    """

    __slots__ = (
        "_frozen",
        "active",
        "allowed",
        "deadline",
        "entered_at",
        "epoch",
        "most_visits",
        "moves",
        "ordinal",
        "patience",
        "repeats",
        "run_ends",
        "running_since",
        "spent",
        "state",
        "transitions",
        "trip",
        "visit",
        "visits",
    )

    def __init__(self, machine: MachineBase[Any, Any], counts: BreakerCounts) -> None:
        self.epoch = 0
        self._frozen: tuple[int, BreakerCounts] | None = None
        self.put(machine, counts)

    def counts(self) -> BreakerCounts:
        """The record as it is, frozen; from any thread, without waiting for a transition under way."""
        while True:
            epoch = self.epoch
            frozen = self._frozen
            if frozen is not None and frozen[0] == epoch:
                return frozen[1]
            if not epoch & 1:
                counts = self._copy()
                if self.epoch == epoch:
                    self._frozen = (epoch, counts)
                    return counts
            time.sleep(0)

    def _copy(self) -> BreakerCounts:
        return BreakerCounts(
            state=self.state,
            entered_at=self.entered_at,
            transitions=self.transitions,
            ordinal=self.ordinal,
            visits=self.visits.copy(),
            active=self.active,
            running_since=self.running_since,
            spent=self.spent,
            repeats=self.repeats,
            trip=self.trip,
            visit=self.visit,
        )

    def put(self, machine: MachineBase[Any, Any], counts: BreakerCounts) -> None:
        """Takes over what the law has made of the record."""
        visits = dict(counts.visits)
        self.epoch += 1
        self.state: str = counts.state
        self.entered_at: float = counts.entered_at
        self.transitions: int = counts.transitions
        self.ordinal: int = counts.ordinal
        self.visits: dict[str, int] = visits
        self.active: float = counts.active
        self.running_since: float | None = counts.running_since
        self.spent: Mapping[str, float] = counts.spent
        self.repeats: Mapping[str, Repetition] = counts.repeats
        self.trip: Trip | None = counts.trip
        self.visit: int = counts.visit
        self.epoch += 1
        self._frozen = (self.epoch, counts)
        self.arm(machine)

    def arm(self, machine: MachineBase[Any, Any]) -> None:
        """Works out anew what may be made at once: the state, the policy or the commit hook has changed."""
        policy = machine.policy
        self.allowed: float = policy.max_transitions or math.inf
        self.most_visits: float = policy.max_state_visits or math.inf
        self.patience: float = policy.state_timeout.total_seconds() or math.inf
        self.moves: Moves = machine._moves_at_once(self.state) if self._is_free(policy) else {}
        total = policy.max_total_duration.total_seconds()
        since = self.running_since
        self.run_ends: float = (
            since + (total - self.active) - MARGIN if total and since is not None else math.inf
        )
        self.deadline: float = self.run_ends
        if self.moves:
            allowed = machine._state_clock(self.state).timeout_under(policy)
            self.deadline = min(self.entered_at + (allowed or math.inf), self.run_ends)

    def _is_free(self, policy: CircuitBreakerPolicy) -> bool:
        """Whether nothing but a count or a clock may stop a transition; the first one starts the clock."""
        if self.trip is not None or self.running_since is None:
            return False
        return not policy.meters or judge_meters(policy, self.spent) is None

    def enter(self, move: Move, now: float, deadline: float) -> None:
        """Takes a move: every line is a plain store, so that no signal and no thread comes in between."""
        dest = move.dest
        visits = self.visits.get(dest, 0) + 1
        self.epoch += 1
        self.visits[dest] = visits
        self.state = dest
        self.moves = move.there
        self.entered_at = now
        self.deadline = deadline
        self.transitions += 1
        self.ordinal += 1
        self.visit += 1
        self.epoch += 1

    def stay(self) -> None:
        """Takes an internal move, which counts as a transition and as no visit."""
        self.epoch += 1
        self.transitions += 1
        self.ordinal += 1
        self.epoch += 1
