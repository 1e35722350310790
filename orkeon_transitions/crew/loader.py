"""A crew file, read: one pass that finds every problem, with its place."""

from __future__ import annotations

import itertools
import os
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path as FilePath
from typing import Any

from orkeon_transitions.crew.breaker_block import read_breaker_block
from orkeon_transitions.crew.config import AgentConfig, CrewConfig, TaskConfig
from orkeon_transitions.crew.cross_checks import check_references
from orkeon_transitions.crew.keys import AGENT, CREW, LATER_PROCESSES, PROCESSES, TASK, KeyTable
from orkeon_transitions.crew.mounts import MountSpec
from orkeon_transitions.definition import Finding
from orkeon_transitions.definition.fields import Block, read_block, shown
from orkeon_transitions.definition.names import snake_case
from orkeon_transitions.definition.places import Path, Source, dotted
from orkeon_transitions.definition.source import is_text, read_source
from orkeon_transitions.errors import CrewDefinitionError


@dataclass(frozen=True, slots=True)
class LoadedCrew:
    """A crew file that was read.

    Attributes:
        config: What it says.
        findings: Warnings and notes.
        source: The places of its parts.
    """

    config: CrewConfig
    findings: tuple[Finding, ...]
    source: Source


def read_crew(what: str | os.PathLike[str], *, tools: Collection[str], strict: bool = False) -> LoadedCrew:
    """Reads a crew file, or a crew's text.

    Args:
        what: A path; or a text, if it has a newline or begins with `{`.
        tools: The names of all tools that there are.
        strict: Whether an unknown key is an error.

    Raises:
        CrewDefinitionError: Everything that is wrong, in the order of the file.
    """
    source = read_source(what, error=CrewDefinitionError)
    is_file = not (isinstance(what, str) and is_text(what))
    path = FilePath(what) if is_file else None
    reader = _CrewReader(source, strict=strict)
    config = reader.crew(path)
    check_references(config, source, tools=tools, warn=reader.warn)
    source.raise_problems()
    return LoadedCrew(config, (*reader.findings, *source.notes), source)


