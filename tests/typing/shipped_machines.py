"""Checked by mypy, never run: the machines that ship know their states and triggers."""

from typing import assert_type

from orkeon_transitions import HermesAgentFSM, TaskExecution, TransitionResult
from orkeon_transitions.machines import (
    AgentState,
    AsyncHermesAgentFSM,
    AsyncTaskExecution,
    TaskExecutionGuardContext,
    TaskState,
    TaskTrigger,
)


def task(machine: TaskExecution) -> None:
    assert_type(machine.state, TaskState)
    assert_type(machine.begin_execution(), TransitionResult)
    assert_type(machine.request_tool_call(tool="web_search"), TransitionResult)
    assert_type(machine.fire(TaskTrigger.RETRY, TaskExecutionGuardContext(retry_count=2)), TransitionResult)
    assert_type(machine.permitted_triggers(), list[TaskTrigger])
    assert_type(machine.retry_count, int)
    assert_type(TaskExecution.restore(machine.snapshot()), TaskExecution)


async def async_task(machine: AsyncTaskExecution) -> None:
    assert_type(machine.state, TaskState)
    assert_type(await machine.begin_execution(), TransitionResult)
    assert_type(await machine.fire(TaskTrigger.CANCEL), TransitionResult)


def agent(machine: HermesAgentFSM) -> None:
    assert_type(machine.state, AgentState)
    assert_type(machine.retry_count, int)
    assert_type(machine.receive_task("a task"), TransitionResult)


async def async_agent(machine: AsyncHermesAgentFSM) -> None:
    assert_type(machine.state, AgentState)
