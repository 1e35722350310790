"""What a crew file says, once it has been read and found sound: frozen values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from orkeon_transitions.crew.breaker_block import BreakerBlock
from orkeon_transitions.crew.checks import Rule
from orkeon_transitions.crew.consensus_block import ConsensusBlock
from orkeon_transitions.crew.execution_budget import BudgetBlock
from orkeon_transitions.crew.graph_block import GraphBlock
from orkeon_transitions.crew.mcp.block import McpServer
from orkeon_transitions.crew.models.settings import ModelSettings
from orkeon_transitions.crew.mounts import MountSpec
from orkeon_transitions.crew.web.block import WebBlock


@dataclass(frozen=True, slots=True)
class AgentConfig:
    """Who works.

    Attributes:
        id: The key in the crew file.
        role: What the agent is; without one, it is called by its key.
        goal: What it is after.
        backstory: What it should know of itself.
        tools: Names of tools.
        llm: The model and its settings, as far as the agent has its own.
        planning: Whether it makes a plan first; None: as the crew says.
        guardrails: What its outputs must be like.
        max_iter: How often it asks its model in one attempt; None or 0: as often as the machine lets it.
        max_rpm: How often a minute it asks its model; None or 0: as often as it likes.
        carried: What the file says besides, by key in snake_case, such as `verbose`; it has no effect.
    """

    id: str
    role: str = ""
    goal: str = ""
    backstory: str = ""
    tools: tuple[str, ...] = ()
    llm: ModelSettings | None = None
    planning: bool | None = None
    guardrails: tuple[Rule, ...] = ()
    max_iter: int | None = None
    max_rpm: int | None = None
    carried: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TaskConfig:
    """What is to be done.

    Attributes:
        id: The key in the crew file.
        description: The work, in words.
        expected_output: What the answer should look like.
        agent: The key of the agent that does it; empty: one that is free when its turn comes.
        dependencies: Keys of tasks whose outputs it needs, those of `context` among them.
        tools: Names of the tools for this task, in place of the agent's; None: the agent's.
        deliverable: The file that is written, as a virtual path.
        planning: Whether its agent makes a plan first; None: as the agent or the crew says.
        human_input: Whether a person must accept the output; None: as the crew says.
        guardrails: What the output must be like.
        output_shape: The shape of the output, such as a JSON Schema.
        async_execution: Whether the sequential process goes on with what does not need the task meanwhile.
        markdown: Whether the agent is asked for Markdown.
        circuit_breaker: The task's own limits, as written.
        execution_budget: What it may use in the process `autonomous`, as written.
        llm_override: The model and its settings for this task, as far as they are others.
        carried: What the file says besides, by key in snake_case; it has no effect.
    """

    id: str
    description: str
    expected_output: str = ""
    agent: str = ""
    dependencies: tuple[str, ...] = ()
    tools: tuple[str, ...] | None = None
    deliverable: str | None = None
    planning: bool | None = None
    human_input: bool | None = None
    guardrails: tuple[Rule, ...] = ()
    output_shape: Rule | None = None
    async_execution: bool = False
    markdown: bool = False
    circuit_breaker: BreakerBlock | None = None
    execution_budget: BudgetBlock | None = None
    llm_override: ModelSettings | None = None
    carried: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CrewConfig:
    """A whole crew.

    Attributes:
        name: The crew's name.
        goal: What all of it is for.
        process: The name of the process by which the tasks are run, such as `sequential`.
        circuit_breaker: The limits of every task, as written.
        graph_config: The limits of the graph process, as written.
        consensus: When the agents agree in the consensual process.
        execution_budget: What the process `autonomous` may use, as written.
        manager_agent: The key of the agent that leads, or None.
        mounts: Folders that the tools may touch.
        anchors: Texts by the name under which other texts call them, as in `*tone`.
        llm: The model of all agents and its settings, or None.
        mcp_servers: Where tools come from that are called `server.tool`, by name.
        web: What the tools that reach out may reach; None: they are off.
        agents: By key, in file order.
        tasks: By key, in file order.
        folder: Where relative folders of the host are looked for.
        planning: Whether agents make a plan first.
        human_input: Whether a person must accept the outputs.
        guardrails: What all outputs must be like.
        max_rpm: How often a minute models are asked; None or 0: as often as agents like.
        max_concurrency: How many tasks may run at the same time; None: as many as the program says.
        carried: What the file says besides, by key in snake_case; it has no effect.
    """

    name: str
    goal: str = ""
    process: str = "sequential"
    circuit_breaker: BreakerBlock | None = None
    graph_config: GraphBlock | None = None
    consensus: ConsensusBlock | None = None
    execution_budget: BudgetBlock | None = None
    manager_agent: str | None = None
    mounts: tuple[MountSpec, ...] = ()
    anchors: Mapping[str, str] = field(default_factory=dict)
    llm: ModelSettings | None = None
    mcp_servers: Mapping[str, McpServer] = field(default_factory=dict)
    web: WebBlock | None = None
    agents: Mapping[str, AgentConfig] = field(default_factory=dict)
    tasks: Mapping[str, TaskConfig] = field(default_factory=dict)
    folder: Path = Path()
    planning: bool = False
    human_input: bool = False
    guardrails: tuple[Rule, ...] = ()
    max_rpm: int | None = None
    max_concurrency: int | None = None
    carried: Mapping[str, Any] = field(default_factory=dict)

    @property
    def tools_named(self) -> frozenset[str]:
        """The tools that any agent or task names."""
        by_agents = [name for agent in self.agents.values() for name in agent.tools]
        return frozenset(by_agents).union(*(task.tools or () for task in self.tasks.values()))
