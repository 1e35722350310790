"""The JSON Schema of a `web` block."""

from __future__ import annotations

from orkeon_transitions.crew.web.block import METHODS
from orkeon_transitions.definition.schema import Schema, both_spellings, said

_TEXTS: Schema = {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": ["string", "null"]}]}
_SECONDS: Schema = {"type": ["number", "null"], "exclusiveMinimum": 0}


def web_schema() -> Schema:
    """Describes the block."""
    method: Schema = {"anyOf": [{"enum": list(METHODS)}, {"type": "string"}]}
    keys = {
        "allow": said(
            "Hosts that may be asked: `api.example.org`, `*.example.org`, `host:8443`, `*`.", _TEXTS
        ),
        "allow_private": said("Networks that may be reached though they are private: `127.0.0.1`.", _TEXTS),
        "methods": said(
            "What `http_api` may do; GET if left out.", {"type": ["array", "null"], "items": method}
        ),
        "max_bytes": said("How long an answer may be.", {"type": ["integer", "null"], "minimum": 1}),
        "timeout_seconds": said("How long a request may take, redirects included.", _SECONDS),
        "timeout": said("Another word for `timeoutSeconds`.", _SECONDS),
        "max_redirects": said("How many are followed.", {"type": ["integer", "null"], "minimum": 0}),
    }
    return {
        "type": ["object", "null"],
        "properties": both_spellings(keys),
        "required": ["allow"],
        "additionalProperties": False,
    }
