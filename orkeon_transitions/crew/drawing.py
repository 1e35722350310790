"""A crew as a picture: its tasks, who does them, and what each hands on."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from orkeon_transitions.crew.ordering import in_order

if TYPE_CHECKING:
    from orkeon_transitions.crew.config import CrewConfig, TaskConfig
    from orkeon_transitions.diagrams import Plan, PlanArrow

# Who does a task that names no agent, or whatever it names.
_WHO = {"consensual": "every agent", "hierarchical": "whom the manager picks", "autonomous": "who claims it"}


class Drawn:
    """What a crew has to be drawn: `render` takes it, and Jupyter shows it.

    Attributes:
        config: What the crew file says.
    """

    config: CrewConfig

    def task_plan(self) -> Plan:
        """The tasks as boxes, with an arrow from each to those that need its output.

        A dashed arrow only says which comes first.
        """
        from orkeon_transitions.diagrams import Plan, PlanBox  # noqa: PLC0415 (loaded when drawn)

        config = self.config
        boxes = tuple(
            PlanBox(key, _who(task, config), task.description) for key, task in config.tasks.items()
        )
        return Plan(boxes, tuple(_arrows(config)), config.name, _caption(config))

    def _repr_mimebundle_(self, **_limits: Any) -> dict[str, Any]:
        from orkeon_transitions.diagrams import mimebundle  # noqa: PLC0415 (loaded when drawn)

        return dict(mimebundle(self))


def _who(task: TaskConfig, config: CrewConfig) -> str:
    if config.process == "consensual":
        return _WHO["consensual"]
    return task.agent or _WHO.get(config.process, "an agent that is free")


def _caption(config: CrewConfig) -> str:
    words = [f"process {config.process}"]
    if config.manager_agent:
        words.append(f"manager {config.manager_agent}")
    return ", ".join(words)


def _arrows(config: CrewConfig) -> Iterator[PlanArrow]:
    from orkeon_transitions.diagrams import PlanArrow  # noqa: PLC0415 (loaded when drawn)

    needs = {key: task.dependencies for key, task in config.tasks.items()}
    for key, needed in needs.items():
        for one in dict.fromkeys(needed):
            yield PlanArrow(one, key)
    if config.process in ("sequential", "hierarchical", "consensual"):
        for before, after in pairwise(in_order(needs)):
            if before not in needs[after] and not config.tasks[before].async_execution:
                yield PlanArrow(before, after, order=True)
