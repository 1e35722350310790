"""Large definitions: ten times as much takes ten times as long, not a hundred times."""

import copy
import time

import pytest

from orkeon_transitions import AsyncStateMachine, StateMachine, check_definition, load_definition
from tests.definition.problems import problems_of


def text(states, *, odd=""):
    """A definition with ten rows for each state, and a way out of all of them."""
    names = [f"s{number}" for number in range(states)]
    rows = [
        f"  - {{trigger: t{jump}, source: {name}, dest: {names[(number * 7 + jump * 13 + 1) % states]}}}"
        for number, name in enumerate(names)
        for jump in range(10)
    ]
    rows += ['  - {trigger: stop, source: "*", dest: done}']
    states_of_all = [*(f"  - {name}" for name in names), "  - {name: done, final: true}"]
    return "\n".join(["initial: s0", "states:", *states_of_all, "transitions:", *rows, odd, ""])


def seconds(work, times=1):
    """The least CPU time of some tries."""
    tries = []
    for _ in range(3):
        begun = time.process_time()
        for _ in range(times):
            work()
        tries.append((time.process_time() - begun) / times)
    return min(tries)


def machines(definition):
    """The first trigger of each kind of machine, with an engine of its own."""
    fresh = load_definition(definition.to_dict() | {"name": str(next(NAMES))})
    assert StateMachine(fresh).fire("stop")
    AsyncStateMachine(fresh)


NAMES = iter(range(1000))


@pytest.mark.parametrize("what", ["load", "check", "hash", "machines"])
def test_the_time_is_linear_in_the_size(what):
    small, large = text(50), text(500)
    few, many = load_definition(small), load_definition(large)
    work = {
        "load": lambda of, _: load_definition(of),
        "check": lambda _, definition: check_definition(definition),
        "hash": lambda _, definition: hash(copy.copy(definition)),
        "machines": lambda _, definition: machines(definition),
    }[what]
    # Linear is 10, a quadratic step would be 100; caches and a busy machine have their share.
    assert seconds(lambda: work(large, many)) < 25 * seconds(lambda: work(small, few), times=3)


def test_a_mistake_far_down_has_its_place():
    [problem] = problems_of(text(1000, odd="  - {trigger: t, source: s5, dest: s1001}"))
    assert (problem.line, problem.column) == (11006, 36)
    assert problem.path == "transitions[10001].dest"
