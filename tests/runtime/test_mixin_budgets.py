"""Meters and repetition on every machine class of `transitions`."""

import pytest
from transitions import Machine

from orkeon_transitions.breaker import BreakerLimit
from orkeon_transitions.errors import CircuitBrokenError
from tests.runtime.mixin_kinds import KINDS, fire, machine

every_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)


@every_kind
def test_meters_are_reported_on_the_model(kind):
    _, model = machine(kind, limits={"meters": {"tokens": 100}})
    model.spend(tokens=100)
    assert fire(model.next) is True
    model.spend(tokens=1)
    with pytest.raises(CircuitBrokenError, match=r"^Budget exhausted.*tokens"):
        fire(model.next)
    assert model.circuit_status.spent == {"tokens": 101}


@pytest.mark.parametrize("amount", [-1, float("nan"), float("inf")])
def test_what_was_spent_cannot_be_given_back_and_has_an_end(amount):
    _, model = machine(Machine, limits={"meters": {"tokens": 100}})
    with pytest.raises(ValueError, match="spend: tokens="):
        model.spend(tokens=amount)
    assert model.circuit_status.spent == {}


@pytest.mark.parametrize("amount", ["5", None, True])
def test_an_amount_that_is_no_number_is_refused(amount):
    _, model = machine(Machine, limits={"meters": {"tokens": 100}})
    with pytest.raises(TypeError, match="spend: tokens must be a number, not"):
        model.spend(tokens=amount)


def test_a_meter_that_is_nearly_a_limits_name_is_a_slip():
    _, model = machine(Machine, limits={"meters": {"tokens": 100}})
    with pytest.raises(ValueError, match="no meter 'token', did you mean 'tokens'"):
        model.spend(token=5)
    model.spend(requests=1)
    assert model.circuit_status.spent == {"requests": 1}


def test_a_model_without_meters_gets_no_spend():
    _, model = machine(Machine)
    assert not hasattr(model, "spend")


CALLS = [
    {"trigger": "call", "source": "a", "dest": "b", "repeatable": False},
    {"trigger": "poll", "source": "a", "dest": "b"},
    ["back", "b", "a"],
]


@every_kind
def test_a_marked_row_may_be_taken_n_times_in_a_row_with_an_equal_payload(kind):
    _, model = machine(kind, limits={"max_repeats": 2}, transitions=CALLS)
    for _ in range(2):
        fire(model.call, "search", query={"b": 2, "a": 1})
        fire(model.back)
        fire(model.poll, "search", query={"a": 1, "b": 2})  # not marked: neither counts nor interrupts
        fire(model.back)
    with pytest.raises(CircuitBrokenError, match=r"^Repetition: 'call' with .*query.* 3 times") as caught:
        fire(model.call, "search", query={"a": 1, "b": 2})
    assert caught.value.status.limit is BreakerLimit.MAX_REPEATS
    assert model.state == "a"


@every_kind
def test_another_payload_begins_anew(kind):
    _, model = machine(kind, limits={"max_repeats": 1}, transitions=CALLS)
    for query in ("x", "y", "x"):
        fire(model.call, query)
        fire(model.back)
    with pytest.raises(CircuitBrokenError):
        fire(model.call, "x")
    model.reset_circuit_breaker()
    assert fire(model.call, "x") is True


@every_kind
def test_a_marked_row_that_fails_before_it_is_written_is_not_counted(kind):
    fails = [True, True]

    def before(query):
        if fails:
            raise ValueError(fails.pop())

    rows = [{**CALLS[0], "before": before}, ["back", "b", "a"]]
    _, model = machine(kind, limits={"max_repeats": 1}, transitions=rows)
    for _ in range(2):
        with pytest.raises(ValueError, match="True"):
            fire(model.call, "x")
    assert fire(model.call, "x") is True


@every_kind
def test_repetition_is_not_counted_where_the_policy_does_not_limit_it(kind):
    _, model = machine(kind, transitions=CALLS)
    for _ in range(20):
        fire(model.call, "x")
        fire(model.back)
