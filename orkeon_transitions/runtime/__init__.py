"""What makes it happen: machines that move, guarded by the breaker, on the `transitions` package.

What belongs here is one transition of one machine: who may make it, in which order its parts run, who is
told. `engine.py` and the modules whose names begin with `mixin` are the doors to `transitions`; `law.py` is
the order of things, written once for plain and async machines. What never belongs here: a machine of a
certain kind, a file, a picture. Begin with a subclass of `StateMachine` whose methods are the guards of its
definition (`orkeon docs guards`), or with `CircuitBreakerMixin` on a machine that you have (`orkeon docs
migration`).
"""

from orkeon_transitions.runtime.async_machine import AsyncStateMachine
from orkeon_transitions.runtime.builder import StateMachineBuilder
from orkeon_transitions.runtime.event import AsyncTrigger, Trigger, TriggerEvent
from orkeon_transitions.runtime.machine import StateMachine
from orkeon_transitions.runtime.mixin import CircuitBreakerMixin

__all__ = [
    "AsyncStateMachine",
    "AsyncTrigger",
    "CircuitBreakerMixin",
    "StateMachine",
    "StateMachineBuilder",
    "Trigger",
    "TriggerEvent",
]
