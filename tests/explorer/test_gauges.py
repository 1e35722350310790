"""Gauges: what is used of what is allowed, in figures and in words."""

from contextlib import suppress

import pytest

from orkeon_transitions import CircuitBreakerPolicy, CircuitBrokenError, StateMachine, load_definition
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


SHOP = {
    "name": "shop",
    "initial": "cart",
    "degraded": "closed",
    "states": ["cart", "paying", "packing", {"name": "closed", "final": True}],
    "transitions": [
        {"trigger": "pay", "source": "cart", "dest": "paying"},
        {"trigger": "back", "source": "paying", "dest": "cart"},
        {"trigger": "pack", "source": "paying", "dest": "packing"},
        {"trigger": "close", "source": "*", "dest": "closed", "always": True},
    ],
}


def shop(*triggers, **policy):
    fsm = StateMachine(load_definition(SHOP), policy=CircuitBreakerPolicy(max_state_visits=3, **policy))
    for trigger in triggers:
        fsm.try_fire(trigger)
    return fsm


def visits(fsm):
    """The gauges of visits: what is shown of each, and whether it tripped."""
    found = [gauge for gauge in gauges_of(fsm) if gauge["limit"].startswith("max_state_visits")]
    assert len({gauge["limit"] for gauge in found}) == len(found)
    return [(gauge["label"], gauge["words"], gauge["broken"]) for gauge in found]


ROUNDS = ("pay", "back", "pay", "back", "pay")


def test_a_state_that_may_not_be_entered_again_is_shown_beside_the_current_one():
    assert visits(shop(*ROUNDS[:3])) == [("Visits of paying", "2 of 3", False)]
    assert visits(shop(*ROUNDS)) == [
        ("Visits of paying", "3 of 3", False),
        ("Visits of cart", "3 of 3", False),
    ]


def test_a_state_at_its_limit_to_which_nothing_leads_is_not_shown_beside_it():
    assert visits(shop(*ROUNDS, "pack")) == [("Visits of cart", "3 of 3", False)]


@pytest.mark.parametrize("use_degraded_mode", [True, False])
def test_of_several_at_their_limit_the_one_that_tripped_is_shown(use_degraded_mode):
    fsm = shop(*ROUNDS, use_degraded_mode=use_degraded_mode)
    with suppress(CircuitBrokenError):
        fsm.fire("back")
    assert visits(fsm) == [("Visits of cart", "3 of 3", True)]
