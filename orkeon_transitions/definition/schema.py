"""The JSON Schema of a machine file, for editors and other tools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orkeon_transitions.breaker import CircuitBreakerPolicy
from orkeon_transitions.definition.names import camel_case

_Schema = dict[str, Any]

_UNFIT = r"\u0000-\u001f\u007f-\u009f\u2028\u2029"
# No control character, and at least one character that can be seen.
_NAME: _Schema = {"type": "string", "pattern": rf"^[^{_UNFIT}]*[^\s{_UNFIT}][^{_UNFIT}]*$"}
_CALLBACK: _Schema = {"type": "string", "pattern": r"^[^\W\d]\w*$"}
_TEXT: _Schema = {"type": ["string", "null"]}
_COUNT: _Schema = {"type": "integer", "minimum": 0}
_SECONDS: _Schema = {"type": "number", "minimum": 0}


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


def _machine_keys() -> Mapping[str, _Schema]:
    row = {
        "anyOf": [
            {"$ref": "#/$defs/transition"},
            {"type": "array", "minItems": 3, "maxItems": 8, "description": "[trigger, source, dest]"},
        ]
    }
    state = {"anyOf": [_NAME, {"$ref": "#/$defs/state"}]}
    return {
        "name": _said("The machine's name in messages, journals and pictures.", _or_null(_NAME)),
        "description": _said("For people.", _TEXT),
        "initial": _said("The state in which a machine starts.", _NAME),
        "degraded": _said("The state to which a tripped machine moves in degraded mode.", _or_null(_NAME)),
        "circuit_breaker": _said(
            "The limits of a run.", {"anyOf": [{"$ref": "#/$defs/circuit_breaker"}, {"type": "null"}]}
        ),
        "guards": _said(
            "Every guard that the transitions name, with what it means.",
            {
                "type": ["object", "null"],
                "propertyNames": _CALLBACK,
                "additionalProperties": _TEXT,
            },
        ),
        "states": _said("The states.", {"type": "array", "minItems": 1, "items": state}),
        "transitions": _said(
            "The transitions: the first one whose guards pass wins.",
            {"type": ["array", "null"], "items": row},
        ),
    }


def _state_keys() -> Mapping[str, _Schema]:
    return {
        "name": _said("Any text.", _NAME),
        "description": _said("For people.", _TEXT),
        "final": _said("Whether a machine ends here.", _flag(default=False)),
        "timeout": _said(
            "Seconds that replace the breaker's state_timeout; 0: a patient state.", _or_null(_SECONDS)
        ),
        "on_timeout": _said("The trigger that is fired when the time is up.", _or_null(_NAME)),
        "on_enter": _said("Actions when the state is entered.", _one_or_more(_CALLBACK)),
        "on_exit": _said("Actions when the state is left.", _one_or_more(_CALLBACK)),
        "tags": _said("For people and tools.", _one_or_more(_NAME)),
    }


def _transition_keys() -> Mapping[str, _Schema]:
    return {
        "trigger": _said("What is fired.", _NAME),
        "source": _said(
            "A state, a list of states, or '*': every state that is not final.",
            {"anyOf": [_NAME, {"type": "array", "minItems": 1, "items": _NAME}]},
        ),
        "dest": _said("A state, '=' for the source again, null for an internal transition.", _or_null(_NAME)),
        "conditions": _said("Guards that must say yes.", _one_or_more(_CALLBACK)),
        "unless": _said("Guards that must say no.", _one_or_more(_CALLBACK)),
        "before": _said("Actions before the state is left.", _one_or_more(_CALLBACK)),
        "after": _said("Actions after the new state was entered.", _one_or_more(_CALLBACK)),
        "always": _said("Whether it passes every limit of the breaker.", _flag(default=False)),
        "repeatable": _said("False: max_repeats counts how often it is taken in a row.", _flag(default=True)),
        "description": _said("For people.", _TEXT),
    }


def _policy_keys() -> Mapping[str, _Schema]:
    presets = [{"enum": list(CircuitBreakerPolicy.preset_names())}, {"type": ["string", "null"]}]
    meters = {"type": ["object", "null"], "additionalProperties": {"type": "number", "minimum": 0}}
    state_timeout = _said("Seconds in one state; 0: any.", _or_null(_SECONDS))
    max_total_duration = _said("Seconds in all; 0: any.", _or_null(_SECONDS))
    return {
        "preset": _said("Where the fields that are not written come from.", {"anyOf": presets}),
        "max_transitions": _said("Transitions in all; 0: any number.", _or_null(_COUNT)),
        "state_timeout": state_timeout,
        "state_timeout_seconds": state_timeout,
        "max_state_visits": _said("Entries of one state; 0: any number.", _or_null(_COUNT)),
        "max_total_duration": max_total_duration,
        "max_total_duration_seconds": max_total_duration,
        "use_degraded_mode": _said(
            "Whether a trip moves the machine to its degraded state.", {"type": ["boolean", "null"]}
        ),
        "meters": _said("Budgets that the program reports against.", meters),
        "max_repeats": _said("Equal payloads in a row; 0: any number.", _or_null(_COUNT)),
    }


def _mapping(keys: Mapping[str, _Schema], *, required: tuple[str, ...] = (), closed: bool = True) -> _Schema:
    both = {spelling: schema for key, schema in keys.items() for spelling in (key, camel_case(key))}
    schema: _Schema = {"type": "object", "properties": both}
    if required:
        schema["required"] = list(required)
    return schema | ({"additionalProperties": False} if closed else {})


def _said(description: str, schema: _Schema) -> _Schema:
    return {"description": description} | schema


def _flag(*, default: bool) -> _Schema:
    return {"type": ["boolean", "null"], "default": default}


def _or_null(schema: _Schema) -> _Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def _one_or_more(schema: _Schema) -> _Schema:
    return {"anyOf": [schema, {"type": "array", "items": schema}, {"type": "null"}]}
