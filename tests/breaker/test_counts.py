"""The running record: what counts, what the clocks do, patience, a reset."""

from dataclasses import FrozenInstanceError, replace
from datetime import timedelta

import pytest

from orkeon_transitions.breaker import (
    BreakerCounts,
    BreakerLimit,
    CircuitBreakerPolicy,
    Repetition,
    StateClock,
    Trip,
    judge_departure,
)

POLICY = CircuitBreakerPolicy(max_transitions=0, state_timeout=10, max_state_visits=0, max_total_duration=100)
PATIENT = StateClock(timeout=0)


def test_a_fresh_record():
    counts = BreakerCounts.fresh("a", 5.0)
    assert (counts.state, counts.entered_at, counts.visits) == ("a", 5.0, {"a": 1})
    assert (counts.transitions, counts.ordinal, counts.visit, counts.trip) == (0, 0, 0, None)
    assert counts.elapsed(1e6) == 0


def test_a_move_counts_a_transition_and_a_visit():
    counts = BreakerCounts.fresh("a", 0.0).moved("b", 3.0)
    assert (counts.state, counts.transitions, counts.ordinal, counts.visit) == ("b", 1, 1, 1)
    assert counts.visits == {"a": 1, "b": 1}
    assert counts.time_in_state(5.0) == 2.0


def test_a_reflexive_move_is_a_visit_and_starts_the_states_clock_anew():  # case A07
    counts = BreakerCounts.fresh("a", 0.0).moved("a", 3.0)
    assert (counts.visits, counts.time_in_state(4.0), counts.visit) == ({"a": 2}, 1.0, 1)


def test_an_internal_move_is_no_visit_and_leaves_the_states_clock():  # case A07
    counts = BreakerCounts.fresh("a", 0.0).moved(None, 3.0)
    assert (counts.transitions, counts.visits, counts.visit) == (1, {"a": 1}, 0)
    assert counts.time_in_state(4.0) == 4.0
    assert counts.elapsed(4.0) == 1.0


def test_a_record_is_frozen_and_moves_are_new_records():
    first = BreakerCounts.fresh("a", 0.0)
    first.moved("b", 1.0)
    assert first.visits == {"a": 1}
    with pytest.raises(FrozenInstanceError):
        first.state = "b"


def test_the_total_clock_runs_from_the_first_transition():
    counts = BreakerCounts.fresh("a", 0.0).moved("b", 50.0).moved("c", 60.0)
    assert counts.elapsed(65.0) == 15.0


def test_a_clock_that_goes_backwards_gives_no_negative_time():  # case D01
    counts = BreakerCounts.fresh("a", 100.0).moved("b", 110.0)
    assert counts.time_in_state(50.0) == 0.0
    assert counts.elapsed(50.0) == 0.0


def test_both_clocks_stand_still_in_a_patient_state():
    counts = BreakerCounts.fresh("work", 0.0).moved("work", 0.0).moved("wait", 30.0, PATIENT)
    assert counts.elapsed(1e6) == 30.0
    assert judge_departure(POLICY, counts, 1e6, PATIENT) is None
    assert counts.remaining(POLICY, 1e6, PATIENT) is None
    back = counts.moved("work", 1000.0)
    assert back.elapsed(1005.0) == 35.0
    assert back.time_in_state(1005.0) == 5.0


def test_patience_is_that_of_the_state_being_left():
    """Time before a patient state counts, time in it does not, whatever follows."""
    counts = BreakerCounts.fresh("idle", 0.0).moved("work", 500.0).moved("idle", 520.0, PATIENT)
    assert counts.elapsed(900.0) == 20.0
    assert counts.moved(None, 900.0, PATIENT).elapsed(950.0) == 20.0


def test_remaining_is_the_smaller_of_both_clocks():
    counts = BreakerCounts.fresh("a", 0.0)
    assert counts.remaining(POLICY, 4.0) == 6.0  # the total clock does not run yet
    counts = counts.moved("b", 0.0)
    assert counts.remaining(POLICY, 4.0) == 6.0
    late = counts.moved("b", 95.0)
    assert late.remaining(POLICY, 97.0) == 3.0
    assert late.remaining(POLICY, 500.0) == 0.0
    assert counts.remaining(POLICY, 4.0, StateClock(timeout=5)) == 1.0


