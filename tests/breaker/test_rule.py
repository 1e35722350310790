"""Which limit has been passed: every limit, their order and its sentences."""

from dataclasses import replace

import pytest

from orkeon_transitions.breaker import (
    NESTING_LIMIT,
    BreakerCounts,
    BreakerLimit,
    CircuitBreakerPolicy,
    Repetition,
    StateClock,
    Trip,
    judge_departure,
    judge_entry,
    judge_nesting,
    judge_repetition,
)

OFF = {"max_transitions": 0, "state_timeout": 0, "max_state_visits": 0, "max_total_duration": 0}
RUNNING, PATIENT = StateClock(), StateClock(timeout=0)
START = BreakerCounts.fresh("a", 0.0)


def limits(**given):
    return CircuitBreakerPolicy(**{**OFF, **given})


def running(seconds):
    """A machine that made its first transition at 0 and has been in its state since."""
    return replace(START, running_since=0.0), seconds


# 1. max_transitions


@pytest.mark.parametrize("most", [1, 3, 50])
def test_exactly_n_transitions_are_made(most):  # case D05
    counts, made = START, 0
    while judge_departure(limits(max_transitions=most), counts, 0.0, RUNNING) is None:
        counts, made = counts.moved("b", 0.0), made + 1
    assert made == most


def test_the_sentence_of_limit_1():
    trip = judge_departure(limits(max_transitions=3), replace(START, transitions=3), 0.0, RUNNING)
    assert trip.limit is BreakerLimit.MAX_TRANSITIONS
    assert trip.reason == "Max transitions exceeded (3/3)"


# 2. state_timeout


@pytest.mark.parametrize(("now", "trips"), [(9.9, False), (10.0, False), (10.001, True)])
def test_more_than_the_time_allowed_must_have_passed(now, trips):
    trip = judge_departure(limits(state_timeout=10), START, now, RUNNING)
    assert (trip is not None) is trips


@pytest.mark.parametrize(
    ("now", "figures"),
    [
        (130.5, "130.5s in state 'a' (allowed 120s)"),
        (123456.0, "123456s in state 'a' (allowed 120s)"),
        (120.001, "120.001s in state 'a' (allowed 120s)"),
    ],
)
def test_the_sentence_of_limit_2(now, figures):
    trip = judge_departure(limits(state_timeout=120), START, now, RUNNING)
    assert trip.limit is BreakerLimit.STATE_TIMEOUT
    assert trip.reason == f"State timeout exceeded: {figures}"


@pytest.mark.parametrize(
    ("own", "now", "trips"),
    [(2.0, 2.5, True), (20.0, 15.0, False), (20.0, 21.0, True), (0, 1e6, False), (None, 11.0, True)],
)
def test_a_states_own_timeout_replaces_the_policys(own, now, trips):
    trip = judge_departure(limits(state_timeout=10), START, now, StateClock(timeout=own))
    assert (trip is not None) is trips


def test_a_states_own_timeout_counts_where_the_policy_has_none():
    trip = judge_departure(limits(), START, 3.0, StateClock(timeout=2.5))
    assert trip.reason == "State timeout exceeded: 3s in state 'a' (allowed 2.5s)"


# 3. max_state_visits


def test_the_initial_state_has_been_visited_once():
    assert judge_entry(limits(max_state_visits=1), START, "a") is not None
    assert judge_entry(limits(max_state_visits=1), START, "b") is None


@pytest.mark.parametrize("most", [1, 2, 10])
def test_entry_n_plus_1_trips(most):
    counts, entries = START, 0
    while judge_entry(limits(max_state_visits=most), counts, "b") is None:
        counts, entries = counts.moved("b", 0.0), entries + 1
    assert entries == most


def test_an_internal_row_enters_nothing():
    assert judge_entry(limits(max_state_visits=1), START, None) is None


def test_the_sentence_of_limit_3():
    trip = judge_entry(limits(max_state_visits=2), replace(START, visits={"b": 2}), "b")
    assert trip.limit is BreakerLimit.MAX_STATE_VISITS
    assert trip.reason == "Cycle detected: state 'b' would be entered 3 times (allowed 2)"


# 4. max_total_duration


@pytest.mark.parametrize(("seconds", "trips"), [(10.0, False), (10.5, True)])
def test_the_total_runs_from_the_first_transition(seconds, trips):
    assert judge_departure(limits(max_total_duration=10), START, 1e9, RUNNING) is None
    counts, now = running(seconds)
    assert (judge_departure(limits(max_total_duration=10), counts, now, RUNNING) is not None) is trips


