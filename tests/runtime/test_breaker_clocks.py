"""Time on machines: monotonic clocks, patience, `on_timeout`, `check_circuit`, `remaining`."""

import time
from datetime import timedelta

import pytest

from orkeon_transitions.breaker import BreakerLimit
from orkeon_transitions.errors import CircuitBrokenError
from tests.runtime.samples import RING, limits

SECONDS = timedelta(seconds=1)

PATIENT = """
initial: rest
states: [{name: rest, timeout: 0}, work, {name: quick, timeout: 5}, {name: end, final: true}]
transitions:
  - [start, rest, work]
  - [pause, [work, quick], rest]
  - [hurry, [rest, work], quick]
  - {trigger: tick, source: [rest, work, quick], dest: null}
  - {trigger: again, source: [rest, work, quick], dest: "="}
"""

WAY_OUT = """
initial: work
states: [work, {name: waiting, timeout: 30, on_timeout: give_up}, late, {name: end, final: true}]
transitions:
  - [ask, work, waiting]
  - [answer, waiting, work]
  - {trigger: give_up, source: waiting, dest: late, conditions: may_give_up}
  - [go, late, end]
  - {trigger: tick, source: [work, waiting, late], dest: null}
"""


def waiting(kind, clock, may=True, **policy):
    guards = {"may_give_up": lambda event: may}
    machine = kind.make(WAY_OUT, policy=limits(**policy), clock=clock, guards=guards)
    kind.fire(machine, "ask")
    return machine


@pytest.mark.parametrize("jump", [-3600, 3600])
def test_wall_time_that_jumps_changes_nothing(kind, clock, monkeypatch, jump):  # case D01
    wall = [time.time()]
    monkeypatch.setattr(time, "time", lambda: wall[0])
    machine = kind.make(RING, policy=limits(state_timeout=10, max_total_duration=10), clock=clock)
    for second in range(1, 6):
        assert kind.fire(machine, "next")
        clock.advance(1)
        wall[0] += jump + 1
        assert machine.circuit_status.time_in_current_state == 1 * SECONDS
        assert machine.circuit_status.total_elapsed == second * SECONDS
    assert not machine.is_circuit_broken


def test_the_clock_is_monotonic_time_unless_one_is_given(kind, monkeypatch):  # case D01
    machine = kind.make(RING, policy=limits(state_timeout=100))
    monkeypatch.setattr(time, "time", lambda: 0.0)
    before = time.monotonic()
    kind.fire(machine, "next")
    passed = machine.circuit_status.time_in_current_state.total_seconds()
    assert 0 <= passed <= time.monotonic() - before + 0.001


def test_total_duration_begins_with_the_first_transition(kind, clock):
    machine = kind.make(RING, policy=limits(max_total_duration=10), clock=clock)
    clock.advance(1000)
    assert machine.circuit_status.total_elapsed == 0 * SECONDS
    assert kind.fire(machine, "next")
    clock.advance(10)
    assert kind.fire(machine, "next")
    clock.advance(1)
    assert kind.try_fire(machine, "next").refusal.message.startswith(
        "Max total duration exceeded: 11s running"
    )


def test_time_in_state_begins_when_the_machine_is_made(kind, clock):
    machine = kind.make(RING, policy=limits(state_timeout=10), clock=clock)
    clock.advance(11)
    assert kind.try_fire(machine, "next").refusal.message.startswith(
        "State timeout exceeded: 11s in state 'a'"
    )


def test_an_internal_transition_does_not_set_the_states_clock_back(kind, clock):
    machine = kind.make(RING, policy=limits(state_timeout=10), clock=clock)
    for _ in range(2):
        clock.advance(5)
        assert kind.fire(machine, "tick")
    clock.advance(1)
    assert not kind.try_fire(machine, "tick")


def test_a_reflexive_transition_sets_the_states_clock_back(kind, clock):
    machine = kind.make(RING, policy=limits(state_timeout=10), clock=clock)
    for _ in range(5):
        clock.advance(9)
        assert kind.fire(machine, "again")


