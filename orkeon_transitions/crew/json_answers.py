"""Answers in JSON: how they are asked for, and how they are found in what a model has written.

Models put them between fences, and talk before and after. Whoever asked says what the answer must hold.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from orkeon_transitions.crew.strict_json import DECODER

Schema = Mapping[str, Any]

# Of a longer text only both ends are looked at, and no more beginnings of an object than these.
MOST_READ = 40_000
MOST_BEGINNINGS = 200

_ASKED = "One JSON object and nothing else, as this JSON Schema says:"


def asked_in_json(schema: Schema) -> str:
    """What the expected output says where it is a JSON object."""
    return f"{_ASKED}\n```json\n{json.dumps(schema, ensure_ascii=False)}\n```"


def schema_asked_for(expected: str) -> Schema | None:
    """Finds the JSON Schema in what `asked_in_json` gave; None: no JSON is asked for."""
    found = re.match(rf"{re.escape(_ASKED)}\n```json\n(.*)\n```\Z", expected)
    if found is None:
        return None
    schema: Schema = json.loads(found[1])
    return schema


def found_object(text: str, key: str) -> dict[str, Any] | None:
    """Finds the first JSON object in a text that has a key, in any case; objects inside of others count, too.

    Returns:
        The object, with that key as it was asked for.
    """
    whole = text if len(text) <= MOST_READ else f"{text[: MOST_READ // 2]}\n{text[-MOST_READ // 2 :]}"
    for one in _objects(whole):
        spelled = key if key in one else next((name for name in one if name.casefold() == key), None)
        if spelled is not None:
            return {**one, key: one[spelled]}
    return None


def _objects(text: str) -> Iterator[dict[str, Any]]:
    for begins in [found.start() for found in re.finditer(r"\{", text)][:MOST_BEGINNINGS]:
        try:
            value, _ = DECODER.raw_decode(text, begins)
        except (ValueError, RecursionError):
            continue
        yield value
