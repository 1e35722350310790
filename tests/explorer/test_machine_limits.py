"""Limits of a machine that is fired by hand: trips, fresh budgets, gauges, clocks that run out."""

from orkeon_transitions import CircuitBreakerPolicy
from tests.explorer.sessions import Clock, door, fired, gauge_of, opened, rows_of, trigger_of, until


def kinds(session):
    return [row["kind"] for row in rows_of(session)]


def test_a_trip_into_the_degraded_state_and_back():
    limits = {"max_transitions": 1, "use_degraded_mode": True}
    with opened(door(circuit_breaker=limits)) as session:
        fired(session, "unlock", "shut")
        view = session.view()
        assert view["now"]["state"] == "jammed"
        assert view["now"]["degraded"]
        assert kinds(session) == ["made", "broken", "degraded"]
        assert gauge_of(session, "max_transitions")["broken"]
        breaker = next(arrow for arrow in view["picture"]["arrows"] if arrow["kind"] == "breaker")
        assert view["now"]["last"] == breaker["element"]
        session.act({"do": "undo"})
        assert session.view()["now"]["state"] == "open"
        assert kinds(session) == ["made"], "the trip is undone with the move that it made"
        assert not gauge_of(session, "max_transitions")["broken"]


def test_a_trip_that_raises_and_a_fresh_budget():
    with opened(door(circuit_breaker={"max_transitions": 1})) as session:
        fired(session, "unlock", "shut", "shut")
        assert kinds(session)[:2] == ["made", "broken"]
        assert session.view()["now"]["problem"] is None
        assert trigger_of(session, "shut")["kind"] == "circuit"
        session.act({"do": "reset_breaker"})
        assert kinds(session)[-1] == "reset"
        assert gauge_of(session, "max_transitions")["used"] == 0
        fired(session, "shut")
        assert session.view()["now"]["state"] == "closed"


def test_gauges_show_used_and_allowed():
    clock = Clock()
    limits = {"max_transitions": 5, "state_timeout": 10, "max_state_visits": 0, "max_total_duration": 60}
    with opened(door(circuit_breaker=limits), clock=clock) as session:
        fired(session, "unlock")
        clock.now += 4
        session.act({"do": "set", "field": "has_key", "value": False})
        assert gauge_of(session, "max_transitions")["words"] == "1 of 5"
        here = gauge_of(session, "state_timeout")
        assert (here["used"], here["allowed"], here["running"], here["label"]) == (
            4,
            10,
            True,
            "Time in open",
        )
        assert gauge_of(session, "max_state_visits")["allowed"] is None
        assert gauge_of(session, "max_state_visits")["words"] == "1, no limit"
        assert gauge_of(session, "max_total_duration")["running"]


def test_meters_and_repeats_have_gauges():
    policy = CircuitBreakerPolicy(meters={"tokens": 100}, max_repeats=2)
    with opened("task_execution", policy=policy) as session:
        fired(session, "begin_execution", "request_tool_call", "tool_call_completed")
        session.machine.spend(tokens=150)
        fired(session, "request_tool_call")
        assert gauge_of(session, "meters:tokens")["broken"]
        assert gauge_of(session, "max_repeats")["used"] == 1
        assert [gauge["limit"] for gauge in session.view()["gauges"] if gauge["broken"]] == ["meters:tokens"]


def test_a_clock_that_runs_out_has_its_say_by_itself():
    clock = Clock()
    limits = {"state_timeout": 5, "use_degraded_mode": True}
    with opened(door(circuit_breaker=limits), clock=clock) as session:
        clock.now += 4
        session.check_clocks()
        assert session.view()["now"]["state"] == "closed"
        clock.now += 2
        session.check_clocks()
        assert session.view()["now"]["state"] == "jammed"
        session.act({"do": "undo"})
        clock.now += 6
        session.act({"do": "set", "field": "has_key", "value": True})
        assert until(session, lambda view: view["now"]["state"] == "jammed")


def test_a_state_that_fires_its_own_trigger_when_the_time_is_up():
    clock = Clock()
    with opened("hermes_agent", clock=clock) as session:
        fired(session, "receive_task", "plan_ready", "call_tool")
        clock.now += 31
        session.check_clocks()
        assert session.view()["now"]["state"] == "error"
        assert rows_of(session)[-1]["trigger"] == "timeout"
