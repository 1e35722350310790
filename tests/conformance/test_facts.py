"""Which facts a place gets, when, and in which order: the same in all of them."""

import asyncio
import threading

import pytest

from orkeon_transitions.breaker import CircuitBreakerPolicy
from orkeon_transitions.errors import CircuitBrokenError, GuardRejectedError, InvalidTransitionError
from orkeon_transitions.machines import HermesAgentFSM
from tests.conformance.worker import WORK, AsyncWork, Work, told

KINDS = pytest.mark.parametrize("kind", [Work, AsyncWork])


@KINDS
def test_every_fact_is_there_in_order(place, kind, run):
    fsm = place.create(kind, WORK, machine_id="w")
    for trigger in ("begin", "progress", "again", "pause", "begin"):
        assert run(fsm.fire(trigger))
    assert run(fsm.fire("finish", good=True))
    assert told(place.records("w")) == [
        ("transition", "begin", "waiting", "working", 1, 1, False, False),
        ("transition", "progress", "working", "working", 2, 2, False, False),
        ("transition", "again", "working", "working", 3, 3, False, False),
        ("transition", "pause", "working", "waiting", 4, 4, False, False),
        ("transition", "begin", "waiting", "working", 5, 5, False, False),
        ("transition", "finish", "working", "done", 6, 6, False, False),
    ]
    # case B04: both kept the state, one without leaving it
    assert [r.internal for r in place.records("w")] == [False, True, False, False, False, False]
    assert {(r.machine_id, r.machine, r.definition) for r in place.records("w")} == {
        ("w", "work", WORK.content_hash)
    }


@KINDS
def test_a_fact_is_there_before_the_new_state_is_visible(place, kind, run):
    seen = []

    def watched(moment):
        seen.append((moment, fsm.state, [record.to_state for record in place.records("w")]))

    fsm = place.create(kind, WORK, machine_id="w", watched=watched)
    fsm.on_transition(lambda result: watched("told"))
    run(fsm.fire("begin"))
    assert seen == [
        ("left", "waiting", []),
        ("entered", "working", ["working"]),
        ("told", "working", ["working"]),
    ]


@KINDS
def test_nobody_sees_a_state_that_is_not_kept(place, kind, run):
    """Whoever looks, from wherever: the place is never behind the machine."""
    fsm = place.create(kind, WORK, machine_id="w")
    behind, over = [], threading.Event()

    def look():
        while not over.is_set():
            count = fsm.transition_count
            kept = len(place.records("w"))
            if kept < count:
                behind.append((count, kept))

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        for _ in range(20):
            run(fsm.fire("begin"))
            run(fsm.fire("pause"))
    finally:
        over.set()
        watcher.join()
    assert behind == []
    assert len(place.records("w")) == 40


@KINDS
def test_what_did_not_happen_leaves_no_record(place, kind, run):
    fsm = place.create(kind, WORK, machine_id="w")
    with pytest.raises(InvalidTransitionError):
        run(fsm.fire("pause"))
    assert not run(fsm.try_fire("again"))
    run(fsm.fire("begin"))
    with pytest.raises(GuardRejectedError):
        run(fsm.fire("finish"))
    with pytest.raises(LookupError):
        run(fsm.fire("balk"))
    assert run(fsm.can_fire("pause"))
    fsm.spend(tokens=3)
    assert [record.trigger for record in place.records("w")] == ["begin"]


@KINDS
def test_a_callback_that_fails_afterwards_is_a_fact_of_its_own(place, kind, run):
    fsm = place.create(kind, WORK, machine_id="w")
    run(fsm.fire("begin"))
    with pytest.raises(LookupError):
        run(fsm.fire("stumble"))
    run(fsm.fire("begin"))
    records = place.records("w")
    assert [(r.fact, r.trigger, r.to_state, r.ordinal) for r in records] == [
        ("transition", "begin", "working", 1),
        ("transition", "stumble", "waiting", 2),
        ("transition_failed", None, "waiting", 2),
        ("transition", "begin", "working", 3),
    ]
    assert records[2].error == "LookupError: the floor is gone"


@KINDS
def test_what_is_fired_inside_comes_after_what_it_is_inside_of(place, kind, run):
    fsm = place.create(kind, WORK, machine_id="w")
    run(fsm.fire("rush"))
    assert [(r.trigger, r.ordinal) for r in place.records("w")] == [
        ("rush", 1),
        ("progress", 2),
        ("pause", 3),
    ]
    assert fsm.state == "waiting"


@KINDS
def test_a_trip_and_a_reset_are_facts(place, kind, run):
    fsm = place.create(kind, WORK, machine_id="w", policy=CircuitBreakerPolicy(max_transitions=2))
    run(fsm.fire("begin"))
    run(fsm.fire("pause"))
    for _ in range(3):
        with pytest.raises(CircuitBrokenError):
            run(fsm.fire("begin"))
    fsm.reset_circuit_breaker()
    run(fsm.fire("begin"))
    records = place.records("w")
    assert told(records) == [
        ("transition", "begin", "waiting", "working", 1, 1, False, False),
        ("transition", "pause", "working", "waiting", 2, 2, False, False),
        ("circuit_broken", "begin", "waiting", "waiting", 2, 2, None, True),
        ("breaker_reset", None, "waiting", "waiting", 2, 0, None, False),
        ("transition", "begin", "waiting", "working", 3, 1, False, False),
    ]
    assert records[2].reason.startswith("Max transitions exceeded (2/2)")


