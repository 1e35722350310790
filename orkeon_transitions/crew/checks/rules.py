"""A rule for outputs, as a frozen value, and what can be told of a text at once."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from orkeon_transitions.crew.strict_json import read_json

# An output is handed on to other agents: one that is longer is a runaway, unless a rule allows more.
MOST_OUTPUT = 500_000
_FENCED = re.compile(r"\A```[ \t]*[\w+-]*[ \t]*\r?\n(.*?)\r?\n?```\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Rule:
    """What an output must be like. What is None or empty is not asked for.

    Attributes:
        min_length: Characters at least.
        max_length: Characters at most.
        min_words: Words at least.
        max_words: Words at most.
        must_match: A regular expression that is found in it.
        must_not_match: One that is not.
        required_words: Words or phrases that it has, in any case.
        forbidden_words: Words or phrases that it has not.
        is_json: Whether it is a JSON text; one in a fence of three backticks is taken out of it.
        schema: The JSON Schema that it fits.
        model: The name of a class that the program gives, which it can be read as.
        shown: The JSON Schema of that class, for the agent to see.
        function: The name of a function that the program gives.
        judge: What a model is asked about it, in words.
        message: What the agent is told in place of our words.
    """

    min_length: int | None = None
    max_length: int | None = None
    min_words: int | None = None
    max_words: int | None = None
    must_match: str | None = None
    must_not_match: str | None = None
    required_words: tuple[str, ...] = ()
    forbidden_words: tuple[str, ...] = ()
    is_json: bool = False
    schema: Mapping[str, Any] | None = None
    model: str | None = None
    shown: Mapping[str, Any] | None = None
    function: str | None = None
    judge: str | None = None
    message: str | None = None

    @property
    def wants_json(self) -> bool:
        """Whether the output must be a JSON text."""
        return self.is_json or self.schema is not None or self.model is not None

    @property
    def format(self) -> str:
        """What an agent is told of the shape that its output must have; empty: nothing."""
        schema = self.shown if self.schema is None else self.schema
        if schema is not None:
            return f"Only JSON, which fits this JSON Schema:\n{json.dumps(schema, ensure_ascii=False)}"
        return "Only JSON." if self.wants_json else ""

    @property
    def patterns(self) -> tuple[tuple[str, bool], ...]:
        """Its regular expressions, each with whether it must be found."""
        both = ((self.must_match, True), (self.must_not_match, False))
        return tuple((pattern, wanted) for pattern, wanted in both if pattern is not None)


def longest_allowed(rules: Sequence[Rule]) -> int:
    """How long an output may be: what the rules say, where they say something."""
    said = [rule.max_length for rule in rules if rule.max_length is not None]
    return min(said) if said else MOST_OUTPUT


def plain_problems(rule: Rule, text: str) -> Iterator[str]:
    """What is wrong with a text as far as counting and looking for words can tell."""
    if rule.min_length is not None and len(text) < rule.min_length:
        yield f"it has {counted(len(text), 'character')}, and needs at least {rule.min_length:,}"
    if rule.min_words is not None or rule.max_words is not None:
        yield from _word_count(rule, len(text.split()))
    for word in rule.required_words:
        if not _has(text, word):
            yield f"it must have '{word}' in it"
    for word in rule.forbidden_words:
        if _has(text, word):
            yield f"it must not have '{word}' in it"
    if rule.wants_json:
        try:
            json_of(text)
        except ValueError as error:
            yield f"it must be one JSON text and nothing else: {error}"


def counted(number: int, noun: str) -> str:
    """`1 word`, `2,000 words`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _word_count(rule: Rule, words: int) -> Iterator[str]:
    if rule.min_words is not None and words < rule.min_words:
        yield f"it has {counted(words, 'word')}, and needs at least {rule.min_words:,}"
    if rule.max_words is not None and words > rule.max_words:
        yield f"it has {counted(words, 'word')}, and may have at most {rule.max_words:,}"


def _has(text: str, words: str) -> bool:
    """Whether whole words are in a text, in any case and with any space between them."""
    pattern = r"\s+".join(map(re.escape, words.split()))
    return re.search(rf"(?<!\w){pattern}(?!\w)", text, re.IGNORECASE) is not None


def unfenced(text: str) -> str:
    """A text without the fence that models like to put around code."""
    stripped = text.strip()
    fenced = _FENCED.match(stripped)
    return fenced[1].strip() if fenced else stripped


def json_of(text: str) -> Any:
    """Reads an output as JSON.

    Raises:
        ValueError: It is none.
    """
    return read_json(unfenced(text))
