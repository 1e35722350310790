"""A crew that was loaded: what it is, and how it is run."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from orkeon_transitions.crew.agent_loop import AgentLoop
from orkeon_transitions.crew.builtin_tools import BUILTIN_NAMES, builtin_tools
from orkeon_transitions.crew.checks import GuardrailFunction
from orkeon_transitions.crew.config import AgentConfig, CrewConfig, TaskConfig
from orkeon_transitions.crew.drawing import Drawn
from orkeon_transitions.crew.executors import AgentExecutor, BoundExecutor, Executor
from orkeon_transitions.crew.file_names import check_file_names
from orkeon_transitions.crew.given import Given
from orkeon_transitions.crew.human import AskHuman
from orkeon_transitions.crew.loader import LoadedCrew, read_crew
from orkeon_transitions.crew.mcp import ToolServers, told_to_servers
from orkeon_transitions.crew.model_choice import Model, chosen
from orkeon_transitions.crew.mounts import Mount, Mounts, MountSpec
from orkeon_transitions.crew.observing import CrewObserver
from orkeon_transitions.crew.pacing import Paces, Sleep
from orkeon_transitions.crew.packaged import example_functions, found_crew, output_folder
from orkeon_transitions.crew.placeholders import filled
from orkeon_transitions.crew.processes import RunOptions
from orkeon_transitions.crew.processes.process import Journal
from orkeon_transitions.crew.results import CrewResult
from orkeon_transitions.crew.run_log import RunLog, own_name
from orkeon_transitions.crew.running import (
    at_least_one,
    checked_log,
    known_agents,
    outside_of_a_loop,
    run_to_its_end,
)
from orkeon_transitions.crew.secrets import Secrets
from orkeon_transitions.crew.taking_up import Origin, begun, check_unchanged, has_changed, readable, taken_up
from orkeon_transitions.crew.tool import Tool, as_tool
from orkeon_transitions.crew.tool_sources import KnownNames, by_name, offered_tools
from orkeon_transitions.crew.web import WEB_NAMES, check_web_tools, web_tools
from orkeon_transitions.definition import Finding
from orkeon_transitions.definition.source import is_text


def load_crew(
    what: str | os.PathLike[str],
    *,
    strict: bool = False,
    tools: Iterable[Tool | Callable[..., Any]] = (),
) -> Crew:
    """Reads a crew.

    Args:
        what: A crew file, or a folder of them; a project of CrewAI's that has its two files in `config/` or
            `src/<name>/config/`; the name of a packaged example such as `103-ts-codebase-with-fsm`; or a
            crew's YAML text, if it has a newline or begins with `{`.
        strict: Whether an unknown key is an error rather than a warning.
        tools: The program's own tools, which agents may name besides the built-in ones and those that
            installed packages offer.

    Returns:
        The crew. Relative folders of its mounts are looked for beside its file; a packaged example writes
        below `./orkeon-output/<name>` instead.

    Raises:
        CrewDefinitionError: Everything that is wrong with it, with file, line and column.
        OrkeonError: A tool that an installed package offers cannot be imported.
        ValueError: Two of the program's tools have one name.
    """
    if isinstance(what, str) and is_text(what):
        own = by_name(map(as_tool, tools))
        read, own = _read(what, own, strict=strict)
        return Crew(read, own)
    file = found_crew(what)
    own = by_name(map(as_tool, [*example_functions(file), *tools]))
    read, own = _read(file, own, strict=strict)
    output = output_folder(file)
    # An example goes by its name, wherever this package is installed.
    name = os.fspath(what) if output is not None and file != Path(what) else str(file.absolute())
    return Crew(read, own, output, name)


class Crew(Drawn):
    """Agents and tasks that can be run, any number of times and at the same time.

    Make one with `load_crew`.

    Attributes:
        config: What the crew file says.
        findings: Warnings and notes about the file.
        source: What loads it again: its path, or the name of a packaged example; None: it was a text.
    """

    def __init__(
        self,
        loaded: LoadedCrew,
        tools: Mapping[str, Tool] | None = None,
        output: Path | None = None,
        source: str | None = None,
    ) -> None:
        self.config: CrewConfig = loaded.config
        self.source = source
        self.findings: tuple[Finding, ...] = loaded.findings
        self._source = loaded.source
        self._mounts = Mounts([_placed(spec, loaded.config.folder, output) for spec in loaded.config.mounts])
        web = web_tools(loaded.config.web)
        self._tools = {**builtin_tools(self._mounts), **web, **(tools or {})}

    def __repr__(self) -> str:
        size = ", ".join(
            f"{len(named)} {noun}{'' if len(named) == 1 else 's'}"
            for noun, named in (("agent", self.agents), ("task", self.tasks))
        )
        return f"<{type(self).__name__} '{self.name}': {size}>"

    @property
    def name(self) -> str:
        """The crew's name."""
        return self.config.name

    @property
    def agents(self) -> Mapping[str, AgentConfig]:
        """The agents by key, in file order."""
        return self.config.agents

    @property
    def tasks(self) -> Mapping[str, TaskConfig]:
        """The tasks by key, in file order."""
        return self.config.tasks

    @property
    def mounts(self) -> tuple[Mount, ...]:
        """The folders that the crew's tools may touch, with their places on this computer."""
        return self._mounts.listed

    async def run(
        self,
        inputs: Mapping[str, Any] | None = None,
        *,
        executor: Executor | None = None,
        model: Model | None = None,
        observer: CrewObserver | None = None,
        journal: Journal | None = None,
        run_log: RunLog | None = None,
        run_id: str | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Sleep = asyncio.sleep,
        concurrency: int | None = None,
        ask_human: AskHuman | None = None,
        guardrails: Mapping[str, GuardrailFunction] | None = None,
        schemas: Mapping[str, Any] | None = None,
        unavailable: Collection[str] = (),
    ) -> CrewResult:
        """Runs the crew.

        Args:
            inputs: What fills the `{placeholders}` of the file.
            executor: Does the tasks in place of the agent loop: a plain or async function of agent, task and
                context that gives text or a `TaskOutcome`, or an `AgentExecutor`.
            model: Whom the agent loop asks, whatever the file says: a model's name, its `ModelSettings`, a
                `ChatModel`, or a `ModelChooser`. Left out: the models of the file, the offline one where it
                names none.
            observer: Is told what happens. Its `crew_finished` gets the partial result of a run that is
                cancelled or breaks off.
            journal: Takes note of every transition, before it becomes visible: anything with `record`.
            run_log: Where the run is written down so that `resume` can go on with it, in another process too:
                `store.runs` of a `MachineStore`. It keeps the inputs and what the tasks give, so no secrets
                belong in there; messages and what tools answered are not kept.
            run_id: The run's own name; made up if left out.
            clock: Monotonic seconds, for the machines and for rates (`maxRpm`).
            sleep: Waits until an agent may ask its model again.
            concurrency: How many tasks may run at once; one agent may have several. Left out: the file's
                `maxConcurrency`, else 8.
            ask_human: Asks a person, for agents that have the tool `ask_human` and tasks with `humanInput`: a
                plain or async function of a `HumanQuestion` that gives the answer, or None: nobody answers.
            guardrails: The functions that `guardrails` of the file call by name: plain or async, of the
                output; True or None: it is in order; False or a text: what is wrong with it.
            schemas: The classes, such as pydantic models, that the file calls by name in `responseSchema` or
                `output_pydantic`.
            unavailable: Keys of agents that are out of service in this run. A task without an agent goes to
                another one; a task that names one of them fails.

        Returns:
            The result, with every task in it.

        Raises:
            CrewDefinitionError: An input is missing, or a person, a function or a class that the file needs.
            MissingKeyError: A model wants a key, and there is none.
            MissingExtraError: What a model takes is not installed.
            TypeError: The executor cannot be called with an agent, a task and a context, the model is none,
                or both are given; or another argument is not of its kind; or an input cannot be kept.
            ValueError: `concurrency` is no whole number from 1, or `unavailable` names no agent.
            CancelledError: The run was cancelled; every running task's machine then is in `cancelled`.
            OrkeonError: The log has a run of that name.
            StaleMachineError: Another process has taken the run over.
            Exception: What the journal or the log raises: the run stops before a fact is lost.
        """
        if journal is not None and not callable(getattr(journal, "record", None)):
            raise TypeError(f"a journal takes note with record(machine), {type(journal).__name__} has none")
        if journal is not None and run_log is not None:
            raise ValueError(
                "a run is written down once: give it a journal or a run_log, which holds one too"
            )
        given = dict(inputs or {})
        config, options = self._prepared(
            given,
            Given(ask_human, guardrails or {}, schemas or {}),
            executor=executor,
            model=model,
            observer=observer,
            clock=clock,
            sleep=sleep,
            concurrency=concurrency,
        )
        options = replace(
            options,
            run_id=own_name(run_id, is_kept=run_log is not None),
            journal=journal,
            unavailable=known_agents(unavailable, self.agents),
        )
        if run_log is not None:
            origin = self._origin(given, options.unavailable)
            recorder = await begun(checked_log(run_log), options.run_id, origin)
            options = replace(options, recorder=recorder)
        return await run_to_its_end(config, options)

    async def resume(
        self,
        run_id: str,
        *,
        run_log: RunLog,
        inputs: Mapping[str, Any] | None = None,
        allow_changes: bool = False,
        take_over: bool = False,
        executor: Executor | None = None,
        model: Model | None = None,
        observer: CrewObserver | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Sleep = asyncio.sleep,
        concurrency: int | None = None,
        ask_human: AskHuman | None = None,
        guardrails: Mapping[str, GuardrailFunction] | None = None,
        schemas: Mapping[str, Any] | None = None,
    ) -> CrewResult:
        """Goes on with a run that was cancelled, that an error broke off, or whose process has ended.

        What had ended is not done again. A task that was under way goes on from the last transition of its
        machine, with what is left of its limits; its conversation begins anew, and what it did after that
        transition may be done twice, which `TaskContext.idempotency_key` lets a tool or an executor notice.

        Args:
            run_id: The run.
            run_log: Where it is written down.
            inputs: The run's own if left out.
            allow_changes: Whether to go on though the crew or the inputs are not those that it began with.
                A task that is under way keeps the limits that it had.
            take_over: Whether to do so though another process seems to work on it; that one then stops at its
                next transition.
            executor: As for `run`, and so are the others.
            model: As for `run`.
            observer: As for `run`.
            clock: As for `run`.
            sleep: As for `run`.
            concurrency: As for `run`.
            guardrails: As for `run`.
            schemas: As for `run`.
            ask_human: As for `run`. What a person had been asked when the run ended is asked again.

        Raises:
            CrewDefinitionError: The crew or the inputs have changed; each difference is named.
            StaleMachineError: Another process works on the run, was quicker, or has taken it over.
            OrkeonError: There is no such run, or it has ended.
            Exception: As for `run`.
        """
        found = await asyncio.to_thread(readable, checked_log(run_log), run_id)
        before = Origin.from_note(found.note)
        given = dict(before.inputs if inputs is None else inputs)
        now = self._origin(given, before.unavailable)
        if not allow_changes:
            check_unchanged(run_id, before, now, self._source)
        config, options = self._prepared(
            given,
            Given(ask_human, guardrails or {}, schemas or {}),
            executor=executor,
            model=model,
            observer=observer,
            clock=clock,
            sleep=sleep,
            concurrency=concurrency,
        )
        changed = now if has_changed(before, now) else None
        recorder, machines = await taken_up(run_log, run_id, changed, take_over=take_over)
        options = replace(
            options,
            run_id=run_id,
            unavailable=frozenset(before.unavailable) & frozenset(self.agents),
            recorder=recorder,
            recorded=machines,
        )
        return await run_to_its_end(config, options)

    def resume_sync(self, run_id: str, **options: Any) -> CrewResult:
        """Goes on with a run outside of an event loop; arguments as for `resume`.

        Raises:
            OrkeonError: An event loop is running: there, `await crew.resume(...)`.
        """
        return outside_of_a_loop(
            "resume_sync", "await crew.resume(...)", lambda: self.resume(run_id, **options)
        )

    def run_sync(self, inputs: Mapping[str, Any] | None = None, **options: Any) -> CrewResult:
        """Runs the crew outside of an event loop; arguments as for `run`.

        Raises:
            OrkeonError: An event loop is running: there, `await crew.run(...)`.
        """
        return outside_of_a_loop("run_sync", "await crew.run(...)", lambda: self.run(inputs, **options))

    def _prepared(
        self,
        inputs: Mapping[str, Any],
        given: Given,
        *,
        executor: Executor | None,
        model: Model | None,
        observer: CrewObserver | None,
        clock: Callable[[], float],
        sleep: Sleep,
        concurrency: int | None,
    ) -> tuple[CrewConfig, RunOptions]:
        """The crew with its placeholders filled, and what `run` and `resume` have in common."""
        if observer is not None and not isinstance(observer, CrewObserver):
            raise TypeError(f"the observer is a CrewObserver, not {observer!r}")
        config = given.shown(filled(self.config, inputs, self._source))
        check_file_names(config, self._source)
        worker = self._executor(config, executor, model)
        human, checker = given.ready(config, self._source, worker)
        return config, RunOptions(
            run_id="",
            executor=worker,
            inputs=inputs,
            observer=observer or CrewObserver(),
            clock=clock,
            mounts=self._mounts,
            concurrency=at_least_one(concurrency, config.max_concurrency),
            human=human,
            checker=checker,
            paces=Paces.of(config, clock, sleep),
            secrets=Secrets.of_run(os.environ, told_to_servers(config.mcp_servers, os.environ), model),
        )

    def _origin(self, inputs: Mapping[str, Any], unavailable: Collection[str]) -> Origin:
        return Origin.of(self.config, self.mounts, self.source, inputs, tuple(unavailable))

    def _executor(self, config: CrewConfig, executor: Executor | None, model: Model | None) -> AgentExecutor:
        if executor is not None:
            if model is not None:
                raise TypeError("an executor does without a model: give one of them")
            return executor if isinstance(executor, AgentLoop) else BoundExecutor(executor)
        return AgentLoop(
            model=chosen(config, model),
            tools=self._tools,
            mounts=self.mounts,
            goal=config.goal,
            servers=self._servers(),
        )

    def _servers(self) -> ToolServers:
        """The MCP servers for one run; those that are needed can be started, as far as can be told."""
        servers = ToolServers(self.config.mcp_servers, self.config.folder)
        named = self.config.tools_named
        servers.check(named)
        if self.config.web is not None and named & set(WEB_NAMES):
            check_web_tools()
        return servers


def _read(
    what: str | os.PathLike[str], own: dict[str, Tool], *, strict: bool
) -> tuple[LoadedCrew, dict[str, Tool]]:
    """Reads a crew, and imports what it names of the tools that installed packages offer."""
    known = KnownNames([*BUILTIN_NAMES, *own])
    read = read_crew(what, tools=known, strict=strict)
    return read, {**offered_tools(read.config.tools_named - {*known.here, *WEB_NAMES}), **own}


def _placed(spec: MountSpec, folder: Path, output: Path | None) -> Mount:
    """Puts a mount's folder on this computer; what may be written never lies inside of the package."""
    base = output if output is not None and spec.mode == "rw" else folder
    return spec.placed(base)
