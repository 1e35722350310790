"""The rule of the breaker on machines of both kinds: each limit, its order, what counts."""

import dataclasses
from datetime import timedelta

import pytest

from orkeon_transitions.breaker import BreakerLimit, CircuitBreakerPolicy
from orkeon_transitions.errors import CircuitBrokenError, InvalidTransitionError
from tests.runtime.samples import GUARDED, OFF, RING, limits, quiet

L = BreakerLimit


def by_transitions(kind, machine, clock):
    for _ in range(3):
        kind.fire(machine, "tick")


def by_time_in_state(kind, machine, clock):
    kind.fire(machine, "go")
    clock.advance(61)


def by_visits(kind, machine, clock):
    for _ in range(3):
        kind.fire(machine, "go")


def by_total_time(kind, machine, clock):
    kind.fire(machine, "go")
    clock.advance(50)
    kind.fire(machine, "go")
    clock.advance(55)


def by_meter(kind, machine, clock):
    kind.fire(machine, "go")
    machine.spend(tokens=60)
    machine.spend(tokens=41)


def by_repetition(kind, machine, clock):
    for _ in range(2):
        kind.fire(machine, "call", query="weather")


# limit, its policy, what leads to the brink, what is fired then, the reason, the transitions made before
ALONE = [
    (
        L.MAX_TRANSITIONS,
        {"max_transitions": 3},
        by_transitions,
        ("tick", {}),
        "Max transitions exceeded (3/3)",
        3,
    ),
    (
        L.STATE_TIMEOUT,
        {"state_timeout": 60},
        by_time_in_state,
        ("go", {}),
        "State timeout exceeded: 61s in state 'other' (allowed 60s)",
        1,
    ),
    (
        L.MAX_STATE_VISITS,
        {"max_state_visits": 2},
        by_visits,
        ("go", {}),
        "Cycle detected: state 'work' would be entered 3 times (allowed 2)",
        3,
    ),
    (
        L.MAX_TOTAL_DURATION,
        {"max_total_duration": 100},
        by_total_time,
        ("go", {}),
        "Max total duration exceeded: 105s running (allowed 100s)",
        2,
    ),
    (
        L.METERS,
        {"meters": {"tokens": 100}},
        by_meter,
        ("go", {}),
        "Budget exhausted: 101 tokens spent (allowed 100)",
        1,
    ),
    (
        L.MAX_REPEATS,
        {"max_repeats": 2},
        by_repetition,
        ("call", {"query": "weather"}),
        "Repetition: 'call' with (query='weather'), 3 times in a row (allowed 2)",
        2,
    ),
]
# Wide enough that none of them can trip in these tests.
WIDE = {
    "max_transitions": 1000,
    "state_timeout": 10_000,
    "max_state_visits": 1000,
    "max_total_duration": 10_000,
    "meters": {"tokens": 10_000},
    "max_repeats": 1000,
}


def written_down(reason):
    """The reason as facts have it: they show no payload."""
    return reason.replace("with (query='weather')", "with an equal payload")


@pytest.mark.parametrize("others", [{**OFF}, WIDE], ids=["others off", "others wide"])
@pytest.mark.parametrize("row", ALONE, ids=[row[0] for row in ALONE])
def test_each_limit_trips_alone_and_names_itself(kind, clock, row, others):
    limit, policy, lead, (trigger, payload), reason, made = row
    # case D06, case D07
    machine = kind.make(GUARDED, policy=CircuitBreakerPolicy(**{**others, **policy}), clock=clock)
    told, refused, moved = [], [], []
    machine.on_circuit_broken(told.append)
    machine.on_refused(refused.append)
    lead(kind, machine, clock)
    machine.on_transition(moved.append)
    assert not machine.is_circuit_broken
    state = machine.state
    with pytest.raises(CircuitBrokenError) as raised:
        kind.fire(machine, trigger, **payload)
    status = raised.value.status
    assert str(raised.value).startswith(reason + "; ")
    assert f"machine 'guarded' in state '{state}' did not make '{trigger}'" in str(raised.value)
    assert (status.is_broken, status.limit, status.broken_reason) == (True, limit, reason)
    assert status == machine.circuit_status
    assert status.policy == machine.policy
    assert machine.state == state
    assert machine.is_circuit_broken
    assert machine.transition_count == status.total_transitions == made
    assert sum(status.state_visit_histogram.values()) <= made + 1
    [fact] = told
    told_reason = written_down(reason)
    assert (fact.state, fact.trigger, fact.limit, fact.reason) == (state, trigger, limit, told_reason)
    assert fact.status == dataclasses.replace(status, broken_reason=told_reason)
    assert fact.timestamp.utcoffset() == timedelta(0)
    assert [refusal.kind for refusal in refused] == ["circuit"]
    assert moved == []


