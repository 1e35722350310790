"""One machine that a session fires, with everything that has happened to it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from orkeon_transitions.explorer.makers import Maker
from orkeon_transitions.explorer.showing import reason_of, stamp, step_row
from orkeon_transitions.explorer.way import Row, Way
from orkeon_transitions.facts import (
    BreakerReset,
    CircuitBroken,
    Fact,
    Refusal,
    Snapshot,
    TransitionFailed,
    TransitionResult,
    error_text,
)
from orkeon_transitions.runtime.naming import text_of
from orkeon_transitions.store.records import fact_line, recording_line

MOST_STEPS = 20_000


class Run:
    """A machine and its way so far.

    Of a machine that the session has made, it is the commit hook, so that it knows how the machine was after
    each step. A machine of the user's is listened to. Undoing takes another machine, made from a snapshot.

    Args:
        maker: Makes the machines.
        changed: Called after each fact, in the thread that has made it.
        live: A machine of the user's, to be followed.

    Attributes:
        machine: The machine; another one after an undo.
        form: What its guards judge.
        way: What has happened.
        problem: What a callback raised, or None.
        is_followed: Whether the machine is the user's own.
        lock: Held while the way changes, and by whoever looks at it.
    """

    def __init__(self, maker: Maker, changed: Callable[[], None], live: Any = None) -> None:
        self._maker = maker
        self._changed = changed
        # Facts may come in any thread of the user's while another looks at the way.
        self.lock = threading.RLock()
        self._failure: BaseException | None = None
        self._unsubscribes: list[Callable[[], None]] = []
        self.form = maker.form()
        self.problem: dict[str, str] | None = None
        self.is_followed = live is not None
        self.machine: Any = maker.make(self) if live is None else live
        if live is None:
            self.form.begin(self.machine)
        first = self.machine.snapshot()
        self.way = Way(first.state, first.visits)
        # The machine after each step, the beginning first.
        self._snapshots = [first]
        # Each fact with the number of steps made by then; None: it had moved before, and begins here.
        self._told: list[tuple[int, Fact | None, Snapshot]] = []
        if first.ordinal or first.trip or first.state != maker.definition.initial:
            self._told.append((0, None, first))
        self._listen()

    def __call__(self, fact: Fact, snapshot: Snapshot) -> None:
        """Takes a fact down; the machine's commit hook."""
        self._take(fact, snapshot)

    def lines(self) -> list[bytes]:
        """What has happened, as a journal's lines."""
        with self.lock:
            told = list(self._told)
        return [
            recording_line(snapshot) if fact is None else fact_line(fact, snapshot)
            for _, fact, snapshot in told
        ]

    def snapshot(self, at: int) -> Snapshot:
        """The machine as it was after so many steps."""
        return self._snapshots[at]

    def copy(self, snapshot: Snapshot) -> Any:
        """A machine as this one was then, for looking at."""
        return self._maker.make(_taken_down_by_nobody, snapshot)

    def undo(self) -> None:
        """Goes on with a machine as this one was before its last step.

        Raises:
            Exception: The user's class cannot be restored.
        """
        before = self.way.last - 1
        undone, machine = self.way.step(before + 1), self._maker.make(self, self._snapshots[before])
        self.forget()
        self.machine, self.is_followed, self.problem = machine, False, None
        self._listen()
        with self.lock:
            self._cut(before, undone)

    def _cut(self, before: int, undone: Row) -> None:
        self.way.cut(before)
        del self._snapshots[before + 1 :]
        self._told = [entry for entry in self._told if entry[0] <= before]
        if undone.kind == "degraded" and self.way.drop_last("broken"):
            # The trip and the move that it made are one.
            self._told.pop()

    def forget(self) -> None:
        """Follows the machine no more."""
        for unsubscribe in self._unsubscribes:
            unsubscribe()
        self._unsubscribes.clear()

    def reset_breaker(self) -> None:
        """Gives the machine a fresh budget."""
        self.machine.reset_circuit_breaker()
        if self.is_followed:
            snapshot = self.machine.snapshot()
            self._take(BreakerReset(snapshot.state, snapshot.ordinal, snapshot.taken_at), snapshot)

    def tell_raised(self, trigger: str, error: BaseException) -> None:
        """Takes down what a callback raised."""
        if error is not self._failure:
            with self.lock:
                state = self._snapshots[-1].state
                self.way.add(Row("failed", trigger, state, state, stamp(), error_text(error)))
        self.tell_problem(f"'{trigger}' raised {type(error).__name__}", error_text(error))

    def tell_problem(self, title: str, text: str) -> None:
        """Says what went wrong with the last thing that was asked for."""
        self.problem = {"title": title, "text": text}

    # ------------------------------------------------------------------------------------------ what it hears
    def _listen(self) -> None:
        machine = self.machine
        self._unsubscribes = [machine.on_refused(self._refused)]
        if self.is_followed:
            self._unsubscribes += [
                machine.on_transition(self._followed),
                machine.on_circuit_broken(self._followed),
            ]

    def _followed(self, fact: TransitionResult | CircuitBroken) -> None:
        snapshot = self.machine.snapshot()
        if isinstance(fact, TransitionResult) and snapshot.ordinal != fact.ordinal:
            # Another thread was quicker: as far as the fact itself tells, this is how the machine was.
            was = {"ordinal": fact.ordinal, "transition_count": fact.transition_count}
            snapshot = snapshot.model_copy(update={"state": text_of(fact.to_state), **was})
        self._take(fact, snapshot)
        if isinstance(fact, TransitionResult) and fact.error is not None:
            self._take(TransitionFailed(fact.ordinal, fact.error, fact.timestamp), snapshot)

    def _take(self, fact: Fact, snapshot: Snapshot) -> None:
        with self.lock:
            self._write_down(fact, snapshot)
        self._changed()

    def _write_down(self, fact: Fact, snapshot: Snapshot) -> None:
        state = snapshot.state
        match fact:
            case TransitionResult():
                self._snapshots.append(snapshot)
                self.way.add(step_row(fact))
                self._forget_the_oldest()
            case TransitionFailed(error=error):
                self._failure = error
                trigger = self.way.step(self.way.last).trigger if self.way.last else None
                self.way.add(Row("failed", trigger, state, state, stamp(fact.timestamp), error_text(error)))
            case CircuitBroken(reason=reason):
                trigger = None if fact.trigger is None else text_of(fact.trigger)
                where = text_of(fact.state)
                self.way.add(Row("broken", trigger, where, where, stamp(fact.timestamp), reason))
            case BreakerReset():
                self.way.add(Row("reset", None, state, state, stamp(fact.timestamp)))
                self._snapshots[-1] = snapshot
        self._told.append((self.way.last, fact, snapshot))

    def _forget_the_oldest(self) -> None:
        """A machine that is followed may run for days."""
        if self.way.last > MOST_STEPS:
            dropped = MOST_STEPS // 2
            self.way.forget(dropped)
            del self._snapshots[:dropped]
            kept = [(steps - dropped, fact, then) for steps, fact, then in self._told if steps > dropped]
            self._told = [(0, None, self._snapshots[0]), *kept]

    def _refused(self, refusal: Refusal) -> None:
        state = text_of(refusal.state)
        trigger = None if refusal.trigger is None else text_of(refusal.trigger)
        with self.lock:
            self.way.add(Row("refused", trigger, state, state, stamp(), reason_of(refusal)))
        self._changed()


def _taken_down_by_nobody(fact: Fact, snapshot: Snapshot) -> None:
    """The commit hook of a machine that is only looked at."""
