"""Reading the transitions of a machine."""

from __future__ import annotations

from typing import Any

from orkeon_transitions.definition.fields import Block, read_block, shown
from orkeon_transitions.definition.models import ANY_STATE, SAME_STATE, TransitionDefinition
from orkeon_transitions.definition.places import Path, Source
from orkeon_transitions.definition.states import StateReader

_KEYS = frozenset(TransitionDefinition.model_fields)
UNUSED = frozenset({"prepare"})
# The order in which transitions takes them.
COLUMNS = ("trigger", "source", "dest", "conditions", "unless", "before", "after", "prepare")
_INTERNAL = " (null: an internal transition)"


class RowReader:
    """Reads the list of transitions.

    Attributes:
        made: The transitions that could be read.
        guards: The guards that they name, each with the place where it is named first.
        sources_by_trigger: From where each trigger can be fired; `*` stands for itself, and for what could
            not be read.
        is_complete: Whether all triggers and guards could be read. If not, that a name is used nowhere may
            come from that, and says nothing.
    """

    def __init__(self, source: Source, states: StateReader) -> None:
        self.made: list[TransitionDefinition] = []
        self.guards: dict[str, Path] = {}
        self.sources_by_trigger: dict[str, set[str]] = {}
        self.is_complete = True
        self._source = source
        self._states = states

    def read(self, block: Block) -> None:
        """Reads `transitions`."""
        items = block.get("transitions")
        if items is None:
            return
        if not isinstance(items, list):
            self.is_complete = False
            block.problem("transitions", f"must be a list of transitions, not {shown(items)}")
            return
        for index, item in enumerate(items):
            row = self._row_block(item, (*block.at("transitions"), index))
            if row is None:
                self.is_complete = False
            else:
                self._read_row(row)

    def _row_block(self, item: Any, path: Path) -> Block | None:
        if isinstance(item, dict):
            return read_block(self._source, item, path, _KEYS, unused=UNUSED)
        if not isinstance(item, list):
            self._source.problem(path, f"must be a mapping or [trigger, source, dest], not {shown(item)}")
            return None
        if not 3 <= len(item) <= len(COLUMNS):
            message = f"must be [trigger, source, dest], not a list of {len(item)}"
            self._source.problem(path, message)
            return None
        block = Block(self._source, path)
        for index, (key, value) in enumerate(zip(COLUMNS, item, strict=False)):
            block.values[key] = value
            block.written[key] = (*path, index)
        if block.get("prepare") is not None:
            self._source.note(block.at("prepare"), "unused-key", "'prepare' has no effect here")
        return block

    def _read_row(self, block: Block) -> None:
        trigger = block.name("trigger") if self._require(block, "trigger") else None
        source = self._read_source(block) if self._require(block, "source") else ()
        dest = self._read_dest(block) if block.require("dest", _INTERNAL) else None
        content: dict[str, Any] = {
            "conditions": self._read_guards(block, "conditions"),
            "unless": self._read_guards(block, "unless"),
            "before": block.callbacks("before"),
            "after": block.callbacks("after"),
            "always": block.flag("always", default=False),
            "repeatable": block.flag("repeatable", default=True),
            "description": block.text("description"),
        }
        if trigger is None:
            self.is_complete = False
            return
        self.sources_by_trigger.setdefault(trigger, set()).update(source or (ANY_STATE,))
        self.made.append(TransitionDefinition(trigger=trigger, source=source, dest=dest, **content))

    def _require(self, block: Block, key: str) -> bool:
        if not block.require(key):
            return False
        if block.get(key) is None:
            block.problem(key, "must be a name, not null: put quotes around it")
            return False
        return True

    def _read_source(self, block: Block) -> tuple[str, ...]:
        value, path = block.get("source"), block.at("source")
        if value in (ANY_STATE, [ANY_STATE]):
            return (ANY_STATE,)
        if not isinstance(value, list):
            name = self._states.known_name(value, path)
            return () if name is None else (name,)
        if not value:
            block.problem("source", "must name a state, not an empty list")
        names = []
        for index, item in enumerate(value):
            if item == ANY_STATE:
                self._source.problem(
                    (*path, index), "'*' means every state that is not final: it stands alone"
                )
            elif (name := self._states.known_name(item, (*path, index))) is not None:
                names.append(name)
        return tuple(names)

    def _read_dest(self, block: Block) -> str | None:
        value = block.get("dest")
        if value is None:
            return None
        if value == SAME_STATE:
            return SAME_STATE
        if value == ANY_STATE:
            block.problem("dest", "'*' is a source only: a transition leads to one state")
            return None
        return self._states.known_name(value, block.at("dest"))

    def _read_guards(self, block: Block, key: str) -> tuple[str, ...]:
        problems_before = len(self._source.problems)
        guards = block.callbacks(key)
        self.is_complete &= len(self._source.problems) == problems_before
        path, listed = block.at(key), isinstance(block.get(key), list)
        for index, guard in enumerate(guards):
            self.guards.setdefault(guard, (*path, index) if listed else path)
        return guards
