"""A crew, read: one pass that finds every problem, with its place."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from orkeon_transitions.crew.anchors import Anchors, read_anchors
from orkeon_transitions.crew.breaker_block import read_breaker_block
from orkeon_transitions.crew.budget_block import read_budget_block
from orkeon_transitions.crew.conduct import (
    read_agent_conduct,
    read_crew_conduct,
    read_task_conduct,
    with_guardrail_retries,
)
from orkeon_transitions.crew.config import AgentConfig, CrewConfig, TaskConfig
from orkeon_transitions.crew.consensus_block import ConsensusBlock, read_consensus_block
from orkeon_transitions.crew.cross_checks import check_references
from orkeon_transitions.crew.execution_budget import BudgetBlock
from orkeon_transitions.crew.foreign import foreign
from orkeon_transitions.crew.graph_block import GraphBlock, read_graph_block
from orkeon_transitions.crew.keys import (
    AGENT,
    CREW,
    KINDS,
    PROCESSES,
    TASK,
    KeyTable,
    says_something,
)
from orkeon_transitions.crew.layouts import CrewFiles, read_files
from orkeon_transitions.crew.mcp.block import McpServer, read_servers
from orkeon_transitions.crew.models.reading import read_beside, read_model_settings
from orkeon_transitions.crew.models.settings import ModelSettings
from orkeon_transitions.crew.mounts import MountSpec
from orkeon_transitions.crew.output_files import OutputFolder
from orkeon_transitions.crew.process_checks import check_process
from orkeon_transitions.crew.spawning import SPAWN
from orkeon_transitions.crew.tool_aliases import own_names
from orkeon_transitions.crew.web.block import read_web
from orkeon_transitions.definition import Finding
from orkeon_transitions.definition.fields import Block, read_block, read_name, shown
from orkeon_transitions.definition.names import snake_case, spelled_like
from orkeon_transitions.definition.places import Path, Source


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
    """Reads a crew's file, its folder, or its text.

    Args:
        what: A path; or a text, if it has a newline or begins with `{`.
        tools: The names of all tools that there are.
        strict: Whether an unknown key is an error.

    Raises:
        CrewDefinitionError: Everything that is wrong, in the order of the files.
    """
    files = read_files(what)
    source = files.source
    reader = _CrewReader(files, strict=strict, tools=tools)
    config = reader.crew()
    check_references(config, source, tools=tools, unread=files.unread, warn=reader.warn)
    if not files.unread:
        check_process(config, source, reader.warn)
    source.raise_problems()
    return LoadedCrew(config, (*reader.findings, *reader.carried_notes(), *source.notes), source)


class _CrewReader:
    def __init__(self, files: CrewFiles, *, strict: bool, tools: Collection[str]) -> None:
        self._files = files
        self._source = files.source
        self._strict = strict
        self._tool_names = tools
        self._anchors = Anchors()
        self._output = OutputFolder(())
        self._process_name = PROCESSES[0]
        self._carried: dict[str | None, dict[str, Path]] = {}
        self.findings: list[Finding] = []

    def warn(self, path: Path, code: str, message: str) -> None:
        self.findings.append(self._source.finding("warning", path, code, message))

    def _note(self, path: Path, code: str, message: str) -> None:
        self.findings.append(self._source.finding("note", path, code, message))

    def carried_notes(self) -> Iterator[Finding]:
        """One note for each file that says what is carried, at the first such key."""
        for keys in self._carried.values():
            first = next(iter(keys.values()))
            message = f"carried, not acted on: {', '.join(keys)}"
            yield self._source.finding("note", first, "carried", message)

    def crew(self) -> CrewConfig:
        self._refuse_foreign(self._source.data)
        block = self._block(self._source.data, (), CREW)
        self._anchors = self._read_anchors(block)
        self._process_name = process = self._process(block)
        consensus = self._consensus(block, process)
        self._output = OutputFolder(self._mounts(block))
        agents = {key: self._agent(key, value) for key, value in self._members(block, "agents")}
        tasks = {key: self._task(key, value) for key, value in self._members(block, "tasks")}
        return CrewConfig(
            name=block.name("name") or self._files.name,
            goal=self._text(block, "goal"),
            process=process,
            circuit_breaker=self._breaker(block),
            graph_config=self._graph(block, process),
            consensus=consensus,
            execution_budget=self._budget(block),
            manager_agent=self._manager(block, process, consensus),
            mounts=self._output.mounts,
            anchors=self._anchors.texts,
            llm=self._model(block, "llm"),
            mcp_servers=self._servers(block),
            web=read_web(self._source, block.get("web"), block.at("web")),
            agents=agents,
            tasks=tasks,
            folder=self._files.folder,
            carried=self._carried_by(block, CREW),
            **read_crew_conduct(block),
        )

    def _refuse_foreign(self, data: Any) -> None:
        """Ends at once where there is no sense in looking further.

        Raises:
            CrewDefinitionError: This is no crew.
        """
        if not isinstance(data, dict):
            self._source.problem((), f"a crew must be a mapping, not {shown(data)}")
        elif isinstance(data.get("crew"), dict | list):
            message = "'crew' wraps the crew: its keys (name, agents, tasks) belong at the top of the file"
            self._source.problem(("crew",), message, at_key=True)
        elif (looks := foreign(data, self._source.file)) is not None:
            self._source.problem((), looks)
        else:
            return
        self._source.raise_problems()

    def _agent(self, key: str, value: dict[str, Any]) -> AgentConfig:
        block = self._block(value, ("agents", key), AGENT)
        return AgentConfig(
            id=key,
            role=self._text(block, "role"),
            goal=self._text(block, "goal"),
            backstory=self._text(block, "backstory"),
            tools=self._tools(block),
            llm=read_beside(block, self._model(block, "llm")),
            carried=self._carried_by(block, AGENT),
            **read_agent_conduct(block),
        )

    def _task(self, key: str, value: dict[str, Any]) -> TaskConfig:
        block = self._block(value, ("tasks", key), TASK)
        return TaskConfig(
            id=key,
            description=self._description(block),
            expected_output=self._text(block, "expected_output"),
            agent=block.name("agent") or "",
            dependencies=_once(block.names("dependencies") + block.names("context")),
            tools=None if block.get("tools") is None else self._tools(block),
            deliverable=self._deliverable(block),
            async_execution=self._is_async(block),
            markdown=block.flag("markdown", False),
            circuit_breaker=with_guardrail_retries(block, self._breaker(block)),
            execution_budget=self._budget(block),
            llm_override=self._model(block, "llm_override"),
            carried=self._carried_by(block, TASK),
            **read_task_conduct(block),
        )

    def _deliverable(self, block: Block) -> str | None:
        """The task's file, by either of its keys."""
        written = {key: block.name(key) for key in ("deliverable", "output_file")}
        key, name = next(((key, name) for key, name in written.items() if name is not None), ("", None))
        if name is None:
            return None
        if all(written.values()):
            block.problem("output_file", "stands beside 'deliverable': a task has one file")
        text = self._expanded(block, key, name)
        if key == "deliverable":
            return text
        try:
            return self._output.virtual(text)
        except ValueError as error:
            block.problem(key, str(error))
            return None

    def _is_async(self, block: Block) -> bool:
        """Whether a task lets others go on: in the processes that run one after another."""
        is_async = block.flag("async_execution", False)
        if is_async and self._process_name != PROCESSES[0]:
            self._carry(block.at("async_execution"))
        return is_async

    def _servers(self, block: Block) -> dict[str, McpServer]:
        """The MCP servers; what a run may start, and what it tells of its surroundings, is told before."""
        at = block.at("mcp_servers")
        servers = read_servers(self._source, block.get("mcp_servers"), at)
        for name, server in servers.items():
            if server.command:
                message = f"a run that needs it starts the program '{server.command}'"
                self._note((*at, name), "starts-program", message)
            if server.variables:
                message = f"a run that needs it gives it {', '.join(server.variables)} of your environment"
                self._note((*at, name), "gives-variables", message)
        return servers

    def _tools(self, block: Block) -> tuple[str, ...]:
        automatic = {SPAWN: "agent of an autonomous crew"} if self._process_name == "autonomous" else {}
        names, remarks = own_names(block.names("tools"), self._tool_names, automatic)
        for code, message in remarks:
            self._note(block.at("tools"), code, message)
        return names

    def _description(self, block: Block) -> str:
        if not block.require("description"):
            return ""
        text = self._text(block, "description")
        if block.get("description") is None:
            block.problem("description", "must be text, not null")
        elif isinstance(block.get("description"), str) and not text.strip():
            block.problem("description", "must not be empty")
        return text

    def _text(self, block: Block, key: str) -> str:
        return self._expanded(block, key, block.text(key) or "")

    def _expanded(self, block: Block, key: str, text: str) -> str:
        """A text with its anchors filled in; what is meant as one and is none gets a warning."""
        self._warn_of_strangers(block.at(key), text)
        try:
            return self._anchors.expand(text)
        except ValueError as error:
            block.problem(key, str(error))
            return text

    def _warn_of_strangers(self, path: Path, text: str) -> None:
        for name in self._anchors.strangers(text):
            hint = self._source.hint(name, self._anchors.texts)
            meant = f" (did you mean '*{hint}'?)" if hint else ""
            what = "is no text" if name in self._anchors.others else "is no anchor"
            self.warn(path, "unknown-anchor", f"'*{name}' {what}{meant}: it stays as it is")

    def _read_anchors(self, block: Block) -> Anchors:
        anchors = read_anchors(self._source, block.get("anchors"), block.at("anchors"))
        self._anchors = anchors
        for name, text in anchors.texts.items():
            self._warn_of_strangers((*block.at("anchors"), name), text)
        return anchors

    def _members(self, block: Block, key: str) -> list[tuple[str, dict[str, Any]]]:
        """The agents or the tasks, those that can be read at all."""
        members = block.get(key)
        if not (isinstance(members, dict) and members):
            self._say_none(block, key, members)
            return []
        for name, content in members.items():
            read_name(self._source, name, (key, name))
            if not isinstance(content, dict):
                self._source.problem((key, name), f"must be a mapping, not {shown(content)}")
        return [(name, content) for name, content in members.items() if isinstance(content, dict)]

    def _say_none(self, block: Block, key: str, found: Any) -> None:
        """There are no agents, or no tasks; unless those are in a file that could not be read."""
        one = key.removesuffix("s")
        if found is not None and not isinstance(found, dict):
            block.problem(key, f"must be a mapping of {one} ids to {key}, not {shown(found)}")
        elif not self._files.unread & {key, "crew"}:
            if found is None:
                self._source.problem(block.path, f"'{key}' is missing: a crew needs at least one {one}")
            else:
                block.problem(key, f"is empty: a crew needs at least one {one}")
        self._files.unread.add(key)

    def _process(self, block: Block) -> str:
        written = block.name("process")
        if written is None:
            return PROCESSES[0]
        folded = written.strip().lower()
        if folded not in PROCESSES:
            hint = self._source.hint(folded, PROCESSES)
            valid = ", ".join(f"'{name}'" for name in PROCESSES)
            block.problem("process", f"unknown process '{written}': valid are {valid}", hint)
        return folded

    def _graph(self, block: Block, process: str) -> GraphBlock | None:
        graph = read_graph_block(self._source, block.get("graph_config"), block.at("graph_config"))
        if process != "graph" and says_something(block.get("graph_config")):
            self._carry(block.at("graph_config"))
        return graph

    def _consensus(self, block: Block, process: str) -> ConsensusBlock | None:
        """The block, by either of its keys."""
        keys = [key for key in ("consensus", "consensus_config") if block.get(key) is not None]
        if len(keys) > 1:
            block.problem("consensus_config", "stands beside 'consensus', which is the same")
        read = [read_consensus_block(self._source, block.get(key), block.at(key)) for key in keys]
        if process != "consensual" and keys and says_something(block.get(keys[0])):
            self._carry(block.at(keys[0]))
        return read[0] if read else None

    def _budget(self, block: Block) -> BudgetBlock | None:
        """What the process `autonomous`, and no other one, may use."""
        written, at = block.get("execution_budget"), block.at("execution_budget")
        if self._process_name != "autonomous" and says_something(written):
            self._carry(at)
        return read_budget_block(self._source, written, at)

    def _manager(self, block: Block, process: str, consensus: ConsensusBlock | None) -> str | None:
        """Who leads, in the processes where somebody does."""
        manager = block.name("manager_agent")
        chooses = process == "consensual" and consensus is not None and consensus.is_led
        if manager is not None and process != "hierarchical" and not chooses:
            self._carry(block.at("manager_agent"))
        return manager

    def _carry(self, path: Path) -> None:
        """Remembers a key that has no effect, by its file, once for each name."""
        self._carried.setdefault(self._source.file_of(path), {}).setdefault(str(path[-1]), path)

    def _carried_by(self, block: Block, table: KeyTable) -> dict[str, Any]:
        carried = {key: value for key, value in block.values.items() if key in table.carried}
        for key, value in carried.items():
            if value is not None and key in KINDS:
                KINDS[key](self._source, value, block.at(key))
            if says_something(value):
                self._carry(block.at(key))
        return {key: value for key, value in carried.items() if value is not None}

    def _model(self, block: Block, key: str) -> ModelSettings | None:
        return read_model_settings(self._source, block.get(key), block.at(key))

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
                mount = MountSpec.parse(entry)
            except ValueError as error:
                self._source.problem(at, str(error))
                continue
            if mount.virtual in mounts:
                self._source.problem(at, f"'{mount.virtual}' is mounted twice")
            mounts[mount.virtual] = mount
        return tuple(mounts.values())

    def _block(self, value: dict[str, Any], path: Path, table: KeyTable) -> Block:
        """The known keys of a mapping; what is said of the others depends on their kind."""
        left: dict[str, Any] = {}
        for key, content in value.items():
            folded = snake_case(key)
            if folded in table.later:
                if says_something(content):
                    self._source.problem((*path, key), f"'{key}' is not there yet", at_key=True)
            elif folded in table.all_names:
                left[key] = content
            else:
                self._unknown_key((*path, key), key, table)
        return read_block(self._source, left, path, table.known | table.carried)

    def _unknown_key(self, path: Path, key: str, table: KeyTable) -> None:
        hint = spelled_like(key, self._source.hint(snake_case(key), table.all_names))
        if self._strict:
            self._source.problem(path, f"unknown key '{key}'", hint, at_key=True)
            return
        meant = f" (did you mean '{hint}'?)" if hint else ""
        self.warn(path, "unknown-key", f"unknown key '{key}'{meant}: it has no effect")


def _once(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
