"""The JSON Schema of a machine file, for editors and other tools."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from datetime import timedelta
from typing import Any

from orkeon_transitions.breaker import CircuitBreakerPolicy
from orkeon_transitions.definition import reading, rows, states
from orkeon_transitions.definition.models import ANY_STATE, SAME_STATE
from orkeon_transitions.definition.names import camel_case
from orkeon_transitions.definition.rows import COLUMNS

Schema = dict[str, Any]

_UNFIT = r"\u0000-\u001f\u007f-\u009f\u2028\u2029"
# No control character, and at least one character that can be seen.
_NAME: Schema = {"type": "string", "pattern": rf"^[^{_UNFIT}]*[^\s{_UNFIT}][^{_UNFIT}]*$"}
_STATE: Schema = {**_NAME, "not": {"enum": [ANY_STATE, SAME_STATE]}}
# An identifier in any script: \w has no such meaning for editors, which read patterns as JavaScript does.
_NO_LETTER = r"\u0000-\u002f\u003a-\u0040\u005b-\u005e\u0060\u007b-\u00a9"
_CALLBACK: Schema = {"type": "string", "pattern": rf"^[^0-9{_NO_LETTER}][^{_NO_LETTER}]*$"}
_TEXT: Schema = {"type": ["string", "null"]}
_COUNT: Schema = {"type": "integer", "minimum": 0}
_SECONDS: Schema = {"type": "number", "minimum": 0}
NOT_OFFERED: Schema = {"doNotSuggest": True}
"""Valid, but another spelling or another word is better: an editor that can does not offer it."""
WITHOUT_EFFECT = "Accepted, without effect."
ANOTHER_WORD = "Another word for"


def machine_schema() -> dict[str, Any]:
    """Describes a machine file, all keys in both spellings.

    Returns:
        A JSON Schema (2020-12) of `type: object`. What it cannot say, such as that a row's source must be a
        state of the file, only `load_definition` checks.
    """
    row = _transition_keys() | without_effect(rows.UNUSED)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "orkeon_transitions machine",
        "description": "A state machine: states, transitions and a circuit breaker.",
        **_mapping(_machine_keys() | without_effect(reading.UNUSED), required=("initial", "states")),
        "$defs": {
            "state": _mapping(_state_keys() | without_effect(states.UNUSED), required=("name",)),
            "transition": _mapping(row, required=("trigger", "source", "dest")),
            "circuit_breaker": _mapping(policy_keys("default")),
        },
    }


def _machine_keys() -> dict[str, Schema]:
    keys = _transition_keys()
    columns = [keys[key] for key in COLUMNS if key in keys]
    listed = {"type": "array", "minItems": 3, "maxItems": len(COLUMNS), "prefixItems": columns}
    row = {"anyOf": [{"$ref": "#/$defs/transition"}, said("[trigger, source, dest]", listed)]}
    state = {"anyOf": [_STATE, {"$ref": "#/$defs/state"}]}
    limits = {"anyOf": [{"$ref": "#/$defs/circuit_breaker"}, {"type": "null"}]}
    guards = {"type": ["object", "null"], "propertyNames": _CALLBACK, "additionalProperties": _TEXT}
    return {
        "name": said("The machine's name in messages, journals and pictures.", _or_null(_NAME), "machine"),
        "description": said("What the machine is for, for people.", _TEXT),
        "initial": said("The state in which a machine starts.", _STATE),
        "degraded": said(
            "Where a tripped machine moves to, if `use_degraded_mode` is on; it should be final.",
            _or_null(_STATE),
        ),
        "circuit_breaker": said(
            "The limits of a run; without it, the preset `default`. A `policy=` of the program beats it.",
            limits | {"examples": [{"preset": "strict"}]},
        ),
        "guards": said(
            "What each guard means, worded as what is needed. Once it is there, it names every guard.",
            guards | {"examples": [{"is_complete": "every section has text"}]},
        ),
        "states": said(
            "The states: a name, or a mapping that says more.",
            {
                "type": "array",
                "minItems": 1,
                "items": state,
                "examples": [["idle", {"name": "done", "final": True}]],
            },
        ),
        "transitions": said(
            "The rows, tried in this order: the first whose guards pass is taken.",
            {"type": ["array", "null"], "items": row, "examples": [[["finish", "idle", "done"]]]},
        ),
    }


def _state_keys() -> dict[str, Schema]:
    return {
        "name": said("Any text but `*` and `=`.", _STATE),
        "description": said("What happens here, for people.", _TEXT),
        "final": said("Whether a machine ends here: nothing leaves a final state.", _flag(default=False)),
        "timeout": said(
            "Seconds that replace the breaker's `state_timeout` here. 0: a patient state, which waits for "
            "others and stops both clocks.",
            _or_null(_SECONDS) | {"examples": [30, 0]},
        ),
        "on_timeout": said(
            "What is fired when the time is up, instead of tripping; it needs a row out of this state.",
            _or_null(_NAME),
        ),
        "on_enter": said(
            "Actions when the state was entered: methods of the machine.", _one_or_more(_CALLBACK)
        ),
        "on_exit": said("Actions before the state is left: methods of the machine.", _one_or_more(_CALLBACK)),
        "tags": said("Words for people and tools.", _one_or_more(_NAME)),
    }


def _transition_keys() -> dict[str, Schema]:
    return {
        "trigger": said("What is fired.", _NAME),
        "source": said(
            "A state, a list of states, or `*`: every state that is not final.",
            {"anyOf": [_NAME, {"type": "array", "minItems": 1, "items": _NAME}]},
        ),
        "dest": said(
            "A state; `=`: the same state, left and entered again; null: an internal transition, which "
            "leaves and enters nothing.",
            _or_null({**_NAME, "not": {"enum": [ANY_STATE]}}),
        ),
        "conditions": said("Guards that must say yes: methods of the machine.", _one_or_more(_CALLBACK)),
        "unless": said("Guards that must say no.", _one_or_more(_CALLBACK)),
        "before": said(
            "Actions before the state is left; one that raises stops the row.", _one_or_more(_CALLBACK)
        ),
        "after": said("Actions after the new state was entered.", _one_or_more(_CALLBACK)),
        "always": said(
            "Whether the row passes every limit, and a broken machine too, as a `cancel` should.",
            _flag(default=False),
        ),
        "repeatable": said(
            "False: `max_repeats` counts how often in a row it is taken with an equal payload.",
            _flag(default=True),
        ),
        "description": said("What it means, for people.", _TEXT),
    }


def policy_keys(preset: str, *, in_seconds: bool = False) -> dict[str, Schema]:
    """Describes a `circuit_breaker` block, key by key in snake_case.

    Args:
        preset: Which one counts where the block names none.
        in_seconds: Whether the keys that say the unit are the usual ones.
    """
    count, seconds = _or_null(_COUNT), _or_null(_SECONDS)
    unit, other_unit = ("_seconds", "") if in_seconds else ("", "_seconds")
    keys = {
        "preset": said("Where the limits come from that are not written out.", one_of(_presets()), preset),
        "max_transitions": said(
            _by_preset("How many transitions may be made in all.", "max_transitions"), count
        ),
        f"state_timeout{unit}": said(_by_preset("Seconds in one state.", "state_timeout"), seconds),
        "max_state_visits": said(
            _by_preset("How often one state may be entered, the start included.", "max_state_visits"), count
        ),
        f"max_total_duration{unit}": said(
            _by_preset("Seconds in all, from the first transition.", "max_total_duration"), seconds
        ),
        "use_degraded_mode": said(
            "Whether a trip moves the machine to its degraded state, if there is one, instead of raising "
            f"({_figures('use_degraded_mode')}).",
            {"type": ["boolean", "null"]},
        ),
        "meters": said(
            "Budgets that the program reports against with `spend`: over one, the next trigger trips.",
            {
                "type": ["object", "null"],
                "additionalProperties": {"type": "number", "minimum": 0},
                "examples": [{"tokens": 50_000, "usd": 2.0}],
            },
        ),
        "max_repeats": said(
            "How often in a row the same payload may take a `repeatable: false` row. 0: no limit.",
            count,
            0,
        ),
    }
    return keys | {
        key + other_unit: another_word(key + unit, keys, camel=in_seconds)
        for key in ("state_timeout", "max_total_duration")
    }


def _presets() -> tuple[str, ...]:
    return CircuitBreakerPolicy.preset_names()


def _by_preset(words: str, field: str) -> str:
    return f"{words} 0: no limit ({_figures(field)})."


def _figures(field: str) -> str:
    """`strict 50, default 100, permissive 1000`."""
    values = {name: getattr(CircuitBreakerPolicy.preset(name), field) for name in _presets()}
    return ", ".join(f"{name} {_figure(value)}" for name, value in values.items())


def _figure(value: Any) -> str:
    if isinstance(value, timedelta):
        return f"{value.total_seconds():.0f}"
    return str(value).lower()


def _mapping(keys: Mapping[str, Schema], *, required: tuple[str, ...] = ()) -> Schema:
    schema: Schema = {"type": "object", "properties": both_spellings(keys)}
    if required:
        schema["required"] = list(required)
    return schema | {"additionalProperties": False}


def both_spellings(keys: Mapping[str, Schema], *, camel: bool = False) -> Schema:
    """The keys in snake_case and in camelCase, each with its schema.

    Args:
        keys: Schemas by key, in snake_case.
        camel: Whether camelCase is the spelling that an editor offers.
    """
    spelled: Schema = {}
    for key, schema in keys.items():
        offered = camel_case(key) if camel else key
        for spelling in (key, camel_case(key)):
            spelled[spelling] = schema if spelling == offered else schema | NOT_OFFERED
    return spelled


def said(description: str, schema: Schema, default: Any = None) -> Schema:
    """A schema that says what it is for, and what counts without it if that is not nothing."""
    return {"description": description} | schema | ({} if default is None else {"default": default})


def another_word(key: str, keys: Mapping[str, Schema], *, camel: bool = False) -> Schema:
    """The schema of a key that means the same as another one.

    Args:
        key: The usual one, in snake_case.
        keys: It is one of these.
        camel: Whether its name is told in camelCase.
    """
    kept = {name: rule for name, rule in keys[key].items() if name not in {"default", "examples"}}
    usual = camel_case(key) if camel else key
    return kept | {"description": f"{ANOTHER_WORD} `{usual}`."} | NOT_OFFERED


def without_effect(keys: Collection[str]) -> dict[str, Schema]:
    """Keys that may be there, though they mean nothing here."""
    return {key: said(WITHOUT_EFFECT, NOT_OFFERED) for key in sorted(keys)}


def one_of(names: Iterable[str], *, between: str = "") -> Schema:
    """One of some names in any case, or null; an editor offers the names as they are.

    Args:
        names: In lower case.
        between: A pattern for what may stand in place of a hyphen.
    """
    listed = list(names)
    spelled = "|".join("".join(_in_any_case(char, between) for char in name) for name in listed)
    in_any_case = {"type": "string", "pattern": rf"^\s*({spelled})\s*$"}
    return {"anyOf": [{"enum": listed}, in_any_case, {"type": "null"}]}


def _in_any_case(char: str, between: str) -> str:
    if char == "-" and between:
        return between
    return f"[{char}{char.upper()}]" if char.isalpha() else re.escape(char)


def _flag(*, default: bool) -> Schema:
    return {"type": ["boolean", "null"], "default": default}


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def _one_or_more(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "array", "items": schema}, {"type": "null"}]}
