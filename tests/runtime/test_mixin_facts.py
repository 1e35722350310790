"""The measured facts about hooks in `transitions` 0.9.3 that the mixin must get right, each on both sides:
what the package does, and that the breaker is sound all the same.

A long file, so that all that was measured stands in one place.
"""

import asyncio
import sys
import threading
import time

import pytest
from transitions import Machine, MachineError
from transitions.extensions.asyncio import AsyncMachine

from orkeon_transitions.errors import CircuitBrokenError
from tests.runtime.mixin_kinds import ASYNC, KINDS, LOCKED, SYNC, Model, fire, machine

every_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
sync_kind = pytest.mark.parametrize("kind", SYNC, ids=lambda kind: kind.__name__)
async_kind = pytest.mark.parametrize("kind", ASYNC, ids=lambda kind: kind.__name__)


@every_kind
def test_before_state_change_does_not_run_for_an_invalid_trigger(kind):
    heard = []
    rows = [["next", "a", "b"], ["back", "b", "a"]]
    _, model = machine(
        kind,
        limits={"max_transitions": 1},
        transitions=rows,
        before_state_change=lambda: heard.append("before"),
    )
    with pytest.raises(MachineError):
        fire(model.back)
    assert heard == []
    fire(model.next)
    with pytest.raises(CircuitBrokenError):  # invalid here, and still judged
        fire(model.next)
    assert heard == ["before"]


@every_kind
def test_may_runs_prepare_and_conditions_and_neither_counts_nor_trips(kind):
    heard = []
    rows = [
        {
            "trigger": "next",
            "source": "*",
            "dest": "b",
            "prepare": lambda: heard.append("prepare"),
            "conditions": lambda: heard.append("condition") or True,
            "before": lambda: heard.append("before"),
        }
    ]
    _, model = machine(kind, limits={"max_transitions": 1, "max_state_visits": 1}, transitions=rows)
    for _ in range(3):
        assert fire(model.may_next) is True
    assert heard == ["prepare", "condition"] * 3
    assert model.circuit_status.total_transitions == 0
    fire(model.next)
    assert fire(model.may_next) is True
    assert not model.circuit_status.is_broken


@every_kind
@pytest.mark.parametrize("limit", ["max_transitions", "max_state_visits"])
def test_on_exception_swallows_an_error_but_no_trip(kind, limit):
    heard = []
    rows = [
        {"trigger": "next", "source": "*", "dest": "b"},
        {"trigger": "fail", "source": "*", "dest": "done", "before": lambda: 1 / 0},
    ]
    _, model = machine(
        kind, limits={limit: 1}, transitions=rows, on_exception=lambda: heard.append("swallowed")
    )
    fire(model.fail)
    assert heard == ["swallowed"]
    fire(model.next)
    with pytest.raises(CircuitBrokenError):
        fire(model.next)
    assert heard == ["swallowed"]


@async_kind
def test_no_callback_of_a_list_runs_though_async_machines_gather_them(kind):
    heard = []

    async def one():
        heard.append("one")

    async def two():
        heard.append("two")

    rows = [{"trigger": "next", "source": "*", "dest": "b", "before": [one, two]}]
    _, model = machine(kind, limits={"max_state_visits": 1}, transitions=rows, before_state_change=[one, two])
    fire(model.next)
    assert sorted(heard) == ["one", "one", "two", "two"]
    heard.clear()
    with pytest.raises(CircuitBrokenError):
        fire(model.next)
    assert heard == []


@async_kind
@pytest.mark.parametrize("limits", [{"max_transitions": 1}, {"max_state_visits": 1}])
def test_a_trip_does_not_cancel_the_running_callback_of_the_model(kind, limits):  # case C05
    async def main():
        release, ended = asyncio.Event(), []

        async def working():
            await release.wait()
            ended.append("worked")

        rows = [{"trigger": "next", "source": "*", "dest": "b", "after": working}]
        _, model = machine(kind, limits=limits, transitions=rows)
        first = asyncio.create_task(model.next())
        await asyncio.sleep(0)
        while model.state != "b":
            await asyncio.sleep(0)
        with pytest.raises(CircuitBrokenError):
            await model.next()
        release.set()
        assert await first is True
        assert ended == ["worked"]

    asyncio.run(main())


