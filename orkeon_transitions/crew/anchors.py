"""`*tone` in a crew's texts, which stands for the text that `anchors:` has under that name.

An anchor is a star and a name at the beginning of a word; what follows the name may be anything but a letter,
a digit, `_` or another star. So multiplication, lists, **bold** and *stressed* words stay as they are; a star
before an anchor's name is kept with a backslash. Without an `anchors:` block nothing is looked for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from orkeon_transitions.crew.ordering import find_cycles, in_order
from orkeon_transitions.definition.fields import shown
from orkeon_transitions.definition.files import LARGEST
from orkeon_transitions.definition.places import Path, Source

_NAME = r"[^\W\d]\w*+(?:-\w++)*+"
_CALL = re.compile(rf"(?<![\w*\\])(\\?)\*({_NAME})(?![\w*])")
_STRESSED = re.compile(r"\*[^\s*](?:[^*\n]*[^\s*])?\*(?![\w*])")


@dataclass(frozen=True, slots=True)
class Anchors:
    """The anchors of a crew.

    Attributes:
        texts: By name; what they call themselves is filled in already.
        others: Names of what is there but is no text, such as a mapping for YAML's own `<<: *name`.
    """

    texts: Mapping[str, str] = field(default_factory=dict)
    others: frozenset[str] = frozenset()

    def expand(self, text: str) -> str:
        """Puts the anchors' texts in; what they hold is not looked through again.

        Raises:
            ValueError: The text would become too long.
        """
        if not self.texts:
            return text
        pieces, length, end = [], 0, 0
        for found in _CALL.finditer(text):
            if found[2] in self.texts:
                put = f"*{found[2]}" if found[1] else self.texts[found[2]]
                pieces += [text[end : found.start()], put]
                length += len(put)
                end = found.end()
            if length > LARGEST:
                raise ValueError(f"with its anchors filled in it is longer than {LARGEST:,} characters")
        return "".join([*pieces, text[end:]])

    def strangers(self, text: str) -> list[str]:
        """The names that a text calls though there is no such text, once each."""
        if not self.texts and not self.others:
            return []
        names = (
            found[2]
            for found in _CALL.finditer(text)
            if not found[1] and found[2] not in self.texts and not _STRESSED.match(text, found.start())
        )
        return list(dict.fromkeys(names))


def read_anchors(source: Source, value: Any, path: Path) -> Anchors:
    """Reads an `anchors:` block; problems go to the source.

    A list, or a value that is no text or number, is left to YAML's own `&name` and `*name`.
    """
    if value is None or isinstance(value, list):
        return Anchors()
    if not isinstance(value, dict):
        source.problem(path, f"must be a mapping of names to texts, not {shown(value)}")
        return Anchors()
    texts = {}
    for name, content in value.items():
        if not re.fullmatch(_NAME, name):
            message = f"'{name}' cannot be called as an anchor: a name has letters, digits, '_' and '-'"
            source.problem((*path, name), message, at_key=True)
        elif isinstance(content, str | int | float) and not isinstance(content, bool):
            texts[name] = str(content)
    others = frozenset(value) - frozenset(texts)
    return Anchors(_filled(source, texts, path), others)


def _filled(source: Source, texts: Mapping[str, str], path: Path) -> Mapping[str, str]:
    """Fills in the anchors that call each other, those first that call none."""
    calls = {name: [one for one in _called(text) if one in texts] for name, text in texts.items()}
    cycles = find_cycles(calls)
    for cycle in cycles:
        source.problem((*path, cycle[0]), f"anchors call each other: {' -> '.join(cycle)}")
    if cycles:
        return texts
    filled: dict[str, str] = {}
    for name in in_order(calls):
        try:
            filled[name] = Anchors(filled).expand(texts[name])
        except ValueError as error:
            source.problem((*path, name), str(error))
            filled[name] = ""
    return {name: filled[name] for name in texts}


def _called(text: str) -> list[str]:
    return [found[2] for found in _CALL.finditer(text) if not found[1]]
