"""Crews: agents and tasks from a YAML file, each task driven through a machine.

What belongs here: reading a crew file, working out each task's budget, the loop that talks to a model and
runs tools, the order of the tasks, the result. The loop does the I/O and then fires one trigger with what
came back; whether anything may happen is for the task's machine to say. What never belongs here: a journal or
a database (anything with `record(machine)`, or with what a `RunLog` has, is welcome), a provider's own types,
code taken from YAML. Begin with `load_crew("crew.yaml").run_sync()`; `orkeon docs crews` tells the rest.
"""

from orkeon_transitions.crew.agent_loop import AgentLoop
from orkeon_transitions.crew.chat import (
    ChatModel,
    Message,
    ModelError,
    ModelReply,
    StreamingModel,
    ToolCall,
    ToolSpec,
)
from orkeon_transitions.crew.config import AgentConfig, CrewConfig, TaskConfig
from orkeon_transitions.crew.crew import Crew, load_crew
from orkeon_transitions.crew.decisions import Decision
from orkeon_transitions.crew.executors import AgentExecutor, TaskContext
from orkeon_transitions.crew.human import AskHuman, HumanQuestion
from orkeon_transitions.crew.models import ModelChooser, ModelNameError, ModelSettings, Price
from orkeon_transitions.crew.mounts import Mount
from orkeon_transitions.crew.observing import (
    CrewObserver,
    StatusMoved,
    TaskMoved,
    TaskRestored,
    TaskRetried,
    TaskStarted,
    TaskText,
    TaskWaits,
)
from orkeon_transitions.crew.offline import OfflineModel
from orkeon_transitions.crew.packaged import example_names
from orkeon_transitions.crew.resolution import (
    GraphLimits,
    TaskLimits,
    graph_limits,
    make_task_machine,
    resolve_graph_policy,
    resolve_guard_context,
    resolve_policy,
    running_limits,
)
from orkeon_transitions.crew.results import (
    CrewResult,
    CrewRunStatus,
    MachineRun,
    TaskOutcome,
    TaskResult,
    TaskRunStatus,
    Usage,
)
from orkeon_transitions.crew.run_log import MemoryRunLog, RunLog
from orkeon_transitions.crew.schema import crew_schema
from orkeon_transitions.crew.tool import IdempotencyKey, Tool, ToolError, tool

__all__ = [
    "AgentConfig",
    "AgentExecutor",
    "AgentLoop",
    "AskHuman",
    "ChatModel",
    "Crew",
    "CrewConfig",
    "CrewObserver",
    "CrewResult",
    "CrewRunStatus",
    "Decision",
    "GraphLimits",
    "HumanQuestion",
    "IdempotencyKey",
    "MachineRun",
    "MemoryRunLog",
    "Message",
    "ModelChooser",
    "ModelError",
    "ModelNameError",
    "ModelReply",
    "ModelSettings",
    "Mount",
    "OfflineModel",
    "Price",
    "RunLog",
    "StatusMoved",
    "StreamingModel",
    "TaskConfig",
    "TaskContext",
    "TaskLimits",
    "TaskMoved",
    "TaskOutcome",
    "TaskRestored",
    "TaskResult",
    "TaskRetried",
    "TaskRunStatus",
    "TaskStarted",
    "TaskText",
    "TaskWaits",
    "Tool",
    "ToolCall",
    "ToolError",
    "ToolSpec",
    "Usage",
    "crew_schema",
    "example_names",
    "graph_limits",
    "load_crew",
    "make_task_machine",
    "resolve_graph_policy",
    "resolve_guard_context",
    "resolve_policy",
    "running_limits",
    "tool",
]
