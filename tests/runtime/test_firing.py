"""`fire`, `try_fire` and what they give."""

import dataclasses
import sys
import uuid
from datetime import UTC, datetime, timedelta

import pytest

from orkeon_transitions.errors import InvalidTransitionError
from orkeon_transitions.runtime import AsyncStateMachine, StateMachine
from tests.runtime.samples import RING, STAGES, quiet, stack_of, stage_callbacks


def test_a_machine_starts_in_its_initial_state(kind):
    machine = kind.make(RING, **quiet())
    assert machine.state == "a"
    assert not machine.is_terminal
    assert machine.transition_count == 0
    assert not machine.is_circuit_broken
    assert machine.definition.name == "ring"
    assert machine.circuit_status.state_visit_histogram == {"a": 1}


def test_fire_makes_the_transition(kind):
    machine = kind.make(RING, **quiet())
    earliest = datetime.now(UTC)
    result = kind.fire(machine, "next")
    assert result
    assert machine.state == "b"
    assert (result.from_state, result.to_state, result.trigger) == ("a", "b", "next")
    assert (result.ordinal, result.transition_count) == (1, 1)
    assert (result.accepted, result.state_changed, result.degraded, result.internal) == (
        True,
        True,
        False,
        False,
    )
    assert result.refusal is None
    assert result.error is None
    assert earliest <= result.timestamp <= datetime.now(UTC)
    assert result.timestamp.utcoffset() == timedelta(0)


def test_a_result_is_frozen_and_slotted(kind):
    result = kind.fire(kind.make(RING, **quiet()), "next")
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.accepted = False
    assert not hasattr(result, "__dict__")


def test_a_refused_result_is_falsy_and_says_why(kind):
    machine = kind.make(RING, **quiet())
    kind.fire(machine, "next")
    result = kind.try_fire(machine, "fly")
    assert not result
    assert (result.from_state, result.to_state, result.trigger) == ("b", "b", "fly")
    assert (result.accepted, result.state_changed, result.degraded) == (False, False, False)
    assert result.refusal.kind == "invalid"
    assert (result.ordinal, result.transition_count) == (1, 1)


def test_ordinals_count_up(kind):
    machine = kind.make(RING, **quiet())
    assert [kind.fire(machine, "next").ordinal for _ in range(4)] == [1, 2, 3, 4]


def test_rows_are_tried_in_file_order_and_the_first_that_passes_wins(kind):  # case A09
    text = """
initial: a
states: [a, b, c, d]
transitions:
  - {trigger: go, source: a, dest: b, conditions: no}
  - {trigger: go, source: a, dest: c, unless: no}
  - {trigger: go, source: a, dest: d}
"""
    asked = []

    def no(event):
        asked.append(event.trigger)
        return False

    machine = kind.make(text, **quiet(guards={"no": no}))
    assert kind.fire(machine, "go").to_state == "c"
    assert asked == ["go", "go"]


@pytest.mark.parametrize(
    ("rows", "dest"), [("[go, '*', b], [go, gas, abort]", "b"), ("[go, gas, abort], [go, '*', b]", "abort")]
)
def test_a_wildcard_beside_a_rule_of_its_own_goes_by_order(kind, rows, dest):  # case A05
    machine = kind.make(f"initial: gas\nstates: [gas, b, abort]\ntransitions: [{rows}]\n", **quiet())
    assert kind.fire(machine, "go").to_state == dest


def test_a_wildcard_is_every_state_that_is_not_final(kind):
    text = "initial: a\nstates: [a, b, {name: z, final: true}]\ntransitions: [[go, a, b], [stop, '*', z]]\n"
    for path in (["stop"], ["go", "stop"]):
        machine = kind.make(text, **quiet())
        for trigger in path:
            kind.fire(machine, trigger)
        assert machine.state == "z"
        assert machine.is_terminal
        with pytest.raises(InvalidTransitionError, match="has ended"):
            kind.fire(machine, "stop")


def test_an_internal_row_leaves_nothing_and_enters_nothing(kind):  # case A07
    log = []
    machine = kind.make(STAGES, **quiet(**stage_callbacks(log)))
    result = kind.fire(machine, "stay")
    assert log == ["may", "forbidden", "first", "last"]
    assert result
    assert (result.internal, result.state_changed, result.from_state, result.to_state) == (
        True,
        False,
        "a",
        "a",
    )
    assert machine.transition_count == 1
    assert machine.circuit_status.state_visit_histogram == {"a": 1}


def test_a_reflexive_row_leaves_and_enters(kind):  # case A07
    log = []
    machine = kind.make(STAGES, **quiet(**stage_callbacks(log)))
    result = kind.fire(machine, "again")
    assert log == ["may", "forbidden", "first", "leave_a", "enter_a", "last"]
    assert result
    assert (result.internal, result.state_changed, result.from_state, result.to_state) == (
        False,
        False,
        "a",
        "a",
    )
    assert machine.transition_count == 1
    assert machine.circuit_status.state_visit_histogram == {"a": 2}


def test_a_row_from_a_final_state_is_never_taken(kind):
    text = "initial: z\nstates: [{name: z, final: true}, a]\ntransitions: [[go, z, a]]\n"
    machine = kind.make(text, **quiet())
    assert machine.is_terminal
    assert kind.wait(machine.permitted_triggers()) == []
    assert kind.try_fire(machine, "go").refusal.kind == "terminal"