def test_nothing_remains_to_be_told_when_no_clock_runs():
    off = POLICY.model_copy(update={"state_timeout": timedelta(0), "max_total_duration": timedelta(0)})
    assert BreakerCounts.fresh("a", 0.0).moved("b", 0.0).remaining(off, 5.0) is None


def test_spending_adds_up_by_meter():
    counts = BreakerCounts.fresh("a", 0.0).spending({"tokens": 5}).spending({"tokens": 2, "usd": 0.5})
    assert counts.spent == {"tokens": 7, "usd": 0.5}


def test_repetition_is_counted_in_a_row_and_by_state():
    repeats = {"a": Repetition("x", 2), "b": Repetition("x", 9)}
    counts = replace(BreakerCounts.fresh("a", 0.0), repeats=repeats)
    assert counts.repeated("x") == Repetition("x", 3)
    assert counts.repeated("y") == Repetition("y", 1)
    assert BreakerCounts.fresh("c", 0.0).repeated("x") == Repetition("x", 1)


def test_a_reset_clears_everything_but_the_state_and_the_numbers_of_a_life():
    trip = Trip(BreakerLimit.METERS, "Budget exhausted")
    used = BreakerCounts.fresh("a", 0.0).moved("b", 1.0).moved("b", 2.0).spending({"tokens": 5})
    used = replace(used, trip=trip, repeats={"b": Repetition("x", 2)})
    counts = used.reset(50.0)
    assert (counts.state, counts.ordinal, counts.visit) == ("b", 2, 2)
    assert (counts.transitions, counts.visits, counts.trip) == (0, {"b": 1}, None)
    assert (counts.spent, counts.repeats) == ({}, {})
    assert (counts.time_in_state(51.0), counts.elapsed(51.0)) == (1.0, 0.0)


def test_the_status_shows_everything():
    counts = BreakerCounts.fresh("a", 0.0).moved("b", 1.0).moved("b", 2.0).spending({"usd": 0.5})
    status = counts.status(POLICY, 5.0)
    assert not status.is_broken
    assert (status.broken_reason, status.limit) == (None, None)
    assert (status.total_transitions, status.current_state_visit_count) == (2, 2)
    assert status.time_in_current_state == timedelta(seconds=3)
    assert status.total_elapsed == timedelta(seconds=4)
    assert status.remaining == timedelta(seconds=7)
    assert status.state_visit_histogram == {"a": 1, "b": 2}
    assert status.spent == {"usd": 0.5}
    assert status.policy is POLICY


def test_the_status_of_a_broken_circuit():  # case D07
    trip = Trip(BreakerLimit.MAX_TRANSITIONS, "Max transitions exceeded (3/3)")
    status = replace(BreakerCounts.fresh("a", 0.0), trip=trip).status(POLICY, 0.0)
    assert status.is_broken
    assert status.broken_reason == trip.reason
    assert status.limit is BreakerLimit.MAX_TRANSITIONS


def test_a_status_is_frozen_and_keeps_no_hold_on_the_record():
    counts = BreakerCounts.fresh("a", 0.0)
    status = counts.status(POLICY, 0.0)
    with pytest.raises(FrozenInstanceError):
        status.is_broken = True
    status.state_visit_histogram["a"] = 99
    assert counts.visits == {"a": 1}


@pytest.mark.parametrize(("timeout", "patient"), [(None, False), (0, True), (0.0, True), (5, False)])
def test_only_a_timeout_of_zero_is_patient(timeout, patient):
    assert StateClock(timeout=timeout).is_patient is patient


def test_the_limits_are_named_like_the_policys_fields():
    fields = set(CircuitBreakerPolicy.model_fields) - {"use_degraded_mode"}
    assert {limit.value for limit in BreakerLimit} == fields | {"nesting"}


@pytest.mark.parametrize("now", [float("inf"), 1e300])
def test_a_clock_gone_mad_does_not_keep_the_status_back(now):
    counts = BreakerCounts.fresh("a", 0.0).moved("b", 1.0)
    status = counts.status(CircuitBreakerPolicy(), now)
    assert status.time_in_current_state == status.total_elapsed == timedelta.max
    assert status.remaining == timedelta(0)


def test_a_clock_that_tells_no_number_tells_no_time():
    counts = BreakerCounts.fresh("a", 0.0).moved("b", 1.0)
    assert counts.time_in_state(float("nan")) == 0
    assert counts.elapsed(float("nan")) == 0
    assert counts.remaining(CircuitBreakerPolicy(), float("nan")) == 300
