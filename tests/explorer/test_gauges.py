"""Gauges: what is used of what is allowed, in figures and in words."""

import pytest

from orkeon_transitions import CircuitBreakerPolicy
from orkeon_transitions.explorer.gauges import fullest, gauges_of, plain_gauge
from orkeon_transitions.machines import TaskExecution
from tests.explorer.sessions import Clock


def shown(fsm):
    return {gauge["limit"]: gauge for gauge in gauges_of(fsm)}


@pytest.mark.parametrize(
    ("used", "allowed", "unit", "words"),
    [
        (3, 50, "", "3 of 50"),
        (1.25, 120, "s", "1.2 of 120 s"),
        (2.0, 0, "s", "2 s, no limit"),
        (12345, None, "tokens", "12,345 tokens"),
    ],
)
def test_words(used, allowed, unit, words):
    gauge = plain_gauge("x", "X", used, allowed, unit=unit)
    assert gauge["words"] == words
    assert gauge["allowed"] == (allowed or None)
    assert gauge["unknown"] is (allowed is None)


def test_a_patient_state_has_a_clock_that_stands_still():
    fsm = TaskExecution()
    assert not shown(fsm)["state_timeout"]["running"]
    fsm.begin_execution()
    assert shown(fsm)["state_timeout"]["running"]
    assert shown(fsm)["max_total_duration"]["running"]


def test_an_ended_machine_waits_in_no_state():
    fsm = TaskExecution()
    fsm.cancel()
    assert "state_timeout" not in shown(fsm)
    assert not shown(fsm)["max_total_duration"]["running"]


def test_the_fullest_gauge_is_the_broken_one_or_that_of_which_most_is_used():
    clock = Clock()
    policy = CircuitBreakerPolicy(max_transitions=10, max_state_visits=4, state_timeout=100)
    fsm = TaskExecution(policy=policy, clock=clock)
    fsm.begin_execution()
    clock.now += 50
    assert fullest(gauges_of(fsm))["limit"] == "state_timeout"
    clock.now += 60
    fsm.try_fire("fail")
    assert fsm.is_circuit_broken
    assert fullest(gauges_of(fsm))["limit"] == "state_timeout"
    assert fullest([]) is None
    assert fullest([plain_gauge("x", "X", 3, 0)]) is None


def test_the_state_that_was_visited_most_is_named():
    fsm = TaskExecution()
    fsm.begin_execution()
    fsm.request_tool_call()
    fsm.tool_call_completed()
    gauge = shown(fsm)["max_state_visits"]
    assert (gauge["label"], gauge["used"]) == ("Visits of executing", 2)
