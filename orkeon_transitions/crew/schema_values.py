"""Arguments made from a JSON Schema, without a model: the same schema and text always give the same ones."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
DEEPEST = 8

Schema = Mapping[str, Any]
TextFor = Callable[[Schema], str]


def arguments_for(schema: Schema, task: str, text_for: TextFor) -> dict[str, Any]:
    """Makes a value for each required parameter of a tool.

    Args:
        schema: The tool's JSON Schema, of type `object`.
        task: The task's text; numbers are taken from it.
        text_for: Gives the text for a parameter of type `string`, from that parameter's own schema.
    """
    made = _Maker(schema, task, text_for).value(schema, 0)
    return made if isinstance(made, dict) else {}


def value_for(schema: Schema, task: str, text_for: TextFor) -> Any:
    """Makes a value of any type that fits a schema; arguments as for `arguments_for`."""
    return _Maker(schema, task, text_for).value(schema, 0)


class _Maker:
    def __init__(self, root: Schema, task: str, text_for: TextFor) -> None:
        self._definitions = root.get("$defs", {})
        self._numbers = [float(found) for found in NUMBER.findall(task)]
        self._text_for = text_for

    def value(self, schema: Schema, depth: int) -> Any:
        schema = self._resolved(schema)
        for known in ("const", "default"):
            if known in schema:
                return schema[known]
        if schema.get("enum"):
            return schema["enum"][0]
        if depth > DEEPEST:
            return None
        kind = schema.get("type", "object" if "properties" in schema else "string")
        match kind[0] if isinstance(kind, list) else kind:
            case "object":
                return self._object(schema, depth)
            case "array":
                return self._array(schema, depth)
            case "integer" | "number" as number:
                return self._number(schema, whole=number == "integer")
            case "boolean":
                return True
            case "null":
                return None
        return self._string(schema)

    def _resolved(self, schema: Schema) -> Schema:
        """Follows references, and takes the first choice that is not null."""
        for _ in range(DEEPEST):
            if "$ref" in schema:
                name = str(schema["$ref"]).rpartition("/")[2]
                schema = {**self._definitions.get(name, {}), **_without(schema, "$ref")}
                continue
            choices = schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf")
            if not choices:
                break
            chosen = next((choice for choice in choices if choice.get("type") != "null"), choices[0])
            schema = {**_without(schema, "anyOf", "oneOf", "allOf"), **chosen}
        return schema

    def _object(self, schema: Schema, depth: int) -> dict[str, Any]:
        properties = schema.get("properties", {})
        return {name: self.value(properties.get(name, {}), depth + 1) for name in schema.get("required", ())}

    def _array(self, schema: Schema, depth: int) -> list[Any]:
        if "prefixItems" in schema:
            return [self.value(item, depth + 1) for item in schema["prefixItems"]]
        items = schema.get("items") or {}
        if schema.get("uniqueItems") and items.get("enum"):
            return list(items["enum"])[: max(1, int(schema.get("minItems", 1)))]
        one = self.value(items, depth + 1)
        return [one] * max(1, int(schema.get("minItems", 1)))

    def _number(self, schema: Schema, *, whole: bool) -> int | float:
        """The first number of the task's text that fits, else the smallest that is allowed."""
        low = schema.get("minimum", schema.get("exclusiveMinimum"))
        high = schema.get("maximum", schema.get("exclusiveMaximum"))
        fallback: float = 1 if low is None else low
        if "exclusiveMinimum" in schema:
            fallback = schema["exclusiveMinimum"] + 1
        if high is not None and fallback > high:
            fallback = high
        fits = (
            number
            for number in self._numbers
            if (low is None or number > low)
            and (high is None or number < high)
            and (not whole or number.is_integer())
            and not schema.get("multipleOf")
        )
        chosen = next(fits, float(fallback))
        return int(chosen) if whole else chosen

    def _string(self, schema: Schema) -> str:
        text = self._text_for(schema)
        shortest, longest = schema.get("minLength", 0), schema.get("maxLength")
        text = text.ljust(shortest, ".")
        return text if longest is None else text[:longest]


def _without(schema: Schema, *keys: str) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key not in keys}
