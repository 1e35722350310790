"""A definition's plain data as YAML text, for people to read and for any YAML reader to read alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

from orkeon_transitions.definition.scalars import plain_value

# Words that some reader of YAML takes for a boolean.
_BOOLEAN_WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false"})
_LONGEST_LINE = 1_000_000
_LARGEST_WHOLE = 10**15
_ORDER = (
    "name",
    "description",
    "initial",
    "degraded",
    "circuit_breaker",
    "guards",
    "states",
    "transitions",
)
_MAP, _SEQUENCE, _TEXT = (f"tag:yaml.org,2002:{kind}" for kind in ("map", "seq", "str"))


def write_yaml(plain: Mapping[str, Any]) -> str:
    """Writes a machine's plain data: what it is first, then a line for each state and each transition."""
    arranged = {key: _shortest(plain[key]) for key in _ORDER if key in plain}
    arranged["states"] = [_shortest_state(state) for state in plain["states"]]
    arranged["transitions"] = [_shortest(row) for row in plain["transitions"]]
    text: str = yaml.dump(arranged, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_LONGEST_LINE)
    return text


def write_data(plain: Mapping[str, Any]) -> str:
    """Writes plain data as it is, keys in their order."""
    text: str = yaml.dump(
        dict(plain), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_LONGEST_LINE
    )
    return text


def _shortest_state(state: Mapping[str, Any]) -> Any:
    return state["name"] if set(state) == {"name"} else _shortest(state)


def _shortest(value: Any) -> Any:
    """Writes `a` for `[a]` and 30 for 30.0."""
    if isinstance(value, dict):
        return {key: _shortest(content) for key, content in value.items()}
    if isinstance(value, list) and len(value) == 1:
        return value[0]
    if isinstance(value, float) and value.is_integer() and value < _LARGEST_WHOLE:
        return int(value)
    return value


class _Dumper(yaml.SafeDumper):
    """Quotes what anybody could misread, and writes list items on one line each."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - the signature is the base class's
        return True


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar(_TEXT, text, style=_style(text))


def _style(text: str) -> str | None:
    if any(char in text for char in "\n\r\t\x85\u2028\u2029\ufeff"):
        return '"'
    is_misread = text.casefold() in _BOOLEAN_WORDS or not isinstance(plain_value(text), str)
    return '"' if is_misread or text in {"*", "=", "<<"} else None


def _represent_list(dumper: yaml.SafeDumper, items: list[Any]) -> yaml.SequenceNode:
    node = dumper.represent_sequence(_SEQUENCE, items, flow_style=not any(isinstance(i, dict) for i in items))
    for item in node.value:
        if isinstance(item, yaml.MappingNode):
            item.flow_style = True
    return node


def _represent_mapping(dumper: yaml.SafeDumper, mapping: dict[str, Any]) -> yaml.MappingNode:
    return dumper.represent_mapping(_MAP, mapping, flow_style=False)


_Dumper.add_representer(str, _represent_text)
_Dumper.add_representer(list, _represent_list)
_Dumper.add_representer(dict, _represent_mapping)
