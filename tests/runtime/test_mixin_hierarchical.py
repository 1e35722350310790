"""Hierarchical machines: a state is the full active configuration.

A long file: nested, parallel and embedded machines share the tables at its top.
"""

import asyncio
from enum import Enum

import pytest
from transitions.extensions import HierarchicalMachine, LockedHierarchicalMachine
from transitions.extensions.nesting import NestedEventData, NestedState, NestedTransition

from orkeon_transitions.errors import CircuitBrokenError
from tests.runtime.mixin_kinds import ASYNC, NESTED, SYNC, Model, fire, guard, machine, policy

nested_kind = pytest.mark.parametrize("kind", NESTED, ids=lambda kind: kind.__name__)
SYNC_NESTED = [kind for kind in NESTED if kind in SYNC]
sync_nested_kind = pytest.mark.parametrize("kind", SYNC_NESTED, ids=lambda kind: kind.__name__)

REGIONS = {
    "name": "p",
    "parallel": [
        {"name": "x", "children": ["1", "2"], "initial": "1"},
        {"name": "y", "children": ["1", "2"], "initial": "1"},
    ],
}
SWITCHES = [
    ["left", "p_x_1", "p_x_2"],
    ["left", "p_x_2", "p_x_1"],
    ["right", "p_y_1", "p_y_2"],
    ["both", "p_x_1", "p_x_2"],
    ["both", "p_y_1", "p_y_2"],
    ["inside", "p_x_1", None],
]
DEGRADING = {"use_degraded_mode": True}


def parallel(kind, limits, **options):
    return machine(
        kind, limits=limits, states=[REGIONS, "degraded"], initial="p", transitions=SWITCHES, **options
    )


@nested_kind
def test_an_initial_child_is_entered_with_its_parent(kind):
    states = ["a", {"name": "q", "children": ["1", "2"], "initial": "1"}]
    rows = [["go", "a", "q"], ["switch", "q_1", "q_2"], ["back", "q", "a"]]
    _, model = machine(kind, limits={"max_state_visits": 1}, states=states, transitions=rows)
    fire(model.go)
    fire(model.switch)
    assert model.circuit_status.state_visit_histogram == {"a": 1, "q_1": 1, "q_2": 1}
    with pytest.raises(CircuitBrokenError, match="'a'"):
        fire(model.back)
    assert model.state == "q_2"


@nested_kind
def test_the_wall_knows_the_child_that_would_be_entered(kind):
    states = ["a", {"name": "q", "children": ["1", "2"], "initial": "1"}]
    rows = [["go", "*", "q"], ["back", "q", "a"]]
    _, model = machine(kind, limits={"max_state_visits": 1}, states=states, transitions=rows)
    fire(model.go)
    with pytest.raises(CircuitBrokenError, match="'q_1'"):
        fire(model.go)


@nested_kind
def test_a_machine_begins_in_the_child_of_its_initial_state(kind):  # case A03
    states = ["a", {"name": "c", "children": ["1", "2"], "initial": "1"}]
    for initial in ("c", "c_1"):
        _, model = machine(kind, states=states, initial=initial, transitions=[])
        assert model.circuit_status.state_visit_histogram == {"c_1": 1}
        assert model.circuit_status.total_transitions == 0


@nested_kind
def test_parallel_states_are_counted_together(kind):
    _, model = parallel(kind, {"max_state_visits": 1})
    fire(model.left)
    fire(model.right)
    assert model.circuit_status.state_visit_histogram == {
        "p_x_1+p_y_1": 1,
        "p_x_2+p_y_1": 1,
        "p_x_2+p_y_2": 1,
    }
    fire(model.left)  # a configuration that has not been there
    model.reset_circuit_breaker()
    assert model.circuit_status.state_visit_histogram == {"p_x_1+p_y_2": 1}


@nested_kind
def test_the_wall_judges_the_configuration(kind):
    _, model = parallel(kind, {"max_state_visits": 1})
    fire(model.left)
    with pytest.raises(CircuitBrokenError, match=r"'p_x_1\+p_y_1'"):
        fire(model.left)
    assert model.state == ["p_x_2", "p_y_1"]


