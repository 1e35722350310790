"""Rules as a crew file writes them: `guardrails`, `responseSchema` and their other names."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from orkeon_transitions.crew.checks.references import schema_problems
from orkeon_transitions.crew.checks.rules import Rule
from orkeon_transitions.crew.strict_json import read_json
from orkeon_transitions.definition.fields import (
    Block,
    read_block,
    read_count,
    read_flag,
    read_name,
    read_prose,
    shown,
)
from orkeon_transitions.definition.names import snake_case
from orkeon_transitions.definition.places import Path, Source

COUNTS = ("min_length", "max_length", "min_words", "max_words")
PATTERNS = ("must_match", "must_not_match")
WORDS = ("required_words", "forbidden_words")
# Wrapped in one of these, a schema may have a name and the like beside it.
INLINE = ("schema_inline", "schema")
SHAPES = (
    "response_schema",
    "output_schema",
    "schema_inline",
    "output_json",
    "output_pydantic",
    "response_model",
)


def read_guardrails(source: Source, value: Any, path: Path) -> tuple[Rule, ...]:
    """Reads `guardrails`: one, or a list of them. Problems go to the source.

    Each is a mapping of rules; a name, which is that of a function that the program gives; or a sentence,
    which a model judges by.
    """
    if value is None or value is False:
        return ()
    entries = [((*path, n), entry) for n, entry in enumerate(value)] if isinstance(value, list) else None
    read = [_rule(source, entry, at) for at, entry in ([(path, value)] if entries is None else entries)]
    return tuple(rule for rule in read if rule is not None)


def read_shape(block: Block) -> Rule | None:
    """Reads what a task says of the shape of its output, under whichever of its names."""
    said = {key: block.get(key) for key in SHAPES if block.get(key) not in (None, False)}
    shapes = {key: _shape(block, key, value) for key, value in said.items()}
    read = {key: shape for key, shape in shapes.items() if shape is not None}
    if len(read) < 2:
        return next(iter(read.values()), None)
    first, *others = read
    for other in others:
        # That it is JSON may be said beside what kind of JSON it is.
        if read[other] != read[first] and Rule(is_json=True) not in (read[other], read[first]):
            block.problem(other, f"'{first}' says already what the output must be like")
    return next((shape for shape in read.values() if shape != Rule(is_json=True)), read[first])


def _shape(block: Block, key: str, value: Any) -> Rule | None:
    source, path = block.source, block.at(key)
    if value is True and key == "output_json":
        return Rule(is_json=True)
    if key in {"output_pydantic", "response_model"}:
        name = read_name(source, value, path)
        return None if name is None else Rule(model=name)
    if isinstance(value, dict):
        folded = {snake_case(str(name)): name for name in value}
        wrapped = next((folded[name] for name in INLINE if name in folded and "type" not in value), None)
        if wrapped is not None:
            value, path = value[wrapped], (*path, wrapped)
    if isinstance(value, str) and not value.lstrip().startswith("{"):
        name = read_name(source, value, path)
        return None if name is None else Rule(model=name)
    schema = _schema(source, value, path)
    return None if schema is None else Rule(schema=schema)


def _rule(source: Source, value: Any, path: Path) -> Rule | None:
    if isinstance(value, str):
        return _named(source, value, path)
    if not isinstance(value, dict):
        source.problem(path, f"must be rules for the output, or the name of a function, not {shown(value)}")
        return None
    block = read_block(source, value, path, KEYS)
    fields = {key: read(block, key) for key, read in _READERS.items() if block.get(key) is not None}
    if any(read is None for read in fields.values()):
        return None
    fields["is_json"] = fields.pop("json", False)
    _check_bounds(block, fields)
    rule = Rule(**fields)
    if rule == Rule(message=rule.message) and len(block.values) == len(value):
        source.problem(path, f"asks for nothing: it may have {', '.join(KEYS[:-1])}")
    return rule


def _named(source: Source, text: str, path: Path) -> Rule | None:
    if not text.strip():
        source.problem(path, "must be rules for the output, or the name of a function, not an empty text")
        return None
    if text.strip().lower() == "json":
        return Rule(is_json=True)
    if len(text.split()) == 1:
        return Rule(function=read_name(source, text, path))
    return Rule(judge=read_prose(source, text, path))


def _count(block: Block, key: str) -> int | None:
    value = block.get(key)
    return None if value is None else read_count(block.source, value, block.at(key))


def _check_bounds(block: Block, fields: Mapping[str, Any]) -> None:
    for what in ("length", "words"):
        low, high = fields.get(f"min_{what}"), fields.get(f"max_{what}")
        if low is not None and high is not None and low > high:
            block.problem(f"min_{what}", f"is {low}, and the most that is allowed is {high}")


def _pattern(block: Block, key: str) -> str | None:
    value = block.get(key)
    if not isinstance(value, str) or not value:
        block.problem(key, f"must be a regular expression, not {shown(value) if value else 'an empty text'}")
        return None
    try:
        re.compile(value)
    except (re.error, OverflowError, RecursionError) as error:
        block.problem(key, f"is no regular expression: {error}")
        return None
    return value


def _words(block: Block, key: str) -> tuple[str, ...]:
    value = block.get(key)
    entries = value if isinstance(value, list) else [value]
    words = [entry for entry in entries if isinstance(entry, str) and entry.strip()]
    if len(words) != len(entries):
        block.problem(key, "must be words or phrases, each of them a text")
    return tuple(words)


def _schema(source: Source, value: Any, path: Path) -> Mapping[str, Any] | None:
    """A JSON Schema, written as a mapping or as JSON text."""
    if isinstance(value, str):
        try:
            value = read_json(value)
        except ValueError as error:
            source.problem(path, f"is no JSON: {error}")
            return None
    if not isinstance(value, dict):
        source.problem(path, f"must be a JSON Schema, not {shown(value)}")
        return None
    try:
        plain: dict[str, Any] = json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        source.problem(path, f"must be a JSON Schema, which is JSON data: {error}")
        return None
    for problem in schema_problems(plain):
        source.problem(path, problem)
        return None
    return plain


_READERS: Mapping[str, Callable[[Block, str], Any]] = {
    **dict.fromkeys(COUNTS, _count),
    **dict.fromkeys(PATTERNS, _pattern),
    **dict.fromkeys(WORDS, _words),
    "json": lambda block, key: read_flag(block.source, block.get(key), block.at(key)),
    "schema": lambda block, key: _schema(block.source, block.get(key), block.at(key)),
    "function": Block.name,
    "judge": Block.text,
    "message": Block.text,
}
KEYS = tuple(_READERS)
