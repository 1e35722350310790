"""What comes back of a machine: replay equals the machine, and a machine that is loaded equals it as well."""

import contextlib
import random

import pytest

from orkeon_transitions.breaker import CircuitBreakerPolicy
from orkeon_transitions.errors import CircuitBrokenError, OrkeonError
from orkeon_transitions.machines import (
    AsyncTaskExecution,
    HermesAgentFSM,
    TaskExecution,
    TaskState,
    TaskStatus,
)
from orkeon_transitions.store.fold import fold
from tests.conformance.worker import WORK, AsyncWork, Work, at_rest

KINDS = pytest.mark.parametrize("kind", [Work, AsyncWork])
SEEDS = pytest.mark.parametrize("seed", range(6))
TRIGGERS = [*WORK.triggers, "no_such_trigger"]
POLICIES = (
    None,
    CircuitBreakerPolicy(max_transitions=9),
    CircuitBreakerPolicy(max_state_visits=4, use_degraded_mode=True),
    CircuitBreakerPolicy(max_repeats=2, max_transitions=0, max_state_visits=0),
    CircuitBreakerPolicy(meters={"tokens": 40}),
)


def wander(fsm, run, chance, steps=30):
    """Fires at random, whatever comes of it; yields after each step."""
    for _ in range(steps):
        trigger = chance.choice(TRIGGERS)
        with contextlib.suppress(LookupError):
            run(fsm.try_fire(trigger, good=chance.random() < 0.2))
        if chance.random() < 0.2:
            fsm.spend(tokens=chance.randrange(10))
        if fsm.is_circuit_broken and chance.random() < 0.5:
            fsm.reset_circuit_breaker()
        yield trigger


@SEEDS
@KINDS
def test_replay_equals_the_machine(place, kind, run, seed):
    chance = random.Random(seed)
    fsm = place.create(kind, WORK, machine_id="w", policy=chance.choice(POLICIES))
    for _ in wander(fsm, run, chance):
        run(fsm.try_fire("no_such_trigger"))  # what an async machine was asked for later is made first
        back = fold(place.records("w"), WORK)
        status = fsm.circuit_status
        assert back.final_state == fsm.state
        assert back.transition_count == fsm.transition_count
        assert back.is_circuit_broken == fsm.is_circuit_broken
        assert back.histogram == status.state_visit_histogram
        assert back.anomalies == []


@SEEDS
@KINDS
def test_a_machine_that_is_loaded_equals_the_machine_as_it_last_moved(remembering, kind, run, seed):
    chance = random.Random(seed)
    fsm = remembering.create(kind, WORK, machine_id="w", policy=chance.choice(POLICIES))
    for _ in wander(fsm, run, chance):
        run(fsm.try_fire("no_such_trigger"))
        if not remembering.records("w"):
            continue
        again = at_rest(remembering.load(kind, WORK, "w").snapshot())
        now = at_rest(fsm.snapshot())
        # What was spent since is not known yet: spending is no fact.
        again.pop("spent"), now.pop("spent")
        assert again == now


@KINDS
def test_a_machine_that_is_loaded_goes_on_as_if_nothing_had_been(remembering, kind, run):
    now = [100.0]
    policy = CircuitBreakerPolicy(max_transitions=5, state_timeout=60, max_total_duration=300)
    fsm = remembering.create(kind, WORK, machine_id="w", policy=policy, clock=lambda: now[0])
    run(fsm.fire("begin"))
    now[0] += 50
    run(fsm.fire("progress"))
    opened = remembering.reopened()
    now[0] += 10_000  # downtime does not count
    again = opened.load(kind, WORK, "w", clock=lambda: now[0])
    status = again.circuit_status
    assert again.policy == policy
    assert status.total_transitions == 2
    assert status.time_in_current_state.total_seconds() == pytest.approx(50, abs=0.01)
    assert status.total_elapsed.total_seconds() == pytest.approx(50, abs=0.01)
    now[0] += 11  # the rest of the minute is over
    with pytest.raises(CircuitBrokenError, match="State timeout exceeded"):
        run(again.fire("again"))
    assert [(r.fact, r.ordinal) for r in opened.records("w")] == [
        ("transition", 1),
        ("transition", 2),
        ("circuit_broken", 2),
    ]
    opened.close()


