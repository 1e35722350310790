"""A place that cannot take a fact: the machine does not move, and goes on once it can."""

import pytest

from orkeon_transitions.breaker import CircuitBreakerPolicy
from orkeon_transitions.errors import CircuitBrokenError
from tests.conformance.worker import WORK, AsyncWork, Work, at_rest

KINDS = pytest.mark.parametrize("kind", [Work, AsyncWork])


@KINDS
def test_a_machine_whose_fact_is_not_taken_has_not_moved(place, kind, run):
    seen = []
    fsm = place.create(kind, WORK, machine_id="w", watched=seen.append)
    fsm.on_transition(seen.append)
    run(fsm.fire("begin"))
    before = at_rest(fsm.snapshot())
    seen.clear()
    place.close()
    for trigger in ("pause", "progress", "again", "stop"):
        with pytest.raises(place.refusal, match=place.words):
            run(fsm.fire(trigger))
        with pytest.raises(place.refusal, match=place.words):
            run(fsm.try_fire(trigger))
    assert at_rest(fsm.snapshot()) == before
    assert seen == []
    opened = place.reopened()
    assert [record.trigger for record in opened.records("w")] == ["begin"]
    opened.close()


@KINDS
def test_fields_that_would_have_changed_have_not(place, kind, run):
    fsm = place.create(kind, WORK, machine_id="w")
    place.close()
    with pytest.raises(place.refusal):
        run(fsm.fire("begin"))
    assert fsm.begun == 0


@KINDS
def test_a_trip_that_is_not_taken_has_not_happened(place, kind, run):
    broken = []
    fsm = place.create(kind, WORK, machine_id="w", policy=CircuitBreakerPolicy(max_transitions=1))
    fsm.on_circuit_broken(broken.append)
    run(fsm.fire("begin"))
    place.close()
    with pytest.raises(place.refusal):
        run(fsm.fire("pause"))
    assert not fsm.is_circuit_broken
    assert broken == []


def test_a_reset_that_is_not_taken_has_not_happened(place):
    fsm = place.create(Work, WORK, machine_id="w", policy=CircuitBreakerPolicy(max_transitions=1))
    fsm.fire("begin")
    with pytest.raises(CircuitBrokenError):
        fsm.fire("pause")
    place.close()
    with pytest.raises(place.refusal):
        fsm.reset_circuit_breaker()
    assert fsm.is_circuit_broken
    assert fsm.transition_count == 1


@KINDS
def test_a_machine_goes_on_in_the_place_that_was_opened_again(remembering, kind, run):
    fsm = remembering.create(kind, WORK, machine_id="w")
    run(fsm.fire("begin"))
    remembering.close()
    with pytest.raises(remembering.refusal):
        run(fsm.fire("pause"))
    opened = remembering.reopened()
    again = opened.load(kind, WORK, "w")
    assert at_rest(again.snapshot()) == at_rest(fsm.snapshot())
    run(again.fire("pause"))
    assert [record.trigger for record in opened.records("w")] == ["begin", "pause"]
    opened.close()
