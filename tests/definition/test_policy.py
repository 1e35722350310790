"""The `circuit_breaker` block."""

from datetime import timedelta

import pytest

from orkeon_transitions.breaker import CircuitBreakerPolicy
from orkeon_transitions.definition import load_definition, read_source
from orkeon_transitions.definition.policy import read_policy, read_policy_block
from tests.definition.problems import machine, only_problem


def policy(block):
    return load_definition(machine(more=f"circuit_breaker: {block}\n")).circuit_breaker


def wrong(block):
    return only_problem(machine(more=f"circuit_breaker:\n  {block}\n"))


@pytest.mark.parametrize("name", ["strict", "default", "permissive"])
def test_presets_in_any_case(name):
    assert (
        policy(f"{{preset: {name}}}")
        == policy(f"{{preset: {name.upper()}}}")
        == CircuitBreakerPolicy.preset(name)
    )


def test_without_a_preset_the_default_is_under_the_fields():
    assert policy("{}") == CircuitBreakerPolicy.default()
    assert policy("{max_transitions: 7}") == CircuitBreakerPolicy(max_transitions=7)
    assert policy("null") is None


def test_fields_are_over_the_preset():
    strict = CircuitBreakerPolicy.strict()
    made = policy("{max_transitions: 200, preset: strict}")
    assert made.max_transitions == 200
    assert made == strict.model_copy(update={"max_transitions": 200})


def test_the_spellings_of_a_crew_file():
    own = "{state_timeout: 600, max_total_duration: 1.5, use_degraded_mode: true, max_state_visits: 20}"
    crew = (
        "{stateTimeoutSeconds: 600, maxTotalDurationSeconds: 1.5, useDegradedMode: true, maxStateVisits: 20}"
    )
    mixed = "{state_timeout_seconds: 600, maxTotalDuration: 1.5, useDegradedMode: true, max_state_visits: 20}"
    assert policy(own) == policy(crew) == policy(mixed)
    assert policy(own).state_timeout == timedelta(minutes=10)


def test_null_fields_are_absent():
    assert policy("{preset: null, max_transitions: null, meters: ~}") == CircuitBreakerPolicy()


def test_meters_and_repeats():
    made = policy("{meters: {tokens: 50_000, usd: 2.0}, max_repeats: 4}")
    assert made.meters == {"tokens": 50_000, "usd": 2.0}
    assert made.max_repeats == 4


@pytest.mark.parametrize(
    ("block", "path", "words"),
    [
        ("preset: strikt", ".preset", "valid are strict, default, permissive"),
        ("preset: 5", ".preset", "the number 5"),
        ("maxTransitons: 5", ".maxTransitons", "unknown key"),
        ("maxRetries: 5", ".maxRetries", "unknown key"),
        ("max_transitions: -1", ".max_transitions", "0 or more, not -1"),
        ("max_transitions: 1.5", ".max_transitions", "a whole number"),
        ("max_transitions: true", ".max_transitions", "not true"),
        ("max_transitions: 'ten'", ".max_transitions", "the text 'ten'"),
        ("max_repeats: [1]", ".max_repeats", "a list"),
        ("stateTimeoutSeconds: -0.5", ".stateTimeoutSeconds", "0 or more, not -0.5"),
        ("state_timeout: 5 min", ".state_timeout", "a number of seconds, not the text '5 min'"),
        ("state_timeout: .inf", ".state_timeout", "0 or more, not inf"),
        ("state_timeout: 1e200", ".state_timeout", "longer than any duration"),
        ("max_total_duration: .nan", ".max_total_duration", "not nan"),
        ("use_degraded_mode: yes", ".use_degraded_mode", "true or false"),
        ("meters: [a]", ".meters", "a mapping of meters"),
        ("meters: {a: -1}", ".meters.a", "0 or more"),
        ("meters: {a: x}", ".meters.a", "a number, not"),
        ("meters: {'': 1}", ".meters.", "empty"),
    ],
)
def test_problems_have_places(block, path, words):
    problem = wrong(block)
    assert problem.path == f"circuit_breaker{path}"
    assert words in problem.message
    assert problem.line == 6


def test_near_names():
    assert wrong("preset: strikt").hint == "strict"
    assert wrong("maxTransitons: 5").hint == "maxTransitions"
    assert wrong("max_transitons: 5").hint == "max_transitions"
    assert wrong("stateTimeOut: 5").hint == "stateTimeout"


@pytest.mark.parametrize("block", ["strict", "[strict]", "5", "true"])
def test_what_is_no_block(block):
    assert (
        "must be a mapping such as {preset: strict}"
        in only_problem(machine(more=f"circuit_breaker: {block}\n")).message
    )


def test_two_spellings_with_different_values():
    assert policy("{state_timeout: 5, stateTimeoutSeconds: 5}").state_timeout == timedelta(seconds=5)
    assert "the same key" in wrong("{state_timeout: 5, stateTimeoutSeconds: 6}").message


def test_a_block_says_only_what_is_written():
    source = read_source("circuitBreaker: {preset: Permissive, maxRetries: 2, stateTimeoutSeconds: 4}\n")
    value, path = source.data["circuitBreaker"], ("circuitBreaker",)
    block = read_policy_block(source, value, path, further={"max_retries"})
    assert block.preset == "permissive"
    assert block.fields == {"state_timeout": timedelta(seconds=4)}
    assert block.rest.get("max_retries") == 2
    assert block.rest.at("max_retries") == ("circuitBreaker", "maxRetries")
    assert block.policy() == CircuitBreakerPolicy.permissive().model_copy(
        update={"state_timeout": timedelta(seconds=4)}
    )
    assert not source.problems


def test_a_block_without_a_preset_goes_over_the_default():
    source = read_source("max_transitions: 3\n")
    assert read_policy(source, source.data, ()) == CircuitBreakerPolicy(max_transitions=3)
    assert read_policy(source, None, ()) is None


def test_wrong_fields_are_left_out():
    source = read_source("max_transitions: -3\nmax_repeats: 1\n")
    block = read_policy_block(source, source.data, ())
    assert block.fields == {"max_repeats": 1}
    assert len(source.problems) == 1
