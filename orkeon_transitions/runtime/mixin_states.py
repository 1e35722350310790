"""States of a user's machine as the breaker counts them: one name for the full active configuration."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Any

from transitions.extensions.nesting import HierarchicalMachine, NestedTransition, resolve_order

if TYPE_CHECKING:
    from transitions.core import Machine, Transition

TOGETHER = "+"


def state_key(machine: Machine, state: Any) -> str:
    """Names what a model's state attribute holds: a state, or all states that are active together."""
    if isinstance(state, str) and not isinstance(state, Enum):
        return state
    return TOGETHER.join(sorted(_names(machine, state)))


def active_states(machine: Machine, model: Any) -> list[Any]:
    """What a model's state attribute holds, as a list."""
    state = getattr(model, machine.model_attribute)
    return state if isinstance(state, list) else [state]


def is_inside(machine: Machine, model: Any, state: str | None) -> bool:
    """Whether the model is in a state, named by its key, or in a state below it."""
    if isinstance(machine, HierarchicalMachine) and state is not None:
        return machine.is_state(state, model, allow_substates=True)
    return state_key(machine, getattr(model, machine.model_attribute)) == state


def _names(machine: Machine, state: Any) -> list[str]:
    if isinstance(state, list | tuple):
        return [name for part in state for name in _names(machine, part)]
    if isinstance(state, Enum):
        return [_enum_name(machine, state)]
    return [str(state)]


def _enum_name(machine: Machine, state: Enum) -> str:
    if not isinstance(machine, HierarchicalMachine):
        return state.name
    with machine():
        return machine.state_cls.separator.join(machine._get_enum_path(state))


def entered_key(row: Transition, event_data: Any) -> str | None:
    """Names the configuration in which a row would leave the model; None: the row is internal."""
    if row.dest is None or not isinstance(row, NestedTransition):
        return row.dest
    try:
        tree, _, _ = row._resolve_transition(event_data)
    except (KeyError, ValueError):  # an unknown state: the row itself will say so
        return row.dest
    return TOGETHER.join(sorted(_leaves(tree, event_data.machine.state_cls.separator)))


def _leaves(tree: Mapping[str, Any], separator: str, prefix: str = "") -> list[str]:
    names = []
    for name, below in tree.items():
        path = f"{prefix}{separator}{name}" if prefix else name
        names += _leaves(below, separator, path) if below else [path]
    return names


class LeavingAll(NestedTransition):
    """A row that leaves every active state; a stock one leaves no sibling at the root."""

    def _resolve_transition(self, event_data: Any) -> Any:
        machine = event_data.machine
        separator = machine.state_cls.separator
        exits = [
            partial(machine.get_state(path).scoped_exit, event_data, path[:-1])
            for path in resolve_order(
                machine.build_state_tree(active_states(machine, event_data.model), separator)
            )
        ]
        tree, enters = self._enter_nested([], str(self.dest).split(separator), [], event_data)
        return tree, exits, enters