@pytest.mark.parametrize("row", ALONE, ids=[row[0] for row in ALONE])
def test_each_limit_trips_alone_in_degraded_mode(kind, clock, row):
    limit, policy, lead, (trigger, payload), reason, made = row
    # case D06, case D07
    machine = kind.make(GUARDED, policy=limits(**policy, use_degraded_mode=True), clock=clock)
    told, moved = [], []
    machine.on_circuit_broken(told.append)
    lead(kind, machine, clock)
    machine.on_transition(moved.append)
    state = machine.state
    result = kind.fire(machine, trigger, **payload)
    assert not result
    assert (result.accepted, result.degraded, result.state_changed, result.internal) == (
        False,
        True,
        True,
        False,
    )
    assert (result.from_state, result.to_state, result.trigger) == (state, "limp", trigger)
    assert (result.ordinal, result.transition_count) == (made + 1, made + 1)
    assert result.refusal.kind == "circuit"
    assert result.refusal.state == state
    assert result.refusal.message.startswith(written_down(reason))
    assert machine.circuit_status.broken_reason == reason
    assert machine.state == "limp"
    assert machine.is_circuit_broken
    assert machine.transition_count == made + 1
    assert machine.circuit_status.limit is limit
    assert machine.circuit_status.state_visit_histogram["limp"] == 1
    assert moved == [result]
    [fact] = told
    assert (fact.state, fact.limit, fact.reason) == (state, limit, written_down(reason))
    # What was published is the trip itself, before the move.
    assert fact.status.total_transitions == made


@pytest.mark.parametrize(("allowed", "made"), [(1, 1), (3, 3)])
def test_exactly_n_transitions_succeed(kind, allowed, made):  # case D05
    machine = kind.make(RING, policy=limits(max_transitions=allowed))
    for _ in range(made):
        assert kind.fire(machine, "next")
    with pytest.raises(CircuitBrokenError, match=rf"Max transitions exceeded \({allowed}/{allowed}\)"):
        kind.fire(machine, "next")
    assert machine.transition_count == made


def test_a_state_is_never_entered_more_than_n_times(kind):  # case D05
    machine = kind.make(GUARDED, policy=limits(max_state_visits=2))
    for _ in range(3):  # other, work, other
        kind.fire(machine, "go")
    assert machine.circuit_status.state_visit_histogram == {"work": 2, "other": 2}
    with pytest.raises(CircuitBrokenError, match="state 'work' would be entered 3 times"):
        kind.fire(machine, "go")


def test_the_initial_states_first_visit_counts(kind):  # case D05
    machine = kind.make(RING, policy=limits(max_state_visits=1))
    assert kind.try_fire(machine, "again").refusal.message.startswith(
        "Cycle detected: state 'a' would be entered 2 times"
    )


@pytest.mark.parametrize("name", OFF)
def test_zero_switches_a_limit_off(kind, clock, name):  # case D05
    machine = kind.make(RING, policy=limits(**{name: 0}), clock=clock)
    for _ in range(300):
        kind.fire(machine, "next")
        clock.advance(3600)
    assert not machine.is_circuit_broken


