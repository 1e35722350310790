"""Which model an agent is given for a task."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from orkeon_transitions.crew.chat import ChatModel
from orkeon_transitions.crew.models.local import LocalModel, LocalServer
from orkeon_transitions.crew.models.names import LOCAL, OFFLINE
from orkeon_transitions.crew.models.settings import ModelSettings
from orkeon_transitions.crew.offline import OfflineModel
from orkeon_transitions.errors import MissingExtraError

if TYPE_CHECKING:
    from orkeon_transitions.crew.config import AgentConfig, CrewConfig, TaskConfig


# The processes in which nobody but the agent that a task names is asked anything about it.
NAMED_ONLY = frozenset({"sequential", "parallel", "graph"})


@runtime_checkable
class ModelChooser(Protocol):
    """Gives each agent a model for each task."""

    def model_for(self, agent: AgentConfig, task: TaskConfig) -> ChatModel:
        """Chooses.

        Args:
            agent: Who works.
            task: What is to be done.
        """
        ...


@dataclass(slots=True)
class ChosenModels:
    """The models that a crew file names, made when they are first asked for; equal settings share one.

    Close it when the run is over.

    Attributes:
        crew: The settings of the whole crew.
        over: What whoever runs the crew wants instead, or None.
    """

    crew: ModelSettings
    over: ModelSettings | None = None
    _made: dict[str, ChatModel] = field(default_factory=dict, init=False)
    _local: LocalServer | None = field(default=None, init=False)
    _opened: AsyncExitStack = field(default_factory=AsyncExitStack, init=False)

    @classmethod
    def of(cls, config: CrewConfig, over: ModelSettings | None = None) -> ChosenModels:
        """Those of a crew."""
        return cls(config.llm or ModelSettings(), over)

    async def close(self) -> None:
        """Closes what the models hold."""
        self._made.clear()
        self._local = None
        await self._opened.aclose()

    def settings_for(self, agent: AgentConfig, task: TaskConfig) -> ModelSettings:
        """What the file says for an agent at a task, crew, agent and task merged field by field."""
        written = self.crew.overlaid(agent.llm).overlaid(task.llm_override)
        return written if self.over is None else written.overridden(self.over)

    def model_for(self, agent: AgentConfig, task: TaskConfig) -> ChatModel:
        """The model, made if it is not there yet.

        Raises:
            MissingKeyError: Its provider wants a key, and there is none.
            MissingExtraError: What it takes is not installed.
            OrkeonError: It cannot be made for another reason.
        """
        settings = self.settings_for(agent, task)
        key = repr(settings)
        if key not in self._made:
            self._made[key] = self._make(settings)
        return self._made[key]

    def pairs(self, config: CrewConfig) -> Iterator[tuple[AgentConfig, TaskConfig]]:
        """Who may work on what: whoever a task names, and anybody where the process decides."""
        for task in config.tasks.values():
            is_named = bool(task.agent) and config.process in NAMED_ONLY
            for agent in [config.agents[task.agent]] if is_named else config.agents.values():
                yield agent, task

    def _make(self, settings: ModelSettings) -> ChatModel:
        if settings.name == OFFLINE:
            return OfflineModel()
        try:
            from orkeon_transitions.crew.models import providers  # noqa: PLC0415 - an optional library
        except ImportError as error:
            raise MissingExtraError(f"{settings.name} is asked through pydantic-ai.", extra="llm") from error
        model: LocalModel | providers.ProviderModel
        if settings.name == LOCAL:
            model = LocalModel(settings, self._local_server(), providers.server_model)
        else:
            model = providers.provider_model(settings)
        self._opened.push_async_callback(model.close)
        return model

    def _local_server(self) -> LocalServer:
        """One for all, however differently they ask it."""
        if self._local is None:
            self._local = LocalServer()
            self._opened.push_async_callback(self._local.close)
        return self._local
