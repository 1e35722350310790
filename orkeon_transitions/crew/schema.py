"""The JSON Schema of a crew file, for editors and other tools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orkeon_transitions.crew.checks.schema import guardrails_schema, shape_schemas
from orkeon_transitions.crew.consensus_block import MOST_ROUNDS, ConsensusBlock, Fallback
from orkeon_transitions.crew.execution_budget import DEFAULT, NEEDED, PRESETS
from orkeon_transitions.crew.keys import AGENT, CREW, PROCESSES, TASK, KeyTable
from orkeon_transitions.crew.mcp.schema import servers_schema
from orkeon_transitions.crew.models.schema import beside_schemas, model_schema
from orkeon_transitions.crew.resolution import MOST_REPEATS, RETRY_CYCLES
from orkeon_transitions.crew.running import MOST_AT_ONCE
from orkeon_transitions.crew.voting import VotingRule
from orkeon_transitions.crew.web.schema import web_schema
from orkeon_transitions.definition.schema import (
    NOT_OFFERED,
    WITHOUT_EFFECT,
    Schema,
    another_word,
    both_spellings,
    one_of,
    policy_keys,
    said,
)
from orkeon_transitions.machines import TaskExecutionGuardContext

_TEXT: Schema = {"type": ["string", "null"]}
_NAMES: Schema = {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": ["string", "null"]}]}
_BREAKER: Schema = {"anyOf": [{"$ref": "#/$defs/circuit_breaker"}, {"type": "null"}]}
# A description beside a `$ref` is not seen by every editor, beside an `anyOf` it is.
_MODEL: Schema = {"anyOf": [{"$ref": "#/$defs/model"}]}
_BUDGET: Schema = {"anyOf": [{"$ref": "#/$defs/execution_budget"}]}
_RULES: Schema = {"anyOf": [{"$ref": "#/$defs/guardrails"}]}
_ANCHORS: Schema = {"type": ["object", "array", "null"]}
_LATER: Schema = {"enum": [None, False, "", [], {}], "description": "Not there yet."} | NOT_OFFERED
_CARRIED: Schema = {"description": WITHOUT_EFFECT} | NOT_OFFERED
_FLAG: Schema = {"type": ["boolean", "null"]}
_COUNT: Schema = {"type": ["integer", "null"], "minimum": 0}
_AT_LEAST_ONE: Schema = {"type": ["integer", "null"], "minimum": 1}
_KINDS: Mapping[str, Schema] = {
    "verbose": {"type": ["boolean", "integer", "null"], "minimum": 0},
    "allow_delegation": _FLAG,
    "max_iter": _COUNT,
}
_PLAN = "Whether the agent makes a plan first, without tools; left out, what the level above says."
_RATE = "How often a minute models are asked at most; 0: no limit."
_GUARDRAILS = "What outputs must be like: one rule, or a list of them."


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
            "guardrails": guardrails_schema(),
            "model": model_schema(),
        },
    }


def _crew_keys() -> Mapping[str, Schema]:
    keys = {
        "name": said("The crew's name; left out, that of its file or folder.", _TEXT),
        "goal": said("What all of it is for; every agent is told.", _TEXT),
        "process": said("How the tasks are run.", one_of(PROCESSES), PROCESSES[0]),
        "circuit_breaker": said(
            "The limits of every task, each of which the task may write out anew. Without it: strict.",
            _BREAKER | {"examples": [{"preset": "strict", "maxRetries": 2}]},
        ),
        "graph_config": said("The limits of the process `graph`, over all tasks.", _graph()),
        "consensus": said("When the agents of the process `consensual` agree.", _consensus()),
        "execution_budget": said(
            "What the process `autonomous` may use: a preset, for each task, or amounts, for the whole run.",
            _BUDGET,
        ),
        "manager_agent": said(
            "The agent that assigns and reviews in the process `hierarchical`, or decides in `consensual`.",
            _TEXT,
        ),
        "anchors": said(
            "Texts by name, which stand for `*name` in the texts below.",
            _ANCHORS | {"examples": [{"tone": "Plain words and short sentences."}]},
        ),
        "mounts": said(
            "All that file tools may touch: `host:/virtual:ro`, or `:rw`.",
            _NAMES | {"examples": [["./sources:/sources:ro", "./reports:/reports:rw"]]},
        ),
        "llm": said("The model of every agent, or its settings; `--model` beats it.", _MODEL),
        "mcp_servers": said("Servers whose tools agents name as `server.tool`, by name.", servers_schema()),
        "web": said("What `http_api` and `web_scrape` may reach; without it they are off.", web_schema()),
        "planning": said("Whether agents make a plan first, without tools.", _FLAG, False),
        "human_input": said("Whether a person must accept each output.", _FLAG, False),
        **_guardrails(),
        "max_rpm": said(_RATE, _COUNT),
        "max_concurrency": said("How many tasks may run at once.", _AT_LEAST_ONE, MOST_AT_ONCE),
        "parallel_config": said("Another place for `maxConcurrency`.", _parallel() | NOT_OFFERED),
        "agents": said("Who works, by id.", _members("agent")),
        "tasks": said("What is to be done, by id.", _members("task")),
    }
    return keys | {"consensus_config": another_word("consensus", keys, camel=True)}


def _agent_keys() -> Mapping[str, Schema]:
    keys = {
        "role": said("What the agent is.", _TEXT),
        "goal": said("What it is after.", _TEXT),
        "backstory": said("What it should know of itself.", _TEXT),
        "tools": said(
            "The tools that it may use, by name: built in, of an MCP server, or of the program.",
            _NAMES | {"examples": [["file_read", "file_write", "directory_read", "json_tool"]]},
        ),
        "llm": said("Its model, or settings; what is left out comes from the crew.", _MODEL),
        **beside_schemas(),
        "planning": said(_PLAN, _FLAG),
        **_guardrails(),
        "max_iter": said("How often it asks its model in one attempt at most; 0: no limit.", _COUNT),
        "max_rpm": said(_RATE, _COUNT),
    }
    return keys | {
        "reasoning": another_word("planning", keys, camel=True),
        "max_iterations": another_word("max_iter", keys, camel=True),
    }


def _task_keys() -> Mapping[str, Schema]:
    keys = {
        "description": said(
            "The work, in words; `{name}` is filled in from the run's inputs.",
            {"type": "string", "minLength": 1},
        ),
        "expected_output": said("What the answer should look like.", _TEXT),
        "agent": said("The id of who does it; left out, the agents take turns.", _TEXT),
        "dependencies": said(
            "The ids of tasks that must be done before, and whose outputs it is given.", _NAMES
        ),
        "llm_override": said("Settings of the model for this task; they beat the agent's.", _MODEL),
        "tools": said("Names of tools, in place of the agent's.", _NAMES),
        "deliverable": said(
            "The file that the output is written to, below a mount with `:rw`.",
            _TEXT | {"examples": ["/reports/report.md"]},
        ),
        "output_file": said("The same, by its path below the crew's folder for output.", _TEXT),
        "async_execution": said("Whether what does not need the task goes on meanwhile.", _FLAG, False),
        "markdown": said("Whether the agent is asked for Markdown.", _FLAG, False),
        "circuit_breaker": said("The task's own limits, field by field over the crew's.", _BREAKER),
        "execution_budget": said("What it may use, out of the crew's.", _BUDGET),
        "planning": said(_PLAN, _FLAG),
        "human_input": said("Whether a person must accept the output; left out, what the crew says.", _FLAG),
        **_guardrails(),
        "guardrail_max_retries": said("Another word for `maxValidationRetries` in `circuitBreaker`.", _COUNT)
        | NOT_OFFERED,
        **shape_schemas(),
    }
    return keys | {"context": another_word("dependencies", keys, camel=True)}


def _guardrails() -> dict[str, Schema]:
    keys = {"guardrails": said(_GUARDRAILS, _RULES)}
    return keys | {"guardrail": another_word("guardrails", keys, camel=True)}


def _parallel() -> Schema:
    return _block({"max_concurrency": said("How many tasks may run at once.", _AT_LEAST_ONE, MOST_AT_ONCE)})


def _breaker() -> Schema:
    usual = TaskExecutionGuardContext()
    limits = {
        "max_retries": "Attempts after one that failed; in the process `graph` none, unless it is written.",
        "max_tool_calls_per_round": "Tool calls until the model must answer.",
        "max_validation_retries": "How often an output that is not accepted goes back to the agent.",
        "max_questions": "Questions that the agent may ask a person.",
    }
    keys = policy_keys("strict", in_seconds=True)
    repeats = "How often in a row a task may make an equal tool call. 0: no limit."
    keys["max_repeats"] |= said(repeats, {}, MOST_REPEATS)
    keys["preset"] |= said("Where the limits come from that are not written out; in a task, the crew's.", {})
    for name in ("max_transitions", "max_state_visits"):
        words = keys[name]["description"]
        keys[name] |= said(f"{words} A preset's count is widened to what the budgets of the file allow.", {})
    keys |= {name: said(words, _COUNT, getattr(usual, name)) for name, words in limits.items()}
    return {**_block(keys), "type": "object"}


def _budget() -> Schema:
    most = {
        "tool_calls": "How many tools may be called; 0: none",
        "delegation_depth": "How often a failed task may be handed to another agent; 0: never",
        "wall_time_seconds": "Seconds of work",
        "tokens": "How many tokens models may read and write",
        "spawns": "How many helpers agents may make; 0: none",
    }
    keys: dict[str, Schema] = {"preset": said("What each task may use.", one_of(PRESETS), DEFAULT)}
    others: dict[str, str] = {}
    for name, words in most.items():
        field = name.removesuffix("_seconds")
        kind: Schema = {"type": ["number" if field == "wall_time" else "integer", "null"]}
        figures = ", ".join(f"{one} {budget.to_dict()[field]:g}" for one, budget in PRESETS.items())
        keys[name] = said(
            f"{words} ({figures}).", kind | {"exclusiveMinimum" if field in NEEDED else "minimum": 0}
        )
        others |= {word: name for word in (f"max_{name}", field, f"max_{field}") if word != name}
    keys |= {word: another_word(name, keys, camel=True) for word, name in others.items()}
    return {"anyOf": [{**_block(keys), "type": "object"}, one_of(PRESETS)]}


def _graph() -> Schema:
    limits = policy_keys("strict", in_seconds=True)
    preset = "Where the limits come from that are not written out; the crew's, if no limit stands here."
    limits["preset"] |= said(preset, {})
    cycles = "How often a failed task is queued again, each time with a new machine."
    keys = {"max_retry_cycles": said(cycles, _COUNT, RETRY_CYCLES)}
    for name in ("preset", "max_transitions", "max_state_visits", "max_total_duration_seconds"):
        keys[name] = limits[name]
    keys["max_total_duration"] = limits["max_total_duration"]
    return _block(keys | {"circuit_breaker_preset": another_word("preset", keys, camel=True)})


def _consensus() -> Schema:
    usual = ConsensusBlock()
    weights: Schema = {"type": ["object", "null"], "additionalProperties": {"type": "number", "minimum": 0}}
    share: Schema = {"type": ["number", "null"], "exclusiveMinimum": 0.5, "maximum": 1}
    some: Schema = {"type": ["number", "null"], "exclusiveMinimum": 0}
    rounds: Schema = {**_COUNT, "maximum": MOST_ROUNDS}
    rules, fallbacks = (
        one_of([one.value for one in kind], between=r"[-_\s]*") for kind in (VotingRule, Fallback)
    )
    keys = {
        "rule": said(
            "How ballots are counted: more than half of them, `threshold`, all but the winner's own, by "
            "`weights`, or by points for places (`borda`).",
            rules,
            usual.rule.value,
        ),
        "threshold": said(
            "The share of the ballots that a super-majority takes; two thirds if left out.", share
        ),
        "quorum": said(
            "The ballots that a vote needs: a share up to 1.0, or a whole number.", some, usual.quorum
        ),
        "weights": said(
            "What an agent's ballot counts in a weighted vote; 1 if left out.",
            weights | {"examples": [{"ann": 2}]},
        ),
        "discussion_rounds": said(
            "How often the agents see each other's answers, try again and vote again.",
            rounds,
            usual.discussion_rounds,
        ),
        "fallback": said(
            "What becomes of a task without a consensus: the best output, a manager's choice, a failure.",
            fallbacks,
            usual.fallback.value,
        ),
    }
    return _block(
        keys
        | {word: another_word("rule", keys, camel=True) for word in ("mode", "voting_rule")}
        | {"max_discussion_rounds": another_word("discussion_rounds", keys, camel=True)}
    )


def _block(keys: Mapping[str, Schema]) -> Schema:
    """A mapping with these keys and no others, or null."""
    properties = both_spellings(keys, camel=True)
    return {"type": ["object", "null"], "properties": properties, "additionalProperties": False}


def _members(kind: str) -> Schema:
    return {"type": "object", "minProperties": 1, "additionalProperties": {"$ref": f"#/$defs/{kind}"}}


def _mapping(table: KeyTable, keys: Mapping[str, Schema], *, required: tuple[str, ...] = ()) -> Schema:
    carried = {name: _CARRIED | _KINDS.get(name, {}) for name in sorted(table.carried)}
    others = dict.fromkeys(sorted(table.later), _LATER) | carried
    schema: Schema = {"type": "object", "properties": both_spellings({**keys, **others}, camel=True)}
    return schema | ({"required": list(required)} if required else {})
