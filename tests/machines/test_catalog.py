"""The catalog, and the six definitions against their tables."""

import pytest

from orkeon_transitions.breaker import CircuitBreakerPolicy
from orkeon_transitions.definition import check_definition, load_definition
from orkeon_transitions.errors import DefinitionError
from orkeon_transitions.machines import machine_definition, machine_names

ANY = object()
TABLES = {
    "task_execution": {
        "final": {"completed", "cancelled", "degraded"},
        "patient": {"assigned", "failed", "waiting_for_human_input"},
        "rows": [
            ("start_planning", "assigned", "planning", None),
            ("begin_execution", "assigned planning", "executing", None),
            ("request_tool_call", "executing", "tool_calling", "can_call_tool"),
            ("tool_call_completed", "tool_calling", "executing", None),
            ("tool_call_failed", "tool_calling", "failed", None),
            ("skip_tool_call", "tool_calling", "executing", None),
            ("submit_for_validation", "executing", "validating", None),
            ("validation_passed", "validating", "completed", None),
            ("validation_failed", "validating", "executing", "can_retry_validation"),
            ("request_human_input", "executing", "waiting_for_human_input", "can_ask_human"),
            ("human_input_received", "waiting_for_human_input", "executing", None),
            ("fail", "planning executing validating waiting_for_human_input", "failed", None),
            ("retry", "failed", "executing", "can_retry"),
            ("cancel", "*", "cancelled", None),
        ],
    },
    "hermes_agent": {
        "final": set(),
        "patient": {"idle", "completed", "error"},
        "rows": [
            ("receive_task", "idle", "planning", "is_task_valid"),
            ("plan_ready", "planning", "executing", "has_valid_plan"),
            ("planning_failed", "planning", "error", None),
            ("call_tool", "executing", "waiting", "is_tool_registered"),
            ("finish_execution", "executing", "completed", None),
            ("execution_error", "executing", "error", None),
            ("tool_result_received", "waiting", "executing", None),
            ("needs_replan", "waiting", "planning", None),
            ("timeout", "waiting", "error", None),
            ("retry", "error", "executing", "can_retry"),
            ("skip_step", "waiting error", "executing", "has_next_step"),
            ("abort", "error", "idle", None),
            ("reset", "completed", "idle", None),
        ],
    },
    "graph_router": {
        "final": {"end"},
        "patient": {"start"},
        "rows": [
            ("step", "start", "execute_task", None),
            ("step", "execute_task", "route", None),
            ("step", "route", "execute_task", "route_chose_execute_task"),
            ("step", "route", "end", "route_chose_end"),
        ],
    },
    "task_status": {
        "final": {"completed", "cancelled"},
        "patient": {"pending", "blocked", "failed"},
        "rows": [
            ("block", "pending", "blocked", None),
            ("unblock", "blocked", "pending", None),
            ("start", "pending", "in_progress", None),
            ("complete", "in_progress", "completed", None),
            ("fail", "in_progress", "failed", None),
            ("retry", "failed", "pending", None),
            ("cancel", "*", "cancelled", None),
        ],
    },
    "agent_status": {
        "final": {"deactivated"},
        "patient": {"created", "idle", "unavailable", "error"},
        "rows": [
            ("initialize", "created", "idle", None),
            ("assign_task", "idle", "busy", None),
            ("complete_task", "busy", "idle", None),
            ("fail_task", "busy", "error", None),
            ("suspend", "idle busy", "unavailable", None),
            ("activate", "unavailable", "idle", None),
            ("reset", "error", "idle", None),
            ("deactivate", "idle unavailable error", "deactivated", None),
        ],
    },
    "crew_status": {
        "final": {"completed", "cancelled"},
        "patient": {"created", "idle", "paused", "failed"},
        "rows": [
            ("initialize", "created", "initializing", None),
            ("ready", "initializing", "idle", None),
            ("start_execution", "idle", "executing", None),
            ("pause", "executing", "paused", None),
            ("resume", "paused", "executing", None),
            ("complete", "executing", "completed", None),
            ("fail", "initializing executing", "failed", None),
            ("reset", "failed", "idle", None),
            ("cancel", "*", "cancelled", None),
        ],
    },
}
NAMES = sorted(TABLES)
UNLIMITED = CircuitBreakerPolicy(max_transitions=0, state_timeout=0, max_state_visits=0, max_total_duration=0)