@nested_kind
@pytest.mark.parametrize("trigger", ["left", "both", "inside"])
def test_degrading_leaves_all_parallel_states(kind, trigger):
    _, model = parallel(kind, {"max_transitions": 1, **DEGRADING}, degraded_state="degraded")
    fire(model.right)
    assert fire(getattr(model, trigger)) is False
    assert model.state == "degraded"
    assert model.circuit_status.total_transitions == 2


@nested_kind
def test_one_trigger_that_moves_two_states_makes_two_transitions(kind):
    _, model = parallel(kind, {"max_transitions": 2})
    assert fire(model.both) is True
    assert model.circuit_status.total_transitions == 2
    with pytest.raises(CircuitBrokenError):
        fire(model.left)


@nested_kind
def test_the_second_of_two_states_is_judged_as_well(kind):
    heard = []
    _, model = parallel(kind, {"max_transitions": 1}, before_state_change=lambda: heard.append("before"))
    with pytest.raises(CircuitBrokenError):
        fire(model.both)
    assert model.circuit_status.total_transitions == 1
    assert heard == ["before"]


@nested_kind
def test_a_trip_in_one_state_stops_the_others(kind):
    heard = []
    rows = [
        ["both", "p_x_1", "p_x_1"],
        {"trigger": "both", "source": "p_y_1", "dest": "p_y_2", "prepare": lambda: heard.append("prepare")},
    ]
    _, model = machine(
        kind, limits={"max_state_visits": 1}, states=[REGIONS, "degraded"], initial="p", transitions=rows
    )
    with pytest.raises(CircuitBrokenError):
        fire(model.both)
    assert (model.state, heard) == (["p_x_1", "p_y_1"], [])


@nested_kind
def test_an_internal_transition_in_a_parallel_state(kind):
    _, model = parallel(kind, {"max_state_visits": 1})
    fire(model.inside)
    fire(model.inside)
    assert model.circuit_status.total_transitions == 2


@nested_kind
def test_states_that_are_parallel_at_the_root_are_all_left(kind):
    exits = []
    states = [
        {"name": "a", "on_exit": lambda: exits.append("a")},
        {"name": "b", "children": ["1"], "initial": "1", "on_exit": lambda: exits.append("b")},
        {"name": "degraded", "children": ["quiet"], "initial": "quiet"},
    ]
    _, model = machine(
        kind,
        limits={"max_transitions": 2, **DEGRADING},
        degraded_state="degraded",
        states=states,
        initial=["a", "b"],
        transitions=[["tick", "a", None]],
    )
    fire(model.tick)  # `transitions` asks the rows of the root once for each active root state
    assert model.circuit_status.total_transitions == 2
    assert fire(model.tick) is False
    assert model.state == "degraded_quiet"
    assert sorted(exits) == ["a", "b"]
    with pytest.raises(CircuitBrokenError):
        fire(model.tick)


@nested_kind
def test_a_model_inside_of_the_degraded_state_is_not_moved(kind):
    states = ["a", {"name": "degraded", "children": ["quiet"], "initial": "quiet"}]
    _, model = machine(
        kind,
        limits={"max_transitions": 1, **DEGRADING},
        degraded_state="degraded",
        states=states,
        transitions=[["go", "*", "degraded"]],
    )
    fire(model.go)
    with pytest.raises(CircuitBrokenError):
        fire(model.go)
    assert model.circuit_status.total_transitions == 1


@nested_kind
def test_a_nested_degraded_state(kind):
    states = ["a", "b", {"name": "end", "children": ["lost"]}]
    _, model = machine(
        kind,
        limits={"max_transitions": 1, **DEGRADING},
        degraded_state="end_lost",
        states=states,
        transitions=[["go", "*", "b"]],
    )
    fire(model.go)
    assert fire(model.go) is False
    assert model.state == "end_lost"


class Inner(Enum):
    ONE = 1
    TWO = 2


Outer = Enum("Outer", {"A": "a", "Q": {"children": Inner, "initial": "ONE"}, "LOST": "lost"})


@nested_kind
def test_enum_states_are_known_by_their_path(kind):
    _, model = machine(
        kind,
        limits={"max_transitions": 2, **DEGRADING},
        degraded_state=Outer.LOST,
        states=Outer,
        initial=Outer.A,
        transitions=[["go", Outer.A, Outer.Q], ["go", "Q_ONE", "Q_TWO"], ["go", "Q_TWO", "A"]],
    )
    fire(model.go)
    fire(model.go)
    assert fire(model.go) is False
    assert model.state is Outer.LOST
    assert model.circuit_status.state_visit_histogram == {"A": 1, "Q_ONE": 1, "Q_TWO": 1, "LOST": 1}


