"""The limits and the presets, by their table."""

import pickle
from datetime import timedelta

import pytest
from pydantic import ValidationError

from orkeon_transitions.breaker import CircuitBreakerPolicy

PRESETS = {
    "strict": (50, 2 * 60, 5, 10 * 60, True),
    "default": (100, 5 * 60, 10, 30 * 60, False),
    "permissive": (1000, 30 * 60, 50, 2 * 3600, False),
}
COUNTS = ["max_transitions", "max_state_visits", "max_repeats"]
DURATIONS = ["state_timeout", "max_total_duration"]


def figures(policy):
    return (
        policy.max_transitions,
        policy.state_timeout.total_seconds(),
        policy.max_state_visits,
        policy.max_total_duration.total_seconds(),
        policy.use_degraded_mode,
    )


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_has_the_figures_of_the_table(name):
    policy = getattr(CircuitBreakerPolicy, name)()
    assert figures(policy) == PRESETS[name]
    assert policy.meters == {}
    assert policy.max_repeats == 0


def test_a_bare_policy_is_the_default():
    assert CircuitBreakerPolicy() == CircuitBreakerPolicy.default()


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("spelling", [str, str.upper, str.title, lambda name: f" {name} "])
def test_a_preset_by_its_name_in_any_case(name, spelling):
    assert CircuitBreakerPolicy.preset(spelling(name)) == getattr(CircuitBreakerPolicy, name)()


@pytest.mark.parametrize("name", ["lax", "", "preset", "model_dump", "__init__"])
def test_an_unknown_preset_lists_the_valid_ones(name):
    with pytest.raises(ValueError, match="strict, default, permissive") as caught:
        CircuitBreakerPolicy.preset(name)
    assert f"'{name}'" in str(caught.value)


def test_the_preset_names_are_those_of_the_table():
    assert CircuitBreakerPolicy.preset_names() == tuple(PRESETS)


@pytest.mark.parametrize("field", DURATIONS)
@pytest.mark.parametrize(
    ("given", "seconds"), [(90, 90.0), (0.5, 0.5), (timedelta(minutes=2), 120.0), ("PT5M", 300.0), (0, 0.0)]
)
def test_a_number_means_seconds(field, given, seconds):
    policy = CircuitBreakerPolicy(**{field: given})
    assert getattr(policy, field) == timedelta(seconds=seconds)


@pytest.mark.parametrize("field", DURATIONS)
@pytest.mark.parametrize("seconds", [1e-9, 4e-7, 5e-324])
def test_the_shortest_time_is_a_limit_too(field, seconds):
    assert getattr(CircuitBreakerPolicy(**{field: seconds}), field) == timedelta(microseconds=1)


@pytest.mark.parametrize("field", COUNTS + DURATIONS)
def test_negative_values_are_refused(field):
    with pytest.raises(ValidationError, match="must not be negative"):
        CircuitBreakerPolicy(**{field: -1})


NONSENSE = [True, None, "often", [], float("nan"), float("inf")]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *((field, value) for field in COUNTS for value in [*NONSENSE, 2.5]),
        *((field, value) for field in DURATIONS for value in [*NONSENSE, 1e30]),
    ],
)
def test_nonsense_is_refused_by_the_fields_name(field, value):
    with pytest.raises(ValidationError, match=field):
        CircuitBreakerPolicy(**{field: value})


@pytest.mark.parametrize("value", ["yes", 1, None])
def test_degraded_mode_is_a_boolean(value):
    with pytest.raises(ValidationError, match="use_degraded_mode"):
        CircuitBreakerPolicy(use_degraded_mode=value)


@pytest.mark.parametrize("most", [-1, float("nan"), float("inf"), "much"])
def test_a_meter_needs_a_limit_that_is_not_negative(most):
    with pytest.raises(ValidationError, match=r"tokens|meters"):
        CircuitBreakerPolicy(meters={"tokens": most})


def test_an_unknown_field_is_refused():
    with pytest.raises(ValidationError, match="max_visits"):
        CircuitBreakerPolicy(max_visits=3)


def test_a_policy_is_frozen_and_hashable():
    policy = CircuitBreakerPolicy(meters={"tokens": 5})
    with pytest.raises(ValidationError, match="frozen"):
        policy.max_transitions = 3
    assert {policy, CircuitBreakerPolicy(meters={"tokens": 5})} == {policy}


def test_a_policy_round_trips_through_json_and_pickle():
    policy = CircuitBreakerPolicy(state_timeout=1.5, meters={"usd": 2.0}, max_repeats=4)
    assert CircuitBreakerPolicy.model_validate_json(policy.model_dump_json()) == policy
    assert pickle.loads(pickle.dumps(policy)) == policy


def test_a_slip_in_a_limits_name_has_a_hint():
    with pytest.raises(ValidationError, match="no limit 'max_transition', did you mean 'max_transitions'"):
        CircuitBreakerPolicy(max_transition=4)
    with pytest.raises(ValidationError, match="xylophone"):
        CircuitBreakerPolicy(xylophone=4)
