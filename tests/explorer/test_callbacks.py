"""Callbacks and guards that raise, hang or come late, on plain and on async machines: the page lives on."""

import asyncio
import threading

import pytest

from orkeon_transitions import AsyncStateMachine, StateMachine, load_definition
from orkeon_transitions.explorer import open_session
from orkeon_transitions.machines import AsyncTaskExecution
from tests.explorer.sessions import fired, opened, rows_of, until

ACTED = {
    "initial": "a",
    "states": ["a", {"name": "b", "on_enter": "act"}, "c"],
    "transitions": [["go", "a", "b"], ["on", "*", "c"]],
}


def acting(act, **changes):
    return StateMachine(load_definition({**ACTED, **changes}), actions={"act": act})


# ------------------------------------------------------------------------------------ callbacks that go wrong
def test_a_callback_that_raises_after_the_state_was_written_is_shown():
    def act(event):
        raise ValueError("no power")

    with opened(acting(act)) as session:
        fired(session, "go")
        view = session.view()
        assert view["now"]["state"] == "b"
        assert view["now"]["problem"] == {"title": "'go' raised ValueError", "text": "ValueError: no power"}
        assert [row["kind"] for row in view["log"]["rows"]] == ["made", "failed"]
        fired(session, "on")
        assert session.view()["now"]["problem"] is None


def test_a_callback_that_raises_before_leaves_the_machine_where_it_was():
    def act(event):
        raise ValueError("no power")

    fsm = StateMachine(
        load_definition(
            {
                "initial": "a",
                "states": ["a", "b"],
                "transitions": [{"trigger": "go", "source": "a", "dest": "b", "before": "act"}],
            }
        ),
        actions={"act": act},
    )
    with opened(fsm) as session:
        fired(session, "go")
        assert [row["kind"] for row in rows_of(session)] == ["failed"]
        assert session.view()["now"]["state"] == "a"
        assert session.view()["position"]["last"] == 0


def test_a_callback_that_ends_the_program_ends_nothing_here():
    def act(event):
        raise SystemExit(3)

    with opened(acting(act)) as session:
        fired(session, "go")
        assert "SystemExit" in session.view()["now"]["problem"]["title"]
        fired(session, "on")
        assert session.view()["now"]["state"] == "c"


@pytest.fixture
def stuck():
    """Something to hang on; let go of at the end."""
    event = threading.Event()
    yield event
    event.set()


def test_a_callback_that_hangs_shows_as_that_and_a_reset_goes_on(stuck):
    with opened(acting(lambda event: stuck.wait(20)), grace=0.05) as session:
        fired(session, "on", "go")
        session.act({"do": "undo"})
        fired(session, "go")
        view = session.view()
        assert view["now"]["busy"]["trigger"] == "go"
        assert view["now"]["busy"]["since_ms"] >= 50
        assert "still being made" in session.act({"do": "fire", "trigger": "on"})["error"]
        assert "still being made" in session.act({"do": "reset_breaker"})["error"]
        session.act({"do": "reset"})
        view = until(session, lambda view: view["now"]["busy"] is None)
        assert view["now"]["state"] == "a"
        fired(session, "on")
        assert until(session, lambda view: view["now"]["state"] == "c")


def test_a_callback_that_comes_back_late_is_shown_then(stuck):
    with opened(acting(lambda event: stuck.wait(20)), grace=0.05) as session:
        fired(session, "go")
        assert session.view()["now"]["busy"]
        stuck.set()
        view = until(session, lambda view: view["now"]["busy"] is None)
        assert view["now"]["state"] == "b"
        assert view["can"]["undo"]


def test_what_an_abandoned_machine_still_does_is_nobodys_business(stuck):
    fsm = acting(lambda event: stuck.wait(20))
    with opened(fsm, grace=0.05) as session:
        fired(session, "go")
        session.act({"do": "reset"})
        worker = session._worker
        stuck.set()
        assert until(session, lambda view: view["now"]["busy"] is None)["now"]["state"] == "a"
        assert session._worker is worker
        assert session.view()["log"]["total"] == 0


def test_a_guard_that_hangs_shows_as_that(stuck):
    definition = load_definition(
        {
            "initial": "a",
            "states": ["a", "b"],
            "transitions": [{"trigger": "go", "source": "a", "dest": "b", "conditions": "slow"}],
        }
    )
    fsm = StateMachine(definition, guards={"slow": lambda event: stuck.wait(20)})
    with opened(fsm, grace=0.05) as session:
        assert session.view()["now"]["busy"]["trigger"] is None
        assert session.view()["page"] == "machine"
        stuck.set()
        view = until(session, lambda view: view["now"]["busy"] is None)
        assert view["triggers"][0]["permitted"]


# ------------------------------------------------------------------------------------------------------ async
def async_door(act):
    return AsyncStateMachine(load_definition(ACTED), actions={"act": act})


async def nothing(event):
    await asyncio.sleep(0)


def test_an_async_machine_outside_of_a_loop_gets_one_of_the_sessions_own():
    with opened(async_door(nothing)) as session:
        fired(session, "go", "on")
        assert session.view()["now"]["state"] == "c"
        session.act({"do": "undo"})
        assert session.view()["now"]["state"] == "b"


async def seen(session, is_so):
    """Waits in the loop until the view is as wanted."""
    async with asyncio.timeout(10):
        while not is_so(view := session.view()):
            await asyncio.sleep(0.005)
    return view


async def in_a_loop():
    fsm = AsyncTaskExecution()
    session = open_session(fsm)
    try:
        await seen(session, lambda view: view["triggers"])
        assert session.act({"do": "fire", "trigger": "begin_execution"}) is None
        await seen(session, lambda view: view["now"]["state"] == "executing")
        assert fsm.state == "executing"
        await fsm.fire("fail")
        await seen(session, lambda view: view["now"]["state"] == "failed")
        session.act({"do": "undo"})
        await seen(session, lambda view: view["now"]["state"] == "executing")
        assert fsm.state == "failed"
    finally:
        session.close()


def test_an_async_machine_is_fired_in_the_loop_in_which_it_lives():
    asyncio.run(in_a_loop())


def test_an_async_callback_that_hangs_shows_as_that_in_the_same_loop():
    async def main():
        never = asyncio.Event()

        async def act(event):
            await never.wait()

        session = open_session(async_door(act), grace=0.05)
        try:
            await seen(session, lambda view: view["triggers"])
            session.act({"do": "fire", "trigger": "go"})
            await seen(session, lambda view: view["now"]["busy"])
            assert "still being made" in session.act({"do": "fire", "trigger": "on"})["error"]
            session.act({"do": "reset"})
            view = await seen(session, lambda view: view["now"]["busy"] is None)
            assert view["now"]["state"] == "a"
        finally:
            session.close()

    asyncio.run(main())


def test_an_async_callback_that_hangs_is_left_alone_by_a_reset():
    never = threading.Event()

    async def act(event):
        await asyncio.sleep(3600)

    with opened(async_door(act), grace=0.05) as session:
        fired(session, "go")
        assert session.view()["now"]["busy"]
        session.act({"do": "reset"})
        view = until(session, lambda view: view["now"]["busy"] is None)
        assert view["now"]["state"] == "a"
    never.set()