@KINDS
def test_a_broken_machine_comes_back_broken(remembering, kind, run):
    fsm = remembering.create(kind, WORK, machine_id="w", policy=CircuitBreakerPolicy(max_transitions=1))
    run(fsm.fire("begin"))
    assert not run(fsm.try_fire("pause"))
    opened = remembering.reopened()
    again = opened.load(kind, WORK, "w")
    assert again.is_circuit_broken
    assert again.circuit_status.broken_reason == fsm.circuit_status.broken_reason
    with pytest.raises(CircuitBrokenError):
        run(again.fire("pause"))
    again.reset_circuit_breaker()
    run(again.fire("pause"))
    assert [r.fact for r in opened.records("w")] == [
        "transition",
        "circuit_broken",
        "breaker_reset",
        "transition",
    ]
    opened.close()


@KINDS
def test_repetitions_are_counted_on(remembering, kind, run):
    policy = CircuitBreakerPolicy(max_repeats=3)
    fsm = remembering.create(kind, WORK, machine_id="w", policy=policy)
    run(fsm.fire("begin"))
    for _ in range(3):
        run(fsm.fire("progress", query="same"))
    opened = remembering.reopened()
    again = opened.load(kind, WORK, "w")
    with pytest.raises(CircuitBrokenError, match="Repetition"):
        run(again.fire("progress", query="same"))
    opened.close()


@KINDS
def test_fields_come_back(remembering, kind, run):
    fsm = remembering.create(kind, WORK, machine_id="w")
    fsm.title = "résumé 任务 \N{ROBOT FACE} \\u0000 'x' \"y\""
    fsm.parts = {"b", "a"}
    run(fsm.fire("begin"))
    opened = remembering.reopened()
    again = opened.load(kind, WORK, "w")
    assert (again.title, again.begun, again.parts) == (fsm.title, 1, {"a", "b"})
    opened.close()


def test_the_shipped_machines_come_back_with_their_counters(remembering):
    task = remembering.create(TaskExecution, machine_id="t", max_tool_calls_per_round=2)
    task.begin_execution()
    task.request_tool_call(tool="search")
    agent = remembering.create(HermesAgentFSM, "session")
    agent.register_tool("search")
    agent.receive_task(task="compare")
    status = remembering.create(TaskStatus, machine_id="s")
    status.fire("start")
    opened = remembering.reopened()
    task = opened.load(TaskExecution, "t")
    assert (task.state, task.tool_call_count) == (TaskState.TOOL_CALLING, 1)
    task.tool_call_completed()
    task.request_tool_call(tool="other")
    task.tool_call_completed()
    assert not task.try_fire("request_tool_call", tool="third")
    agent = opened.load(HermesAgentFSM, "session")
    assert (agent.session_id, agent.task_description) == ("session", "compare")
    assert agent.registered_tools == {"search"}
    assert opened.load(TaskStatus, "s").state == "in_progress"
    opened.close()


def test_a_plain_machine_may_come_back_as_an_async_one(remembering, run):
    task = remembering.create(TaskExecution, machine_id="t")
    task.begin_execution()
    opened = remembering.reopened()
    again = opened.load(AsyncTaskExecution, "t")
    run(again.submit_for_validation())
    assert [record.trigger for record in opened.records("t")] == ["begin_execution", "submit_for_validation"]
    opened.close()


def test_a_machine_that_has_ended_comes_back_ended(remembering):
    fsm = remembering.create(Work, WORK, machine_id="w")
    fsm.fire("stop")
    opened = remembering.reopened()
    again = opened.load(Work, WORK, "w")
    assert again.is_terminal
    with pytest.raises(OrkeonError, match="has ended"):
        again.fire("begin")
    opened.close()
