"""What may be made at once, and what is left to the law: read once, shared, and never a row too many."""

from enum import Enum, IntEnum

import pytest

from orkeon_transitions.definition import load_definition
from orkeon_transitions.errors import DefinitionError
from orkeon_transitions.facts import Outcome
from orkeon_transitions.machines import TaskExecution, machine_definition
from orkeon_transitions.runtime import AsyncStateMachine, StateMachine
from orkeon_transitions.runtime.plan import plan_for
from tests.runtime.samples import GUARDED, RING, STAGES


def plan_of(text, *, kind=StateMachine, states=None, triggers=None, has_given=True):
    return plan_for(kind, load_definition(text), states, triggers, has_given)


def first_moves(text, state):
    """The moves of a plain machine's plan stand in functions: an async one's are the rows themselves."""
    return plan_of(text, kind=AsyncStateMachine).moves[state]


def test_each_state_has_its_own_triggers():
    plan = plan_of(RING)
    assert {state: sorted(moves) for state, moves in plan.moves.items()} == {
        "a": ["again", "finish", "next", "tick"],
        "b": ["again", "finish", "next", "tick"],
        "c": ["again", "finish", "next", "tick"],
        "end": [],
    }
    assert plan.names == ("a", "b", "c", "end")
    assert plan.places == {"a": 0, "b": 1, "c": 2, "end": 3}


@pytest.mark.parametrize(
    ("trigger", "dest", "outcome"),
    [
        ("next", "b", Outcome("a", "b", "next")),
        ("again", "a", Outcome("a", "a", "again", state_changed=False)),
        ("tick", None, Outcome("a", "a", "tick", state_changed=False, internal=True)),
    ],
)
def test_a_move_says_beforehand_what_all_its_results_have_in_common(trigger, dest, outcome):
    move = first_moves(RING, "a")[trigger]
    assert (move.dest, move.outcome) == (dest, outcome)


@pytest.mark.parametrize(
    ("trigger", "before", "after"),
    [
        ("go", ("first", "leave_a"), ("enter_b", "last")),
        ("again", ("first", "leave_a"), ("enter_a", "last")),
        ("stay", ("first",), ("last",)),
    ],
)
def test_callbacks_stand_in_the_order_of_transitions(trigger, before, after):
    move = first_moves(STAGES, "a")[trigger]
    assert (move.before, move.after) == (before, after)
    assert move.guards == (("may", True), ("forbidden", False))


def test_the_rows_of_a_trigger_are_chained_in_the_order_of_the_file():
    text = """
    name: fork
    initial: a
    states: [a, b, c, d]
    transitions:
      - {trigger: go, source: a, dest: b, conditions: first}
      - {trigger: go, source: a, dest: c, conditions: second, always: true}
      - {trigger: go, source: a, dest: d}
    """
    move = first_moves(text, "a")["go"]
    assert (move.dest, move.otherwise.dest, move.otherwise.otherwise.dest) == ("b", "c", "d")
    assert move.otherwise.otherwise.otherwise is None
    assert (move.always, move.may_pass) == (False, True)
    assert (move.otherwise.always, move.otherwise.may_pass) == (True, True)
    assert move.otherwise.otherwise.may_pass is False


def test_a_row_that_may_not_be_repeated_makes_its_whole_chain_so():
    assert first_moves(GUARDED, "work")["call"].repeatable is False
    assert first_moves(GUARDED, "work")["tick"].repeatable is True
    assert first_moves(GUARDED, "work")["cancel"].always is True


def test_a_trigger_that_begins_a_new_budget_is_left_to_the_law():
    class Renewed(StateMachine):
        budget_starts = frozenset({"next"})

    assert "next" in plan_of(RING).moves["a"]
    assert "next" not in plan_of(RING, kind=Renewed).moves["a"]


def test_an_end_stands_still_and_so_does_what_waits_for_people():
    moves = {
        move.trigger: move.stands_still
        for state in plan_for(
            AsyncStateMachine, machine_definition("task_execution"), None, None, True
        ).moves.values()
        for move in state.values()
    }
    assert moves["cancel"] is True
    assert moves["request_human_input"] is True
    assert moves["begin_execution"] is False


def test_members_are_found_as_their_texts_are():
    class State(Enum):
        A = "a"
        B = "b"
        C = "c"
        END = "end"

    class Trigger(Enum):
        NEXT = "next"
        TICK = "tick"
        AGAIN = "again"
        FINISH = "finish"

    plan = plan_of(RING, kind=AsyncStateMachine, states=State, triggers=Trigger)
    move = plan.moves["a"][Trigger.NEXT]
    assert move is plan.moves["a"]["next"]
    assert move.outcome == Outcome(State.A, State.B, Trigger.NEXT)


def test_a_member_that_is_a_number_too_is_found_by_its_text_only():
    class Trigger(IntEnum):
        next = 1
        tick = 2
        again = 3
        finish = 4

    machine = StateMachine(RING, triggers=Trigger)
    with pytest.raises(TypeError):
        machine.fire(1)
    assert machine.fire(Trigger.next).to_state == "b"


def test_machines_of_a_kind_share_one_plan():
    one, other = TaskExecution(), TaskExecution()
    assert one._plan is other._plan
    assert one._plan is not StateMachine(RING)._plan
    assert StateMachine(RING)._plan is StateMachine(RING)._plan


def test_what_a_class_does_not_have_is_told_when_its_plan_is_made():
    with pytest.raises(DefinitionError, match="may"):
        plan_of(STAGES, has_given=False)
