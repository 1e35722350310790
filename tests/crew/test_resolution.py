"""DESIGN 7 and seed 000: task over crew over preset over strict, field by field."""

import pytest

from orkeon_transitions.breaker import CircuitBreakerPolicy
from orkeon_transitions.crew import make_task_machine, resolve_guard_context, resolve_policy
from orkeon_transitions.crew.resolution import running_limits
from orkeon_transitions.errors import CrewDefinitionError
from orkeon_transitions.machines import TaskExecution


def test_nothing_configured_is_strict():
    assert resolve_policy(None, None) == CircuitBreakerPolicy.strict()
    assert resolve_policy({}, {}) == CircuitBreakerPolicy.strict()


# case G08
@pytest.mark.parametrize(
    ("crew_block", "task_block", "expected"),
    [
        ({"preset": "strict", "maxTransitions": 200}, None, {"max_transitions": 200, "max_state_visits": 5}),
        ({"maxStateVisits": 7}, None, {"max_transitions": 50, "max_state_visits": 7}),
        ({"preset": "permissive"}, {"preset": "default"}, {"max_transitions": 100, "max_state_visits": 10}),
        ({"max_transitions": 70}, {"preset": "permissive"}, {"max_transitions": 70, "max_state_visits": 50}),
        ({"maxTransitions": 70}, {"max_transitions": 80}, {"max_transitions": 80}),
        ({"useDegradedMode": True}, {"use_degraded_mode": False}, {"use_degraded_mode": False}),
        ({"preset": None, "maxTransitions": None}, None, {"max_transitions": 50}),
        ({"meters": {"tokens": 5}}, {"maxRepeats": 2}, {"meters": {"tokens": 5.0}, "max_repeats": 2}),
    ],
)
def test_the_order(crew_block, task_block, expected):
    policy = resolve_policy(crew_block, task_block)
    assert {name: getattr(policy, name) for name in expected} == expected


def test_seconds_are_seconds():
    policy = resolve_policy({"stateTimeoutSeconds": 30, "maxTotalDurationSeconds": 90}, None)
    assert (policy.state_timeout.total_seconds(), policy.max_total_duration.total_seconds()) == (30, 90)


def test_guard_limits_are_resolved_field_by_field():
    context = resolve_guard_context({"maxRetries": 5, "maxToolCallsPerRound": 20}, {"max_retries": 2})
    assert (context.max_retries, context.max_tool_calls_per_round, context.max_validation_retries) == (
        2,
        20,
        3,
    )


def test_a_task_machine_has_exactly_what_the_blocks_say():
    machine = make_task_machine({"preset": "default", "maxRetries": 1}, None, machine_id="t")
    assert isinstance(machine, TaskExecution)
    assert (machine.state, machine.machine_id, machine.max_retries) == ("assigned", "t", 1)
    assert machine.circuit_status.policy == CircuitBreakerPolicy.default()


@pytest.mark.parametrize(
    ("block", "needle"),
    [
        ({"preset": "strickt"}, "strict"),
        ({"maxTranistions": 5}, "max_transitions"),
        ({"maxRetries": -1}, "maxRetries"),
        ({"maxRetries": "3"}, "whole number"),
        ({"maxTransitions": 1, "max_transitions": 2}, "same key"),
        ({"stateTimeoutSeconds": -1}, "0 or more"),
    ],
)
def test_a_wrong_block_is_refused(block, needle):
    with pytest.raises(CrewDefinitionError, match=needle):
        resolve_policy(block, None)
    with pytest.raises(CrewDefinitionError, match=needle):
        resolve_policy(None, block)


def test_presets_are_widened_to_the_declared_budgets():
    limits = running_limits({"preset": "strict", "maxRetries": 1}, {"maxToolCallsPerRound": 40})
    needed = TaskExecution.default_policy(max_retries=1, max_tool_calls_per_round=40)
    assert limits.guards == {"max_retries": 1, "max_tool_calls_per_round": 40, "max_validation_retries": 3}
    assert limits.policy.max_state_visits == needed.max_state_visits
    assert limits.policy.max_transitions == needed.max_transitions
    assert limits.policy.max_repeats == 4


@pytest.mark.parametrize("level", [0, 1])
def test_an_explicit_value_always_wins(level):
    blocks = [None, None]
    blocks[level] = {"maxStateVisits": 2, "maxTransitions": 3, "maxRepeats": 0}
    policy = running_limits(*blocks).policy
    assert (policy.max_state_visits, policy.max_transitions, policy.max_repeats) == (2, 3, 0)


def test_a_preset_wider_than_the_budgets_stays():
    assert (
        running_limits({"preset": "permissive", "maxToolCallsPerRound": 0}, None).policy.max_transitions
        == 1000
    )


def test_an_unknown_key_is_one_also_without_a_value():
    with pytest.raises(CrewDefinitionError, match=r"unknown key 'presett' \(did you mean 'preset'\?\)"):
        resolve_policy({"presett": None}, None)