class _CrewReader:
    def __init__(self, source: Source, *, strict: bool) -> None:
        self._source = source
        self._strict = strict
        self.findings: list[Finding] = []

    def warn(self, path: Path, code: str, message: str) -> None:
        line = self._source.key_place(path)[0]
        self.findings.append(Finding("warning", code, dotted(path), line, message))

    def crew(self, file: FilePath | None) -> CrewConfig:
        data = self._source.data
        if not isinstance(data, dict):
            self._source.problem((), f"a crew must be a mapping, not {shown(data)}")
            raise CrewDefinitionError(self._source.problems)
        if "crew" in data:
            message = "'crew' wraps the crew: its keys (name, agents, tasks) belong at the top of the file"
            self._source.problem(("crew",), message, at_key=True)
            raise CrewDefinitionError(self._source.problems)
        block = self._block(data, (), CREW)
        self._check_process(block)
        self._check_model(block)
        agents = {key: self._agent(key, value) for key, value in self._members(block, "agents")}
        tasks = {key: self._task(key, value) for key, value in self._members(block, "tasks")}
        return CrewConfig(
            name=block.name("name") or (file.stem if file else "crew"),
            goal=block.text("goal") or "",
            circuit_breaker=self._breaker(block),
            mounts=self._mounts(block),
            agents=agents,
            tasks=_assigned(tasks, list(agents)),
            folder=file.resolve().parent if file else FilePath.cwd(),
        )

    def _agent(self, key: str, value: dict[str, Any]) -> AgentConfig:
        block = self._block(value, ("agents", key), AGENT)
        self._check_model(block)
        return AgentConfig(
            id=key,
            role=block.text("role") or "",
            goal=block.text("goal") or "",
            backstory=block.text("backstory") or "",
            tools=_once(block.names("tools")),
        )

    def _task(self, key: str, value: dict[str, Any]) -> TaskConfig:
        block = self._block(value, ("tasks", key), TASK)
        return TaskConfig(
            id=key,
            description=self._description(block),
            expected_output=block.text("expected_output") or "",
            agent=block.name("agent") or "",
            dependencies=_once(block.names("dependencies")),
            tools=None if block.get("tools") is None else _once(block.names("tools")),
            deliverable=block.name("deliverable"),
            circuit_breaker=self._breaker(block),
        )

    def _description(self, block: Block) -> str:
        text = block.text("description")
        if not block.require("description"):
            return ""
        if block.get("description") is None:
            block.problem("description", "must be text, not null")
        elif text is not None and not text.strip():
            block.problem("description", "must not be empty")
        return text or ""

    def _members(self, block: Block, key: str) -> list[tuple[str, dict[str, Any]]]:
        """The agents or the tasks, those that can be read at all."""
        one = key.removesuffix("s")
        value = block.get(key)
        if value is None:
            self._source.problem(block.path, f"'{key}' is missing: a crew needs at least one {one}")
            return []
        if not isinstance(value, dict):
            block.problem(key, f"must be a mapping of {one} ids to {key}, not {shown(value)}")
            return []
        if not value:
            block.problem(key, f"is empty: a crew needs at least one {one}")
        for name, content in value.items():
            if not isinstance(content, dict):
                self._source.problem((key, name), f"must be a mapping, not {shown(content)}")
        return [(name, content) for name, content in value.items() if isinstance(content, dict)]

    def _check_process(self, block: Block) -> None:
        written = block.name("process")
        if written is None:
            return
        folded = written.strip().lower()
        if folded in LATER_PROCESSES:
            block.problem("process", f"process '{folded}' is not there yet: only {_listed(PROCESSES)} is")
        elif folded not in PROCESSES:
            hint = self._source.hint(folded, [*PROCESSES, *LATER_PROCESSES])
            block.problem("process", f"unknown process '{written}': valid is {_listed(PROCESSES)}", hint)

    def _check_model(self, block: Block) -> None:
        """Only the offline model is there: any other name must not be taken for it."""
        written = block.get("llm")
        if written is None:
            return
        if isinstance(written, dict):
            folded = {snake_case(key): value for key, value in written.items()}
            written = folded.get("model") or folded.get("provider") or folded.get("name")
        if not (isinstance(written, str) and written.strip().lower() == "offline"):
            block.problem("llm", f"the model {shown(written)} is not there yet: only 'offline' is")

    def _breaker(self, block: Block) -> Any:
        return read_breaker_block(self._source, block.get("circuit_breaker"), block.at("circuit_breaker"))

    def _mounts(self, block: Block) -> tuple[MountSpec, ...]:
        value = block.get("mounts")
        if isinstance(value, dict):
            block.problem("mounts", "must be a list of 'host:/virtual:ro' texts, not a mapping")
            return ()
        entries = value if isinstance(value, list) else [value] if value is not None else []
        mounts: dict[str, MountSpec] = {}
        for index, entry in enumerate(entries):
            at = (*block.at("mounts"), index) if isinstance(value, list) else block.at("mounts")
            try:
                mount = MountSpec.parse(_text_or_refuse(entry))
            except ValueError as error:
                self._source.problem(at, str(error))
                continue
            if mount.virtual in mounts:
                self._source.problem(at, f"'{mount.virtual}' is mounted twice")
            mounts[mount.virtual] = mount
        return tuple(mounts.values())

    def _block(self, value: dict[str, Any], path: Path, table: KeyTable) -> Block:
        """The known keys of a mapping; what is said of the others depends on their kind."""
        left = {}
        for key, content in value.items():
            folded = snake_case(key)
            if folded in table.later:
                if content:
                    self._source.problem((*path, key), f"'{key}' is not there yet", at_key=True)
            elif folded in table.all_names:
                left[key] = content
            else:
                self._unknown_key((*path, key), key, table)
        return read_block(self._source, left, path, table.known, aliases=table.aliases, unused=table.carried)

    def _unknown_key(self, path: Path, key: str, table: KeyTable) -> None:
        hint = self._source.hint(snake_case(key), table.all_names)
        if self._strict:
            self._source.problem(path, f"unknown key '{key}'", hint, at_key=True)
            return
        meant = f" (did you mean '{hint}'?)" if hint else ""
        self.warn(path, "unknown-key", f"unknown key '{key}'{meant}: it has no effect")


def _assigned(tasks: dict[str, TaskConfig], agents: list[str]) -> dict[str, TaskConfig]:
    """Tasks that name no agent go round among all of them (seed 002)."""
    turns = itertools.cycle(agents or [""])
    return {key: task if task.agent else replace(task, agent=next(turns)) for key, task in tasks.items()}


def _text_or_refuse(entry: Any) -> str:
    if not isinstance(entry, str):
        raise ValueError(f"must be a text such as './code:/code:ro', not {shown(entry)}")
    return entry


def _once(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(f"'{name}'" for name in names)