@KINDS
def test_the_way_into_the_degraded_state_is_a_trip_and_a_transition(place, kind, run):
    policy = CircuitBreakerPolicy(max_state_visits=1, use_degraded_mode=True)
    fsm = place.create(kind, WORK, machine_id="w", policy=policy)
    run(fsm.fire("begin"))
    assert not run(fsm.fire("pause"))
    assert told(place.records("w")) == [
        ("transition", "begin", "waiting", "working", 1, 1, False, False),
        ("circuit_broken", "pause", "working", "working", 1, 1, None, True),
        ("transition", "pause", "working", "spent", 2, 2, True, True),
    ]


@KINDS
def test_a_broken_machine_can_be_stopped(place, kind, run):
    fsm = place.create(kind, WORK, machine_id="w", policy=CircuitBreakerPolicy(max_transitions=1))
    run(fsm.fire("begin"))
    assert not run(fsm.try_fire("pause"))
    run(fsm.fire("stop"))
    assert [(r.fact, r.to_state) for r in place.records("w")] == [
        ("transition", "working"),
        ("circuit_broken", "working"),
        ("transition", "done"),
    ]


def test_a_clock_that_runs_out_by_itself_is_a_fact_without_a_trigger(place):
    async def main():
        fsm = place.create(
            AsyncWork,
            WORK,
            machine_id="w",
            policy=CircuitBreakerPolicy(state_timeout=0.05, use_degraded_mode=True),
        )
        await fsm.fire("begin")
        ended = asyncio.Event()
        fsm.on_transition(lambda result: ended.set())
        await asyncio.wait_for(ended.wait(), 30)

    asyncio.run(main())
    assert [(r.fact, r.trigger, r.to_state) for r in place.records("w")] == [
        ("transition", "begin", "working"),
        ("circuit_broken", None, "working"),
        ("transition", None, "spent"),
    ]


def test_a_cancelled_caller_never_leaves_machine_and_place_apart(place):
    async def main():
        apart = []
        for number in range(20):
            name = f"w{number}"
            fsm = place.create(AsyncWork, WORK, machine_id=name)
            call = asyncio.create_task(fsm.fire("begin"))
            for _ in range(number % 10):
                await asyncio.sleep(0)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
                raise asyncio.CancelledError  # it was quicker than the cancellation
            # A cancellation that comes after the commit cuts the callbacks short: that is one more fact.
            kept = [record.to_state for record in place.records(name) if record.fact == "transition"]
            if (fsm.state == "working") != (kept == ["working"]):
                apart.append((number, fsm.state, kept))
        assert apart == []

    asyncio.run(main())


def test_threads_that_share_a_machine_leave_one_order(place):
    fsm = place.create(Work, WORK, machine_id="w")
    fsm.fire("begin")

    def push():
        for _ in range(10):
            fsm.fire("again")

    threads = [threading.Thread(target=push) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [record.ordinal for record in place.records("w")] == list(range(1, 42))


def test_tasks_that_share_a_machine_leave_one_order(place):
    async def main():
        fsm = place.create(AsyncWork, WORK, machine_id="w")
        await fsm.fire("begin")
        await asyncio.gather(*(fsm.fire("again") for _ in range(20)))

    asyncio.run(main())
    assert [record.ordinal for record in place.records("w")] == list(range(1, 22))


def test_machines_do_not_mix(place):
    names = ["a", "A", "a ", "ä", "任务 1", "'; DROP TABLE machines; --", "%", "_", "x" * 200]
    machines = [place.create(Work, WORK, machine_id=name) for name in names]
    for turn, fsm in enumerate(machines):
        fsm.fire("begin")
        for _ in range(turn):
            fsm.fire("again")
    for turn, name in enumerate(names):
        assert [record.ordinal for record in place.records(name)] == list(range(1, turn + 2)), name


def test_payloads_stay_out(place):
    agent = place.create(HermesAgentFSM, "s")
    agent.register_tool("web_search")
    agent.receive_task(task="compare")
    agent.plan_steps = ["one"]
    agent.plan_ready()
    agent.call_tool(tool_name="web_search", password="xyzzy")
    assert [record.trigger for record in place.records("s")] == ["receive_task", "plan_ready", "call_tool"]
    assert "xyzzy" not in repr(place.records("s"))


def test_stamps_are_aware_and_never_go_back(place):
    fsm = place.create(Work, WORK, machine_id="w")
    for _ in range(3):
        fsm.fire("begin")
        fsm.fire("pause")
    stamps = [record.timestamp for record in place.records("w")]
    assert stamps == sorted(stamps)
    assert all(stamp.utcoffset() is not None for stamp in stamps)
