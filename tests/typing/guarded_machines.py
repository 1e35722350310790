"""A user's guarded machines, as mypy sees them."""

from typing import assert_type

from transitions import Machine
from transitions.extensions import GraphMachine, HierarchicalMachine, LockedMachine
from transitions.extensions.asyncio import AsyncMachine

from orkeon_transitions import CircuitBreakerMixin, CircuitBreakerPolicy, CircuitBreakerStatus


class Plain(CircuitBreakerMixin, Machine): ...


class Locked(CircuitBreakerMixin, LockedMachine): ...


class Nested(CircuitBreakerMixin, HierarchicalMachine): ...


class Awaited(CircuitBreakerMixin, AsyncMachine): ...


class Drawn(CircuitBreakerMixin, GraphMachine): ...


def heard(status: CircuitBreakerStatus) -> None: ...


machine = Plain(
    states=["a", "b"],
    initial="a",
    circuit_breaker=CircuitBreakerPolicy.strict(),
    degraded_state="b",
    on_circuit_broken=heard,
)
assert_type(machine.circuit_status, CircuitBreakerStatus)
assert_type(machine.get_circuit_status(machine), CircuitBreakerStatus)
machine.reset_circuit_breaker()
Plain(circuit_breaker="strict")  # type: ignore[arg-type]  # the mistake must be seen
