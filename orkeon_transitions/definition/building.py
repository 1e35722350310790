"""Nodes of a YAML document, and the data that they stand for, with the place of each part.

Aliases are expanded here, and counted: a small file can name its parts so often that it would never end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NoReturn, TypeAlias

from orkeon_transitions.definition.places import Path, Place, Source

DEEPEST = 60
MOST_ALIAS_EXPANSIONS = 10_000
# A file of 1 MB may name one big part ten thousand times: what comes out is limited, too.
_MOST_EXPANDED_NODES = 200_000


@dataclass(slots=True)
class ScalarNode:
    """A word: what it means, and how it is written."""

    place: Place
    value: Any
    text: str
    is_merge: bool


@dataclass(slots=True)
class ListNode:
    """A list."""

    place: Place
    items: list[Node]


@dataclass(slots=True)
class MappingNode:
    """A mapping; keys may come twice, and `<<` is one of them."""

    place: Place
    entries: list[tuple[Node, Node]]


@dataclass(slots=True)
class AliasNode:
    """The place where another node is named."""

    place: Place
    target: Node


Node: TypeAlias = ScalarNode | ListNode | MappingNode | AliasNode


class Stop(Exception):  # noqa: N818 - a way out, not an error: the problem is noted already
    """Reading any further makes no sense."""


def stop(source: Source, place: Place, message: str, hint: str | None = None) -> NoReturn:
    """Notes a problem after which nothing more can be read."""
    source.problem_at(place, message, hint)
    raise Stop


def stop_below(source: Source, place: Place, depth: int) -> None:
    """Stops where a part is nested too deep for any reader."""
    if depth > DEEPEST:
        stop(source, place, f"nested more than {DEEPEST} deep")


class Builder:
    """Makes data of nodes, and notes in the source where each part is."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._expansions = 0
        self._expanded_nodes = 0
        self._aliases_around = 0

    def build(self, node: Node, path: Path = (), depth: int = 0) -> Any:
        """Gives the data of a node, everything in it included.

        Raises:
            Stop: It goes too deep, expands too much, or has a key that is no text.
        """
        stop_below(self._source, node.place, depth)
        if isinstance(node, AliasNode):
            with self._expanding(node):
                built = self.build(node.target, path, depth)
            self._source.places[path] = node.place
            return built
        self._count_expanded(node.place)
        self._source.places[path] = node.place
        if isinstance(node, ScalarNode):
            return node.value
        if isinstance(node, ListNode):
            return [self.build(item, (*path, index), depth + 1) for index, item in enumerate(node.items)]
        return self._mapping(node, path, depth)

    def _mapping(self, node: MappingNode, path: Path, depth: int) -> dict[str, Any]:
        built: dict[str, Any] = {}
        merged = []
        for key, value in node.entries:
            if is_merge(key):
                merged.append(value)
            elif (name := self.new_key(key, built, path)) is not None:
                built[name] = self.build(value, (*path, name), depth + 1)
        for part in merged:
            self.merge(part, built, path, depth + 1)
        return built

    def new_key(self, key: Node, built: Mapping[str, Any], path: Path) -> str | None:
        """Reads a key of the mapping at a path.

        Args:
            key: The key.
            built: What the mapping has so far.
            path: Where the mapping is.

        Returns:
            The key; None if it was given before, which is a problem.

        Raises:
            Stop: It is no text.
        """
        name = self._key(key)
        at = (*path, name)
        if name in built:
            first = self._source.key_places[at][0]
            message = f"the key '{name}' is given twice, on lines {first} and {key.place[0]}"
            self._source.problem_at(key.place, message, path=at)
            return None
        self._source.key_places[at] = key.place
        return name

    def merge(self, node: Node, built: dict[str, Any], path: Path, depth: int) -> None:
        """Adds the entries of a `<<`, with the places where they are written; what is there already wins."""
        stop_below(self._source, node.place, depth)
        if isinstance(node, AliasNode):
            with self._expanding(node):
                self.merge(node.target, built, path, depth)
        elif isinstance(node, ListNode):
            for item in node.items:
                self.merge(item, built, path, depth + 1)
        elif isinstance(node, MappingNode):
            self._merge_mapping(node, built, path, depth)
        else:
            stop(self._source, node.place, "'<<' merges mappings only")

    def _merge_mapping(self, node: MappingNode, built: dict[str, Any], path: Path, depth: int) -> None:
        merged = []
        for key, value in node.entries:
            self._count_expanded(key.place)
            if is_merge(key):
                merged.append(value)
                continue
            name = self._key(key)
            if name not in built:
                self._source.key_places[*path, name] = key.place
                built[name] = self.build(value, (*path, name), depth + 1)
        for part in merged:
            self.merge(part, built, path, depth + 1)

    def _key(self, key: Node) -> str:
        """A key is the text as it is written: `on`, `1` and `null` are names like others."""
        node = key.target if isinstance(key, AliasNode) else key
        if not isinstance(node, ScalarNode):
            stop(self._source, key.place, "a key must be text, not a list or a mapping")
        return node.text

    @contextmanager
    def _expanding(self, alias: AliasNode) -> Iterator[None]:
        self._expansions += 1
        if self._expansions > MOST_ALIAS_EXPANSIONS:
            stop(self._source, alias.place, f"more than {MOST_ALIAS_EXPANSIONS:,} alias expansions")
        self._aliases_around += 1
        yield
        self._aliases_around -= 1

    def _count_expanded(self, place: Place) -> None:
        self._expanded_nodes += self._aliases_around > 0
        if self._expanded_nodes > _MOST_EXPANDED_NODES:
            stop(self._source, place, f"aliases expand to more than {_MOST_EXPANDED_NODES:,} values")


def is_merge(key: Node) -> bool:
    """Whether a key is `<<`, unquoted."""
    return isinstance(key, ScalarNode) and key.is_merge
