"""The JSON Schema of a `web` block."""

from __future__ import annotations

from orkeon_transitions.crew.web.block import METHODS, WebBlock
from orkeon_transitions.definition.schema import Schema, another_word, both_spellings, said

_TEXTS: Schema = {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": ["string", "null"]}]}
_SECONDS: Schema = {"type": ["number", "null"], "exclusiveMinimum": 0}


def web_schema() -> Schema:
    """Describes the block."""
    method: Schema = {"anyOf": [{"enum": list(METHODS)}, {"type": "string"}]}
    usual = WebBlock()
    keys = {
        "allow": said(
            "Hosts that may be asked: `api.example.org`, `*.example.org`, `host:8443`, `*`.", _TEXTS
        ),
        "allow_private": said("Networks that may be reached though they are private: `127.0.0.1`.", _TEXTS),
        "methods": said(
            "What `http_api` may do.", {"type": ["array", "null"], "items": method}, list(usual.methods)
        ),
        "max_bytes": said(
            "Bytes that an answer may have.", {"type": ["integer", "null"], "minimum": 1}, usual.max_bytes
        ),
        "timeout_seconds": said(
            "Seconds that a request may take, redirects included.", _SECONDS, usual.timeout
        ),
        "max_redirects": said(
            "How many redirects are followed.",
            {"type": ["integer", "null"], "minimum": 0},
            usual.max_redirects,
        ),
    }
    keys["timeout"] = another_word("timeout_seconds", keys, camel=True)
    return {
        "type": ["object", "null"],
        "properties": both_spellings(keys, camel=True),
        "required": ["allow"],
        "additionalProperties": False,
    }
