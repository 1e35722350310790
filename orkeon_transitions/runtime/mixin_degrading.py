"""The move of a tripped machine to its degraded state.

It is a whole change of state, with the machine's and the states' own callbacks and the arguments of the
trigger in whose place it is made, but it passes neither the gate nor the wall: no budget can refuse it.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from transitions.core import Event, Machine
from transitions.extensions.nesting import HierarchicalMachine

from orkeon_transitions.runtime.mixin_states import LeavingAll, active_states


def trigger_name(event_data: Any) -> str:
    """What was fired; at the gate of a hierarchical machine no event has been found yet."""
    name: str = event_data.event.name if event_data.event else event_data.breaker_trigger
    return name


def degrade(machine: Machine, event_data: Any, dest: str) -> None:
    """Moves the model of a plain machine."""
    with _root_scope(machine):
        row, moving = _planned(machine, event_data, dest)
        machine.callbacks(machine.before_state_change, moving)
        row._change_state(moving)
        machine.callbacks(machine.after_state_change, moving)


async def degrade_async(machine: Any, event_data: Any, dest: str) -> None:
    """Moves the model of an async machine; its running callbacks are cancelled, as by any transition."""
    with _root_scope(machine):
        row, moving = _planned(machine, event_data, dest)
        await machine.cancel_running_transitions(moving.model, moving.event.name)
        await machine.callbacks(machine.before_state_change, moving)
        await row._change_state(moving)
        await machine.callbacks(machine.after_state_change, moving)


def _root_scope(machine: Any) -> AbstractContextManager[Any]:
    """A hierarchical machine that trips inside of a nested state's callback stands in that state's scope."""
    return machine() if isinstance(machine, HierarchicalMachine) else nullcontext()


def _planned(machine: Any, event_data: Any, dest: str) -> tuple[Any, Any]:
    """The row to execute, and the event data that its callbacks get."""
    model, event = event_data.model, event_data.event or Event(trigger_name(event_data), machine)
    moving = type(event_data)(None, event, machine, model, event_data.args, event_data.kwargs)
    if isinstance(machine, HierarchicalMachine):
        moving.transition = _nested_row(machine, moving, dest)
    else:
        moving.state = machine.get_model_state(model)
        moving.transition = machine._create_transition(moving.state.name, dest)
    return moving.transition, moving


def _nested_row(machine: HierarchicalMachine, moving: Any, dest: str) -> Any:
    separator = machine.state_cls.separator
    tree = machine.build_state_tree(active_states(machine, moving.model), separator)
    moving.source_path = _first_leaf(tree)
    moving.source_name = separator.join(moving.source_path)
    moving.state = machine.get_state(moving.source_path)
    row_cls = machine.transition_cls
    if len(tree) > 1:
        row_cls = type(row_cls.__name__, (LeavingAll, row_cls), {})
    return row_cls(moving.source_name, dest)


def _first_leaf(tree: Any) -> list[str]:
    path = []
    while tree:
        name, tree = next(iter(tree.items()))
        path.append(name)
    return path
