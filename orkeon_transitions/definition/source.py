"""YAML text, or a file of it, as plain data with the place of every key, value and item.

The parser's events are put together here, and nothing is ever constructed from a tag: what comes out are
mappings with text keys, lists, text, numbers, booleans and None.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn, TypeAlias

import yaml

from orkeon_transitions.definition.files import read_text, tidy_text
from orkeon_transitions.definition.places import Path, Place, Source
from orkeon_transitions.definition.scalars import plain_value
from orkeon_transitions.errors import DefinitionError

MOST_ALIAS_EXPANSIONS = 10_000
# A file of 1 MB may name one big part ten thousand times: what comes out is limited, too.
_MOST_EXPANDED_NODES = 200_000
_DEEPEST = 60
_TEXT_TAGS = frozenset({"!", "tag:yaml.org,2002:str"})
_COLLECTION_TAGS = frozenset({"!", "tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"})
_PARSER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_source(what: str | os.PathLike[str], *, error: type[DefinitionError] = DefinitionError) -> Source:
    """Reads a YAML file or a YAML text.

    Args:
        what: A path; or a text, if it has a newline or begins with `{`.
        error: The class of the error to raise, for this and for later problems of the source.

    Returns:
        The data with its places. Keys that were given twice are among its problems already.

    Raises:
        DefinitionError: It cannot be read, or is no YAML that is read here.
    """
    if isinstance(what, str) and is_text(what):
        source = Source(file="<text>", error=error)
        text = tidy_text(source, what)
    else:
        source = Source(file=os.fsdecode(what), error=error)
        text = read_text(source, what)
    source.raise_problems()
    _Composer(source, text).compose()
    return source


def is_text(what: str) -> bool:
    """Whether a string is YAML text rather than the name of a file."""
    return "\n" in what or what.lstrip("\ufeff \t").startswith("{")


@dataclass(slots=True)
class _Scalar:
    place: Place
    value: Any
    text: str
    is_merge: bool


@dataclass(slots=True)
class _List:
    place: Place
    items: list[_Node]


@dataclass(slots=True)
class _Mapping:
    place: Place
    entries: list[tuple[_Node, _Node]]


@dataclass(slots=True)
class _Alias:
    place: Place
    target: _Node


_Node: TypeAlias = _Scalar | _List | _Mapping | _Alias


class _Stop(Exception):  # noqa: N818 - a way out, not an error: the problem is noted already
    """Reading any further makes no sense."""


class _Composer:
    """Puts the events of one document together, first to nodes, then to data with places."""

    def __init__(self, source: Source, text: str) -> None:
        self._source = source
        self._text = text
        self._anchors: dict[str, _Node | None] = {}
        self._expansions = 0
        self._expanded_nodes = 0
        self._aliases_around = 0

    def compose(self) -> None:
        """Fills the source.

        Raises:
            DefinitionError: The text is no YAML that is read here.
        """
        root: _Node | None = None
        try:
            root = self._document(yaml.parse(self._text, Loader=_PARSER))
        except yaml.YAMLError as error:
            self._wrong(*_syntax_problem(error, self._text))
        except _Stop:
            pass
        self._source.raise_problems()
        if root is None:
            self._wrong((1, 1), "there is nothing in it")
            self._source.raise_problems()
            return
        try:
            self._source.data = self._build(root, (), 0)
        except _Stop:
            self._source.raise_problems()

    def _document(self, events: Iterator[Any]) -> _Node | None:
        root: _Node | None = None
        documents = 0
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    self._stop(_place(event.start_mark), "a second document begins: a file has one")
                root = self._node(next(events), events, 0)
        return root

    def _node(self, event: Any, events: Iterator[Any], depth: int) -> _Node:
        place = _place(event.start_mark)
        if depth > _DEEPEST:
            self._stop(place, f"nested more than {_DEEPEST} deep")
        if isinstance(event, yaml.AliasEvent):
            return _Alias(place, self._anchored(str(event.anchor), place))
        if event.anchor is not None:
            self._anchors[event.anchor] = None
        node = self._content(event, events, place, depth)
        if event.anchor is not None:
            self._anchors[event.anchor] = node
        return node

    def _content(self, event: Any, events: Iterator[Any], place: Place, depth: int) -> _Node:
        if isinstance(event, yaml.ScalarEvent):
            return self._scalar(event, place)
        self._check_tag(event.tag, _COLLECTION_TAGS, place)
        if isinstance(event, yaml.SequenceStartEvent):
            items = []
            while not isinstance(event := next(events), yaml.SequenceEndEvent):
                items.append(self._node(event, events, depth + 1))
            return _List(place, items)
        entries = []
        while not isinstance(event := next(events), yaml.MappingEndEvent):
            key = self._node(event, events, depth + 1)
            entries.append((key, self._node(next(events), events, depth + 1)))
        return _Mapping(place, entries)

    def _scalar(self, event: Any, place: Place) -> _Scalar:
        self._check_tag(event.tag, _TEXT_TAGS, place)
        is_plain = event.implicit[0] and event.tag is None
        value = plain_value(event.value) if is_plain else event.value
        return _Scalar(place, value, event.value, is_merge=is_plain and event.value == "<<")

    def _check_tag(self, tag: str | None, allowed: frozenset[str], place: Place) -> None:
        if tag is not None and tag not in allowed:
            shown = tag.replace("tag:yaml.org,2002:", "!!")
            self._wrong(place, f"the tag '{shown}' is not read here: only plain values are")

    def _anchored(self, anchor: str, place: Place) -> _Node:
        if anchor not in self._anchors:
            hint = self._source.hint(anchor, self._anchors)
            self._stop(place, f"unknown anchor '{anchor}'", hint)
        node = self._anchors[anchor]
        if node is None:
            self._stop(place, f"the anchor '{anchor}' contains itself")
        return node

    def _build(self, node: _Node, path: Path, depth: int) -> Any:
        if depth > _DEEPEST:
            self._stop(node.place, f"nested more than {_DEEPEST} deep")
        if isinstance(node, _Alias):
            return self._expand(node, path, depth)
        self._count_expanded(node.place)
        self._source.places[path] = node.place
        if isinstance(node, _Scalar):
            return node.value
        if isinstance(node, _List):
            return [self._build(item, (*path, index), depth + 1) for index, item in enumerate(node.items)]
        return self._build_mapping(node, path, depth)

    def _expand(self, alias: _Alias, path: Path, depth: int) -> Any:
        self._expansions += 1
        if self._expansions > MOST_ALIAS_EXPANSIONS:
            self._stop(alias.place, f"more than {MOST_ALIAS_EXPANSIONS:,} alias expansions")
        self._aliases_around += 1
        built = self._build(alias.target, path, depth)
        self._aliases_around -= 1
        self._source.places[path] = alias.place
        return built

    def _count_expanded(self, place: Place) -> None:
        if not self._aliases_around:
            return
        self._expanded_nodes += 1
        if self._expanded_nodes > _MOST_EXPANDED_NODES:
            self._stop(place, f"aliases expand to more than {_MOST_EXPANDED_NODES:,} values")

    def _build_mapping(self, node: _Mapping, path: Path, depth: int) -> dict[str, Any]:
        built: dict[str, Any] = {}
        merged: list[_Node] = []
        for key, value in node.entries:
            if isinstance(key, _Scalar) and key.is_merge:
                merged += value.items if isinstance(value, _List) else [value]
                continue
            name = self._key(key)
            at = (*path, name)
            if name in built:
                self._given_twice(at, key.place)
                continue
            self._source.key_places[at] = key.place
            built[name] = self._build(value, at, depth + 1)
        for part in merged:
            self._merge(part, built, path, depth)
        return built

    def _merge(self, node: _Node, built: dict[str, Any], path: Path, depth: int) -> None:
        """Adds the entries of a `<<`, with the places where they are written; what is there already wins."""
        if depth > _DEEPEST:
            self._stop(node.place, f"nested more than {_DEEPEST} deep")
        if isinstance(node, _Alias):
            self._expansions += 1
            if self._expansions > MOST_ALIAS_EXPANSIONS:
                self._stop(node.place, f"more than {MOST_ALIAS_EXPANSIONS:,} alias expansions")
            self._aliases_around += 1
            self._merge(node.target, built, path, depth + 1)
            self._aliases_around -= 1
            return
        if not isinstance(node, _Mapping):
            self._stop(node.place, "'<<' merges mappings only")
        nested: list[_Node] = []
        for key, value in node.entries:
            self._count_expanded(key.place)
            if isinstance(key, _Scalar) and key.is_merge:
                nested += value.items if isinstance(value, _List) else [value]
                continue
            name = self._key(key)
            if name not in built:
                self._source.key_places[*path, name] = key.place
                built[name] = self._build(value, (*path, name), depth + 1)
        for part in nested:
            self._merge(part, built, path, depth + 1)

    def _key(self, key: _Node) -> str:
        """A key is the text as it is written: `on`, `1` and `null` are names like others."""
        node = key.target if isinstance(key, _Alias) else key
        if not isinstance(node, _Scalar):
            self._stop(key.place, "a key must be text, not a list or a mapping")
        return node.text

    def _given_twice(self, path: Path, place: Place) -> None:
        first = self._source.key_places[path][0]
        message = f"the key '{path[-1]}' is given twice, on lines {first} and {place[0]}"
        self._source.problem_at(place, message, path=path)

    def _wrong(self, place: Place, message: str, hint: str | None = None) -> None:
        self._source.problem_at(place, message, hint)

    def _stop(self, place: Place, message: str, hint: str | None = None) -> NoReturn:
        self._wrong(place, message, hint)
        raise _Stop


def _syntax_problem(error: yaml.YAMLError, text: str) -> tuple[Place, str]:
    """Says where and why the parser gave up, and where the part began that it was in."""
    mark, began = getattr(error, "problem_mark", None), getattr(error, "context_mark", None)
    context = getattr(error, "context", None)
    if context and mark and began and began.line != mark.line:
        context += f" that begins on line {began.line + 1}"
    problem = getattr(error, "problem", None) or str(error)
    if mark and "cannot start any token" in problem:
        problem = _unexpected(text.splitlines()[mark.line][mark.column])
    return _place(mark or began), "not valid YAML: " + ", ".join(filter(None, (context, problem)))


def _unexpected(char: str) -> str:
    if char == "\t":
        return "there is a tab: only spaces indent"
    return f"no plain text begins with '{char}': put quotes around it"


def _place(mark: Any) -> Place:
    return (1, 1) if mark is None else (mark.line + 1, mark.column + 1)
