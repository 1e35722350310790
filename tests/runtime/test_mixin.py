"""The same breaker on every machine class of `transitions`."""

from datetime import timedelta

import pytest
from transitions import MachineError

from orkeon_transitions.breaker import BreakerLimit
from orkeon_transitions.errors import CircuitBrokenError
from tests.runtime.mixin_kinds import KINDS, Clock, fire, machine

every_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)


def test_all_twelve_classes_of_the_factory_are_tried():
    assert len(KINDS) == 12


@every_kind
@pytest.mark.parametrize("queued", [False, True])
def test_exactly_n_transitions_are_made(kind, queued):  # case D05
    _, model = machine(kind, limits={"max_transitions": 2}, queued=queued)
    fire(model.next)
    fire(model.next)
    with pytest.raises(CircuitBrokenError, match=r"^Max transitions exceeded \(2/2\)") as caught:
        fire(model.next)
    assert model.state == "a"
    assert caught.value.status.limit is BreakerLimit.MAX_TRANSITIONS
    assert caught.value.status.total_transitions == 2


@every_kind
@pytest.mark.parametrize("queued", [False, True])
def test_degraded_mode_moves_the_model(kind, queued):
    _, model = machine(
        kind,
        limits={"max_transitions": 2, "use_degraded_mode": True},
        degraded_state="degraded",
        queued=queued,
    )
    fire(model.next)
    fire(model.next)
    made = fire(model.next)
    assert made is queued  # queued machines always answer True; the trigger that was asked for was not made
    assert model.state == "degraded"
    status = model.circuit_status
    assert status.is_broken
    assert status.total_transitions == 3
    assert status.state_visit_histogram == {"a": 2, "b": 1, "degraded": 1}


@every_kind
def test_a_tripped_machine_raises_on_every_trigger_until_reset(kind):
    heard = []
    _, model = machine(
        kind,
        limits={"max_transitions": 1, "use_degraded_mode": True},
        degraded_state="degraded",
        on_circuit_broken=heard.append,
    )
    fire(model.next)
    fire(model.next)
    for trigger in (model.next, model.tick, model.again, model.end):
        with pytest.raises(CircuitBrokenError):
            fire(trigger)
    assert len(heard) == 1
    model.reset_circuit_breaker()
    status = model.circuit_status
    assert not status.is_broken
    assert status.broken_reason is None
    assert (status.total_transitions, status.state_visit_histogram) == (0, {"degraded": 1})
    assert fire(model.end) is True
    assert model.state == "done"


@every_kind
def test_degraded_mode_without_a_degraded_state_raises(kind):
    _, model = machine(kind, limits={"max_transitions": 1, "use_degraded_mode": True})
    fire(model.next)
    with pytest.raises(CircuitBrokenError):
        fire(model.next)
    assert model.state == "b"


@every_kind
def test_a_model_that_is_degraded_already_is_not_moved(kind):
    _, model = machine(
        kind,
        limits={"max_transitions": 1, "use_degraded_mode": True},
        degraded_state="b",
    )
    fire(model.next)
    with pytest.raises(CircuitBrokenError):
        fire(model.next)
    assert model.circuit_status.total_transitions == 1


@every_kind
def test_visits_trip_at_the_wall_before_any_callback(kind):
    heard = []
    _, model = machine(
        kind,
        limits={"max_state_visits": 2},
        before_state_change=lambda *a: heard.append("before"),
        on_exception=lambda *a: heard.append("exception"),
    )
    for _ in range(3):  # b 1, a 2, b 2
        fire(model.next)
    with pytest.raises(CircuitBrokenError, match=r"^Cycle detected: state 'a'"):
        fire(model.next)
    assert heard == ["before"] * 3
    assert model.state == "b"


@every_kind
def test_a_trip_at_the_wall_tries_no_other_row(kind):
    rows = [
        ["next", "a", "b"],
        {"trigger": "next", "source": "b", "dest": "a"},
        {"trigger": "next", "source": "b", "dest": "done"},
    ]
    _, model = machine(kind, limits={"max_state_visits": 1}, transitions=rows)
    fire(model.next)
    with pytest.raises(CircuitBrokenError):
        fire(model.next)
    assert model.state == "b"


@every_kind
def test_after_a_trip_at_the_wall_nothing_was_made(kind):
    heard = []
    rows = [
        ["next", "a", "b"],
        {"trigger": "next", "source": "b", "dest": "a"},
        {
            "trigger": "next",
            "source": "b",
            "dest": "done",
            "prepare": lambda event: heard.append("prepare"),
            "conditions": lambda event: heard.append("condition"),
        },
    ]
    _, model = machine(
        kind,
        limits={"max_state_visits": 1},
        transitions=rows,
        send_event=True,
        finalize_event=lambda event: heard.append(event.result),
    )
    fire(model.next)
    with pytest.raises(CircuitBrokenError):
        fire(model.next)
    assert heard == [True, False]


@every_kind
def test_a_row_whose_conditions_fail_is_not_judged(kind):
    rows = [
        ["next", "a", "b"],
        {"trigger": "next", "source": "b", "dest": "a", "conditions": lambda: False},
        {"trigger": "next", "source": "b", "dest": "done"},
    ]
    _, model = machine(kind, limits={"max_state_visits": 1}, transitions=rows)
    fire(model.next)
    assert fire(model.next) is True
    assert model.state == "done"


