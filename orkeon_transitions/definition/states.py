"""Reading the states of a machine."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from orkeon_transitions.definition.fields import Block, read_block, read_name, shown
from orkeon_transitions.definition.models import ANY_STATE, SAME_STATE, StateDefinition
from orkeon_transitions.definition.places import Path, Source

_NESTED = "nested and parallel states are not supported yet"
REFUSED = {
    "children": f"'children': {_NESTED}",
    "parallel": f"'parallel': {_NESTED}",
}
_REFUSED_IN_STATES = REFUSED | {
    "initial": f"'initial' of a state: {_NESTED}",
    "remap": f"'remap': {_NESTED}",
    "states": f"'states' of a state: {_NESTED}",
    "transitions": f"'transitions' of a state: {_NESTED}",
}
_KEYS = frozenset(StateDefinition.model_fields)
# What transitions' own state, and its state features, take besides.
UNUSED = frozenset(
    {"accepted", "hook", "ignore_invalid_triggers", "on_failure", "on_final", "retries", "volatile"}
)


class StateReader:
    """Reads the list of states, and knows them by name afterwards.

    Attributes:
        made: The states that could be read.
        finals: The names of the final ones.
    """

    def __init__(self, source: Source) -> None:
        self.made: list[StateDefinition] = []
        self.finals: set[str] = set()
        self._source = source
        self._places: dict[str, Path] = {}
        self._names: frozenset[str] = frozenset()
        self._on_timeout: list[tuple[str, str, Path]] = []

    def read(self, block: Block) -> None:
        """Reads `states`."""
        if not block.require("states"):
            return
        items = block.get("states")
        if not isinstance(items, list) or not items:
            found = "an empty list" if items == [] else shown(items)
            block.problem("states", f"must be a list of states, not {found}")
            return
        for index, item in enumerate(items):
            self._read_state(item, (*block.at("states"), index))
        self._names = frozenset(self._places)

    def known_name(self, value: Any, path: Path) -> str | None:
        """Reads the name of a state that must be there.

        Without any readable state, every name passes: the problem is the list of states then.
        """
        name = read_name(self._source, value, path)
        if name is None or not self._names or name in self._places:
            return name
        self._source.problem(path, f"unknown state '{name}'", self._source.hint(name, self._names))
        return None

    def check_on_timeout(self, sources_by_trigger: Mapping[str, Collection[str]]) -> None:
        """Checks that what is fired when time is up can be fired there.

        Args:
            sources_by_trigger: From where each trigger can be fired; `*` stands for itself.
        """
        triggers = frozenset(sources_by_trigger)
        for state, trigger, path in self._on_timeout:
            if trigger not in triggers:
                hint = self._source.hint(trigger, triggers)
                self._source.problem(path, f"unknown trigger '{trigger}'", hint)
                continue
            sources = sources_by_trigger[trigger]
            if state in self.finals or not (state in sources or ANY_STATE in sources):
                self._source.problem(path, f"the trigger '{trigger}' has no transition out of '{state}'")

    def _read_state(self, item: Any, path: Path) -> None:
        if isinstance(item, dict):
            self._read_mapping(item, path)
        elif isinstance(item, list):
            self._source.problem(path, "must be a name or a mapping, not a list")
        elif (name := self._new_name(item, path)) is not None:
            self.made.append(StateDefinition(name=name))

    def _read_mapping(self, item: dict[str, Any], path: Path) -> None:
        block = read_block(self._source, item, path, _KEYS, unused=UNUSED, refused=_REFUSED_IN_STATES)
        name = self._new_name(block.get("name"), block.at("name")) if block.require("name") else None
        on_timeout = block.name("on_timeout")
        content: dict[str, Any] = {
            "description": block.text("description"),
            "final": block.flag("final", default=False),
            "timeout": block.seconds("timeout"),
            "on_timeout": on_timeout,
            "on_enter": block.callbacks("on_enter"),
            "on_exit": block.callbacks("on_exit"),
            "tags": block.names("tags"),
        }
        if name is None:
            return
        self.made.append(StateDefinition(name=name, **content))
        if content["final"]:
            self.finals.add(name)
        if on_timeout is not None:
            self._on_timeout.append((name, on_timeout, block.at("on_timeout")))

    def _new_name(self, value: Any, path: Path) -> str | None:
        name = read_name(self._source, value, path)
        if name is None:
            return None
        if name in (ANY_STATE, SAME_STATE):
            self._source.problem(path, f"'{name}' has a meaning of its own and is no name for a state")
            return None
        if name in self._places:
            lines = [self._source.place(at)[0] for at in (self._places[name], path)]
            where = f", on lines {lines[0]} and {lines[1]}" if lines[0] is not None else ""
            self._source.problem(path, f"the state '{name}' is declared twice{where}")
            return None
        self._places[name] = path
        return name
