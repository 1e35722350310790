"""From a source to a machine definition; everything that is wrong is found in one pass."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from orkeon_transitions.definition.fields import Block, read_block, read_prose, shown
from orkeon_transitions.definition.models import MachineDefinition
from orkeon_transitions.definition.places import Source
from orkeon_transitions.definition.plain import plain_source
from orkeon_transitions.definition.policy import read_policy
from orkeon_transitions.definition.rows import RowReader
from orkeon_transitions.definition.source import read_source
from orkeon_transitions.definition.states import REFUSED, StateReader

_KEYS = frozenset(MachineDefinition.model_fields)
# What transitions' machine classes take besides, and what its own markup writes.
UNUSED = frozenset(
    {
        "after_state_change",
        "auto_transitions",
        "before_state_change",
        "finalize_event",
        "graph_engine",
        "ignore_invalid_triggers",
        "machine_context",
        "model",
        "model_attribute",
        "model_override",
        "models",
        "on_exception",
        "on_final",
        "ordered_transitions",
        "prepare",
        "prepare_event",
        "queued",
        "send_event",
        "show_auto_transitions",
        "show_conditions",
        "show_state_attributes",
        "title",
        "use_pygraphviz",
        "with_auto_transitions",
    }
)
_EXPECTED = "a machine is a mapping with 'initial', 'states' and 'transitions'"


def load_definition(
    what: str | os.PathLike[str] | Mapping[Any, Any] | MachineDefinition,
) -> MachineDefinition:
    """Loads a machine definition.

    Args:
        what: The path of a YAML file; a YAML text (a string that has a newline or begins with `{`); a
            mapping, such as the keywords of a `transitions` machine; or a definition, which is given back.

    Returns:
        The definition. Its `notes` say which keys were accepted without having an effect.

    Raises:
        DefinitionError: It cannot be read or cannot work; all problems at once, with their places.
        TypeError: It is none of these.
    """
    if isinstance(what, MachineDefinition):
        return what
    if isinstance(what, Mapping):
        return read_definition(plain_source(what))
    if isinstance(what, str | os.PathLike):
        return read_definition(read_source(what))
    raise TypeError(f"a path, a YAML text, a mapping or a MachineDefinition, not {type(what).__name__}")


def read_definition(source: Source) -> MachineDefinition:
    """Reads a whole source as one machine.

    Raises:
        DefinitionError: Or the source's own class of error, with all problems.
    """
    if not isinstance(source.data, dict):
        source.problem((), f"{_EXPECTED}, not {shown(source.data)}")
        source.raise_problems()
    block = read_block(source, source.data, (), _KEYS, unused=UNUSED, refused=REFUSED)
    states = StateReader(source)
    states.read(block)
    rows = RowReader(source, states)
    rows.read(block)
    if rows.is_complete:
        states.check_on_timeout(rows.sources_by_trigger)
    content: dict[str, Any] = {
        "name": block.name("name"),
        "description": block.text("description"),
        "initial": _state_name(block, "initial", states) if block.require("initial") else None,
        "degraded": _state_name(block, "degraded", states) if block.get("degraded") is not None else None,
        "circuit_breaker": read_policy(source, block.get("circuit_breaker"), block.at("circuit_breaker")),
        "guards": _read_guards(block, rows),
        "states": tuple(states.made),
        "transitions": tuple(rows.made),
    }
    source.raise_problems()
    definition = MachineDefinition(**{key: value for key, value in content.items() if value is not None})
    return definition.with_origin(source.origin())


def _state_name(block: Block, key: str, states: StateReader) -> str | None:
    return states.known_name(block.get(key), block.at(key))


def _read_guards(block: Block, rows: RowReader) -> dict[str, str]:
    """Reads what each guard means. A block that is there names every guard: any other is a slip."""
    value = block.get("guards")
    if value is None:
        return {}
    if not isinstance(value, dict):
        block.problem("guards", f"must be a mapping of guards to descriptions, not {shown(value)}")
        return {}
    source, at, used = block.source, block.at("guards"), rows.guards
    listed = frozenset(value)
    meant: set[str | None] = set()
    for guard, path in used.items():
        if guard not in listed and value:
            hint = source.hint(guard, listed)
            meant.add(hint)
            source.problem(path, f"unknown guard '{guard}': 'guards' does not list it", hint)
    guards, names = {}, frozenset(used)
    for guard, text in value.items():
        path = (*at, guard)
        if rows.is_complete and guard not in used and guard not in meant:
            hint = source.hint(guard, names)
            source.problem(path, f"no transition names the guard '{guard}'", hint, at_key=True)
        if text is not None and (description := read_prose(source, text, path)) is not None:
            guards[guard] = description
    return guards
