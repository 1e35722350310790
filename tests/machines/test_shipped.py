"""What holds for every machine that ships: Enums, annotations, completion, both kinds of machine."""

import asyncio
from enum import StrEnum
from typing import get_type_hints

import pytest

import orkeon_transitions.machines as room
from orkeon_transitions.machines import machine_definition, machine_names
from orkeon_transitions.runtime import AsyncStateMachine, AsyncTrigger, Trigger

PAIRS = {
    "task_execution": (room.TaskExecution, room.AsyncTaskExecution),
    "hermes_agent": (room.HermesAgentFSM, room.AsyncHermesAgentFSM),
    "graph_router": (room.GraphRouter, room.AsyncGraphRouter),
    "task_status": (room.TaskStatus, room.AsyncTaskStatus),
    "agent_status": (room.AgentStatus, room.AsyncAgentStatus),
    "crew_status": (room.CrewStatus, room.AsyncCrewStatus),
}
CLASSES = [pytest.param(name, kind, id=kind.__name__) for name, pair in PAIRS.items() for kind in pair]


def make(kind, **options):
    is_hermes = issubclass(kind, room.HermesAgentFSM | room.AsyncHermesAgentFSM)
    return kind(*(["s"] if is_hermes else []), **options)


def test_every_definition_has_its_classes():
    assert set(PAIRS) == set(machine_names())


@pytest.mark.parametrize(("name", "kind"), CLASSES)
def test_enums_name_exactly_what_the_definition_has(name, kind):
    definition = machine_definition(name)
    assert issubclass(kind.STATES, StrEnum)
    assert issubclass(kind.TRIGGERS, StrEnum)
    assert {state.value for state in kind.STATES} == set(definition.states_by_name)
    assert {trigger.value for trigger in kind.TRIGGERS} == set(definition.triggers)
    assert all(
        member.name == member.value.upper() for enum in (kind.STATES, kind.TRIGGERS) for member in enum
    )


@pytest.mark.parametrize(("name", "kind"), CLASSES)
def test_annotations_name_exactly_the_triggers(name, kind):
    wanted = AsyncTrigger if issubclass(kind, AsyncStateMachine) else Trigger
    hints = get_type_hints(kind)
    assert set(kind.__annotations__) == set(machine_definition(name).triggers)
    assert all(hints[trigger] is wanted for trigger in kind.__annotations__)


@pytest.mark.parametrize(("name", "kind"), CLASSES)
def test_a_new_machine_stands_at_the_start(name, kind):
    fsm = make(kind)
    assert fsm.state is kind.STATES(machine_definition(name).initial)
    assert fsm.definition is machine_definition(name)
    assert set(fsm.definition.triggers) <= set(dir(fsm))


@pytest.mark.parametrize(("name", "kind"), CLASSES)
def test_what_it_persists_are_attributes_and_json(name, kind):
    fsm = make(kind)
    fields = fsm.snapshot().fields
    assert set(fields) == set(kind.persisted)
    assert kind.restore(fsm.snapshot().model_dump_json()).snapshot().fields == fields


def walk(name):
    """Some way through each status machine, as the crew goes it."""
    return {
        "task_status": "block unblock start fail retry start complete",
        "agent_status": "initialize assign_task complete_task assign_task fail_task reset suspend activate "
        "deactivate",
        "crew_status": "initialize ready start_execution pause resume fail reset start_execution complete",
    }[name].split()


@pytest.mark.parametrize("name", ["task_status", "agent_status", "crew_status"])
def test_a_status_goes_its_way(name):
    plain, later = PAIRS[name]
    fsm = plain()
    for trigger in walk(name):
        assert getattr(fsm, trigger)()
    assert fsm.is_terminal

    async def run():
        fsm = later()
        for trigger in walk(name):
            assert await getattr(fsm, trigger)()
        return fsm

    assert asyncio.run(run()).state == fsm.state


@pytest.mark.parametrize("name", ["task_status", "agent_status", "crew_status"])
def test_a_status_has_no_budget_unless_one_is_given(name):
    now = [0.0]
    kind = PAIRS[name][0]
    fsm = kind(clock=lambda: now[0])
    first, *rest = walk(name)
    fsm.fire(first)
    now[0] = 1e9
    assert fsm.fire(rest[0])
    assert fsm.circuit_status.remaining is None


def test_an_agent_serves_any_number_of_tasks():
    agent = room.AgentStatus()
    agent.initialize()
    for _ in range(300):
        agent.assign_task()
        agent.complete_task()
    assert agent.transition_count == 601


@pytest.mark.parametrize("kind", [room.TaskStatus, room.CrewStatus])
def test_a_status_can_be_cancelled_everywhere(kind):
    definition = kind().definition
    for state in set(definition.states_by_name) - definition.final_states:
        assert "cancel" in definition.triggers_from(state)
    fsm = kind()
    assert fsm.cancel().to_state is kind.STATES.CANCELLED