def test_a_meter_of_zero_allows_nothing(kind):
    """A meter is a budget that is declared by name; there is no need for a way to switch it off."""
    machine = kind.make(RING, policy=limits(meters={"usd": 0}))
    kind.fire(machine, "next")
    machine.spend(usd=0)
    kind.fire(machine, "next")
    machine.spend(usd=0.01)
    with pytest.raises(CircuitBrokenError, match=r"Budget exhausted: 0.01 usd spent \(allowed 0\)"):
        kind.fire(machine, "next")


@pytest.mark.parametrize(
    ("policy", "at_the_limit"),
    [({"state_timeout": 60}, 60), ({"max_total_duration": 60}, 60)],
    ids=["state_timeout", "max_total_duration"],
)
def test_clocks_trip_when_more_than_allowed_has_passed(kind, clock, policy, at_the_limit):
    machine = kind.make(GUARDED, policy=limits(**policy), clock=clock)
    kind.fire(machine, "tick")
    clock.advance(at_the_limit)
    assert kind.fire(machine, "tick")
    clock.advance(0.001)
    with pytest.raises(CircuitBrokenError):
        kind.fire(machine, "tick")


def test_a_meter_trips_when_more_than_allowed_was_spent(kind):
    machine = kind.make(RING, policy=limits(meters={"usd": 2.0}))
    machine.spend(usd=2.0)
    assert kind.fire(machine, "next")
    machine.spend(usd=0.5)
    with pytest.raises(CircuitBrokenError, match=r"Budget exhausted: 2.5 usd spent \(allowed 2\)"):
        kind.fire(machine, "next")
    assert machine.circuit_status.spent == {"usd": 2.5}


BRINK = {  # what has to be true for a limit to be over, when all are set
    L.MAX_TRANSITIONS: {"max_transitions": 3},
    L.STATE_TIMEOUT: {"state_timeout": 5},
    L.MAX_TOTAL_DURATION: {"max_total_duration": 5},
    L.METERS: {"meters": {"usd": 1}},
    L.MAX_STATE_VISITS: {"max_state_visits": 2},
}


@pytest.mark.parametrize("first", range(len(BRINK)))
def test_the_first_violated_limit_trips_in_the_order_of_fire(kind, clock, first):
    """1, 2, 4, 5 at the gate, then 3 for the chosen row: each is over, the earlier ones are switched off."""
    order = list(BRINK)[first:]
    policy = {key: value for limit in order for key, value in BRINK[limit].items()}
    machine = kind.make(GUARDED, policy=limits(**policy), clock=clock)
    for _ in range(3):
        kind.fire(machine, "go")
    clock.advance(6)
    machine.spend(usd=2)
    with pytest.raises(CircuitBrokenError) as raised:
        kind.fire(machine, "go")
    assert raised.value.status.limit is order[0]


def test_visits_come_before_repetition(kind):
    text = (
        "initial: a\nstates: [a]\ntransitions: [{trigger: call, source: a, dest: '=', repeatable: false}]\n"
    )
    machine = kind.make(text, policy=limits(max_state_visits=2, max_repeats=1))
    kind.fire(machine, "call")
    assert kind.try_fire(machine, "call").refusal.message.startswith("Cycle detected")


def test_a_trip_happens_whether_or_not_the_trigger_is_valid(kind):
    for trigger in ("fly", "finish", "next"):
        machine = kind.make(RING, policy=limits(max_transitions=1))
        kind.fire(machine, "next")
        with pytest.raises(CircuitBrokenError):
            kind.fire(machine, trigger)
        assert machine.is_circuit_broken


def test_a_guard_that_says_no_is_not_asked_behind_a_limit_of_the_gate(kind):
    asked = []
    text = (
        "initial: a\nstates: [a, b]\ntransitions: [{trigger: go, source: a, dest: null, conditions: ask}]\n"
    )
    machine = kind.make(text, policy=limits(max_transitions=1), guards={"ask": lambda e: not asked.append(e)})
    kind.fire(machine, "go")
    kind.try_fire(machine, "go")
    assert len(asked) == 1


