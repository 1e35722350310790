"""One machine that a session fires, with everything that has happened to it."""

from __future__ import annotations

from typing import Any

from orkeon_transitions.explorer.makers import Maker
from orkeon_transitions.explorer.showing import stamp, step_row
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


class Run:
    """A machine and its way so far.

    It is the machine's commit hook, so that it knows how the machine was after each step: undoing takes
    another machine from there.

    Attributes:
        machine: The machine; another one after an undo.
        form: What its guards judge.
        way: What has happened.
        problem: What a callback raised, or None.
    """

    def __init__(self, maker: Maker) -> None:
        self._maker = maker
        self.form = maker.form()
        self.problem: dict[str, str] | None = None
        self._failure: BaseException | None = None
        self.machine: Any = maker.make(self)
        self._listen()
        first = self.machine.snapshot()
        self.way = Way(first.state, first.visits)
        # The machine after each step, the beginning first.
        self._snapshots = [first]

    def __call__(self, fact: Fact, snapshot: Snapshot) -> None:
        """Takes a fact down; the machine's commit hook."""
        state = snapshot.state
        match fact:
            case TransitionResult():
                self._snapshots.append(snapshot)
                self.way.add(step_row(fact))
            case TransitionFailed(error=error):
                self._failure = error
                self.way.add(Row("failed", None, state, state, stamp(fact.timestamp), error_text(error)))
            case CircuitBroken(reason=reason):
                trigger = None if fact.trigger is None else text_of(fact.trigger)
                self.way.add(Row("broken", trigger, state, state, stamp(fact.timestamp), reason))
                self._snapshots[-1] = snapshot
            case BreakerReset():
                self.way.add(Row("reset", None, state, state, stamp(fact.timestamp)))
                self._snapshots[-1] = snapshot

    def copy(self, at: int) -> Any:
        """A machine as this one was after so many steps, for looking at."""
        return self._maker.make(_taken_down_by_nobody, self._snapshots[at])

    def undo(self) -> None:
        """Goes on with a machine as this one was before its last step."""
        before = self.way.last - 1
        self.machine = self._maker.make(self, self._snapshots[before])
        self._listen()
        self.way.cut(before)
        del self._snapshots[before + 1 :]
        self.problem = None

    def tell_raised(self, trigger: str, error: BaseException) -> None:
        """Takes down what a callback raised."""
        if error is not self._failure:
            state = self._snapshots[-1].state
            self.way.add(Row("failed", trigger, state, state, stamp(), error_text(error)))
        self.tell_problem(f"'{trigger}' raised {type(error).__name__}", error_text(error))

    def tell_problem(self, title: str, text: str) -> None:
        """Says what went wrong with the last thing that was asked for."""
        self.problem = {"title": title, "text": text}

    def _listen(self) -> None:
        self.machine.on_refused(self._refused)

    def _refused(self, refusal: Refusal) -> None:
        state = text_of(refusal.state)
        trigger = None if refusal.trigger is None else text_of(refusal.trigger)
        self.way.add(Row("refused", trigger, state, state, stamp(), refusal.message))


def _taken_down_by_nobody(fact: Fact, snapshot: Snapshot) -> None:
    """The commit hook of a machine that is only looked at."""
