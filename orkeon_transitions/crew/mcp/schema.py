"""The JSON Schema of an `mcpServers` block."""

from __future__ import annotations

from orkeon_transitions.definition.schema import Schema, another_word, both_spellings, said

_TEXT: Schema = {"type": ["string", "null"]}
_TEXTS: Schema = {"type": ["object", "null"], "additionalProperties": {"type": "string"}}
_ARGUMENTS: Schema = {"type": ["array", "null"], "items": {"type": ["string", "number"]}}
_NAMES: Schema = {"anyOf": [{"type": "array", "items": {"type": "string"}}, _TEXT]}
_SECONDS: Schema = {"type": ["number", "null"], "exclusiveMinimum": 0}


def servers_schema() -> Schema:
    """Describes the block: servers by name."""
    keys = {
        "command": said("The program that is started.", _TEXT),
        "args": said("What it is started with.", _ARGUMENTS),
        "env": said("Variables for it; `${NAME}` is one of ours.", _TEXTS),
        "cwd": said("The folder in which it runs; the crew file's if left out.", _TEXT),
        "url": said("Where the server listens, in place of a command.", _TEXT),
        "headers": said("Sent with every request to the URL; `${NAME}` is a variable of ours.", _TEXTS),
        "tools": said("The only tools that it may offer; all that it has if left out.", _NAMES),
        "timeout_seconds": said(
            "Seconds that a call may take; left out, as long as the task's clocks allow.", _SECONDS
        ),
        "type": said(
            "How it is spoken to; left out, what `command` or `url` says.",
            {"enum": ["stdio", "http", "streamable-http", None]},
        ),
    }
    keys |= {
        "timeout": another_word("timeout_seconds", keys, camel=True),
        "transport": another_word("type", keys),
    }
    server: Schema = {
        "type": "object",
        "properties": both_spellings(keys, camel=True),
        "additionalProperties": False,
    }
    return {
        "type": ["object", "null"],
        "propertyNames": {"pattern": "^[A-Za-z0-9_-]+$"},
        "additionalProperties": server,
    }
