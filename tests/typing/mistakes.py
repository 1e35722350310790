"""Checked by mypy, never run: each line below a `# mistake:` is one that mypy must find."""

from enum import Enum

from orkeon_transitions import StateGraph, StateMachine, TaskExecution
from orkeon_transitions.machines import TaskState


class State(Enum):
    IDLE = "idle"


class Event(Enum):
    START = "start"


def used(machine: StateMachine[State, Event], task: TaskExecution) -> None:
    # mistake: arg-type
    machine.fire(5)
    # mistake: assignment
    state: str = machine.state
    # mistake: comparison-overlap
    print(state, machine.state == TaskState.PLANNING)
    # mistake: misc
    machine.fire(Event.START).ordinal = 5
    # mistake: arg-type
    machine.on_transition(wrong_listener)
    # mistake: arg-type
    machine.spend(tokens="many")


def wrong_listener(result: int) -> None: ...


def grown(graph: StateGraph[list[int]]) -> None:
    # mistake: arg-type
    graph.add_node("a", wrong_node)
    # mistake: arg-type
    graph.add_conditional_edge("a", wrong_listener, ["b"])
    # mistake: arg-type
    graph.compile().run_sync("state")


def wrong_node(state: str) -> str:
    return state
