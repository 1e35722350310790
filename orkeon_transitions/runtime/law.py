"""The law of firing: in which order things are looked at and done.

Terminal state, broken circuit, limits 1, 2, 4 and 5, is there such a row, do its guards pass, limits 3 and 6
for the chosen row, callbacks. The engine (a `transitions` machine with the mixin) makes the transition; this
module decides what is asked of it and what its answer means. Everything here runs while the machine is held.
"""

from __future__ import annotations

import logging
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from orkeon_transitions.breaker import (
    BreakerCounts,
    BreakerLimit,
    StateClock,
    Trip,
    judge_clocks,
    judge_departure,
    judge_entry,
    judge_nesting,
)
from orkeon_transitions.errors import MachineBusyError
from orkeon_transitions.facts import (
    BreakerReset,
    CircuitBroken,
    Fact,
    Refusal,
    TransitionFailed,
    TransitionResult,
)
from orkeon_transitions.runtime import refusals
from orkeon_transitions.runtime.asking import asking, asks_itself
from orkeon_transitions.runtime.callbacks import Objection, objection_of, objection_to
from orkeon_transitions.runtime.firing import Firing
from orkeon_transitions.runtime.repeating import repeat

if TYPE_CHECKING:
    from orkeon_transitions.runtime.base import MachineBase, Request
    from orkeon_transitions.runtime.engine import Row
    from orkeon_transitions.runtime.moving import MoveEvent
    from orkeon_transitions.runtime.steps import Effect, Steps

    Machine = MachineBase[Any, Any]

PATIENT = StateClock(0)
log = logging.getLogger("orkeon_transitions")


# ------------------------------------------------------------------------------------------------ judging
def gate(machine: Machine, firing: Firing) -> Trip | None:
    """Limits 1, 2, 4 and 5 for a trigger that has rows here; what an `always` row may pass is kept aside."""
    counts = machine._counts
    if counts.trip is None and firing.trigger in machine.budget_starts:
        firing.base = counts.reset(machine._clock())
        return None
    trip = counts.trip or _departure(machine, firing.trigger)
    firing.passes_limits = any(row.always for row in machine._rows(firing.trigger))
    if not firing.passes_limits:
        return trip
    firing.waived = trip
    return None


def wall(machine: Machine, firing: Firing, row: Row) -> Trip | None:
    """Limits 3 and 6 for the row that was chosen."""
    firing.passes_limits = row.always
    if firing.degrading is not None or row.always:
        return None
    if firing.waived is not None:
        return firing.waived
    counts = firing.base or machine._counts
    trip = judge_entry(machine.policy, counts, row.dest)
    if trip is not None or row.repeatable or not machine.policy.max_repeats:
        return trip
    firing.repetition, trip = repeat(machine.policy, counts, firing.trigger, firing.event.payload)
    return trip


def guards_pass(machine: Machine, firing: Firing, row: Row, *, only_asked: bool = False) -> Steps[bool]:
    """Asks the guards of a row, one after another until one objects; when one has raised, none is asked.

    Args:
        machine: Whose guards.
        firing: The attempt, which keeps the objection.
        row: The row.
        only_asked: Whether nothing is fired, so that the machine is not held.
    """
    if firing.guard_raised:
        return False
    for name, wanted in row.guards:
        try:
            if only_asked and asks_itself(machine, name):
                told = machine.definition.guards.get(name)
                objection: Objection | None = Objection(name, told, "it asks for its own answer")
            else:
                with asking(machine, name) if only_asked else nullcontext():
                    answer = yield partial(machine._answer, name, firing.event)
                objection = objection_to(machine.definition, name, wanted, answer)
        except Exception as error:  # noqa: BLE001 (a guard that raises means no)
            objection = objection_of(machine.definition, name, error)
        if objection is not None:
            firing.objections.append(objection)
            return False
    return True


def _departure(machine: Machine, trigger: str) -> Trip | None:
    return judge_departure(machine.policy, machine._counts, machine._clock(), _clock_for(machine, trigger))


def _clock_for(machine: Machine, trigger: str | None) -> StateClock:
    """How time counts in the state for a trigger: its way out is never late."""
    state = machine._counts.state
    way_out = machine.definition.states_by_name[state].on_timeout
    return PATIENT if trigger is not None and trigger == way_out else machine._state_clock(state)


def is_overdue(machine: Machine) -> bool:
    """Whether a clock has run out, so that it may cut the trigger under way short, if there is one."""
    firing = machine._record.firing
    if firing is None or firing.result is not None:
        trigger = None
    elif firing.passes_limits:
        return False
    else:
        trigger = firing.what
    clock = _clock_for(machine, trigger)
    return judge_clocks(machine.policy, machine._counts, machine._clock(), clock) is not None