def test_a_refused_guard_stands_before_a_limit_of_the_row(kind):
    """Limits 3 and 6 look at a row whose guards have passed."""
    text = "initial: a\nstates: [a]\ntransitions: [{trigger: go, source: a, dest: '=', conditions: ask}]\n"
    machine = kind.make(text, policy=limits(max_state_visits=1), guards={"ask": lambda e: e.context})
    assert kind.try_fire(machine, "go", False).refusal.kind == "guard"
    assert not machine.is_circuit_broken
    assert kind.try_fire(machine, "go", True).refusal.kind == "circuit"


def test_a_trip_at_the_wall_tries_no_other_row_and_runs_no_callback(kind):
    log = []
    text = """
initial: a
states: [{name: a, on_exit: note}, b, c]
transitions:
  - {trigger: go, source: a, dest: "=", before: note, after: note}
  - {trigger: go, source: a, dest: c, before: note}
"""
    machine = kind.make(text, policy=limits(max_state_visits=1), actions={"note": log.append})
    assert kind.try_fire(machine, "go").refusal.kind == "circuit"
    assert machine.state == "a"
    assert log == []


def test_a_machine_that_has_ended_never_trips(kind, clock):
    machine = kind.make(
        RING, policy=limits(max_transitions=1, state_timeout=1, max_total_duration=1), clock=clock
    )
    kind.fire(machine, "finish")
    clock.advance(100)
    for _ in range(3):
        with pytest.raises(InvalidTransitionError, match="has ended"):
            kind.fire(machine, "next")
    assert not machine.is_circuit_broken
    assert kind.wait(machine.check_circuit()).is_broken is False


def test_a_refused_trigger_counts_nothing(kind):
    machine = kind.make(RING, policy=limits(max_transitions=1))
    for _ in range(5):
        assert not kind.try_fire(machine, "fly")
    assert kind.fire(machine, "next")


def test_a_broken_machine_answers_every_later_fire_and_publishes_once(kind):
    machine = kind.make(RING, policy=limits(max_transitions=1))
    told = []
    machine.on_circuit_broken(told.append)
    kind.fire(machine, "next")
    for trigger in ("next", "fly", "finish", "tick"):
        with pytest.raises(CircuitBrokenError, match="Max transitions exceeded"):
            kind.fire(machine, trigger)
        assert kind.try_fire(machine, trigger).refusal.kind == "circuit"
    assert len(told) == 1
    assert machine.transition_count == 1


def test_policy_beats_definition_beats_default(kind):
    plain = kind.make(RING)
    assert plain.policy == CircuitBreakerPolicy.default()
    named = kind.make(RING + "circuit_breaker: {preset: strict}\n")
    assert named.policy == CircuitBreakerPolicy.strict()
    given = kind.make(RING + "circuit_breaker: {preset: strict}\n", policy=CircuitBreakerPolicy.permissive())
    assert given.policy == CircuitBreakerPolicy.permissive()


def test_internal_rows_count_as_transitions_but_not_as_visits(kind):  # case A07
    machine = kind.make(RING, policy=limits(max_state_visits=1, max_transitions=5))
    for _ in range(5):
        kind.fire(machine, "tick")
    assert machine.circuit_status.current_state_visit_count == 1
    assert not kind.try_fire(machine, "tick")


def test_the_status_of_a_machine_that_never_moved(kind, clock):
    status = kind.make(RING, **quiet(clock=clock)).circuit_status
    assert (status.is_broken, status.broken_reason, status.limit) == (False, None, None)
    assert (status.total_transitions, status.current_state_visit_count) == (0, 1)
    assert (status.time_in_current_state, status.total_elapsed) == (timedelta(0), timedelta(0))
    assert status.remaining is None
    assert (status.state_visit_histogram, status.spent) == ({"a": 1}, {})