def test_the_sentence_of_limit_4():
    counts, now = running(4000.25)
    trip = judge_departure(limits(max_total_duration=1800), counts, now, RUNNING)
    assert trip.limit is BreakerLimit.MAX_TOTAL_DURATION
    assert trip.reason == "Max total duration exceeded: 4000.25s running (allowed 1800s)"


# 5. meters


@pytest.mark.parametrize(
    ("spent", "most", "trips"),
    [
        (100, 100, False),
        (101, 100, True),
        (0, 0, False),
        (1, 0, True),
        (0.1 + 0.2, 0.3, False),  # a rounding error is not an overrun
        (0.31, 0.3, True),
    ],
)
def test_over_a_meter_the_next_attempt_trips(spent, most, trips):
    counts = START.spending({"usd": spent})
    assert (judge_departure(limits(meters={"usd": most}), counts, 0.0, RUNNING) is not None) is trips


def test_a_meter_without_a_limit_is_only_counted():
    counts = START.spending({"pages": 1e9})
    assert judge_departure(limits(meters={"tokens": 1}), counts, 0.0, RUNNING) is None


@pytest.mark.parametrize(
    ("spent", "figures"),
    [
        (50_812, "50812 tokens spent (allowed 50000)"),
        (50_000.5, "50000.5 tokens spent (allowed 50000)"),
    ],
)
def test_the_sentence_of_limit_5(spent, figures):
    trip = judge_departure(limits(meters={"tokens": 50_000}), START.spending({"tokens": spent}), 0.0, RUNNING)
    assert trip.limit is BreakerLimit.METERS
    assert trip.reason == f"Budget exhausted: {figures}"


# 6. max_repeats


@pytest.mark.parametrize("most", [1, 4])
def test_a_row_may_be_taken_n_times_in_a_row_with_an_equal_payload(most):
    counts, taken = START, 0
    while judge_repetition(limits(max_repeats=most), counts.repeated("x"), "call", "call()") is None:
        counts, taken = replace(counts, repeats={"a": counts.repeated("x")}), taken + 1
    assert taken == most


def test_the_sentence_of_limit_6():
    trip = judge_repetition(
        limits(max_repeats=3), Repetition("x", 4), "call_tool", "call_tool(query='weather')"
    )
    assert trip.limit is BreakerLimit.MAX_REPEATS
    assert trip.reason == "Repetition: call_tool(query='weather'), 4 times in a row (allowed 3)"
    written_down = "Repetition: 'call_tool' with an equal payload, 4 times in a row (allowed 3)"
    assert trip.recorded() == Trip(BreakerLimit.MAX_REPEATS, written_down)


# Nesting


def test_nesting_trips_beyond_its_limit_and_cannot_be_switched_off():
    assert NESTING_LIMIT == 50
    assert judge_nesting(50) is None
    trip = judge_nesting(51)
    assert trip.limit is BreakerLimit.NESTING
    assert trip.reason == "Nesting: callbacks fired triggers 50 deep"


# All of them


def test_zero_switches_each_limit_off():
    counts = replace(START, transitions=10**6, visits={"a": 10**6}, running_since=0.0)
    assert judge_departure(limits(), counts, 1e9, RUNNING) is None
    assert judge_entry(limits(), counts, "a") is None
    assert judge_repetition(limits(), Repetition("x", 10**6), "call", "call()") is None


LOW = {
    "max_transitions": 1,
    "state_timeout": 1,
    "max_total_duration": 1,
    "meters": {"tokens": 1},
}
OVER = replace(START, transitions=1, running_since=0.0, spent={"tokens": 2})


@pytest.mark.parametrize(
    ("field", "limit"),
    [
        ("max_transitions", BreakerLimit.MAX_TRANSITIONS),
        ("state_timeout", BreakerLimit.STATE_TIMEOUT),
        ("max_total_duration", BreakerLimit.MAX_TOTAL_DURATION),
        ("meters", BreakerLimit.METERS),
    ],
)
def test_each_limit_trips_alone_and_names_itself(field, limit):  # case D06
    trip = judge_departure(limits(**{field: LOW[field]}), OVER, 5.0, RUNNING)
    assert trip.limit is limit


def test_the_first_violated_limit_trips():
    order, low = [], dict(LOW)
    while trip := judge_departure(limits(**low), OVER, 5.0, RUNNING):
        order.append(trip.limit.value)
        del low[trip.limit.value]
    assert order == ["max_transitions", "state_timeout", "max_total_duration", "meters"]
    assert low == {}
