"""A machine that is fired by hand: what the page is shown after each thing that it asks for."""

import json

import pytest

from orkeon_transitions import MachineDefinition, load_definition
from orkeon_transitions.explorer.session import empty_traits
from tests.explorer.sessions import (
    door,
    field_of,
    fired,
    gauge_of,
    opened,
    rows_of,
    trigger_of,
)


@pytest.fixture
def session():
    with opened(door()) as session:
        yield session


def kinds(session):
    return [row["kind"] for row in rows_of(session)]


# ------------------------------------------------------------------------------------------ what is shown
def test_every_trait_is_there_and_is_plain_json(session):
    view = session.view()
    assert view.keys() == empty_traits().keys()
    assert view["page"] == "machine"
    json.dumps(view, allow_nan=False)


def test_a_fresh_machine(session):
    view = session.view()
    assert view["now"]["state"] == "closed"
    assert view["now"]["visits"] == {"closed": 1}
    assert view["position"] == {"at": 0, "last": 0, "live": True}
    assert view["can"]["fire"]
    assert not view["can"]["undo"]
    assert view["title"]["name"] == "door"
    assert view["title"]["machine_id"] == session.machine.machine_id


def test_the_picture_knows_states_and_arrows(session):
    picture = session.view()["picture"]
    states = {state["name"]: state for state in picture["states"]}
    assert picture["problem"] is None
    assert states["closed"]["initial"]
    assert states["gone"]["final"]
    assert states["jammed"]["degraded"]
    assert states["open"]["description"] == "One can go through"
    for state in states.values():
        assert f'id="{state["element"]}"' in picture["svg"]
    for arrow in picture["arrows"]:
        assert f'id="{arrow["element"]}"' in picture["svg"]


def test_two_sessions_share_no_id():
    with opened(door()) as one, opened(door()) as other:
        assert one.view()["picture"]["svg"] != other.view()["picture"]["svg"]


def test_triggers_of_the_state_come_first_and_the_others_say_where(session):
    triggers = session.view()["triggers"]
    assert [trigger["name"] for trigger in triggers] == ["unlock", "remove", "shut", "look"]
    assert trigger_of(session, "unlock") == {
        "name": "unlock",
        "permitted": True,
        "why": None,
        "kind": None,
        "to": ["open"],
        "description": None,
    }
    shut = trigger_of(session, "shut")
    assert shut["elsewhere"]
    assert shut["why"] == "not from here: only from open"
    assert not shut["permitted"]


# ------------------------------------------------------------------------------------------------- firing
def test_firing_moves_the_machine_and_the_picture(session):
    fired(session, "unlock", "look", "shut")
    view = session.view()
    assert view["now"]["state"] == "closed"
    assert view["now"]["visits"] == {"closed": 2, "open": 1}
    assert kinds(session) == ["made", "internal", "made"]
    arrows = {arrow["element"]: (arrow["from"], arrow["to"]) for arrow in view["picture"]["arrows"]}
    assert ("closed", "open") in {arrows[element] for element in view["now"]["taken"]}
    assert arrows[view["now"]["last"]] == ("open", "closed")
    row = rows_of(session)[0]
    assert (row["trigger"], row["from"], row["to"]) == ("unlock", "closed", "open")
    assert row["time"].endswith("+00:00")


def test_only_what_changed_is_told(session):
    told = []
    session.subscribe(told.append)
    fired(session, "unlock")
    assert told
    for changed in told:
        assert "picture" not in changed
        assert "title" not in changed
        assert "form" not in changed
    assert any("now" in changed for changed in told)


def test_whoever_has_unsubscribed_is_told_nothing_and_one_that_raises_stops_nobody(session):
    told, late = [], []

    def broken(changed):
        raise ZeroDivisionError

    unsubscribe = session.subscribe(late.append)
    session.subscribe(broken)
    session.subscribe(told.append)
    unsubscribe()
    unsubscribe()
    fired(session, "unlock")
    assert told
    assert not late


