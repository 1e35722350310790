"""Many machines of one kind: what each weighs and what making it costs."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from typing import Any

from transitions import Machine

from tests.benchmarks.pairs import Effort, Figures, Pairs, Row, cpu
from tests.benchmarks.rings import HIGH, AsyncRing, Model, Ring, ring, stock


def _machine(model: Any = None) -> Any:
    return stock(Machine, Model())


def _memory(kind: Any) -> Callable[[Effort], Figures]:
    def run(effort: Effort) -> Figures:
        definition = ring()
        count = max(effort.machines // 10, 10)
        pairs = Pairs()
        for _ in range(3):
            pairs.add(
                _bytes_each(lambda: kind(definition, policy=HIGH), count),
                _bytes_each(_machine, count),
            )
        return pairs.figures("B")

    return run


def _memory_used(effort: Effort) -> Figures:
    """Machines that have been once around: what few of them have, they all have by then."""
    definition = ring()

    def ours() -> object:
        machine = Ring(definition, policy=HIGH)
        for _ in range(12):
            machine.fire("advance")
        return machine

    def theirs() -> object:
        model = _machine()
        for _ in range(12):
            model.advance()
        return model

    count = max(effort.machines // 10, 10)
    pairs = Pairs()
    pairs.add(_bytes_each(ours, count), _bytes_each(theirs, count))
    return pairs.figures("B")


def _bytes_each(make: Callable[[], object], count: int) -> float:
    kept = [make()]  # what all share is made before
    gc.collect()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        kept += [make() for _ in range(count)]
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # The list's own slots are none of the machines'.
    return (after - before) / count - 8


def _creating(kind: Any) -> Callable[[Effort], Figures]:
    def run(effort: Effort) -> Figures:
        definition = ring()
        batch = max(effort.machines // 20, 10)
        ours: list[object] = [kind(definition, policy=HIGH)]
        theirs: list[object] = [_machine()]
        pairs = Pairs()
        # All are kept, as they would be; they are made in batches, in turns.
        for _ in range(max(effort.machines // batch, 1)):
            pairs.add(
                cpu(lambda: ours.extend(kind(definition, policy=HIGH) for _ in range(batch))) / batch,
                cpu(lambda: theirs.extend(_machine() for _ in range(batch))) / batch,
            )
        return pairs.figures()

    return run


PEER = "one `Machine` per model (10 states, 12 triggers, no auto transitions)"
TABLE = [
    Row("memory", "memory of a `StateMachine` on a shared definition", PEER, _memory(Ring), 0.03, 0.01),
    Row(
        "memory-used",
        "the same after twelve triggers",
        "such a `Machine` after twelve triggers",
        _memory_used,
    ),
    Row("memory-async", "memory of an `AsyncStateMachine`", PEER, _memory(AsyncRing)),
    Row("creating", "creating 10,000 machines", f"10,000 times {PEER}", _creating(Ring), 0.03, 0.01),
    Row("creating-async", "creating 10,000 async machines", "the same `Machine`s", _creating(AsyncRing)),
]
