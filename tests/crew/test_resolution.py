"""Seed 000: task over crew over preset over strict, field by field."""

import json
from datetime import timedelta

import pytest

from orkeon_transitions.breaker import CircuitBreakerPolicy
from orkeon_transitions.crew import (
    graph_limits,
    load_crew,
    make_task_machine,
    resolve_graph_policy,
    resolve_guard_context,
    resolve_policy,
    running_limits,
)
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
        ({"maxTranistions": 5}, "maxTransitions"),
        ({"max_tranistions": 5}, "max_transitions"),
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


def crew_of(*tasks, **blocks):
    """A crew with a block for each task, made as a file would make it."""
    crew = {"agents": {"a": {"role": "r"}}, **blocks}
    crew["tasks"] = {f"t{n}": {"description": "d", "circuitBreaker": task} for n, task in enumerate(tasks)}
    return load_crew(json.dumps(crew) + "\n").config


def limits_of(crew_block, task_block, **blocks):
    config = crew_of(task_block, circuitBreaker=crew_block, **blocks)
    return running_limits(config, config.tasks["t0"])


def test_presets_are_widened_to_the_declared_budgets():
    limits = limits_of({"preset": "strict", "maxRetries": 1}, {"maxToolCallsPerRound": 40})
    needed = TaskExecution.default_policy(max_retries=1, max_tool_calls_per_round=40)
    assert limits.guards == {"max_retries": 1, "max_tool_calls_per_round": 40, "max_validation_retries": 3,
                             "max_questions": 10}  # fmt: skip
    assert limits.policy.max_state_visits == needed.max_state_visits
    assert limits.policy.max_transitions == needed.max_transitions
    assert limits.policy.max_repeats == 4


@pytest.mark.parametrize("level", [0, 1])
def test_an_explicit_value_always_wins(level):
    blocks = [None, None]
    blocks[level] = {"maxStateVisits": 2, "maxTransitions": 3, "maxRepeats": 0}
    limits = limits_of(*blocks)
    policy = limits.policy
    assert (policy.max_state_visits, policy.max_transitions, policy.max_repeats) == (2, 3, 0)
    level = "task" if level else "crew"
    assert {limits.origins[name] for name in ("max_state_visits", "max_transitions", "max_repeats")} == {
        level
    }


def test_a_preset_wider_than_the_budgets_stays():
    limits = limits_of({"preset": "permissive", "maxToolCallsPerRound": 0}, None)
    assert limits.policy.max_transitions == 1000
    assert limits.origins["max_transitions"] == "preset permissive"


def test_each_limit_knows_where_it_comes_from():
    crew = {"preset": "permissive", "stateTimeoutSeconds": 9, "maxRetries": 1, "maxToolCallsPerRound": 99}
    origins = limits_of(crew, {"preset": "default", "maxRetries": 2, "meters": {"tokens": 5}}).origins
    assert origins == {
        "max_transitions": "widened",
        "state_timeout": "crew",
        "max_state_visits": "widened",
        "max_total_duration": "preset default",
        "use_degraded_mode": "preset default",
        "meters": "task",
        "max_repeats": "default",
        "max_retries": "task",
        "max_tool_calls_per_round": "crew",
        "max_validation_retries": "default",
        "max_questions": "default",
    }


@pytest.mark.parametrize(
    ("crew", "task", "expected"),
    [
        (None, None, (0, "graph process")),
        ({"maxRetries": 2}, None, (2, "crew")),
        ({"maxRetries": 2}, {"maxRetries": 0}, (0, "task")),
    ],
)
def test_in_the_graph_process_a_task_retries_only_if_it_is_written_out(crew, task, expected):
    limits = limits_of(crew, task, process="graph")
    assert (limits.guards["max_retries"], limits.origins["max_retries"]) == expected
    needed = TaskExecution.default_policy(max_retries=expected[0])
    assert limits.policy.max_state_visits == needed.max_state_visits