def test_a_patient_state_stops_both_clocks(kind, clock):
    machine = kind.make(PATIENT, policy=limits(state_timeout=60, max_total_duration=100), clock=clock)
    assert machine.circuit_status.remaining is None
    clock.advance(1e6)
    assert kind.fire(machine, "start")
    clock.advance(50)
    assert kind.fire(machine, "pause")
    assert machine.circuit_status.total_elapsed == 50 * SECONDS
    clock.advance(1e6)
    assert machine.circuit_status.total_elapsed == 50 * SECONDS
    assert machine.circuit_status.remaining is None
    assert kind.wait(machine.check_circuit()).is_broken is False
    assert kind.fire(machine, "tick")
    assert kind.fire(machine, "again")
    assert machine.circuit_status.total_elapsed == 50 * SECONDS
    assert kind.fire(machine, "start")
    clock.advance(51)
    assert kind.try_fire(machine, "tick").refusal.message.startswith("Max total duration exceeded: 101s")


def test_patience_is_that_of_the_state_being_left(kind, clock):
    """Leaving a patient state is never late; leaving an ordinary one for a patient one may be."""
    machine = kind.make(PATIENT, policy=limits(state_timeout=60), clock=clock)
    clock.advance(1000)
    assert kind.fire(machine, "start")
    clock.advance(61)
    assert kind.try_fire(machine, "pause").refusal.message.startswith(
        "State timeout exceeded: 61s in state 'work'"
    )


def test_a_states_own_timeout_replaces_the_policys(kind, clock):
    for policy in ({"state_timeout": 60}, {"state_timeout": 1}, {}):
        machine = kind.make(PATIENT, policy=limits(**policy), clock=clock)
        kind.fire(machine, "hurry")
        assert machine.circuit_status.remaining == 5 * SECONDS
        clock.advance(5)
        assert kind.fire(machine, "tick")
        clock.advance(0.5)
        message = kind.try_fire(machine, "tick").refusal.message
        assert message.startswith("State timeout exceeded: 5.5s in state 'quick' (allowed 5s)")


def test_remaining_is_the_smaller_of_both_clocks_and_never_negative(kind, clock):
    machine = kind.make(RING, policy=limits(state_timeout=10, max_total_duration=15), clock=clock)
    assert machine.circuit_status.remaining == 10 * SECONDS
    clock.advance(4)
    assert machine.circuit_status.remaining == 6 * SECONDS
    kind.fire(machine, "next")
    clock.advance(8)
    assert machine.circuit_status.remaining == 2 * SECONDS
    kind.fire(machine, "next")
    assert machine.circuit_status.remaining == 7 * SECONDS
    clock.advance(100)
    assert machine.circuit_status.remaining == 0 * SECONDS


def test_remaining_is_none_when_neither_clock_runs(kind, clock):
    assert kind.make(RING, policy=limits(), clock=clock).circuit_status.remaining is None
    unmoved = kind.make(RING, policy=limits(max_total_duration=10), clock=clock)
    assert unmoved.circuit_status.remaining is None
    kind.fire(unmoved, "next")
    assert unmoved.circuit_status.remaining == 10 * SECONDS


def test_check_circuit_trips_if_time_is_up(kind, clock):
    machine = kind.make(RING, policy=limits(state_timeout=10), clock=clock)
    told = []
    machine.on_circuit_broken(told.append)
    assert kind.wait(machine.check_circuit()) == machine.circuit_status
    clock.advance(10)
    assert not kind.wait(machine.check_circuit()).is_broken
    clock.advance(1)
    for _ in range(2):
        with pytest.raises(
            CircuitBrokenError, match=r"State timeout exceeded: 11s in state 'a' \(allowed 10s\)"
        ) as raised:
            kind.wait(machine.check_circuit())
        assert raised.value.status.limit is BreakerLimit.STATE_TIMEOUT
    [fact] = told
    assert (fact.state, fact.trigger) == ("a", None)
    assert machine.transition_count == 0


def test_check_circuit_looks_at_the_clocks_alone(kind):
    machine = kind.make(RING, policy=limits(max_transitions=1, meters={"usd": 1}))
    kind.fire(machine, "next")
    machine.spend(usd=5)
    assert not kind.wait(machine.check_circuit()).is_broken


