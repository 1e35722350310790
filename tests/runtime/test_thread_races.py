"""Many threads do everything at once to one plain machine: no fact is lost, doubled or out of order."""

import random
import sys
import threading

import pytest

from orkeon_transitions.errors import CircuitBrokenError
from orkeon_transitions.facts import TransitionResult
from orkeon_transitions.runtime import StateMachine
from tests.runtime.samples import follow, limits

RACE = """
initial: a
degraded: limp
states: [a, {name: b, on_enter: more}, c, {name: limp}]
transitions:
  - [next, a, b]
  - [next, b, c]
  - [next, [c, limp], a]
  - {trigger: tick, source: [a, b, c], dest: null}
  - {trigger: again, source: [a, b, c], dest: "="}
  - {trigger: stop, source: "*", dest: a, always: true}
"""


@pytest.fixture
def quick_switches():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def do_something(machine, chance):
    """One of the things that a program does to a machine."""
    what = chance.random()
    if what < 0.6:
        machine.try_fire(chance.choice(["next", "tick", "again", "stop", "fly"]))
    elif what < 0.75:
        machine.fire_later(chance.choice(["next", "tick"]))
    elif what < 0.85:
        machine.reset_circuit_breaker()
    elif what < 0.95:
        assert sum(machine.snapshot().visits.values()) > 0
        assert set(machine.permitted_triggers()) <= {"next", "tick", "again", "stop"}
    else:
        machine.check_circuit()


def work(machine, seed, errors):
    chance = random.Random(seed)
    for _ in range(40):
        try:
            do_something(machine, chance)
        except CircuitBrokenError:
            continue
        except BaseException as error:
            errors.append(error)
            raise


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.usefixtures("quick_switches")
def test_facts_are_whole_and_in_order(seed):
    facts, told, errors = [], [], []
    machine = StateMachine(
        RACE,
        policy=limits(max_transitions=20 * (seed % 2), use_degraded_mode=seed % 3 == 0),
        actions={"more": lambda event: machine.fire_later("tick")},
        commit=lambda fact, snapshot: facts.append((fact, snapshot)),
    )
    machine.on_transition(told.append)
    machine.on_transition(lambda result: machine.fire_later("next") if result.ordinal % 17 == 0 else None)
    threads = [threading.Thread(target=work, args=(machine, 10 * seed + n, errors)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert not any(thread.is_alive() for thread in threads)
    assert errors == []
    moves = [fact for fact, _ in facts if isinstance(fact, TransitionResult)]
    assert [fact.ordinal for fact in moves] == list(range(1, len(moves) + 1))
    assert [fact.ordinal for fact in told] == [fact.ordinal for fact in moves]
    assert (machine.state, machine.is_circuit_broken) == follow(facts)