# ------------------------------------------------------------------------------------------------- firing
def demand(machine: Machine, request: Request) -> Steps[TransitionResult]:
    """Makes one transition, or raises; a move to the degraded state is a result."""
    return demanded(machine, (yield from attempt(machine, request)))


def demanded(machine: Machine, result: TransitionResult) -> TransitionResult:
    """Gives a result that may be given, and raises for every other."""
    if result.refusal is None or result.degraded:
        return result
    raise refusals.error_of(machine, result.refusal) from result.error


def attempt(machine: Machine, request: Request) -> Steps[TransitionResult]:
    """Makes one transition, or refuses it, or trips."""
    trigger = request.trigger
    if machine.is_terminal:
        return refused(machine, refusals.ended(machine, trigger))
    if trip := judge_nesting(machine._record.depth):
        return (yield from tripped(machine, trip, trigger))
    firing = Firing(machine._event(request), trigger)
    if machine._rows(trigger):
        yield from _make(machine, firing, machine._engine.sending(machine, firing))
        trip = firing.trip
    else:
        trip = machine._counts.trip or _departure(machine, trigger)
    if trip is not None and _has_way_out(machine, trip):
        return (yield from _after_timeout(machine, trip, request))
    if trip is not None:
        return (yield from tripped(machine, trip, trigger))
    if firing.result is not None:
        return firing.result
    if firing.objections:
        cause = firing.objections[-1].error
        return refused(machine, refusals.guarded(machine, trigger, firing.objections), cause)
    return refused(machine, refusals.no_such_row(machine, trigger))


def _make(machine: Machine, firing: Firing, effect: Effect) -> Steps[None]:
    """Lets the engine work, and puts down what a callback raised after the state was written."""
    outer, machine._record.firing = machine._record.firing, firing
    try:
        yield effect
        if firing.raised is not None:
            raise firing.raised
    except BaseException as error:
        if not isinstance(error, GeneratorExit):
            yield from failed(machine, firing, error)
        raise
    finally:
        machine._record.firing = outer


def failed(machine: Machine, firing: Firing | MoveEvent, error: BaseException) -> Steps[None]:
    """Tells and commits what a callback raised after the state was written."""
    if firing.result is None:
        return
    firing.result = replace(firing.result, error=error)
    fact = TransitionFailed(firing.result.ordinal, error, machine._now())
    try:
        stopped = yield partial(machine._commit, fact, machine._counts)
    except Exception as second:
        # The callback's own error is the one to leave `fire`.
        error.add_note(f"and this failure could not be recorded: {second}")
        log.exception("the failure of a transition of '%s' could not be recorded", machine.machine_id)
        return
    if stopped is not None and isinstance(error, Exception):
        raise stopped from error


def _has_way_out(machine: Machine, trip: Trip) -> bool:
    if machine._counts.trip is not None or trip.limit is not BreakerLimit.STATE_TIMEOUT:
        return False
    return machine.definition.states_by_name[machine._counts.state].on_timeout is not None


def _after_timeout(machine: Machine, trip: Trip, request: Request | None) -> Steps[TransitionResult]:
    """Makes the state's own `on_timeout`, then what was asked, judged in the new state."""
    visit = machine._counts.visit
    way_out = machine.definition.states_by_name[machine._counts.state].on_timeout or ""
    asked = request.trigger if request else way_out
    try:
        result = yield from attempt(machine, machine._request(way_out))
    except Exception:
        # A way out that fails is none; without a trip it would be tried for ever.
        if machine._counts.visit == visit and machine._counts.trip is None:
            yield from tripped(machine, trip, asked)
        raise
    if machine._counts.visit == visit:
        return (yield from tripped(machine, trip, asked))
    return result if request is None else (yield from attempt(machine, request))


def refused(machine: Machine, refusal: Refusal, cause: Exception | None = None) -> TransitionResult:
    """Tells a refusal, and gives the result that has it."""
    machine._record.put_down("refused", lambda: refusal)
    return machine._nothing_moved(refusal, cause)


# --------------------------------------------------------------------------------------------- the breaker
def tripped(machine: Machine, trip: Trip, trigger: str | None) -> Steps[TransitionResult]:
    """Breaks the circuit, once; then moves to the degraded state, or refuses."""
    is_first = machine._counts.trip is None
    refusal = refusals.broken(machine, trigger, trip)
    if is_first:
        yield from _break(machine, trip, trigger)
    degraded = machine.definition.degraded
    moves = is_first and machine.policy.use_degraded_mode and degraded is not None
    if not moves or degraded == machine._counts.state:
        return refused(machine, refusal)
    recorded = refusals.broken(machine, trigger, trip.recorded())
    firing = Firing(machine._event(machine._request(trigger)), trigger or "", recorded)
    firing.event.to_state = machine._state_member(degraded or "")
    yield from _make(machine, firing, partial(machine._engine.degrade, machine, firing))
    return refused(machine, refusal) if firing.result is None else firing.result


