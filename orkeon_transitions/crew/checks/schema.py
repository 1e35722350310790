"""The JSON Schema of rules for outputs, as a crew file writes them."""

from __future__ import annotations

from orkeon_transitions.crew.checks.block import COUNTS, PATTERNS, WORDS
from orkeon_transitions.definition.schema import Schema, another_word, both_spellings, said

_WORDS: Schema = {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "string"}]}
_COUNT: Schema = {"type": "integer", "minimum": 0}
_PATTERN: Schema = {"type": "string", "minLength": 1, "format": "regex"}
_NAMED = "`json`, the name of a function of the program, or a sentence that a model judges by."
_SHAPE: Schema = {"anyOf": [{"type": "object"}, {"type": ["string", "boolean", "null"]}]}
_SAID = {
    "min_length": "Characters at least.",
    "max_length": "Characters at most.",
    "min_words": "Words at least.",
    "max_words": "Words at most.",
    "must_match": "A regular expression that is found in the output.",
    "must_not_match": "A regular expression that is not found in it.",
    "required_words": "Words or phrases that it has.",
    "forbidden_words": "Words or phrases that it has not.",
    "json": "Whether it must be JSON.",
    "schema": "The JSON Schema that it must fit.",
    "function": "The name of a function that the program gives.",
    "judge": "What a model is asked about it, in words.",
    "message": "What the agent is told in place of our words.",
}


def guardrails_schema() -> Schema:
    """Describes `guardrails`: one, or a list of them."""
    kinds: dict[str, Schema] = dict.fromkeys(COUNTS, _COUNT) | dict.fromkeys(PATTERNS, _PATTERN)
    kinds |= dict.fromkeys(WORDS, _WORDS)
    kinds |= {"json": {"type": "boolean"}, "schema": {"type": ["object", "string"]}}
    keys = {name: said(words, kinds.get(name, {"type": "string"})) for name, words in _SAID.items()}
    rule: Schema = {
        "anyOf": [
            {"type": "object", "properties": both_spellings(keys, camel=True), "additionalProperties": False},
            said(_NAMED, {"type": "string"}),
        ]
    }
    return {"anyOf": [rule, {"type": "array", "items": rule}, {"enum": [None, False]}]}


def shape_schemas() -> dict[str, Schema]:
    """Describes the keys that say what shape an output has."""
    shape = "A JSON Schema that the output must fit, or the name of a class that the program gives."
    name = "The name of a class that the program gives, which the output is read as."
    keys = {
        "response_schema": said(shape, _SHAPE),
        "output_json": said("True: the output must be JSON; else as `responseSchema`.", _SHAPE),
        "output_pydantic": said(name, {"type": ["string", "null"]}),
    }
    others = {
        "output_schema": "response_schema",
        "schema_inline": "response_schema",
        "response_model": "output_pydantic",
    }
    return keys | {word: another_word(key, keys, camel=True) for word, key in others.items()}
