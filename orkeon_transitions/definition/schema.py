"""The JSON Schema of a machine file, for editors and other tools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orkeon_transitions.breaker import CircuitBreakerPolicy
from orkeon_transitions.definition.names import camel_case
from orkeon_transitions.definition.rows import COLUMNS

Schema = dict[str, Any]

_UNFIT = r"\u0000-\u001f\u007f-\u009f\u2028\u2029"
# No control character, and at least one character that can be seen.
_NAME: Schema = {"type": "string", "pattern": rf"^[^{_UNFIT}]*[^\s{_UNFIT}][^{_UNFIT}]*$"}
_CALLBACK: Schema = {"type": "string", "pattern": r"^[^\W\d]\w*$"}
_TEXT: Schema = {"type": ["string", "null"]}
_COUNT: Schema = {"type": "integer", "minimum": 0}
_SECONDS: Schema = {"type": "number", "minimum": 0}


def machine_schema() -> dict[str, Any]:
    """Describes a machine file, all keys in both spellings.

    Returns:
        A JSON Schema (2020-12) of `type: object`. What it cannot say, such as that a row's source must be a
        state of the file, only `load_definition` checks.
    """
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "orkeon_transitions machine",
        "description": "A state machine: states, transitions and a circuit breaker.",
        # The keys of a transitions config that have no effect here may be there, too.
        **_mapping(_machine_keys(), required=("initial", "states"), closed=False),
        "$defs": {
            "state": _mapping(_state_keys(), required=("name",), closed=False),
            "transition": _mapping(_transition_keys(), required=("trigger", "source", "dest"), closed=False),
            "circuit_breaker": _mapping(_policy_keys()),
        },
    }


def _machine_keys() -> Mapping[str, Schema]:
    keys = _transition_keys()
    columns = [keys[key] for key in COLUMNS if key in keys]
    listed = {"type": "array", "minItems": 3, "maxItems": len(COLUMNS), "prefixItems": columns}
    row = {"anyOf": [{"$ref": "#/$defs/transition"}, said("[trigger, source, dest]", listed)]}
    state = {"anyOf": [_NAME, {"$ref": "#/$defs/state"}]}
    return {
        "name": said("The machine's name in messages, journals and pictures.", _or_null(_NAME)),
        "description": said("For people.", _TEXT),
        "initial": said("The state in which a machine starts.", _NAME),
        "degraded": said("The state to which a tripped machine moves in degraded mode.", _or_null(_NAME)),
        "circuit_breaker": said(
            "The limits of a run.", {"anyOf": [{"$ref": "#/$defs/circuit_breaker"}, {"type": "null"}]}
        ),
        "guards": said(
            "Every guard that the transitions name, with what it means.",
            {
                "type": ["object", "null"],
                "propertyNames": _CALLBACK,
                "additionalProperties": _TEXT,
            },
        ),
        "states": said("The states.", {"type": "array", "minItems": 1, "items": state}),
        "transitions": said(
            "The transitions: the first one whose guards pass wins.",
            {"type": ["array", "null"], "items": row},
        ),
    }


def _state_keys() -> Mapping[str, Schema]:
    return {
        "name": said("Any text.", _NAME),
        "description": said("For people.", _TEXT),
        "final": said("Whether a machine ends here.", _flag(default=False)),
        "timeout": said(
            "Seconds that replace the breaker's state_timeout; 0: a patient state.", _or_null(_SECONDS)
        ),
        "on_timeout": said("The trigger that is fired when the time is up.", _or_null(_NAME)),
        "on_enter": said("Actions when the state is entered.", _one_or_more(_CALLBACK)),
        "on_exit": said("Actions when the state is left.", _one_or_more(_CALLBACK)),
        "tags": said("For people and tools.", _one_or_more(_NAME)),
    }


def _transition_keys() -> Mapping[str, Schema]:
    return {
        "trigger": said("What is fired.", _NAME),
        "source": said(
            "A state, a list of states, or '*': every state that is not final.",
            {"anyOf": [_NAME, {"type": "array", "minItems": 1, "items": _NAME}]},
        ),
        "dest": said("A state, '=' for the source again, null for an internal transition.", _or_null(_NAME)),
        "conditions": said("Guards that must say yes.", _one_or_more(_CALLBACK)),
        "unless": said("Guards that must say no.", _one_or_more(_CALLBACK)),
        "before": said("Actions before the state is left.", _one_or_more(_CALLBACK)),
        "after": said("Actions after the new state was entered.", _one_or_more(_CALLBACK)),
        "always": said("Whether it passes every limit of the breaker.", _flag(default=False)),
        "repeatable": said("False: max_repeats counts how often it is taken in a row.", _flag(default=True)),
        "description": said("For people.", _TEXT),
    }


def _policy_keys() -> Mapping[str, Schema]:
    presets = [{"enum": list(CircuitBreakerPolicy.preset_names())}, {"type": ["string", "null"]}]
    meters = {"type": ["object", "null"], "additionalProperties": {"type": "number", "minimum": 0}}
    state_timeout = said("Seconds in one state; 0: any.", _or_null(_SECONDS))
    max_total_duration = said("Seconds in all; 0: any.", _or_null(_SECONDS))
    return {
        "preset": said("Where the fields that are not written come from.", {"anyOf": presets}),
        "max_transitions": said("Transitions in all; 0: any number.", _or_null(_COUNT)),
        "state_timeout": state_timeout,
        "state_timeout_seconds": state_timeout,
        "max_state_visits": said("Entries of one state; 0: any number.", _or_null(_COUNT)),
        "max_total_duration": max_total_duration,
        "max_total_duration_seconds": max_total_duration,
        "use_degraded_mode": said(
            "Whether a trip moves the machine to its degraded state.", {"type": ["boolean", "null"]}
        ),
        "meters": said("Budgets that the program reports against.", meters),
        "max_repeats": said("Equal payloads in a row; 0: any number.", _or_null(_COUNT)),
    }


def _mapping(keys: Mapping[str, Schema], *, required: tuple[str, ...] = (), closed: bool = True) -> Schema:
    schema: Schema = {"type": "object", "properties": both_spellings(keys)}
    if required:
        schema["required"] = list(required)
    return schema | ({"additionalProperties": False} if closed else {})


def both_spellings(keys: Mapping[str, Schema]) -> Schema:
    """The keys in snake_case and in camelCase, each with its schema."""
    return {spelling: schema for key, schema in keys.items() for spelling in (key, camel_case(key))}


def said(description: str, schema: Schema) -> Schema:
    """A schema that says what it is for."""
    return {"description": description} | schema


def _flag(*, default: bool) -> Schema:
    return {"type": ["boolean", "null"], "default": default}


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def _one_or_more(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "array", "items": schema}, {"type": "null"}]}
