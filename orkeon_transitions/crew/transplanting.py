"""A file's text as a part of another one: moved to the right, keys switched off, other names put in.

Comments, line breaks and the ways in which texts are written stay as they are. It is plain work on lines, so
what comes out is to be read again and compared before anybody relies on it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from orkeon_transitions.definition.places import Place

INDENT = "  "
_OFF = "# "
_MARKS = ("---", "...", "%")


class NotSimpleError(Exception):
    """The text is written in a way that lines cannot be worked on. Never leaves this room."""


@dataclass(slots=True)
class Transplant:
    """The lines of one file.

    Attributes:
        lines: Without their ends.
    """

    lines: list[str]
    _switched_off: dict[int, int] = field(default_factory=dict)

    @classmethod
    def of(cls, text: str) -> Transplant:
        """The lines of a text."""
        return cls(text.replace("\r\n", "\n").removesuffix("\n").split("\n"))

    def switch_off(self, places: Iterable[Place]) -> None:
        """Makes comments of keys and what they hold.

        Raises:
            NotSimpleError: A key does not begin its line.
        """
        for line, column in places:
            if line is None or column is None:
                raise NotSimpleError
            index, margin = line - 1, column - 1
            if self.lines[index][:margin].strip():
                raise NotSimpleError
            for number in [index, *self._below(index, margin)]:
                self._switched_off.setdefault(number, margin)

    def rename(self, place: Place, name: str, other: str) -> None:
        """Puts a name in place of another one, which may be quoted.

        Raises:
            NotSimpleError: Something else stands there.
        """
        line, column = place
        if line is None or column is None:
            raise NotSimpleError
        text = self.lines[line - 1]
        start = column - 1 + (text[column - 1 : column] in {"'", '"'})
        if not text.startswith(name, start):
            raise NotSimpleError
        self.lines[line - 1] = text[:start] + other + text[start + len(name) :]

    def text(self, *, indented: bool) -> str:
        """The whole, each line moved to the right if it is to stand below a key.

        Raises:
            NotSimpleError: There is a mark of a document in it.
        """
        lines = [self._shown(number, line) for number, line in enumerate(self._without_start())]
        if any(line.startswith(_MARKS) for line in lines):
            raise NotSimpleError
        margin = INDENT if indented else ""
        return "".join(f"{margin if line else ''}{line}\n" for line in lines)

    def _without_start(self) -> list[str]:
        """The lines, without the `---` that may stand above them."""
        lines = list(self.lines)
        first = next((number for number, line in enumerate(lines) if line and not line.startswith("#")), None)
        if first is not None and lines[first].rstrip() == "---":
            lines[first] = ""
        return lines

    def _shown(self, number: int, line: str) -> str:
        margin = self._switched_off.get(number)
        return line if margin is None or not line.strip() else f"{line[:margin]}{_OFF}{line[margin:]}"

    def _below(self, index: int, margin: int) -> Iterable[int]:
        """The lines of a key's value, as far as they stand below it."""
        found: list[int] = []
        blank: list[int] = []
        for number in range(index + 1, len(self.lines)):
            line = self.lines[number]
            words = line.lstrip()
            indent = len(line) - len(words)
            is_item = indent == margin and (words == "-" or words.startswith("- "))
            if not words:
                blank.append(number)
            elif indent > margin or is_item:
                found += [*blank, number]
                blank.clear()
            else:
                break
        return found
