"""The `llm` block of a crew file, wherever it stands: a name, or a mapping."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from orkeon_transitions.crew.checks.references import schema_problems
from orkeon_transitions.crew.models.names import LOCAL, OFFLINE, ModelNameError, full_name
from orkeon_transitions.crew.models.settings import EFFORTS, ModelSettings, Price
from orkeon_transitions.definition.fields import (
    Block,
    read_block,
    read_count,
    read_name,
    read_number,
    shown,
)
from orkeon_transitions.definition.places import Path, Source

FIELDS = (
    "model", "provider", "base_url", "temperature", "max_tokens", "top_p", "response_format", "thinking",
    "timeout", "seed", "stop", "price",
)  # fmt: skip
ALIASES = {
    "name": "model",
    "model_name": "model",
    "api_base": "base_url",
    "endpoint": "base_url",
    "url": "base_url",
    "reasoning_effort": "thinking",
    "max_completion_tokens": "max_tokens",
    "stop_sequences": "stop",
}
_SAY_KEY = "a key does not belong into a crew file: set the environment variable of the provider"
_RETRIES = "a request is never repeated behind the machine's back: 'maxRetries' belongs into 'circuitBreaker'"
REFUSED = {
    "api_key": _SAY_KEY,
    "key": _SAY_KEY,
    "token": _SAY_KEY,
    "max_retries": _RETRIES,
    "num_retries": _RETRIES,
}
HOTTEST = 2
_PRICED = ("input", "output")


def read_model_settings(source: Source, value: Any, path: Path) -> ModelSettings | None:
    """Reads what a file says of a model; problems go to the source."""
    if value is None:
        return None
    if isinstance(value, str):
        return ModelSettings(model=_name(source, value, path))
    if not isinstance(value, dict):
        source.problem(path, f"must be the name of a model or a mapping, not {shown(value)}")
        return None
    block = read_block(source, value, path, FIELDS, aliases=ALIASES, refused=REFUSED)
    provider = block.name("provider")
    written = block.name("model")
    named = written or (provider if provider and provider.strip().lower() in {OFFLINE, LOCAL} else None)
    if named is None and provider is not None:
        source.problem(block.at("provider"), f"provider '{provider}' is named without a 'model'")
    at = block.at("model" if written is not None else "provider")
    return ModelSettings(
        model=None if named is None else _name(source, named, at, provider),
        base_url=_base_url(block),
        timeout=block.seconds("timeout") or None,
        seed=_read(block, "seed", read_count),
        stop=block.names("stop") or None,
        price=_price(block),
        **_beside(block),
    )


def read_beside(block: Block, settings: ModelSettings | None) -> ModelSettings | None:
    """An agent's `llm` together with the settings that stand beside it, which say it more plainly."""
    beside = {name: value for name, value in _beside(block).items() if value is not None}
    if not beside:
        return settings
    return (settings or ModelSettings()).overlaid(ModelSettings(**beside))


def _beside(block: Block) -> dict[str, Any]:
    return {
        "temperature": _within(block, "temperature", HOTTEST),
        "max_tokens": _max_tokens(block),
        "top_p": _within(block, "top_p", 1),
        "response_format": _response_format(block),
        "thinking": _thinking(block),
    }


def _read(block: Block, key: str, read: Callable[[Source, Any, Path], Any]) -> Any:
    value = block.get(key)
    return None if value is None else read(block.source, value, block.at(key))


def _name(source: Source, written: str, path: Path, provider: str | None = None) -> str | None:
    if read_name(source, written, path) is None:
        return None
    try:
        return full_name(written, provider)
    except ModelNameError as error:
        source.problem(path, str(error), error.hint)
        return None


def _base_url(block: Block) -> str | None:
    url = block.name("base_url")
    if url is None:
        return None
    try:
        check_base_url(url)
    except ValueError as error:
        block.problem("base_url", str(error))
        return None
    return url


def check_base_url(url: str) -> None:
    """Sees to it that an address is one.

    Raises:
        ValueError: It is none, or it holds a password.
    """
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("a base URL begins with http:// or https:// and names a host")
    if parts.username or parts.password:
        raise ValueError("a base URL holds no name and no password")


def _within(block: Block, key: str, most: float) -> float | None:
    number: float | None = _read(block, key, read_number)
    if number is not None and number > most:
        block.problem(key, f"must be a number from 0 to {most}, not {number}")
        return None
    return number


def _max_tokens(block: Block) -> int | None:
    number: int | None = _read(block, "max_tokens", read_count)
    if number == 0:
        block.problem("max_tokens", "must be a whole number, 1 or more, not 0")
        return None
    return number


def _thinking(block: Block) -> Any:
    value = block.get("thinking")
    if value is None or isinstance(value, bool):
        return value
    folded = value.strip().lower() if isinstance(value, str) else value
    if folded not in EFFORTS:
        block.problem("thinking", f"must be true, false or one of {', '.join(EFFORTS)}, not {shown(value)}")
        return None
    return folded


def _response_format(block: Block) -> Any:
    value = block.get("response_format")
    if isinstance(value, dict):
        value = _schema_in(value)
    if isinstance(value, dict):
        for problem in schema_problems(value):
            block.problem("response_format", problem)
            return None
    if value is None or isinstance(value, dict):
        return value
    folded = str(value).strip().lower()
    if folded in {"json", "json_object"}:
        return "json"
    if folded == "text":
        return "text"
    block.problem("response_format", f"must be 'text', 'json' or a JSON Schema, not {shown(value)}")
    return None


def _schema_in(value: Mapping[str, Any]) -> Any:
    """The schema in the mapping that OpenAI's own protocol has; any other mapping is a schema itself."""
    if value.get("type") in {"text", "json_object"}:
        return value["type"]
    inner = value.get("json_schema")
    if value.get("type") == "json_schema" and isinstance(inner, dict):
        return inner.get("schema", inner)
    return dict(value)


def _price(block: Block) -> Price | None:
    value = block.get("price")
    if value is None:
        return None
    if not isinstance(value, dict):
        block.problem("price", "must be a mapping with 'input' and 'output', in dollars for a million tokens")
        return None
    inner = read_block(block.source, value, block.at("price"), _PRICED)
    reads, writes = (_read(inner, key, read_number) if inner.require(key) else None for key in _PRICED)
    return None if reads is None or writes is None else Price(reads, writes)