@pytest.mark.parametrize(
    ("graph", "crew", "expected"),
    [
        (None, None, CircuitBreakerPolicy.strict()),
        ({}, {}, CircuitBreakerPolicy.strict()),
        (None, {"preset": "permissive"}, CircuitBreakerPolicy.permissive()),
        ({"maxRetryCycles": 7}, {"preset": "permissive"}, CircuitBreakerPolicy.permissive()),
        ({"circuitBreakerPreset": "default"}, {"preset": "permissive"}, CircuitBreakerPolicy.default()),
        ({"circuit_breaker_preset": "default"}, {"maxTransitions": 7}, CircuitBreakerPolicy.default()),
        ({"max_transitions": 7}, {"preset": "permissive"},
         CircuitBreakerPolicy.strict().model_copy(update={"max_transitions": 7})),
        ({"preset": "default", "maxTotalDurationSeconds": 5}, None,
         CircuitBreakerPolicy(max_total_duration=5)),
    ],
)  # fmt: skip
def test_the_order_for_a_graph(graph, crew, expected):
    assert resolve_graph_policy(graph, crew) == expected


def test_a_graph_falls_back_to_what_the_program_gives():
    permissive = CircuitBreakerPolicy.permissive()
    assert resolve_graph_policy(None, None, permissive) == permissive
    assert resolve_graph_policy({"maxStateVisits": 3}, None, permissive).max_transitions == 1000
    assert resolve_graph_policy({"preset": "strict"}, None, permissive) == CircuitBreakerPolicy.strict()


@pytest.mark.parametrize(
    ("block", "needle"),
    [
        ({"circuitBreakerPreset": "x"}, "unknown preset"),
        ({"maxRetryCycles": -1}, "0 or more"),
        ({"useDegradedMode": True}, "unknown key"),
    ],
)
def test_a_wrong_graph_block_is_refused(block, needle):
    with pytest.raises(CrewDefinitionError, match=needle):
        resolve_graph_policy(block, None)


def test_a_graph_is_widened_to_what_its_tasks_need():
    limits = graph_limits(crew_of(*[None] * 40, process="graph"))
    assert limits.max_retry_cycles == 2
    assert (limits.policy.max_state_visits, limits.policy.max_transitions) == (120, 241)
    assert limits.policy.max_total_duration == timedelta(minutes=400)
    assert limits.policy.state_timeout == timedelta(0)
    assert [limits.origins[name] for name in ("max_state_visits", "max_transitions")] == ["widened"] * 2
    assert limits.origins["max_retry_cycles"] == "default"


def test_a_preset_that_is_wide_enough_for_a_graph_stays():
    limits = graph_limits(crew_of(None, graphConfig={"preset": "default", "maxRetryCycles": 1}))
    assert (limits.policy.max_state_visits, limits.policy.max_transitions) == (10, 100)
    assert limits.policy.max_total_duration == timedelta(minutes=30)
    assert limits.origins["max_state_visits"] == "preset default"
    assert limits.origins["max_retry_cycles"] == "graphConfig"


@pytest.mark.parametrize(("key", "origin"), [("graphConfig", "graphConfig"), ("circuitBreaker", "crew")])
def test_a_graph_s_explicit_values_always_win(key, origin):
    block = {"maxTransitions": 3, "maxStateVisits": 0, "maxTotalDurationSeconds": 1}
    limits = graph_limits(crew_of(*[None] * 9, **{key: block}))
    assert (limits.policy.max_transitions, limits.policy.max_state_visits) == (3, 0)
    assert limits.policy.max_total_duration == timedelta(seconds=1)
    assert {limits.origins[name] for name in ("max_transitions", "max_state_visits")} == {origin}


def test_an_unknown_key_is_one_also_without_a_value():
    with pytest.raises(CrewDefinitionError, match=r"unknown key 'presett' \(did you mean 'preset'\?\)"):
        resolve_policy({"presett": None}, None)
