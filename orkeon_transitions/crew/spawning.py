"""The tool with which an agent makes a helper for a piece of its work."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from orkeon_transitions.crew.tool import Tool, ToolError, tool

SPAWN = "spawn_agent"
LONGEST_ROLE = 40
MOST_ABOUT = 200
# The format of a text that another agent is to act on.
WORK = "work"
_WORK = "The piece of work, with all that it needs to know"


@dataclass(frozen=True, slots=True)
class Wanted:
    """The helper that an agent wants.

    Attributes:
        role: What it is.
        goal: What it is after.
        work: What it is to do, in words.
        tools: Names of tools.
        expected_output: What its answer should look like.
    """

    role: str
    goal: str
    work: str
    tools: tuple[str, ...]
    expected_output: str

    @property
    def slug(self) -> str:
        """Its role as a part of a key."""
        words = "".join(char if char.isalnum() else " " for char in self.role.casefold()).split()
        return "-".join(words)[:LONGEST_ROLE].strip("-") or "helper"

    @property
    def digest(self) -> str:
        """Tells it from any other one."""
        text = json.dumps([self.role, self.goal, self.work, self.tools, self.expected_output])
        return hashlib.sha256(text.encode()).hexdigest()[:8]

    @property
    def about(self) -> str:
        """What it is for, in short."""
        line = " ".join(f"{self.goal or self.role}: {self.work}".split())
        return line if len(line) <= MOST_ABOUT else line[: MOST_ABOUT - 1] + "…"

    def with_tools_of(self, own: Collection[str]) -> tuple[str, ...]:
        """The tools that it gets, by their own names.

        Args:
            own: Names of the tools of whoever makes it.

        Raises:
            ToolError: It would have more than its maker.
        """
        by_name = {_folded(name): name for name in own} | {name: name for name in own}
        found = {name: by_name.get(name) or by_name.get(_folded(name)) for name in self.tools}
        if strange := [name for name, known in found.items() if known is None]:
            listed = ", ".join(own) or "none"
            raise ToolError(f"you cannot give what you do not have: {', '.join(strange)}; you have: {listed}")
        return tuple(dict.fromkeys(name for name in found.values() if name is not None))


def spawn_tool(make: Callable[[Wanted], Awaitable[str]]) -> Tool:
    """The tool, for one agent at one piece of work.

    Args:
        make: Makes the helper, lets it work and gives its answer.
    """

    async def spawn_agent(
        role: Annotated[str, Field(description="What the helper is", min_length=1, max_length=200)],
        goal: Annotated[str, Field(description="What it is after", max_length=2_000)],
        task: Annotated[str, Field(description=_WORK, min_length=1, json_schema_extra={"format": WORK})],
        tools: Annotated[
            list[str] | None, Field(description="Names of your own tools that it may call")
        ] = None,
        expected_output: Annotated[str, Field(description="What its answer should look like")] = "",
    ) -> str:
        """Makes a helper for a piece of your work, waits for it and gives its answer.

        It knows only what you write here. What it uses comes out of what you may use yourself.
        """
        return await make(Wanted(role, goal, task, tuple(tools or ()), expected_output))

    return tool(spawn_agent)


def _folded(name: str) -> str:
    return "".join(char if char.isalnum() else "_" for char in name.casefold())