class DottedState(NestedState):
    separator = "."


def test_another_separator():
    class Dotted(HierarchicalMachine):
        state_cls = DottedState

    model = Model()
    guard(Dotted)(
        model,
        states=[
            "a",
            {"name": "q", "children": ["1", "2"], "initial": "1"},
            {"name": "end", "children": ["lost"]},
        ],
        initial="a",
        transitions=[["go", "a", "q"], ["go", "q.1", "q.2"], ["go", "q.2", "q.1"]],
        circuit_breaker=policy(max_state_visits=1, use_degraded_mode=True),
        degraded_state="end.lost",
    )
    model.go()
    model.go()
    assert model.go() is False
    assert model.state == "end.lost"
    assert model.circuit_status.state_visit_histogram == {"a": 1, "q.1": 1, "q.2": 1, "end.lost": 1}


@sync_nested_kind
def test_to_state_comes_by_no_trigger_and_is_guarded(kind):
    heard = []
    made, model = machine(
        kind,
        limits={"max_transitions": 2, **DEGRADING},
        degraded_state="degraded",
        on_circuit_broken=heard.append,
    )
    made.to_state(model, "b")
    model.to("a")
    assert model.state == "a"
    made.to_state(model, "b")
    assert model.state == "degraded"
    assert len(heard) == 1
    with pytest.raises(CircuitBrokenError, match="trigger 'to' in state 'degraded'"):
        model.to("a")


@sync_nested_kind
def test_to_state_passes_the_wall(kind):
    made, model = machine(kind, limits={"max_state_visits": 1})
    made.to_state(model, "b")
    with pytest.raises(CircuitBrokenError, match="'a'"):
        made.to_state(model, "a")


def test_an_async_row_that_is_executed_by_hand_is_gated():
    kind = next(kind for kind in ASYNC if kind in NESTED)
    made, model = machine(kind, limits={"max_transitions": 1})

    def by_hand(dest):
        event = made.events["next"]
        row = made._create_transition(model.state, dest)
        data = type(
            "Data", (), {"transition": None, "kwargs": {}, "args": (), "error": None, "result": None}
        )()
        data.model, data.machine, data.event, data.state = model, made, event, made.get_state(model.state)
        data.source_name, data.source_path = model.state, [model.state]
        return row.execute(data)

    assert asyncio.run(by_hand("b")) is True
    with pytest.raises(CircuitBrokenError):
        asyncio.run(by_hand("a"))


@nested_kind
def test_an_unknown_destination_is_reported_by_the_row_itself(kind):
    _, model = machine(kind, limits={"max_state_visits": 1}, transitions=[["next", "a", "nowhere"]])
    with pytest.raises(ValueError, match="nowhere"):
        fire(model.next)
    assert not model.circuit_status.is_broken


@nested_kind
def test_an_unknown_trigger_of_a_broken_machine(kind):
    _, model = machine(kind, limits={"max_transitions": 1})
    with pytest.raises(AttributeError, match="nothing"):
        fire(model.trigger, "nothing")
    fire(model.next)
    with pytest.raises(CircuitBrokenError, match="trigger 'nothing'"):
        fire(model.trigger, "nothing")


@sync_nested_kind
def test_the_rows_of_an_embedded_machine_are_guarded(kind):
    inner = HierarchicalMachine(
        model=None,
        states=["1", "2", {"name": "3", "children": ["deep"], "initial": "deep"}],
        initial="1",
        transitions=[["work", "1", "2"], ["work", "2", "1"], ["tick", "1", None], ["dive", "1", "3"]],
        auto_transitions=False,
    )
    states = ["a", {"name": "q", "children": inner}, "degraded"]
    _, model = machine(kind, limits={"max_state_visits": 1}, states=states, transitions=[["go", "a", "q"]])
    fire(model.go)
    fire(model.tick)
    fire(model.work)
    assert model.circuit_status.state_visit_histogram == {"a": 1, "q_1": 1, "q_2": 1}
    assert model.circuit_status.total_transitions == 3
    with pytest.raises(CircuitBrokenError, match="'q_1'"):
        fire(model.work)


