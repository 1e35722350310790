"""Plain data that remembers where each of its parts was written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from orkeon_transitions.definition.findings import Finding
from orkeon_transitions.definition.names import nearest
from orkeon_transitions.errors import DefinitionError, Problem

Path = tuple[str | int, ...]
"""Where in the data: keys and indexes, such as `("transitions", 2, "dest")`."""

Place = tuple[int | None, int | None]
"""Line and column, counted from 1; both None where there is no text."""

NOWHERE: Place = (None, None)
# Looking for a near name costs a comparison with every valid one; a file with thousands of wrong names gets
# its problems without hints from here on.
_MOST_COMPARISONS = 40_000


def dotted(path: Path) -> str:
    """Writes a path as people do: `transitions[2].dest`."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f".{part}" if text else part
    return text


@dataclass(frozen=True, slots=True, eq=False)
class Origin:
    """Where a definition came from: kept beside it, no part of its content.

    Attributes:
        file: The file's name, `<text>`, or None for a mapping.
        places: The place of each part, by path.
        notes: What was accepted without having an effect.
    """

    file: str | None = None
    places: Mapping[Path, Place] = field(default_factory=dict)
    notes: tuple[Finding, ...] = ()

    def place(self, path: Path) -> Place:
        """The place of a part, or of the nearest part around it that has one."""
        return _nearest_place(self.places, path)


class Source:
    """Data that was read, the places of its parts, and what was found wrong with it.

    Attributes:
        file: The file's name as it was given, `<text>` for a text, None for a mapping.
        data: Mappings with text keys, lists, text, numbers, booleans, None.
        problems: What is wrong so far.
        notes: What was accepted without having an effect.
        error: The class of the error that `raise_problems` raises.
        files: The files of parts that stand in one of their own, by path.
    """

    def __init__(
        self, data: Any = None, *, file: str | None = None, error: type[DefinitionError] = DefinitionError
    ) -> None:
        self.data = data
        self.file = file
        self.problems: list[Problem] = []
        self.notes: list[Finding] = []
        self.error = error
        self.places: dict[Path, Place] = {}
        self.key_places: dict[Path, Place] = {}
        self.files: dict[Path, str | None] = {}
        self._hints: dict[tuple[str, frozenset[str]], str | None] = {}
        self._comparisons = 0

    def place(self, path: Path) -> Place:
        """The line and column of a value, or of the nearest part around it that has one."""
        return _nearest_place(self.places, path)

    def key_place(self, path: Path) -> Place:
        """The line and column of a key; of its value where there is no key, as in a list."""
        return self.key_places.get(path) or self.place(path)

    def problem(self, path: Path, message: str, hint: str | None = None, *, at_key: bool = False) -> None:
        """Adds a problem with the value at a path, or, `at_key`, with the key itself."""
        place = self.key_place(path) if at_key else self.place(path)
        self.problem_at(place, message, hint, path=path)

    def problem_at(self, place: Place, message: str, hint: str | None = None, *, path: Path = ()) -> None:
        """Adds a problem with a place of its own."""
        self.problems.append(Problem(self.file_of(path), *place, dotted(path), message, hint))

    def note(self, path: Path, code: str, message: str) -> None:
        """Adds a note about the key at a path."""
        self.notes.append(self.finding("note", path, code, message))

    def finding(self, severity: Literal["warning", "note"], path: Path, code: str, message: str) -> Finding:
        """Makes a finding about the key at a path, without keeping it."""
        line, column = self.key_place(path)
        return Finding(severity, code, dotted(path), line, message, column, self.file_of(path))

    def file_of(self, path: Path) -> str | None:
        """The file in which a part stands."""
        if not self.files:
            return self.file
        while path and path not in self.files:
            path = path[:-1]
        return self.files.get(path, self.file)

    def graft(self, other: Source, path: Path, *, below: Path = ()) -> None:
        """Takes in the places of what stands in another source, once its data was put here.

        Args:
            other: What was read from another file. Its problems and notes stay its own.
            path: Where its data is here.
            below: Which part of it is; all of it if left out.
        """
        self.files[path] = other.file
        for mine, others in ((self.places, other.places), (self.key_places, other.key_places)):
            for inner, place in others.items():
                if inner[: len(below)] == below:
                    mine[(*path, *inner[len(below) :])] = place

    def hint(self, name: str, names: Iterable[str]) -> str | None:
        """The nearest valid name; each name is looked for once, and only with so many comparisons in all."""
        valid = frozenset(names)
        asked = (name, valid)
        if asked not in self._hints:
            self._comparisons += len(valid)
            if self._comparisons > _MOST_COMPARISONS:
                return None
            self._hints[asked] = nearest(name, valid)
        return self._hints[asked]

    def raise_problems(self) -> None:
        """Raises what is wrong, all at once and in the order of the file, or of the files.

        Raises:
            DefinitionError: Or the class that `error` names, if there is a problem.
        """
        if self.problems:
            names = dict.fromkeys([self.file, *self.files.values()])
            order = {name: index for index, name in enumerate(names)}
            raise self.error(
                sorted(
                    self.problems,
                    key=lambda found: (order.get(found.file, -1), found.line or 0, found.column or 0),
                )
            )

    def origin(self) -> Origin:
        """What is kept beside a definition that was read from here."""
        return Origin(self.file, self.places, tuple(self.notes))


def _nearest_place(places: Mapping[Path, Place], path: Path) -> Place:
    while path and path not in places:
        path = path[:-1]
    return places.get(path, NOWHERE)
