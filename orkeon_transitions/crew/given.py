"""What a crew file leaves to the program: a person to ask, functions and classes that are called by name.

Whatever is missing is said before anything is begun, all at once and with its places.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from typing import Any

from pydantic import TypeAdapter
from pydantic.errors import PydanticUserError

from orkeon_transitions.crew.acceptance import is_shown
from orkeon_transitions.crew.checks import Checker, GuardrailFunction, Rule
from orkeon_transitions.crew.checks.checker import check_function
from orkeon_transitions.crew.config import CrewConfig, TaskConfig
from orkeon_transitions.crew.executors import AgentExecutor, JudgingExecutor
from orkeon_transitions.crew.human import AskHuman, Human
from orkeon_transitions.definition.names import camel_case, nearest
from orkeon_transitions.definition.places import Path, Source
from orkeon_transitions.errors import CrewDefinitionError, MissingExtraError, Problem

NO_HUMAN = (
    "a person must accept the output, and there is nobody to ask: "
    "a program gives ask_human=..., `orkeon run` asks on a terminal and not with --no-input"
)
_MISSING = "the {} '{}' is for the program to give, by its name in {}={{...}}"


@dataclass(frozen=True, slots=True)
class Given:
    """What the program gives for one run.

    Attributes:
        ask_human: Asks a person.
        guardrails: Checks of outputs, by name.
        schemas: Classes that outputs can be read as, by name.
    """

    ask_human: AskHuman | None = None
    guardrails: Mapping[str, GuardrailFunction] = field(default_factory=dict)
    schemas: Mapping[str, Any] = field(default_factory=dict)

    def shown(self, config: CrewConfig) -> CrewConfig:
        """The crew with the schema of each class that an output is to be read as, for agents to see."""
        tasks = {key: self._with_schema(task) for key, task in config.tasks.items()}
        return replace(config, tasks=tasks)

    def _with_schema(self, task: TaskConfig) -> TaskConfig:
        shape = task.output_shape
        if shape is None or shape.model is None or shape.model not in self.schemas:
            return task
        _check_model(shape.model, self.schemas[shape.model])
        schema = TypeAdapter(self.schemas[shape.model]).json_schema()
        return replace(task, output_shape=replace(shape, shown=schema))

    def ready(
        self, config: CrewConfig, source: Source, executor: AgentExecutor
    ) -> tuple[Human | None, Checker]:
        """A person and a checker for a run.

        Raises:
            CrewDefinitionError: The crew needs what was not given; each is named with its place.
            MissingExtraError: A schema cannot be checked here.
            TypeError: What was given is not of its kind.
        """
        human = None if self.ask_human is None else Human(self.ask_human)
        for name, function in self.guardrails.items():
            check_function(name, function)
        for name, model in self.schemas.items():
            _check_model(name, model)
        problems = list(self._missing(config, source, executor))
        if problems:
            raise CrewDefinitionError(problems)
        if any(rule.schema is not None for _, rule in _rules(config)) and find_spec("jsonschema") is None:
            raise MissingExtraError(
                "Holding an output against a JSON Schema needs jsonschema.", extra="schema"
            )
        return human, Checker(self.guardrails, self.schemas)

    def _missing(self, config: CrewConfig, source: Source, executor: AgentExecutor) -> Iterator[Problem]:
        if self.ask_human is None:
            for task in config.tasks.values():
                if is_shown(config, task):
                    own = task.human_input is not None
                    yield _problem(
                        ("tasks", task.id, "human_input") if own else ("human_input",), NO_HUMAN, source
                    )
        for path, rule in _rules(config):
            if rule.function is not None and rule.function not in self.guardrails:
                hint = nearest(rule.function, self.guardrails)
                yield _problem(path, _MISSING.format("function", rule.function, "guardrails"), source, hint)
            if rule.model is not None and rule.model not in self.schemas:
                hint = nearest(rule.model, self.schemas)
                yield _problem(path, _MISSING.format("class", rule.model, "schemas"), source, hint)
            if rule.judge is not None and not isinstance(executor, JudgingExecutor):
                message = "is judged by a model, and the program's executor has none (no judge_output)"
                yield _problem(path, message, source)


def _rules(config: CrewConfig) -> Iterator[tuple[Path, Rule]]:
    yield from _at(("guardrails",), config.guardrails)
    for agent in config.agents.values():
        yield from _at(("agents", agent.id, "guardrails"), agent.guardrails)
    for task in config.tasks.values():
        yield from _at(("tasks", task.id, "guardrails"), task.guardrails)
        if task.output_shape is not None:
            yield ("tasks", task.id, "response_schema"), task.output_shape


def _at(path: Path, rules: Iterable[Rule]) -> Iterator[tuple[Path, Rule]]:
    return ((path, rule) for rule in rules)


def _problem(path: Path, message: str, source: Source, hint: str | None = None) -> Problem:
    *above, key = path
    spellings = _SPELLINGS.get(str(key), (str(key),))
    written = [(*above, spelled) for one in spellings for spelled in (camel_case(one), one)]
    at = next((one for one in written if one in source.places), tuple(above))
    line, column = source.place(at)
    return Problem(source.file_of(at), line, column, ".".join(map(str, path)), message, hint)


_SPELLINGS: Mapping[str, tuple[str, ...]] = {
    "guardrails": ("guardrails", "guardrail"),
    "response_schema": (
        "response_schema",
        "output_schema",
        "schema_inline",
        "output_pydantic",
        "output_json",
        "response_model",
    ),
}


def _check_model(name: str, model: Any) -> None:
    try:
        TypeAdapter(model).json_schema()
    except (PydanticUserError, TypeError, ValueError) as error:
        raise TypeError(f"nothing can be read as '{name}': {error}") from error
