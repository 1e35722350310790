"""The JSON Schema of a crew file, for editors and other tools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orkeon_transitions.crew.breaker_block import GUARD_LIMITS
from orkeon_transitions.crew.checks.schema import guardrails_schema, shape_schemas
from orkeon_transitions.crew.consensus_block import MOST_ROUNDS, Fallback
from orkeon_transitions.crew.execution_budget import NEEDED, PRESETS
from orkeon_transitions.crew.keys import AGENT, CREW, PROCESSES, TASK, KeyTable
from orkeon_transitions.crew.mcp.schema import servers_schema
from orkeon_transitions.crew.models.schema import beside_schemas, model_schema
from orkeon_transitions.crew.resolution import RETRY_CYCLES
from orkeon_transitions.crew.voting import VotingRule
from orkeon_transitions.crew.web.schema import web_schema
from orkeon_transitions.definition.schema import Schema, both_spellings, machine_schema, said

_TEXT: Schema = {"type": ["string", "null"]}
_NAMES: Schema = {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": ["string", "null"]}]}
_BREAKER: Schema = {"anyOf": [{"$ref": "#/$defs/circuit_breaker"}, {"type": "null"}]}
_MODEL: Schema = {"$ref": "#/$defs/model"}
_ANCHORS: Schema = {"type": ["object", "array", "null"]}
_LATER: Schema = {"enum": [None, False, "", [], {}], "description": "Not there yet."}
_CARRIED: Schema = {"description": "Accepted, without effect."}
_FLAG: Schema = {"type": ["boolean", "null"]}
_COUNT: Schema = {"type": ["integer", "null"], "minimum": 0}
_AT_LEAST_ONE: Schema = {"type": ["integer", "null"], "minimum": 1}
_KINDS: Mapping[str, Schema] = {
    "verbose": {"type": ["boolean", "integer", "null"], "minimum": 0},
    "allow_delegation": _FLAG,
    "max_iter": _COUNT,
}
_PLAN = "Whether the agent makes a plan first."
_RATE = "How often a minute models are asked at most; 0: no limit."
_GUARDRAILS = "What outputs must be like."


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
        # Not required: agents and tasks may stand in files beside it.
        **_mapping(CREW, _crew_keys()),
        "$defs": {
            "agent": _mapping(AGENT, _agent_keys()),
            "task": _mapping(TASK, _task_keys(), required=("description",)),
            "circuit_breaker": _breaker(),
            "execution_budget": _budget(),
            "model": model_schema(),
        },
    }


def _crew_keys() -> Mapping[str, Schema]:
    return {
        "name": said("The crew's name.", _TEXT),
        "goal": said("What all of it is for.", _TEXT),
        # In any case: an editor may still offer the names.
        "process": said("How the tasks are run.", {"anyOf": [{"enum": list(PROCESSES)}, _TEXT]}),
        "circuit_breaker": said("The limits of every task.", _BREAKER),
        "graph_config": said("The limits of the graph process.", _graph()),
        "consensus": said("When the agents of the consensual process agree.", _consensus()),
        "consensus_config": said("Another word for `consensus`.", _consensus()),
        "execution_budget": said(
            "What the process `autonomous` may use.", {"$ref": "#/$defs/execution_budget"}
        ),
        "manager_agent": said("Who leads in the process `hierarchical`, or decides in `consensual`.", _TEXT),
        "anchors": said("Texts that others call by name, as in `*tone`.", _ANCHORS),
        "mounts": said("Folders that tools may touch: 'host:/virtual:ro' or ':rw'.", _NAMES),
        "llm": _MODEL,
        "mcp_servers": said("Servers whose tools are called `server.tool`, by name.", servers_schema()),
        "web": said("What `http_api` and `web_scrape` may reach; without it they are off.", web_schema()),
        "planning": said("Whether agents make a plan first.", _FLAG),
        "human_input": said("Whether a person must accept each output.", _FLAG),
        **_guardrails(),
        "max_rpm": said(_RATE, _COUNT),
        "max_concurrency": said("How many tasks may run at once.", _AT_LEAST_ONE),
        "parallel_config": said("How tasks run at once.", _parallel()),
        "agents": said("The agents by id.", _members("agent")),
        "tasks": said("The tasks by id.", _members("task")),
    }


def _agent_keys() -> Mapping[str, Schema]:
    return {
        "role": said("What the agent is.", _TEXT),
        "goal": said("What it is after.", _TEXT),
        "backstory": said("What it should know of itself.", _TEXT),
        "tools": said("Names of tools.", _NAMES),
        "llm": _MODEL,
        **beside_schemas(),
        "planning": said(_PLAN, _FLAG),
        "reasoning": said("Another word for `planning`.", _FLAG),
        **_guardrails(),
        "max_iter": said("How often it asks its model in one attempt at most; 0: no limit.", _COUNT),
        "max_iterations": said("Another word for `maxIter`.", _COUNT),
        "max_rpm": said(_RATE, _COUNT),
    }


def _task_keys() -> Mapping[str, Schema]:
    return {
        "description": said("The work, in words.", {"type": "string", "minLength": 1}),
        "expected_output": said("What the answer should look like.", _TEXT),
        "agent": said("Who does it; left out, the agents take turns.", _TEXT),
        "dependencies": said("Tasks whose outputs it needs.", _NAMES),
        "context": said("Another word for `dependencies`; both may be there.", _NAMES),
        "llm_override": _MODEL,
        "tools": said("Names of tools, in place of the agent's.", _NAMES),
        "deliverable": said("The file that is written, below a mount with ':rw'.", _TEXT),
        "output_file": said("The same, by its path below the folder for output.", _TEXT),
        "async_execution": said("Whether what does not need the task goes on meanwhile.", _FLAG),
        "markdown": said("Whether the agent is asked for Markdown.", _FLAG),
        "circuit_breaker": said("The task's own limits.", _BREAKER),
        "execution_budget": said("What it may use, out of the crew's.", {"$ref": "#/$defs/execution_budget"}),
        "planning": said(_PLAN, _FLAG),
        "human_input": said("Whether a person must accept the output.", _FLAG),
        **_guardrails(),
        "guardrail_max_retries": said("Another word for `maxValidationRetries`.", _COUNT),
        **shape_schemas(),
    }


def _guardrails() -> Mapping[str, Schema]:
    return {
        "guardrails": said(_GUARDRAILS, guardrails_schema()),
        "guardrail": said("Another word for `guardrails`; both may be there.", guardrails_schema()),
    }


def _parallel() -> Schema:
    keys = {"max_concurrency": said("How many tasks may run at once.", _AT_LEAST_ONE)}
    return {"type": ["object", "null"], "properties": both_spellings(keys), "additionalProperties": False}


def _breaker() -> Schema:
    schema: Schema = machine_schema()["$defs"]["circuit_breaker"]
    limits = {name: said(f"How many: {name.replace('_', ' ')}.", _COUNT) for name in GUARD_LIMITS}
    return schema | {"properties": schema["properties"] | both_spellings(limits)}


def _budget() -> Schema:
    most = {
        "tool_calls": "How many tools may be called; 0: none.",
        "delegation_depth": "How often a failed task may be handed to another agent; 0: never.",
        "wall_time": "Seconds of work.",
        "tokens": "How many tokens models may read and write.",
        "spawns": "How many helpers agents may make; 0: none.",
    }
    preset = said("What each task may use.", {"anyOf": [{"enum": list(PRESETS)}, _TEXT]})
    keys: dict[str, Schema] = {"preset": preset}
    for name, words in most.items():
        kind: Schema = {"type": ["number" if name == "wall_time" else "integer", "null"]}
        amount = said(words, kind | {"exclusiveMinimum" if name in NEEDED else "minimum": 0})
        keys |= {name: amount, f"max_{name}": amount}
    keys |= {"wall_time_seconds": keys["wall_time"], "max_wall_time_seconds": keys["wall_time"]}
    block: Schema = {"type": "object", "properties": both_spellings(keys), "additionalProperties": False}
    return {"anyOf": [block, _TEXT]}


def _graph() -> Schema:
    limits = machine_schema()["$defs"]["circuit_breaker"]["properties"]
    seconds = limits["maxTotalDurationSeconds"]
    cycles = f"How often failed tasks are queued again; {RETRY_CYCLES} if left out."
    keys: Mapping[str, Schema] = {
        "max_retry_cycles": said(cycles, _COUNT),
        "circuit_breaker_preset": limits["preset"],
        "preset": limits["preset"],
        "max_transitions": limits["maxTransitions"],
        "max_state_visits": limits["maxStateVisits"],
        "max_total_duration": seconds,
        "max_total_duration_seconds": seconds,
    }
    return {"type": ["object", "null"], "properties": both_spellings(keys), "additionalProperties": False}


def _consensus() -> Schema:
    weights: Schema = {"type": ["object", "null"], "additionalProperties": {"type": "number", "minimum": 0}}
    share: Schema = {"type": ["number", "null"], "exclusiveMinimum": 0.5, "maximum": 1}
    some: Schema = {"type": ["number", "null"], "exclusiveMinimum": 0}
    rounds: Schema = {**_COUNT, "maximum": MOST_ROUNDS}
    rule = said("How ballots are counted.", {"anyOf": [{"enum": [rule.value for rule in VotingRule]}, _TEXT]})
    fallback: Schema = {"anyOf": [{"enum": [fallback.value for fallback in Fallback]}, _TEXT]}
    more = said("How often the agents see each other's answers and try again.", rounds)
    keys: Mapping[str, Schema] = {
        "rule": rule,
        "mode": rule,
        "voting_rule": rule,
        "threshold": said("The share of the ballots for a super-majority; two thirds if left out.", share),
        "quorum": said("The ballots that a vote needs: a share up to 1.0, or a whole number.", some),
        "weights": said("What an agent's ballot counts in a weighted vote; 1 if left out.", weights),
        "discussion_rounds": more,
        "max_discussion_rounds": more,
        "fallback": said("What becomes of a task without a consensus.", fallback),
    }
    return {"type": ["object", "null"], "properties": both_spellings(keys), "additionalProperties": False}


def _members(kind: str) -> Schema:
    return {"type": "object", "minProperties": 1, "additionalProperties": {"$ref": f"#/$defs/{kind}"}}


def _mapping(table: KeyTable, keys: Mapping[str, Schema], *, required: tuple[str, ...] = ()) -> Schema:
    carried = {name: _CARRIED | _KINDS.get(name, {}) for name in sorted(table.carried)}
    others = dict.fromkeys(sorted(table.later), _LATER) | carried
    schema: Schema = {"type": "object", "properties": both_spellings({**keys, **others})}
    return schema | ({"required": list(required)} if required else {})