@every_kind
@pytest.mark.parametrize("stage", ["before", "on_exit"])
def test_a_trigger_inside_before_cannot_overrun_the_limit(kind, stage):  # case C03
    """`transitions` lets it move the model, and the transition under way then overwrites that."""
    outcome = []

    def called():
        if not outcome:
            outcome.append(None)
            try:
                outcome.append(model.to_done())
            except CircuitBrokenError as error:
                outcome.append(error)

    async def awaited():
        if not outcome:
            outcome.append(None)
            try:
                outcome.append(await model.to_done())
            except CircuitBrokenError as error:
                outcome.append(error)

    callback = awaited if kind in ASYNC else called
    row, state = {"trigger": "next", "source": "a", "dest": "b"}, {"name": "a"}
    (row if stage == "before" else state)[stage] = callback
    states, rows = [state, "b", "done", "degraded"], [row]
    options = {"states": states, "transitions": rows, "auto_transitions": True}
    _, model = machine(kind, limits={"max_transitions": 2}, **options)
    fire(model.next)
    assert outcome == [None, True]
    assert model.state == "b"
    assert model.circuit_status.total_transitions == 2

    outcome.clear()
    _, model = machine(
        kind,
        limits={"max_transitions": 1, "use_degraded_mode": True},
        degraded_state="degraded",
        **options,
    )
    assert fire(model.next) is True
    assert isinstance(outcome[1], CircuitBrokenError)
    assert model.state == "b"
    assert model.circuit_status.total_transitions == 1
    assert model.circuit_status.is_broken


@every_kind
def test_a_trigger_inside_before_counts_the_visit_that_is_under_way(kind):
    outcome = []

    def called():
        if not outcome:
            outcome.append(None)
            model.next()

    async def awaited():
        if not outcome:
            outcome.append(None)
            await model.next()

    rows = [{"trigger": "next", "source": "*", "dest": "b", "before": awaited if kind in ASYNC else called}]
    _, model = machine(kind, limits={"max_state_visits": 1}, transitions=rows)
    with pytest.raises(CircuitBrokenError, match="Cycle detected"):
        fire(model.next)
    assert model.state == "a"
    assert model.circuit_status.total_transitions == 0


@every_kind
def test_an_internal_transition_under_way_is_counted_as_well(kind):
    outcome = []

    def called():
        outcome.append(model.next())

    async def awaited():
        outcome.append(await model.next())

    rows = [
        {"trigger": "tick", "source": "a", "dest": None, "before": awaited if kind in ASYNC else called},
        ["next", "*", "b"],
    ]
    limits = {"max_transitions": 2, "max_state_visits": 1}
    _, model = machine(kind, limits=limits, transitions=rows)
    assert fire(model.tick) is True
    assert (outcome, model.state) == ([True], "b")
    _, model = machine(kind, limits={**limits, "max_transitions": 1}, transitions=rows)
    with pytest.raises(CircuitBrokenError):
        fire(model.tick)
    assert model.state == "a"


@every_kind
def test_what_was_promised_and_not_made_is_given_back(kind):
    fails = [True]

    def before():
        if fails:
            fails.clear()
            raise ValueError("first")

    rows = [{"trigger": "next", "source": "*", "dest": "b", "before": before}]
    _, model = machine(kind, limits={"max_transitions": 1, "max_state_visits": 1}, transitions=rows)
    with pytest.raises(ValueError, match="first"):
        fire(model.next)
    assert fire(model.next) is True


@every_kind
def test_a_trigger_inside_a_condition_is_judged_before_the_row(kind):
    entered = []

    def called():
        if not entered:
            entered.append(None)
            model.end()
        return True

    async def awaited():
        if not entered:
            entered.append(None)
            await model.end()
        return True

    rows = [
        {"trigger": "next", "source": "*", "dest": "b", "conditions": awaited if kind in ASYNC else called},
        ["end", "*", "done"],
    ]
    _, model = machine(kind, limits={"max_transitions": 1}, transitions=rows)
    with pytest.raises(CircuitBrokenError):
        fire(model.next)
    assert model.state == "done"
    assert model.circuit_status.total_transitions == 1


@every_kind
def test_a_trip_inside_a_condition_stops_the_row(kind):
    entered = []

    def called():
        if not entered:
            entered.append(None)
            with pytest.raises(CircuitBrokenError):
                model.again()
        return True

    async def awaited():
        if not entered:
            entered.append(None)
            with pytest.raises(CircuitBrokenError):
                await model.again()
        return True

    rows = [
        {"trigger": "next", "source": "*", "dest": "b", "conditions": awaited if kind in ASYNC else called},
        ["again", "*", "="],
    ]
    _, model = machine(kind, limits={"max_state_visits": 1}, transitions=rows)
    with pytest.raises(CircuitBrokenError):
        fire(model.next)
    assert model.state == "a"


@every_kind
def test_a_queued_trigger_is_judged_when_it_is_made(kind):
    answers = []

    def called():
        answers.append(model.next())

    async def awaited():
        answers.append(await model.next())

    rows = [
        {"trigger": "next", "source": "a", "dest": "b", "after": awaited if kind in ASYNC else called},
        ["next", "b", "a"],
    ]
    _, model = machine(kind, limits={"max_transitions": 1}, transitions=rows, queued=True)
    with pytest.raises(CircuitBrokenError):
        fire(model.next)
    assert answers == [True]  # though nothing moved
    assert model.state == "b"


