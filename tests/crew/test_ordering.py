import pytest

from orkeon_transitions.crew.ordering import find_cycles, in_order


@pytest.mark.parametrize(
    ("dependencies", "order"),
    [
        ({}, []),
        ({"a": [], "b": [], "c": []}, ["a", "b", "c"]),
        ({"report": ["collect"], "collect": [], "extra": []}, ["collect", "report", "extra"]),
        ({"d": ["b", "c"], "c": ["a"], "b": ["a"], "a": []}, ["a", "c", "b", "d"]),
        ({"b": ["a", "a"], "a": []}, ["a", "b"]),
    ],
)
def test_tasks_come_behind_what_they_need_and_otherwise_stay(dependencies, order):
    assert in_order(dependencies) == order


# case G01
@pytest.mark.parametrize(
    ("dependencies", "cycles"),
    [
        ({"a": ["b"], "b": ["c"], "c": ["a"]}, [["a", "b", "c", "a"]]),
        ({"a": ["a"]}, [["a", "a"]]),
        ({"d": [], "a": ["b"], "b": ["a"]}, [["a", "b", "a"]]),
        ({"x": ["a"], "a": ["b"], "b": ["a"], "c": ["c", "x"]}, [["a", "b", "a"], ["c", "c"]]),
        ({"a": ["b", "c"], "b": ["c"], "c": []}, []),
        ({"a": ["unknown"]}, []),
    ],
)
def test_cycles_are_found_with_their_paths(dependencies, cycles):
    assert find_cycles(dependencies) == cycles


def test_a_long_chain_is_no_recursion():
    chain = {f"t{n}": [f"t{n + 1}"] for n in range(5_000)} | {"t5000": []}
    assert find_cycles(chain) == []
    assert in_order(chain)[0] == "t5000"
    assert len(find_cycles(chain | {"t5000": ["t0"]})[0]) == 5_002


@pytest.mark.timeout(5)
@pytest.mark.parametrize(
    "needed",
    [
        lambda n: [f"t{n}"],
        lambda n: [f"t{n ^ 1}"],
        lambda n: [f"t{n + 1}", f"t{n}"],
        lambda n: [f"t{n}", f"t{n + 1}"],
    ],
    ids=["each needs itself", "pairs", "a chain of them", "a chain, first themselves"],
)
def test_many_cycles_take_no_longer_than_one(needed):
    cycles = find_cycles({f"t{n}": needed(n) for n in range(20_000)})
    assert len({name for cycle in cycles for name in cycle}) == 20_000
