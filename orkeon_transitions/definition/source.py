"""YAML text, or a file of it, as plain data with the place of every key, value and item.

The parser's events are put together here, and nothing is ever constructed from a tag: what comes out are
mappings with text keys, lists, text, numbers, booleans and None.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import yaml

from orkeon_transitions.definition.building import (
    AliasNode,
    Builder,
    ListNode,
    MappingNode,
    Node,
    ScalarNode,
    Stop,
    is_merge,
    stop,
    stop_below,
)
from orkeon_transitions.definition.files import read_text, tidy_text
from orkeon_transitions.definition.places import Path, Place, Source
from orkeon_transitions.definition.scalars import plain_value
from orkeon_transitions.errors import DefinitionError

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


class _Composer:
    """Puts the events of one document together.

    Data is made as the events come. Nodes are kept of what has an anchor only, since that may be named again.
    """

    def __init__(self, source: Source, text: str) -> None:
        self._source = source
        self._text = text
        self._builder = Builder(source)
        self._anchors: dict[str, Node | None] = {}
        self._is_readable = True

    def compose(self) -> None:
        """Fills the source.

        Raises:
            DefinitionError: The text is no YAML that is read here.
        """
        try:
            self._source.data = self._document(yaml.parse(self._text, Loader=_PARSER))
        except yaml.YAMLError as error:
            self._source.problem_at(*_syntax_problem(error, self._text))
            self._is_readable = False
        except Stop:
            self._is_readable = False
        if not self._is_readable:
            self._source.raise_problems()

    def _document(self, events: Iterator[Any]) -> Any:
        data = None
        documents = 0
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    stop(self._source, _place(event.start_mark), "a second document begins: a file has one")
                data = self._value(next(events), events, (), 0)
        if not documents:
            stop(self._source, (1, 1), "there is nothing in it")
        return data

    def _value(self, event: Any, events: Iterator[Any], path: Path, depth: int) -> Any:
        if event.anchor is not None:  # its own, or, as an alias, that of another one
            return self._builder.build(self._node(event, events, depth), path, depth)
        place = _place(event.start_mark)
        stop_below(self._source, place, depth)
        self._source.places[path] = place
        if isinstance(event, yaml.ScalarEvent):
            return self._scalar(event, place).value
        self._check_tag(event.tag, _COLLECTION_TAGS, place)
        if isinstance(event, yaml.MappingStartEvent):
            return self._mapping(events, path, depth)
        items: list[Any] = []
        while not isinstance(event := next(events), yaml.SequenceEndEvent):
            items.append(self._value(event, events, (*path, len(items)), depth + 1))
        return items

    def _mapping(self, events: Iterator[Any], path: Path, depth: int) -> dict[str, Any]:
        built: dict[str, Any] = {}
        merged = []
        while not isinstance(event := next(events), yaml.MappingEndEvent):
            key = self._node(event, events, depth + 1)
            if is_merge(key):
                merged.append(self._node(next(events), events, depth + 1))
            elif (name := self._builder.new_key(key, built, path)) is not None:
                built[name] = self._value(next(events), events, (*path, name), depth + 1)
            else:
                self._node(next(events), events, depth + 1)  # its value is passed over
        for part in merged:
            self._builder.merge(part, built, path, depth + 1)
        return built

    def _node(self, event: Any, events: Iterator[Any], depth: int) -> Node:
        place = _place(event.start_mark)
        stop_below(self._source, place, depth)
        if isinstance(event, yaml.AliasEvent):
            return AliasNode(place, self._anchored(str(event.anchor), place))
        if event.anchor is not None:
            self._anchors[event.anchor] = None
        node = self._content(event, events, place, depth)
        if event.anchor is not None:
            self._anchors[event.anchor] = node
        return node

    def _content(self, event: Any, events: Iterator[Any], place: Place, depth: int) -> Node:
        if isinstance(event, yaml.ScalarEvent):
            return self._scalar(event, place)
        self._check_tag(event.tag, _COLLECTION_TAGS, place)
        if isinstance(event, yaml.SequenceStartEvent):
            items = []
            while not isinstance(event := next(events), yaml.SequenceEndEvent):
                items.append(self._node(event, events, depth + 1))
            return ListNode(place, items)
        entries = []
        while not isinstance(event := next(events), yaml.MappingEndEvent):
            key = self._node(event, events, depth + 1)
            entries.append((key, self._node(next(events), events, depth + 1)))
        return MappingNode(place, entries)

    def _scalar(self, event: Any, place: Place) -> ScalarNode:
        self._check_tag(event.tag, _TEXT_TAGS, place)
        is_plain = event.implicit[0] and event.tag is None
        value = plain_value(event.value) if is_plain else event.value
        return ScalarNode(place, value, event.value, is_merge=is_plain and event.value == "<<")

    def _check_tag(self, tag: str | None, allowed: frozenset[str], place: Place) -> None:
        if tag is not None and tag not in allowed:
            shown = tag.replace("tag:yaml.org,2002:", "!!")
            self._source.problem_at(place, f"the tag '{shown}' is not read here: only plain values are")
            self._is_readable = False

    def _anchored(self, anchor: str, place: Place) -> Node:
        if anchor not in self._anchors:
            hint = self._source.hint(anchor, self._anchors)
            stop(self._source, place, f"unknown anchor '{anchor}'", hint)
        node = self._anchors[anchor]
        if node is None:
            stop(self._source, place, f"the anchor '{anchor}' contains itself")
        return node


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