def test_check_circuit_moves_to_the_degraded_state(kind, clock):
    machine = kind.make(
        RING + "degraded: end\n", policy=limits(state_timeout=10, use_degraded_mode=True), clock=clock
    )
    heard = []
    machine.on_transition(heard.append)
    clock.advance(11)
    status = kind.wait(machine.check_circuit())
    assert status.is_broken
    assert machine.state == "end"
    [result] = heard
    assert (result.trigger, result.degraded, result.accepted) == (None, True, False)
    assert kind.wait(machine.check_circuit()).is_broken


def test_a_due_on_timeout_is_made_at_the_next_fire_which_is_judged_in_the_new_state(kind, clock):
    machine = waiting(kind, clock)
    heard = []
    machine.on_transition(heard.append)
    clock.advance(31)
    result = kind.fire(machine, "go")
    assert (result.from_state, result.to_state) == ("late", "end")
    assert [(each.trigger, each.to_state) for each in heard] == [("give_up", "late"), ("go", "end")]
    assert not machine.is_circuit_broken
    assert machine.transition_count == 3


def test_what_is_not_possible_in_the_new_state_is_refused_there(kind, clock):
    machine = waiting(kind, clock)
    clock.advance(31)
    refusal = kind.try_fire(machine, "answer").refusal
    assert (refusal.kind, refusal.state) == ("invalid", "late")
    assert machine.state == "late"


def test_on_timeout_is_not_due_before_its_time(kind, clock):
    machine = waiting(kind, clock)
    clock.advance(30)
    assert kind.fire(machine, "answer").to_state == "work"


def test_the_timeouts_own_trigger_may_be_fired_at_any_time(kind, clock):
    for seconds in (1, 31):
        machine = waiting(kind, clock)
        clock.advance(seconds)
        assert kind.fire(machine, "give_up").to_state == "late"
        assert machine.transition_count == 2


def test_check_circuit_makes_a_due_on_timeout(kind, clock):
    machine = waiting(kind, clock)
    clock.advance(31)
    assert not kind.wait(machine.check_circuit()).is_broken
    assert machine.state == "late"


def test_an_on_timeout_that_is_refused_trips(kind, clock):
    machine = waiting(kind, clock, may=False)
    refused = []
    machine.on_refused(refused.append)
    clock.advance(31)
    with pytest.raises(CircuitBrokenError, match="State timeout exceeded: 31s in state 'waiting'"):
        kind.fire(machine, "answer")
    assert machine.is_circuit_broken
    assert [(each.trigger, each.kind) for each in refused] == [("give_up", "guard"), ("answer", "circuit")]


def test_on_timeout_does_not_escape_the_other_limits(kind, clock):
    machine = waiting(kind, clock, max_transitions=1)
    clock.advance(31)
    with pytest.raises(CircuitBrokenError, match="Max transitions exceeded"):
        kind.fire(machine, "answer")
    machine = waiting(kind, clock, max_total_duration=10)
    clock.advance(31)
    assert kind.try_fire(machine, "answer").refusal.kind == "circuit"
    assert machine.state == "waiting"


def test_a_state_timeout_of_the_policy_also_fires_on_timeout(kind, clock):
    text = WAY_OUT.replace("timeout: 30, ", "")
    machine = kind.make(
        text, policy=limits(state_timeout=20), clock=clock, guards={"may_give_up": lambda e: True}
    )
    kind.fire(machine, "ask")
    clock.advance(21)
    assert kind.fire(machine, "go").to_state == "end"


def test_no_clock_runs_where_a_machine_has_ended(kind, clock):
    machine = kind.make(
        {"initial": "a", "states": ["a", {"name": "z", "final": True}], "transitions": [["end", "a", "z"]]},
        policy=limits(state_timeout=10, max_total_duration=20),
        clock=clock,
    )
    assert machine.circuit_status.remaining == timedelta(seconds=10)
    kind.fire(machine, "end")
    clock.now += 5
    assert machine.circuit_status.remaining is None
    assert machine.circuit_status.total_elapsed == timedelta(0)