def test_a_refusal_stands_in_the_log_and_moves_nothing(session):
    assert session.act({"do": "set", "field": "has_key", "value": False}) is None
    unlock = trigger_of(session, "unlock")
    assert (unlock["permitted"], unlock["kind"]) == (False, "guard")
    assert unlock["why"] == "refused by guard 'has_key' (needed: The key is there)"
    fired(session, "unlock")
    assert kinds(session) == ["refused"]
    assert unlock["why"] in rows_of(session)[0]["words"]
    assert session.view()["now"]["state"] == "closed"
    assert session.view()["position"]["last"] == 0


def test_what_has_no_row_here_or_is_no_trigger_is_refused_in_the_log(session):
    fired(session, "shut", "fly")
    assert kinds(session) == ["refused", "refused"]
    assert "there is no trigger 'fly'" in rows_of(session)[1]["words"]


def test_a_context_may_be_given_for_once(session):
    assert session.act({"do": "fire", "trigger": "unlock", "context": {"has_key": False}}) is None
    assert kinds(session) == ["refused"]
    assert field_of(session, "has_key")["value"] is True
    fired(session, "unlock")
    assert session.view()["now"]["state"] == "open"


def test_a_form_that_does_not_fit_is_a_problem_and_no_attempt(session):
    session.act({"do": "fire", "trigger": "unlock", "context": {"has_kee": False}})
    assert "did you mean 'has_key'" in session.view()["now"]["problem"]["text"]
    assert kinds(session) == []
    fired(session, "unlock")
    assert session.view()["now"]["problem"] is None


def test_an_end_is_an_end(session):
    fired(session, "remove", "unlock")
    view = session.view()
    assert view["now"]["ended"]
    assert kinds(session) == ["made", "refused"]
    assert {trigger["kind"] for trigger in view["triggers"]} == {"terminal"}


def test_an_unknown_field_is_answered(session):
    answer = session.act({"do": "set", "field": "has_kee", "value": True})
    assert "did you mean 'has_key'" in answer["error"]


@pytest.mark.parametrize(
    "message",
    [
        None,
        {},
        {"do": "explode"},
        {"do": "fire"},
        {"do": "seek", "at": "x"},
        {"do": "undo"},
        {"do": "seek", "at": 1},
        {"do": "select", "machine": "x"},
        {"do": "reload"},
        {"do": "export", "format": "docx"},
    ],
)
def test_what_cannot_be_done_is_answered_and_changes_nothing(session, message):
    before = session.view()
    answer = session.act(message)
    assert answer.keys() == {"error"}
    assert session.view() == before


# ------------------------------------------------------------------------------------------ undo and reset
def test_undo_goes_back_one_step_and_fires_nothing(session):
    fired(session, "unlock", "shut", "fly")
    session.act({"do": "undo"})
    view = session.view()
    assert view["now"]["state"] == "open"
    assert kinds(session) == ["made"], "what came after the step is undone with it"
    assert view["position"] == {"at": 1, "last": 1, "live": True}
    session.act({"do": "undo"})
    assert session.view()["now"]["state"] == "closed"
    assert not session.view()["can"]["undo"]


def test_undo_gives_the_budget_back():
    with opened(door(circuit_breaker={"max_transitions": 2})) as session:
        fired(session, "unlock", "shut", "unlock")
        assert session.view()["now"]["state"] == "closed"
        assert session.machine.is_circuit_broken
        session.act({"do": "undo"})
        assert not session.machine.is_circuit_broken
        assert gauge_of(session, "max_transitions")["used"] == 1
        fired(session, "shut")
        assert kinds(session) == ["made", "made"]


def test_reset_makes_a_fresh_machine(session):
    fired(session, "unlock")
    before = session.machine
    session.act({"do": "reset"})
    view = session.view()
    assert session.machine is not before
    assert view["now"]["state"] == "closed"
    assert view["log"]["total"] == 0
    assert view["title"]["machine_id"] == session.machine.machine_id


