"""`{topic}` in a crew file's texts, filled from a run's inputs. `{{topic}}` stays as `{topic}`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from orkeon_transitions.crew.config import CrewConfig
from orkeon_transitions.definition.names import camel_case, nearest
from orkeon_transitions.definition.places import Path, Source
from orkeon_transitions.errors import CrewDefinitionError, Problem

_NAME = r"[A-Za-z_][\w-]*"
PLACEHOLDER = re.compile(rf"\{{\{{({_NAME})\}}\}}|\{{({_NAME})\}}")
AGENT_TEXTS = ("role", "goal", "backstory")
TASK_TEXTS = ("description", "expected_output", "deliverable")


def names_in(text: str) -> list[str]:
    """The inputs that a text asks for, once each."""
    return list(dict.fromkeys(name for _, name in PLACEHOLDER.findall(text) if name))


def fill(text: str, inputs: Mapping[str, Any]) -> str:
    """Puts the inputs in. What an input holds is not looked through again."""
    return PLACEHOLDER.sub(lambda found: f"{{{found[1]}}}" if found[1] else str(inputs[found[2]]), text)


def filled(config: CrewConfig, inputs: Mapping[str, Any], source: Source) -> CrewConfig:
    """Fills `{placeholders}` in the texts that agents read.

    Args:
        config: The crew.
        inputs: By placeholder.
        source: The places of the texts.

    Raises:
        CrewDefinitionError: Inputs are missing; each is named with the places that ask for it.
    """
    problems = [
        _missing(name, path, inputs, source)
        for path, text in _texts(config)
        for name in names_in(text)
        if name not in inputs
    ]
    if problems:
        raise CrewDefinitionError(problems)
    return replace(
        config,
        goal=fill(config.goal, inputs),
        agents={key: _filled(agent, AGENT_TEXTS, inputs) for key, agent in config.agents.items()},
        tasks={key: _filled(task, TASK_TEXTS, inputs) for key, task in config.tasks.items()},
    )


def _filled(member: Any, names: tuple[str, ...], inputs: Mapping[str, Any]) -> Any:
    texts = {name: getattr(member, name) for name in names}
    return replace(member, **{name: text and fill(text, inputs) for name, text in texts.items()})


def _texts(config: CrewConfig) -> Iterator[tuple[Path, str]]:
    yield ("goal",), config.goal
    for key, agent in config.agents.items():
        for name in AGENT_TEXTS:
            yield ("agents", key, name), getattr(agent, name)
    for key, task in config.tasks.items():
        for name in TASK_TEXTS:
            yield ("tasks", key, name), getattr(task, name) or ""


def _missing(name: str, path: Path, inputs: Mapping[str, Any], source: Source) -> Problem:
    at, where = place_of(path, source)
    line, column = source.place(at)
    message, hint = f"the input '{name}' is missing", nearest(name, map(str, inputs))
    return Problem(source.file_of(at), line, column, where, message, hint)


def place_of(path: Path, source: Source) -> tuple[Path, str]:
    """Where a text is written, whatever the spelling, and what that place is called."""
    keys = [str(path[-1]), *(["output_file"] if path[-1] == "deliverable" else [])]
    places = {(*path[:-1], spelled): key for key in keys for spelled in (key, camel_case(key))}
    at = next((one for one in places if one in source.places), path)
    return at, ".".join(map(str, (*path[:-1], places.get(at, path[-1]))))