def _break(machine: Machine, trip: Trip, trigger: str | None) -> Steps[None]:
    recorded = trip.recorded()
    broken = replace(machine._counts, trip=recorded)
    fact = CircuitBroken(
        state=machine.state,
        trigger=None if trigger is None else machine._trigger_member(trigger),
        limit=trip.limit,
        reason=recorded.reason,
        status=machine._status_of(broken),
        timestamp=machine._now(),
    )
    try:
        stopped = yield from _committed(machine, trigger or "check_circuit", fact, broken)
        machine._counts = replace(machine._counts, trip=trip)
    except BaseException:
        if machine._has_committed(fact):  # an interrupt came after the hook had written
            machine._counts = replace(machine._counts, trip=trip)
        raise
    machine._record.put_down("broken", lambda: fact)
    machine._visit_ended()
    if stopped is not None:
        raise stopped


def _committed(machine: Machine, what: str, fact: Fact, counts: BreakerCounts) -> Steps[Any]:
    """Commits a fact that no row makes; its hook may fire as little as that of a transition."""
    outer, machine._record.firing = (
        machine._record.firing,
        Firing(machine._event(machine._request(None)), what),
    )
    try:
        return (yield partial(machine._commit, fact, counts))
    finally:
        machine._record.firing = outer


def check_clocks(machine: Machine) -> Steps[TransitionResult | None]:
    """Trips, or takes the state's way out, if a clock has run out; gives None if none has."""
    if machine.is_terminal:
        return None
    counts = machine._counts
    clock = machine._state_clock(counts.state)
    trip = counts.trip or judge_clocks(machine.policy, counts, machine._clock(), clock)
    if trip is None:
        return None
    if _has_way_out(machine, trip):
        return (yield from _after_timeout(machine, trip, None))
    return (yield from tripped(machine, trip, None))


def demand_clocks(machine: Machine) -> Steps[TransitionResult | None]:
    """`check_clocks`, raising what it finds unless the machine moved to its degraded state."""
    result = yield from check_clocks(machine)
    return None if result is None else demanded(machine, result)


def reset(machine: Machine) -> Steps[None]:
    """Clears the trip and all counts, and starts the clocks anew."""
    fresh = machine._counts.reset(machine._clock())
    fact = BreakerReset(machine.state, fresh.ordinal, machine._now())
    try:
        stopped = yield from _committed(machine, "reset_circuit_breaker", fact, fresh)
        machine._counts = machine._counts.reset(machine._clock())
    except BaseException:
        if machine._has_committed(fact):  # an interrupt came after the hook had written
            machine._counts = machine._counts.reset(machine._clock())
        raise
    machine._clocks_changed()
    if stopped is not None:
        raise stopped


def refuse_too_early(machine: Machine, what: str) -> None:
    """Refuses a trigger that is fired while another one has not yet written its state.

    Raises:
        MachineBusyError: It is fired inside of a guard, `before`, `on_exit` or the commit hook.
    """
    firing = machine._record.firing
    if firing is None or firing.result is not None:
        return
    raise MachineBusyError(
        f"'{what}' came inside of a guard, before, on_exit or the commit hook of '{firing.what}', which "
        f"has not written its state yet on machine '{machine.definition.name}': use fire_later to do it "
        "afterwards"
    )


# -------------------------------------------------------------------------------------------------- asking
def why_not(machine: Machine, request: Request) -> Steps[Refusal | None]:
    """What a trigger would be refused for now: never counts, never trips, runs guards only."""
    trigger = request.trigger
    if machine.is_terminal:
        return refusals.ended(machine, trigger)
    firing = Firing(machine._event(request), trigger)
    rows = machine._rows(trigger)
    if not rows:
        trip = machine._counts.trip or _departure(machine, trigger)
        return refusals.broken(machine, trigger, trip) if trip else refusals.no_such_row(machine, trigger)
    if trip := gate(machine, firing):
        return refusals.broken(machine, trigger, trip)
    for row in rows:
        if (yield from guards_pass(machine, firing, row, only_asked=True)):
            trip = wall(machine, firing, row)
            return refusals.broken(machine, trigger, trip) if trip else None
    return refusals.guarded(machine, trigger, firing.objections)
