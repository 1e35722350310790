"""What a plain word of YAML means here.

Only `true` and `false` are booleans: `on`, `off`, `yes` and `no` are names that machines really have. There
are no timestamps and no sexagesimal numbers (`1:30` is text).
"""

from __future__ import annotations

import re

_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLEANS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INTEGER = re.compile(r"[-+]?[0-9]+(?:_[0-9]+)*")
_BASED_INTEGER = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:_[0-9]+)*(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_INFINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
# Longer runs of digits are no limit of anything, and Python refuses to read very long ones.
_LONGEST_NUMBER = 300


def plain_value(word: str) -> str | int | float | bool | None:
    """Reads an unquoted scalar."""
    if word in _NULLS:
        return None
    if word in _BOOLEANS:
        return _BOOLEANS[word]
    if len(word) > _LONGEST_NUMBER or word[0] not in "+-.0123456789":
        return word
    if _INTEGER.fullmatch(word):
        return int(word)
    if _BASED_INTEGER.fullmatch(word):
        return int(word, base=0)
    if _FLOAT.fullmatch(word):
        return float(word)
    if _INFINITE.fullmatch(word):
        return float(word.replace(".", ""))
    return word