def test_six_machines_ship():
    assert machine_names() == tuple(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_rows_are_those_of_the_table(name):
    definition = machine_definition(name)
    rows = [
        (row.trigger, " ".join(row.source), row.dest, row.conditions[0] if row.conditions else None)
        for row in definition.transitions
    ]
    assert rows == TABLES[name]["rows"]


@pytest.mark.parametrize("name", NAMES)
def test_states_are_final_and_patient_as_in_the_table(name):
    definition = machine_definition(name)
    assert definition.name == name
    assert definition.final_states == TABLES[name]["final"]
    assert {state.name for state in definition.states if state.timeout == 0} == TABLES[name]["patient"]


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_odd_about_a_definition(name):
    assert check_definition(machine_definition(name)) == []


@pytest.mark.parametrize("name", NAMES)
def test_everything_a_person_reads_is_described(name):
    definition = machine_definition(name)
    guards = {guard for row in definition.transitions for guard in (*row.conditions, *row.unless)}
    assert definition.description
    assert set(definition.guards) == guards
    assert all(state.description for state in definition.states)


@pytest.mark.parametrize("name", NAMES)
def test_a_definition_round_trips(name):
    definition = machine_definition(name)
    assert load_definition(definition.to_yaml()) == definition


def test_only_cancel_and_the_end_of_a_graph_pass_any_limit():
    always = {
        (name, row.trigger, row.dest == "end")
        for name in NAMES
        for row in machine_definition(name).transitions
        if row.always
    }
    cancelled = {(name, "cancel", False) for name in ("task_execution", "task_status", "crew_status")}
    assert always == cancelled | {("graph_router", "step", True)}


def test_only_tool_calls_are_watched_for_repetition():
    marked = {
        (name, row.trigger)
        for name in NAMES
        for row in machine_definition(name).transitions
        if not row.repeatable
    }
    assert marked == {("task_execution", "request_tool_call"), ("hermes_agent", "call_tool")}


def test_waiting_has_a_way_out():
    waiting = machine_definition("hermes_agent").states_by_name["waiting"]
    assert (waiting.timeout, waiting.on_timeout) == (30, "timeout")


@pytest.mark.parametrize(
    ("name", "policy"),
    [
        ("task_execution", CircuitBreakerPolicy.strict()),
        ("graph_router", CircuitBreakerPolicy.strict()),
        ("hermes_agent", CircuitBreakerPolicy.permissive()),
        ("task_status", UNLIMITED),
        ("agent_status", UNLIMITED),
        ("crew_status", UNLIMITED),
    ],
)
def test_policies(name, policy):
    assert machine_definition(name).circuit_breaker == policy


def test_a_definition_is_made_once():
    assert machine_definition("task_execution") is machine_definition("task_execution")


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("task_excution", "task_execution"),
        ("Hermes_Agent", "hermes_agent"),
        ("zzz", None),
        ("../secrets", None),
    ],
)
def test_an_unknown_name_is_an_error_that_names_the_nearest_and_all(name, hint):
    with pytest.raises(DefinitionError) as caught:
        machine_definition(name)
    (problem,) = caught.value.problems
    assert problem.hint == hint
    assert all(known in problem.message for known in NAMES)


@pytest.mark.parametrize("name", [None, 17, ""])
def test_what_is_no_name_is_an_error_too(name):
    with pytest.raises(DefinitionError):
        machine_definition(name)
