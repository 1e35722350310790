"""The JSON Schema of an `llm` block; see `reading`."""

from __future__ import annotations

from collections.abc import Mapping

from orkeon_transitions.crew.models.names import LOCAL, OFFLINE, PROVIDERS
from orkeon_transitions.crew.models.reading import ALIASES, HOTTEST
from orkeon_transitions.crew.models.settings import EFFORTS
from orkeon_transitions.definition.schema import Schema, another_word, both_spellings, said

_TEXT: Schema = {"type": ["string", "null"]}
_SECONDS: Schema = {"type": ["number", "null"], "minimum": 0}
_PRICE: Schema = {
    "type": ["object", "null"],
    "properties": {
        name: said(f"Dollars for a million tokens of {name}.", {"type": "number", "minimum": 0})
        for name in ("input", "output")
    },
    "required": ["input", "output"],
    "additionalProperties": False,
}
NAME = "`offline`, `local`, or `provider:model`, such as `openai:gpt-5`; else that of the level above."


def beside_schemas() -> Mapping[str, Schema]:
    """What an agent may say beside its `llm`, by key."""
    return {
        "temperature": said("How freely it chooses its words.", _number(HOTTEST)),
        "max_tokens": said("How long one answer may be.", {"type": ["integer", "null"], "minimum": 1}),
        "top_p": said("The share of likely words that is chosen from.", _number(1)),
        "response_format": said(
            "`text`, `json` for any JSON object, or the JSON Schema of the answer.",
            {"anyOf": [{"enum": ["text", "json", "json_object", None]}, {"type": "object"}, _TEXT]},
        ),
        "thinking": said(
            "Whether it thinks before it answers, or how hard.",
            {"anyOf": [{"enum": [*EFFORTS]}, {"type": ["boolean", "string", "null"]}]},
        ),
    }


def model_schema() -> Schema:
    """Describes a model by its name or a mapping of settings."""
    keys: dict[str, Schema] = {
        "model": said(NAME, _TEXT),
        "provider": said(f"The provider, where `model` does not name it: {', '.join(PROVIDERS)}.", _TEXT),
        "base_url": said("Where an OpenAI-compatible server listens; it is told no key.", _TEXT),
        **beside_schemas(),
        "timeout": said("Seconds until a silent request is given up.", _SECONDS),
        "seed": said("Makes sampling repeatable.", {"type": ["integer", "null"], "minimum": 0}),
        "stop": said(
            "Texts at which an answer ends.",
            {"anyOf": [{"type": "array", "items": {"type": "string"}}, _TEXT]},
        ),
        "price": said("What it costs, in US dollars for a million tokens.", _PRICE),
    }
    others = {other: another_word(key, keys, camel=True) for other, key in ALIASES.items()}
    mapping = {
        "type": "object",
        "properties": both_spellings({**keys, **others}, camel=True),
        "additionalProperties": False,
    }
    named: Schema = {"anyOf": [{"enum": [OFFLINE, LOCAL, None]}, {"type": "string"}, mapping]}
    return said("The model, or its settings; what is left out comes from the level above.", named)


def _number(most: float) -> Schema:
    return {"type": ["number", "null"], "minimum": 0, "maximum": most}
