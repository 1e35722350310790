"""Ten thousand task machines on one definition, beside stock `transitions`: construction and memory.

Two stock ways: a machine of its own for every model, and one machine that they share. Without
`--benchmark-enable` a hundred are made, as a test.
"""

import gc
import tracemalloc

import pytest
from transitions import Machine

from orkeon_transitions.breaker import CircuitBreakerPolicy
from orkeon_transitions.machines import TaskExecution, machine_definition
from orkeon_transitions.runtime import CircuitBreakerMixin

MANY, FEW = 10_000, 100


class Model:
    """What users bring; a task's guards are theirs to answer."""

    def yes(self, *_, **__):
        return True

    can_call_tool = can_retry_validation = can_retry = can_ask_human = yes


class Guarded(CircuitBreakerMixin, Machine):
    """A user's machine with the breaker."""


def config():
    return machine_definition("task_execution").to_transitions()


def tasks(count):
    return [TaskExecution() for _ in range(count)]


def stock_machines(count):
    return [Machine(Model(), **config()) for _ in range(count)]


def one_stock_machine(count):
    models = [Model() for _ in range(count)]
    return Machine(models, **config())


def guarded_machines(count):
    return [Guarded(Model(), circuit_breaker=CircuitBreakerPolicy.strict(), **config()) for _ in range(count)]


def one_guarded_machine(count):
    models = [Model() for _ in range(count)]
    return Guarded(models, circuit_breaker=CircuitBreakerPolicy.strict(), **config())


WAYS = [tasks, stock_machines, one_stock_machine, guarded_machines, one_guarded_machine]
each_way = pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)


@pytest.fixture
def count(request):
    return MANY if request.config.getoption("benchmark_enable") else FEW


def bytes_per_machine(way, count):
    way(1)  # what all share is made before
    gc.collect()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        made = way(count)
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert made
    return (after - before) / count


@pytest.mark.timeout(300)
@pytest.mark.benchmark(group="construction of many task machines")
@each_way
def test_construction(benchmark, way, count):
    made = benchmark.pedantic(way, args=(count,), rounds=1, iterations=1)
    benchmark.extra_info["machines"] = count
    assert made


@pytest.mark.timeout(300)
@each_way
def test_memory(way, count, record_property, capsys):
    used = bytes_per_machine(way, count)
    record_property("bytes_per_machine", round(used))
    if count == MANY:
        with capsys.disabled():
            print(f"\n{way.__name__}: {used:,.0f} bytes for each of {count:,}")
    assert used > 0