def test_an_embedded_machine_goes_on_without_a_breaker():
    """Its rows are shared with the guarded machine; for it they are what they were."""
    inner = HierarchicalMachine(
        states=["1", "2"],
        initial="1",
        transitions=[["work", "*", "2"], ["tick", "*", None]],
        auto_transitions=False,
    )
    machine(
        HierarchicalMachine,
        limits={"max_transitions": 1},
        states=["a", {"name": "q", "children": inner}],
        transitions=[["go", "a", "q"]],
    )
    for _ in range(3):
        assert inner.work()
        assert inner.tick()
    inner.to("1")
    assert inner.state == "1"


def test_an_embedded_machine_keeps_a_transition_class_of_its_own():
    executed = []

    class Own(NestedTransition):
        def execute(self, event_data):
            executed.append(self.dest)
            return super().execute(event_data)

    class Inner(HierarchicalMachine):
        transition_cls = Own

    inner = Inner(
        model=None, states=["1", "2"], initial="1", transitions=[["work", "*", "2"]], auto_transitions=False
    )
    _, model = machine(
        HierarchicalMachine,
        limits={"max_state_visits": 1},
        states=["a", {"name": "q", "children": inner}],
        transitions=[["go", "a", "q"]],
    )
    model.go()
    model.work()
    assert executed == ["2"]
    with pytest.raises(CircuitBrokenError):
        model.work()


@pytest.mark.parametrize(
    "kind", [HierarchicalMachine, LockedHierarchicalMachine], ids=lambda kind: kind.__name__
)
def test_a_guarded_machine_may_be_embedded_in_a_stock_one(kind):
    inner, _ = machine(
        kind,
        Model(),
        limits={"max_transitions": 1},
        states=["1", "2"],
        initial="1",
        transitions=[["work", "*", "2"], ["tick", "*", None]],
    )
    outer = HierarchicalMachine(states=["a", {"name": "q", "children": inner}], initial="q")
    for _ in range(3):
        assert outer.work()
        assert outer.tick()
    assert outer.state == "q_2"


@sync_nested_kind
def test_a_trip_inside_of_a_nested_callback_degrades_from_the_root(kind):
    outcome = []

    def fires():
        outcome.append(model.again())

    states = ["a", {"name": "q", "children": ["1"], "initial": "1", "on_enter": fires}, "degraded"]
    _, model = machine(
        kind,
        limits={"max_transitions": 1, **DEGRADING},
        degraded_state="degraded",
        states=states,
        transitions=[["go", "a", "q"], ["again", "*", "="]],
    )
    fire(model.go)
    assert outcome == [False]
    assert model.state == "degraded"


@sync_nested_kind
def test_a_guarded_machine_may_be_embedded_in_a_guarded_one(kind):
    rows = [["work", "1", "2"], ["work", "2", "1"]]
    inner, _ = machine(HierarchicalMachine, states=["1", "2"], initial="1", transitions=rows)
    states = ["a", {"name": "q", "children": inner}]
    _, model = machine(kind, limits={"max_state_visits": 1}, states=states, initial="q", transitions=[])
    fire(model.work)
    with pytest.raises(CircuitBrokenError, match="'q_1'"):
        fire(model.work)


def test_an_async_row_that_is_executed_by_hand_and_refused():
    kind = next(kind for kind in ASYNC if kind in NESTED)
    made, model = machine(kind, limits={"max_state_visits": 1})
    data = NestedEventData(made.get_state("a"), made.events["next"], made, model, (), {})
    data.source_name, data.source_path = "a", ["a"]
    row = made._create_transition("a", "b", conditions=lambda: False)
    assert asyncio.run(row.execute(data)) is False
    assert model.state == "a"


@pytest.mark.parametrize("degraded", [False, True])
def test_an_async_row_that_is_executed_by_hand_meets_the_wall(degraded):
    kind = next(kind for kind in ASYNC if kind in NESTED)
    made, model = machine(
        kind, limits={"max_state_visits": 1, "use_degraded_mode": degraded}, degraded_state="degraded"
    )
    data = NestedEventData(made.get_state("a"), made.events["next"], made, model, (), {})
    data.source_name, data.source_path = "a", ["a"]
    row = made._create_transition("a", "a")
    if degraded:
        assert asyncio.run(row.execute(data)) is False
        assert model.state == "degraded"
    else:
        with pytest.raises(CircuitBrokenError, match="Cycle"):
            asyncio.run(row.execute(data))