def test_a_trigger_is_callable_by_its_name(kind):
    machine = kind.make(
        STAGES,
        **quiet(
            guards={"may": lambda e: e.context == 5, "forbidden": lambda e: e.payload["n"] != 2},
            actions=stage_callbacks([])["actions"],
        ),
    )
    assert kind.wait(machine.go(5, n=2)).to_state == "b"
    with pytest.raises(InvalidTransitionError):
        kind.wait(machine.go(5, n=2))


def test_a_trigger_that_is_no_identifier_is_fired_by_name(kind):
    text = 'initial: "A B"\nstates: ["A B", "状態"]\ntransitions: [["retry: 2 (ex: t)", "A B", "状態"]]\n'
    machine = kind.make(text, **quiet())
    assert "retry: 2 (ex: t)" not in dir(machine)
    assert kind.fire(machine, "retry: 2 (ex: t)").to_state == "状態"
    assert machine.state == "状態"


@pytest.mark.parametrize("name", ["trigger", "context", "self", "payload", "snapshot"])
def test_any_word_may_be_a_key_of_the_payload(kind, name):
    seen = []
    text = "initial: a\nstates: [a, b]\ntransitions: [{trigger: go, source: a, dest: b, after: see}]\n"
    machine = kind.make(text, **quiet(actions={"see": lambda event: seen.append(dict(event.payload))}))
    kind.fire(machine, "go", None, **{name: 1})
    assert seen == [{name: 1}]


@pytest.mark.parametrize("wrong", [1, b"go", ["go"], object()])
def test_what_is_no_trigger_at_all_is_a_type_error(kind, wrong):
    machine = kind.make(RING, **quiet())
    with pytest.raises(TypeError, match="text or an Enum member"):
        kind.fire(machine, wrong)


def test_a_state_is_never_set_by_hand(kind):  # case E03
    machine = kind.make(RING, **quiet())
    with pytest.raises(AttributeError):
        machine.state = "c"
    for jump in ("to_c", "set_state", "trigger"):
        assert not hasattr(machine, jump)
    assert machine.state == "a"


def test_facts_carry_no_payload(kind):
    facts = []
    machine = kind.make(RING, **quiet(commit=lambda *given: facts.append(given)))
    for subscribe in (machine.on_transition, machine.on_refused):
        subscribe(facts.append)
    for trigger in ("next", "fly"):
        kind.try_fire(machine, trigger, {"token": "hunter2"}, password="hunter2")
    assert len(facts) == 3
    assert "hunter2" not in repr(facts)


def test_many_machines_share_one_definition_and_nothing_else(kind):
    first, second = (kind.make(RING, **quiet()) for _ in range(2))
    kind.fire(first, "next")
    assert (first.state, second.state) == ("b", "a")
    assert first.machine_id != second.machine_id
    assert second.transition_count == 0


def test_a_machine_is_known_by_its_id(kind):
    assert kind.make(RING, machine_id="t1").machine_id == "t1"
    assert len({kind.make(RING).machine_id for _ in range(20)}) == 20


def test_the_engine_is_asked_for_by_name(kind):
    for engine in ("auto", "stock"):
        assert kind.fire(kind.make(RING, **quiet(engine=engine)), "next")
    with pytest.raises(ValueError, match=r"unknown engine 'fast': valid are auto, stock"):
        kind.make(RING, engine="fast")


def test_the_lock_timeout_is_not_negative(kind):
    with pytest.raises(ValueError, match="lock_timeout must not be negative"):
        kind.make(RING, lock_timeout=-1)
    with pytest.raises(ValueError, match="lock_timeout must not be negative"):
        kind.make(RING, lock_timeout=float("nan"))
    for timeout in (None, 0, 0.5, 1e12, float("inf")):
        assert kind.fire(kind.make(RING, **quiet(lock_timeout=timeout)), "next")


@pytest.mark.parametrize("name", [5, uuid.uuid4(), b"m1"])
def test_a_machines_own_name_is_a_text(kind, name):
    with pytest.raises(TypeError, match="machine_id must be a text, not"):
        kind.make(RING, machine_id=name)


def test_the_base_of_machines_is_no_machine():
    [base] = [each for each in StateMachine.__mro__ if each.__name__ == "MachineBase"]
    assert issubclass(AsyncStateMachine, base)
    with pytest.raises(TypeError, match="use StateMachine or AsyncStateMachine"):
        base(RING)


NEST = "initial: a\nstates: [{name: a, on_enter: more}, z]\ntransitions: [[go, a, '='], [end, a, z]]\n"


def _deep(frames, function):
    """Calls a function when the stack is already so many frames deep."""
    here, frame = 0, sys._getframe()
    while frame is not None:
        here, frame = here + 1, frame.f_back
    return function() if here >= frames else _deep(frames, function)


def test_fifty_nested_fires_stay_below_the_recursion_limit():
    made = []

    class Nesting(StateMachine):
        def more(self, event):
            made.append(event)
            if len(made) < 50:
                self.fire("go")

    machine = Nesting(NEST, **quiet())
    with stack_of(1000):
        assert _deep(200, lambda: machine.fire("go"))
    assert machine.transition_count == 50
    assert not machine.is_circuit_broken


def test_fifty_nested_fires_stay_below_the_recursion_limit_when_awaited():
    import asyncio

    made = []

    class Nesting(AsyncStateMachine):
        async def more(self, event):
            made.append(event)
            if len(made) < 50:
                await self.fire("go")

    machine = Nesting(NEST, **quiet())
    with stack_of(1000):
        assert _deep(200, lambda: asyncio.run(machine.fire("go")))
    assert machine.transition_count == 50
