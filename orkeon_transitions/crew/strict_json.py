"""JSON as its standard has it: `NaN` and numbers without end, which Python's own reader takes, are none."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn


def read_json(text: str) -> Any:
    """Reads one JSON text.

    Raises:
        ValueError: It is none, is nested too deep, or has a number that no computer can hold.
    """
    try:
        return json.loads(text, parse_constant=_no_constant, parse_float=_finite)
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON value")


def _finite(word: str) -> float:
    number = float(word)
    if math.isinf(number):
        shown = word if len(word) <= 20 else f"{word[:20]}…"
        raise ValueError(f"the number {shown} is too large")
    return number


DECODER = json.JSONDecoder(parse_constant=_no_constant, parse_float=_finite)
