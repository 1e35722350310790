"""State machines that keep LLM agents from running away.

Task life cycles and agent machines are declared in YAML or in Python and run on the `transitions` package;
a circuit breaker counts transitions, visits, repetitions, time and money, and stops a runaway loop by
raising, or by moving to a degraded state with the partial work kept. `orkeon docs` lists the guides that
ship.

This is the front door: every name is loaded when it is first asked for, and nothing else happens on import.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from orkeon_transitions.breaker import CircuitBreakerPolicy, CircuitBreakerStatus
    from orkeon_transitions.crew import load_crew, tool
    from orkeon_transitions.definition import MachineDefinition, check_definition, load_definition
    from orkeon_transitions.diagrams import render
    from orkeon_transitions.errors import (
        CircuitBrokenError,
        DefinitionError,
        GraphCircuitBrokenError,
        GraphDefinitionError,
        GuardRejectedError,
        InvalidTransitionError,
        OrkeonError,
    )
    from orkeon_transitions.facts import Refusal, TransitionResult
    from orkeon_transitions.graph import END, START, StateGraph
    from orkeon_transitions.machines import HermesAgentFSM, TaskExecution
    from orkeon_transitions.runtime import (
        AsyncStateMachine,
        CircuitBreakerMixin,
        StateMachine,
        StateMachineBuilder,
    )
    from orkeon_transitions.store import JsonlJournal, replay

_ROOMS = {
    "AsyncStateMachine": "runtime",
    "CircuitBreakerMixin": "runtime",
    "CircuitBreakerPolicy": "breaker",
    "CircuitBreakerStatus": "breaker",
    "CircuitBrokenError": "errors",
    "DefinitionError": "errors",
    "END": "graph",
    "GraphCircuitBrokenError": "errors",
    "GraphDefinitionError": "errors",
    "GuardRejectedError": "errors",
    "HermesAgentFSM": "machines",
    "InvalidTransitionError": "errors",
    "JsonlJournal": "store",
    "MachineDefinition": "definition",
    "OrkeonError": "errors",
    "Refusal": "facts",
    "START": "graph",
    "StateGraph": "graph",
    "StateMachine": "runtime",
    "StateMachineBuilder": "runtime",
    "TaskExecution": "machines",
    "TransitionResult": "facts",
    "check_definition": "definition",
    "load_crew": "crew",
    "load_definition": "definition",
    "render": "diagrams",
    "replay": "store",
    "tool": "crew",
}

__version__ = "0.1.0"

__all__ = [
    "END",
    "START",
    "AsyncStateMachine",
    "CircuitBreakerMixin",
    "CircuitBreakerPolicy",
    "CircuitBreakerStatus",
    "CircuitBrokenError",
    "DefinitionError",
    "GraphCircuitBrokenError",
    "GraphDefinitionError",
    "GuardRejectedError",
    "HermesAgentFSM",
    "InvalidTransitionError",
    "JsonlJournal",
    "MachineDefinition",
    "OrkeonError",
    "Refusal",
    "StateGraph",
    "StateMachine",
    "StateMachineBuilder",
    "TaskExecution",
    "TransitionResult",
    "check_definition",
    "load_crew",
    "load_definition",
    "render",
    "replay",
    "tool",
]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        value = getattr(import_module(f"{__name__}.{_ROOMS[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'", name=name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
