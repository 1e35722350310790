"""A machine of the user's: followed, fired itself, left alone when one goes back."""

from dataclasses import dataclass
from enum import Enum

import pytest

from orkeon_transitions import StateMachine, StateMachineBuilder, load_definition
from orkeon_transitions.machines import HermesAgentFSM, TaskExecution
from tests.explorer.sessions import DOOR, field_of, fired, gauge_of, opened, rows_of, trigger_of, until


class Light(Enum):
    RED = "red"
    GREEN = "green"
    OFF = "off"


class Button(Enum):
    PRESS = "press"
    BREAK = "break_it"


@dataclass(frozen=True)
class Power:
    """The power.

    Attributes:
        is_on: Whether it is on.
    """

    is_on: bool = False


def light(**options):
    return (
        StateMachineBuilder[Light, Button]("light")
        .initial(Light.RED)
        .terminal(Light.OFF)
        .when(Light.RED, Button.PRESS)
        .to(Light.GREEN)
        .guard(lambda power: power.is_on, "The power is on", context=Power)
        .when(Light.GREEN, Button.PRESS)
        .to(Light.RED)
        .when([Light.RED, Light.GREEN], Button.BREAK)
        .to(Light.OFF)
        .build(**options)
    )


# ---------------------------------------------------------------------------------------------- followed
def test_a_machine_is_fired_itself_with_the_context_that_its_guards_ask_for():
    fsm = light()
    with opened(fsm) as session:
        assert field_of(session, "is_on")["description"] == "Whether it is on."
        assert not trigger_of(session, "press")["permitted"]
        session.act({"do": "set", "field": "is_on", "value": True})
        fired(session, "press")
        assert fsm.state is Light.GREEN
        assert session.machine is fsm


def test_what_the_program_fires_is_followed():
    fsm = light()
    with opened(fsm) as session:
        fsm.fire(Button.PRESS, Power(is_on=True))
        fsm.try_fire(Button.PRESS)
        fsm.try_fire(Button.PRESS)
        view = until(session, lambda view: view["log"]["total"] == 3)
        assert [row["kind"] for row in view["log"]["rows"]] == ["made", "made", "refused"]
        assert view["now"]["state"] == "red"


def test_a_machine_that_has_moved_before_begins_where_it_is():
    fsm = light()
    fsm.fire(Button.PRESS, Power(is_on=True))
    with opened(fsm) as session:
        view = session.view()
        assert (view["now"]["state"], view["position"]["last"]) == ("green", 0)
        assert view["now"]["visits"] == {"red": 1, "green": 1}
        assert not view["can"]["undo"]


def test_undo_goes_on_with_a_copy_and_leaves_the_machine_alone():
    fsm = light()
    with opened(fsm) as session:
        assert "your own machine" in session.view()["title"]["note"]
        assert session.view()["title"]["is_copy"] is False
        session.act({"do": "set", "field": "is_on", "value": True})
        fired(session, "press", "break_it")
        session.act({"do": "undo"})
        assert session.view()["now"]["state"] == "green"
        assert session.view()["title"]["note"].startswith("This is a copy")
        assert session.view()["title"]["is_copy"] is True
        fired(session, "press")
        assert session.machine.state is Light.RED
        assert fsm.state is Light.OFF
        assert fsm is not session.machine
        fired(session, "press")
        assert session.machine.state is Light.GREEN, "the copy has the machine's own guards"


def test_what_the_program_does_after_an_undo_is_not_followed_any_more():
    fsm = light()
    with opened(fsm) as session:
        session.act({"do": "set", "field": "is_on", "value": True})
        fired(session, "press")
        session.act({"do": "undo"})
        fsm.fire(Button.BREAK)
        fired(session, "press")
        assert [row["trigger"] for row in rows_of(session)] == ["press"]


def test_reset_gives_a_copy_as_the_machine_was_when_it_was_opened():
    fsm = light()
    fsm.fire(Button.PRESS, Power(is_on=True))
    with opened(fsm) as session:
        fired(session, "break_it")
        session.act({"do": "reset"})
        assert session.view()["now"]["state"] == "green"
        assert fsm.state is Light.OFF


