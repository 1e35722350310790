"""Whether a JSON Schema can be held against anything: what its references lead to, and that they end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

_REFERENCES = ("$ref", "$dynamicRef")
# Keys whose values are data, and keys whose values are schemas by names that are no keys of a schema.
_DATA = frozenset({"const", "enum", "default", "examples"})
_BY_NAME = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
# Keys whose schemas are held against the same value once more, not against a part of it.
_LISTS = ("allOf", "anyOf", "oneOf")
_SINGLE = ("not", "if", "then", "else")
_NOWHERE = object()

_Schema = Mapping[str, Any]


def schema_problems(schema: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with a schema, in words that go on after its name."""
    found = list(_reference_problems(schema))
    yield from found
    if found:
        return
    try:
        from jsonschema import Draft202012Validator, SchemaError  # noqa: PLC0415 - optional
    except ImportError:
        # Whoever runs the crew is told that it is missing.
        return
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        yield f"is no JSON Schema: at {error.json_path}: {error.message[:200]}"
    except RecursionError:
        yield "is nested too deep"


def _reference_problems(schema: _Schema) -> Iterator[str]:
    nodes = list(_subschemas(schema))
    named = [(node.get(key), node) for node in nodes for key in ("$anchor", "$dynamicAnchor")]
    anchors = {name: node for name, node in named if isinstance(name, str)}
    # A part with a name of its own is where its references begin: where they lead is told at the validation.
    has_parts = any("$id" in node for node in nodes[1:])
    leads_to: dict[int, list[_Schema]] = {}
    for node in nodes:
        targets = list(_held_against_the_same(node))
        for reference in (node[key] for key in _REFERENCES if key in node):
            if not (isinstance(reference, str) and reference.startswith("#")):
                yield f"refers to {reference!r}: nothing is fetched, so a reference begins with '#'"
                return
            target = _found(schema, anchors, reference[1:])
            if isinstance(target, Mapping):
                targets.append(target)
            elif target is _NOWHERE and not has_parts:
                yield f"refers to '{reference}', which is not in it"
                return
        leads_to[id(node)] = targets
    if _goes_round(nodes, leads_to):
        yield (
            "refers to itself without end: on the way round there must be a step into the value, "
            "such as 'properties' or 'items'"
        )


def _subschemas(schema: _Schema) -> Iterator[_Schema]:
    """A schema and everything in it that may be one, itself first."""
    waiting: list[Any] = [schema]
    while waiting:
        node = waiting.pop()
        if isinstance(node, list):
            waiting += node
        elif isinstance(node, Mapping):
            yield node
            for key, inner in node.items():
                if key in _BY_NAME and isinstance(inner, Mapping):
                    waiting += inner.values()
                elif key not in _DATA and key not in _REFERENCES:
                    waiting.append(inner)


def _held_against_the_same(node: _Schema) -> Iterator[_Schema]:
    parts = [part for key in _LISTS if isinstance(node.get(key), list) for part in node[key]]
    parts += [node[key] for key in _SINGLE if key in node]
    dependent = node.get("dependentSchemas")
    parts += dependent.values() if isinstance(dependent, Mapping) else ()
    return (part for part in parts if isinstance(part, Mapping))


def _found(schema: _Schema, anchors: Mapping[str, _Schema], fragment: str) -> Any:
    """What a reference leads to."""
    if fragment and not fragment.startswith("/"):
        return anchors.get(fragment, _NOWHERE)
    node: Any = schema
    for step in fragment.split("/")[1:]:
        name = unquote(step).replace("~1", "/").replace("~0", "~")
        if isinstance(node, Mapping) and name in node:
            node = node[name]
        elif isinstance(node, list) and name.isdecimal() and int(name) < len(node):
            node = node[int(name)]
        else:
            return _NOWHERE
    return node


def _goes_round(nodes: list[_Schema], leads_to: Mapping[int, list[_Schema]]) -> bool:
    """Whether some way from schema to schema leads back to where it was."""
    ended: set[int] = set()
    for first in nodes:
        way, on_it = [(id(first), iter(leads_to[id(first)]))], {id(first)}
        while way:
            here, targets = way[-1]
            target = next((one for one in targets if id(one) not in ended), None)
            if target is None:
                ended.add(here)
                on_it.discard(here)
                way.pop()
            elif id(target) in on_it:
                return True
            else:
                on_it.add(id(target))
                # A reference may lead to what no keyword of a schema holds.
                way.append((id(target), iter(leads_to.get(id(target), ()))))
    return False
