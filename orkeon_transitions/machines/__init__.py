"""The machines that ship: six definitions in YAML, and a small typed class for each.

What belongs here is a machine that anybody's agent or crew may want: its YAML file, its Enums, its guards and
what it remembers. What never belongs here: I/O, a loop that drives a machine, a rule of firing. Begin with
`TaskExecution()`; `machine_names()` lists the definitions, `orkeon machines NAME` shows one.
"""

from orkeon_transitions.machines.catalog import machine_definition, machine_names
from orkeon_transitions.machines.graph_router import (
    AsyncGraphRouter,
    GraphRouter,
    GraphRouterState,
    GraphRouterTrigger,
)
from orkeon_transitions.machines.hermes_agent import AsyncHermesAgentFSM, HermesAgentFSM
from orkeon_transitions.machines.hermes_names import AgentState, AgentTrigger, StateContext
from orkeon_transitions.machines.statuses import (
    AgentStatus,
    AgentStatusState,
    AgentStatusTrigger,
    AsyncAgentStatus,
    AsyncCrewStatus,
    AsyncTaskStatus,
    CrewStatus,
    CrewStatusState,
    CrewStatusTrigger,
    TaskStatus,
    TaskStatusState,
    TaskStatusTrigger,
)
from orkeon_transitions.machines.task_execution import (
    AsyncTaskExecution,
    TaskExecution,
    TaskExecutionGuardContext,
    TaskState,
    TaskTrigger,
)

__all__ = [
    "AgentState",
    "AgentStatus",
    "AgentStatusState",
    "AgentStatusTrigger",
    "AgentTrigger",
    "AsyncAgentStatus",
    "AsyncCrewStatus",
    "AsyncGraphRouter",
    "AsyncHermesAgentFSM",
    "AsyncTaskExecution",
    "AsyncTaskStatus",
    "CrewStatus",
    "CrewStatusState",
    "CrewStatusTrigger",
    "GraphRouter",
    "GraphRouterState",
    "GraphRouterTrigger",
    "HermesAgentFSM",
    "StateContext",
    "TaskExecution",
    "TaskExecutionGuardContext",
    "TaskState",
    "TaskStatus",
    "TaskStatusState",
    "TaskStatusTrigger",
    "TaskTrigger",
    "machine_definition",
    "machine_names",
]