def test_looking_back_asks_a_copy():
    fsm = light()
    with opened(fsm) as session:
        session.act({"do": "set", "field": "is_on", "value": True})
        fired(session, "press", "press")
        session.act({"do": "seek", "at": 1})
        assert trigger_of(session, "press")["to"] == ["red"]
        assert fsm.state is Light.RED


def test_the_context_may_be_named_or_given():
    fsm = StateMachine(
        load_definition({**DOOR, "transitions": [["go", "closed", "open"]], "guards": {}}), guards={}
    )
    with opened(fsm, context=Power) as session:
        assert field_of(session, "is_on")["value"] is False
    with opened(fsm, context=Power(is_on=True)) as session:
        assert field_of(session, "is_on")["value"] is True


@pytest.mark.parametrize("make", [TaskExecution, lambda: HermesAgentFSM("s1")])
def test_machines_that_ship_have_their_form_when_they_are_live(make):
    fsm = make()
    with opened(fsm) as session:
        assert session.view()["form"]["kind"] == "typed"
        first = session.view()["triggers"][0]["name"]
        fired(session, first)
        assert fsm.snapshot().ordinal == 1
        session.act({"do": "undo"})
        assert session.machine.snapshot().ordinal == 0


def test_a_trip_and_a_reset_of_the_breaker_are_followed():
    fsm = light()
    fsm.policy = fsm.policy.model_copy(update={"max_transitions": 1})
    with opened(fsm) as session:
        session.act({"do": "set", "field": "is_on", "value": True})
        fired(session, "press", "press")
        assert gauge_of(session, "max_transitions")["broken"]
        session.act({"do": "reset_breaker"})
        assert [row["kind"] for row in rows_of(session)][0:2] == ["made", "broken"]
        assert rows_of(session)[-1]["kind"] == "reset"
        assert not fsm.is_circuit_broken


class Picky(TaskExecution):
    """A class that keeps what its constructor needs to itself."""

    def __init__(self, secret, **options):
        self.secret = secret
        super().__init__(**options)


def test_a_class_that_cannot_be_restored_says_so_and_is_fired_all_the_same():
    fsm = Picky("s")
    with opened(fsm) as session:
        fired(session, "begin_execution", "fail")
        session.act({"do": "undo"})
        assert "needs secret" in session.view()["now"]["problem"]["text"]
        assert session.view()["now"]["state"] == "failed"
        assert "needs secret" in session.act({"do": "reset"})["error"]
        session.act({"do": "seek", "at": 1})
        view = session.view()
        assert view["now"]["state"] == "executing"
        assert view["gauges"] == []
        assert next(trigger for trigger in view["triggers"] if trigger["next"])["name"] == "fail"


def test_a_fact_that_comes_late_is_taken_down_as_it_was():
    fsm, told = light(), []

    def fire_on(result):
        told.append(result)
        if len(told) == 1:
            fsm.fire(Button.PRESS)

    # It hears the first step before the session does, and makes the second one.
    fsm.on_transition(fire_on)
    with opened(fsm) as session:
        fsm.fire(Button.PRESS, Power(is_on=True))
        view = until(session, lambda view: view["position"]["last"] == 2)
        assert [row["to"] for row in view["log"]["rows"]] == ["green", "red"]
        session.act({"do": "undo"})
        assert session.machine.state is Light.GREEN
        assert session.machine.snapshot().ordinal == 1


def test_a_long_life_is_remembered_in_part(monkeypatch):
    monkeypatch.setattr("orkeon_transitions.explorer.running.MOST_STEPS", 10)
    fsm = TaskExecution(max_tool_calls_per_round=1000)
    with opened(fsm) as session:
        fsm.begin_execution()
        for _ in range(10):
            fsm.request_tool_call()
            fsm.tool_call_completed()
        view = until(session, lambda view: view["log"]["rows"] and view["log"]["rows"][-1]["n"] == 21)
        assert view["position"]["last"] <= 10
        assert view["now"]["visits"]["executing"] == 11
        session.act({"do": "undo"})
        assert session.view()["now"]["state"] == "tool_calling"