# ------------------------------------------------------------------------------------------- looking back
def test_the_slider_shows_how_things_stood(session):
    fired(session, "unlock", "look", "shut", "remove")
    session.act({"do": "seek", "at": 1})
    view = session.view()
    assert view["now"]["state"] == "open"
    assert view["position"] == {"at": 1, "last": 4, "live": False}
    assert not view["can"]["fire"]
    assert trigger_of(session, "shut")["permitted"], "as the machine was then"
    assert gauge_of(session, "max_transitions")["used"] == 1
    assert session.machine.state == "gone"
    assert session.act({"do": "fire", "trigger": "shut"}).keys() == {"error"}
    session.act({"do": "seek", "at": 99})
    assert session.view()["position"]["live"]


def test_the_log_is_shown_in_parts():
    with opened(door(circuit_breaker={"max_transitions": 0, "max_state_visits": 0})) as session:
        fired(session, *["unlock", "shut"] * 110)
        log = session.view()["log"]
        assert (log["total"], log["first"], len(log["rows"])) == (220, 20, 200)
        session.act({"do": "rows", "first": 5, "count": 3})
        log = session.view()["log"]
        assert [row["n"] for row in log["rows"]] == [6, 7, 8]
        session.act({"do": "seek", "at": 2})
        assert session.view()["log"]["first"] == 0
        session.act({"do": "seek", "at": 220})
        fired(session, "unlock")
        assert session.view()["log"]["first"] == 21


# --------------------------------------------------------------------------------------------- what ships
def test_a_shipped_machine_has_its_own_guards_and_form():
    with opened("task_execution") as session:
        fired(session, "begin_execution")
        session.act({"do": "set", "field": "is_tool_registered", "value": False})
        assert trigger_of(session, "request_tool_call")["kind"] == "guard"
        session.act({"do": "set", "field": "is_tool_registered", "value": None})
        fired(session, "request_tool_call")
        assert field_of(session, "tool_call_count")["value"] == 1
        session.act({"do": "undo"})
        assert field_of(session, "tool_call_count")["value"] == 0


@pytest.mark.parametrize(
    "name", ["hermes_agent", "graph_router", "task_status", "agent_status", "crew_status"]
)
def test_every_shipped_machine_can_be_fired_and_undone(name):
    with opened(name) as session:
        first = next(trigger["name"] for trigger in session.view()["triggers"] if trigger["permitted"])
        fired(session, first)
        assert kinds(session) == ["made"]
        session.act({"do": "undo"})
        assert session.view()["position"]["last"] == 0


def test_an_agents_session_from_task_to_end():
    with opened("hermes_agent") as session:
        fired(session, "receive_task", "plan_ready", "call_tool", "tool_result_received", "finish_execution")
        assert session.view()["now"]["state"] == "completed"
        assert session.machine.final_result == "3 results"


def test_warnings_about_the_definition_are_shown_with_their_place(tmp_path):
    file = tmp_path / "odd.yaml"
    file.write_text("initial: a\nstates: [a, b, c]\ntransitions:\n  - {trigger: go, source: a, dest: b}\n")
    with opened(file) as session:
        anomalies = session.view()["anomalies"]
        assert {anomaly["code"] for anomaly in anomalies} >= {"unreachable"}
        assert all(anomaly["place"].startswith(str(file)) for anomaly in anomalies)


def test_a_closed_session_tells_nothing_and_ends_its_threads():
    with opened(door()) as session:
        told = []
        session.subscribe(told.append)
        thread = session._worker._thread
    thread.join(5)
    assert not thread.is_alive()
    assert "load it again" in session.act({"do": "seek", "at": 0})["error"]
    assert told == []


def test_a_machine_without_guards_has_no_form():
    plain = load_definition({"states": ["a", "b"], "initial": "a", "transitions": [["go", "a", "b"]]})
    assert isinstance(plain, MachineDefinition)
    with opened(plain) as session:
        assert session.view()["form"] == {"kind": "none", "fields": []}
