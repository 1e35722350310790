"""The JSON Schema of a crew file, for editors and other tools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orkeon_transitions.crew.breaker_block import GUARD_LIMITS
from orkeon_transitions.crew.keys import AGENT, CREW, PROCESSES, TASK, KeyTable
from orkeon_transitions.definition import machine_schema
from orkeon_transitions.definition.names import camel_case

_Schema = dict[str, Any]

_TEXT: _Schema = {"type": ["string", "null"]}
_NAMES: _Schema = {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": ["string", "null"]}]}
_BREAKER: _Schema = {"anyOf": [{"$ref": "#/$defs/circuit_breaker"}, {"type": "null"}]}
_MODEL: _Schema = {"anyOf": [{"enum": ["offline", None]}, {"type": "object"}], "description": "`offline`."}
_LATER: _Schema = {"enum": [None, False, "", [], {}], "description": "Not there yet."}
_CARRIED: _Schema = {"description": "Accepted, without effect."}


def crew_schema() -> dict[str, Any]:
    """Describes a crew file, all keys in both spellings.

    Returns:
        A JSON Schema (2020-12) of `type: object`. What it cannot say, such as that a task's agent must be one
        of the file's, only `load_crew` checks.
    """
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "orkeon_transitions crew",
        "description": "Agents and the tasks that they do, each through a task machine.",
        **_mapping(CREW, _crew_keys(), required=("agents", "tasks")),
        "$defs": {
            "agent": _mapping(AGENT, _agent_keys()),
            "task": _mapping(TASK, _task_keys(), required=("description",)),
            "circuit_breaker": _breaker(),
        },
    }


def _crew_keys() -> Mapping[str, _Schema]:
    return {
        "name": _said("The crew's name.", _TEXT),
        "goal": _said("What all of it is for.", _TEXT),
        # In any case: an editor may still offer the names.
        "process": _said("How the tasks are run.", {"anyOf": [{"enum": list(PROCESSES)}, _TEXT]}),
        "circuit_breaker": _said("The limits of every task.", _BREAKER),
        "mounts": _said("Folders that tools may touch: 'host:/virtual:ro' or ':rw'.", _NAMES),
        "llm": _MODEL,
        "agents": _said("The agents by id.", _members("agent")),
        "tasks": _said("The tasks by id.", _members("task")),
    }


def _agent_keys() -> Mapping[str, _Schema]:
    return {
        "role": _said("What the agent is.", _TEXT),
        "goal": _said("What it is after.", _TEXT),
        "backstory": _said("What it should know of itself.", _TEXT),
        "tools": _said("Names of tools.", _NAMES),
        "llm": _MODEL,
    }


def _task_keys() -> Mapping[str, _Schema]:
    return {
        "description": _said("The work, in words.", {"type": "string", "minLength": 1}),
        "expected_output": _said("What the answer should look like.", _TEXT),
        "agent": _said("Who does it; left out, the agents take turns.", _TEXT),
        "dependencies": _said("Tasks whose outputs it needs.", _NAMES),
        "tools": _said("Names of tools, in place of the agent's.", _NAMES),
        "deliverable": _said("The file that the agent writes, below a mount with ':rw'.", _TEXT),
        "circuit_breaker": _said("The task's own limits.", _BREAKER),
    }


def _breaker() -> _Schema:
    schema: _Schema = machine_schema()["$defs"]["circuit_breaker"]
    limit = {"type": ["integer", "null"], "minimum": 0}
    limits = {name: _said(f"How many: {name.replace('_', ' ')}.", limit) for name in GUARD_LIMITS}
    return schema | {"properties": schema["properties"] | _both_spellings(limits)}


def _members(kind: str) -> _Schema:
    return {"type": "object", "minProperties": 1, "additionalProperties": {"$ref": f"#/$defs/{kind}"}}


def _mapping(table: KeyTable, keys: Mapping[str, _Schema], *, required: tuple[str, ...] = ()) -> _Schema:
    aliases = {alias: keys[meant] for alias, meant in table.aliases.items()}
    others = dict.fromkeys(sorted(table.later), _LATER) | dict.fromkeys(sorted(table.carried), _CARRIED)
    schema: _Schema = {"type": "object", "properties": _both_spellings({**keys, **aliases, **others})}
    return schema | ({"required": list(required)} if required else {})


def _both_spellings(keys: Mapping[str, _Schema]) -> dict[str, _Schema]:
    return {spelling: schema for key, schema in keys.items() for spelling in (key, camel_case(key))}


def _said(description: str, schema: _Schema) -> _Schema:
    return schema | {"description": description}