@async_kind
def test_a_queue_of_its_own_for_each_model(kind):
    made, first = machine(kind, limits={"max_transitions": 1}, queued="model")
    second = Model()
    made.add_model(second)

    async def main():
        await asyncio.gather(first.next(), second.next())
        for model in (first, second):
            with pytest.raises(CircuitBrokenError):
                await model.next()

    asyncio.run(main())


@pytest.mark.parametrize("kind", LOCKED, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("degraded", [False, True])
def test_threads_that_race_for_the_last_slot(kind, degraded):
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for _ in range(15):
            race(kind, degraded)
    finally:
        sys.setswitchinterval(interval)


def race(kind, degraded):
    heard, made, broken = [], [], []
    rows = [{"trigger": "next", "source": "*", "dest": "b", "before": lambda: time.sleep(0.0005)}]
    _, model = machine(
        kind,
        limits={"max_transitions": 1, "use_degraded_mode": degraded},
        degraded_state="degraded",
        transitions=rows,
        on_circuit_broken=heard.append,
    )
    start = threading.Barrier(6)

    def attempt():
        start.wait()
        try:
            made.append(model.next())
        except CircuitBrokenError as error:
            broken.append(error)

    threads = [threading.Thread(target=attempt) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert made.count(True) == 1
    assert len(heard) == 1
    assert len(made) + len(broken) == 6
    assert model.circuit_status.total_transitions == 1 + degraded
    assert model.state == ("degraded" if degraded else "b")


@pytest.mark.parametrize("kind", LOCKED, ids=lambda kind: kind.__name__)
def test_the_status_can_be_read_while_another_thread_holds_the_lock(kind):  # case C07
    entered, release = threading.Event(), threading.Event()

    def slow():
        entered.set()
        release.wait(20)

    rows = [{"trigger": "next", "source": "*", "dest": "b", "after": slow}]
    _, model = machine(kind, transitions=rows)
    worker = threading.Thread(target=model.next)
    worker.start()
    try:
        assert entered.wait(20)
        reader = threading.Thread(target=lambda: model.circuit_status)
        reader.start()
        reader.join(5)
        assert not reader.is_alive()
        assert model.circuit_status.total_transitions == 1
    finally:
        release.set()
        worker.join(20)


@async_kind
def test_tasks_that_race_for_the_last_slot(kind):
    async def main():
        heard, outcomes = [], []

        async def attempt():
            try:
                outcomes.append(await model.next())
            except CircuitBrokenError as error:
                outcomes.append(error)

        async def slow():
            await asyncio.sleep(0.001)

        rows = [{"trigger": "next", "source": "*", "dest": "b", "before": slow, "conditions": passing}]
        _, model = machine(
            kind, limits={"max_transitions": 1}, transitions=rows, on_circuit_broken=heard.append
        )
        await asyncio.gather(*(attempt() for _ in range(6)))
        assert outcomes.count(True) <= 1
        assert model.circuit_status.total_transitions == 1
        with pytest.raises(CircuitBrokenError):
            await model.next()
        assert len(heard) == 1

    async def passing():
        await asyncio.sleep(0)
        return True

    asyncio.run(main())


@sync_kind
def test_a_self_model_is_guarded(kind):
    made, _ = machine(kind, "self", limits={"max_transitions": 1})
    made.next()
    with pytest.raises(CircuitBrokenError):
        made.next()
    assert made.circuit_status.is_broken
    made.reset_circuit_breaker()
    assert made.next() is True


@pytest.mark.parametrize("kind", [Machine, AsyncMachine], ids=lambda kind: kind.__name__)
def test_two_frames_more_for_each_trigger(kind):
    """Callbacks that fire triggers may nest nearly as deep as on the stock class."""

    def depth(of):
        frame, found = sys._getframe(), 0
        while frame is not None and frame.f_code is not of.__code__:
            frame, found = frame.f_back, found + 1
        return found

    found = []

    def measured(model):
        def called():
            found.append(depth(outer))

        async def awaited():
            found.append(depth(outer))

        return awaited if kind in ASYNC else called

    def outer(model):
        return fire(model.next)

    stock = Model()
    kind(
        stock,
        states=["a", {"name": "b", "on_enter": measured(stock)}],
        initial="a",
        transitions=[["next", "a", "b"]],
    )
    _, model = machine(
        kind, states=["a", {"name": "b", "on_enter": measured(None)}], transitions=[["next", "a", "b"]]
    )
    outer(stock)
    outer(model)
    assert found[1] - found[0] <= 2