@every_kind
def test_internal_counts_no_visit_and_reflexive_counts_one(kind):  # case A07
    _, model = machine(kind, limits={"max_state_visits": 3})
    for _ in range(5):
        fire(model.tick)
    fire(model.again)
    fire(model.again)
    status = model.circuit_status
    assert (status.total_transitions, status.current_state_visit_count) == (7, 3)
    with pytest.raises(CircuitBrokenError):
        fire(model.again)
    fire(model.reset_circuit_breaker)
    assert fire(model.again) is True


@every_kind
def test_an_internal_transition_is_counted_first_thing_after(kind):
    seen = []
    rows = [
        {
            "trigger": "tick",
            "source": "a",
            "dest": None,
            "before": lambda: seen.append(model.circuit_status.total_transitions),
            "after": lambda: seen.append(model.circuit_status.total_transitions),
        }
    ]
    made, model = machine(kind, transitions=rows)
    fire(model.tick)
    assert seen == [0, 1]
    assert made.get_transitions("tick")[0].after == [rows[0]["after"]]


@every_kind
@pytest.mark.parametrize("stage", ["before", "after"])
def test_an_internal_transition_that_raises(kind, stage):  # case C01
    rows = [{"trigger": "tick", "source": "a", "dest": None, stage: lambda: 1 / 0}]
    _, model = machine(kind, transitions=rows)
    with pytest.raises(ZeroDivisionError):
        fire(model.tick)
    assert model.circuit_status.total_transitions == (stage == "after")


@every_kind
@pytest.mark.parametrize(("stage", "counted"), [("before", 0), ("after", 1)])
def test_a_move_that_raises_is_counted_when_it_was_written(kind, stage, counted):  # case C01
    rows = [{"trigger": "next", "source": "a", "dest": "b", stage: lambda: 1 / 0}]
    _, model = machine(kind, transitions=rows)
    with pytest.raises(ZeroDivisionError):
        fire(model.next)
    assert model.circuit_status.total_transitions == counted
    assert model.state == "ab"[counted]


@every_kind
def test_an_enter_callback_that_raises_leaves_the_move_counted_once(kind):
    states = ["a", {"name": "b", "on_enter": lambda: 1 / 0}]
    _, model = machine(kind, states=states, transitions=[["next", "a", "b"]])
    with pytest.raises(ZeroDivisionError):
        fire(model.next)
    assert model.state == "b"
    assert model.circuit_status.total_transitions == 1


@every_kind
def test_a_refused_trigger_counts_nothing(kind):
    rows = [
        {"trigger": "next", "source": "a", "dest": "b", "conditions": lambda: False},
        ["end", "b", "done"],
    ]
    _, model = machine(kind, transitions=rows)
    assert fire(model.next) is False
    with pytest.raises(MachineError):
        fire(model.end)
    assert model.circuit_status.total_transitions == 0


@every_kind
def test_a_trip_happens_whether_or_not_the_trigger_is_valid(kind):
    rows = [["next", "a", "b"], ["end", "a", "done"]]
    _, model = machine(kind, limits={"max_transitions": 1}, transitions=rows, ignore_invalid_triggers=True)
    fire(model.next)
    with pytest.raises(CircuitBrokenError):
        fire(model.end)


@every_kind
def test_the_clocks_trip_at_the_gate(kind):  # case D01
    clock = Clock()
    _, model = machine(kind, limits={"state_timeout": 10}, clock=clock)
    clock.now += 10
    assert fire(model.next) is True
    clock.now += 10.5
    assert model.circuit_status.time_in_current_state == timedelta(seconds=10.5)
    with pytest.raises(CircuitBrokenError, match=r"^State timeout exceeded.*10\.5s.*'b'.*10s") as caught:
        fire(model.next)
    assert caught.value.status.limit is BreakerLimit.STATE_TIMEOUT


@every_kind
def test_the_total_duration_runs_from_the_first_transition(kind):
    clock = Clock()
    _, model = machine(kind, limits={"max_total_duration": 10}, clock=clock)
    clock.now += 100
    fire(model.next)
    clock.now += 10
    fire(model.next)
    assert model.circuit_status.remaining == timedelta(0)
    clock.now += 1
    with pytest.raises(CircuitBrokenError, match=r"^Max total duration exceeded"):
        fire(model.next)


@every_kind
def test_auto_transitions_are_guarded(kind):  # case E03
    _, model = machine(kind, limits={"max_transitions": 1}, auto_transitions=True)
    fire(model.to_b)
    with pytest.raises(CircuitBrokenError):
        fire(model.to_a)
    assert model.state == "b"


@every_kind
def test_triggers_by_name_are_guarded(kind):
    _, model = machine(kind, limits={"max_transitions": 1})
    fire(model.trigger, "next")
    with pytest.raises(CircuitBrokenError):
        fire(model.trigger, "next")


@every_kind
def test_a_state_that_is_set_by_hand_is_counted(kind):
    made, model = machine(kind, limits={"max_transitions": 1})
    made.set_state("b", model)
    assert model.circuit_status.state_visit_histogram == {"a": 1, "b": 1}
    with pytest.raises(CircuitBrokenError):
        fire(model.next)


@every_kind
def test_final_means_nothing_here(kind):
    states = ["a", {"name": "b", "final": True}, "done", "degraded"]
    _, model = machine(kind, limits={"max_transitions": 2}, states=states)
    fire(model.next)
    fire(model.next)
    with pytest.raises(CircuitBrokenError):
        fire(model.next)
