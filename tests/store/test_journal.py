"""Journals in files: what is written when, what happens when it cannot be, and torn files."""

import asyncio
import subprocess
import sys
import threading

import pytest

from orkeon_transitions.breaker import CircuitBreakerPolicy
from orkeon_transitions.errors import CircuitBrokenError, JournalError, OrkeonError
from orkeon_transitions.machines import (
    AsyncHermesAgentFSM,
    AsyncTaskExecution,
    HermesAgentFSM,
    TaskExecution,
    TaskState,
    TaskStatus,
    machine_definition,
)
from orkeon_transitions.runtime import StateMachine
from orkeon_transitions.store import JsonlJournal, replay
from tests.store.journals import lines_of

DEFINITION = machine_definition("task_execution")


# ------------------------------------------------------------------------------------------------- writing
def test_one_line_per_transition_beginning_with_the_seeds_keys(path):
    with JsonlJournal(path) as journal:
        fsm = TaskExecution(machine_id="t1")
        journal.record(fsm)
        fsm.begin_execution()
        fsm.submit_for_validation()
    first, second = lines_of(path)
    assert list(first)[:5] == ["timestamp", "session_id", "trigger", "from_state", "to_state"]
    assert list(first.values())[1:5] == ["t1", "begin_execution", "assigned", "executing"]
    assert (first["v"], first["fact"], first["machine"]) == (1, "transition", "task_execution")
    assert first["definition"] == DEFINITION.content_hash
    assert (second["ordinal"], second["transition_count"]) == (2, 2)
    assert first["timestamp"].endswith("+00:00")


def test_the_line_is_in_the_file_before_the_state_is_visible(path):
    seen = []
    with JsonlJournal(path) as journal:
        fsm = TaskExecution()

        def hook(fact, snapshot):
            journal(fact, snapshot)
            seen.append((fsm.state, lines_of(path)[-1]["to_state"]))

        fsm.attach_commit(hook)
        fsm.begin_execution()
    assert seen == [(TaskState.ASSIGNED, "executing")]


def test_refused_triggers_and_questions_leave_no_line(path):
    with JsonlJournal(path) as journal:
        fsm = TaskExecution()
        journal.record(fsm)
        assert not fsm.try_fire("retry")
        assert fsm.can_fire("cancel")
    assert path.read_bytes() == b""


def test_payloads_stay_out(path):
    with JsonlJournal(path) as journal:
        agent = HermesAgentFSM("s")
        journal.record(agent)
        agent.receive_task(task="the password is xyzzy")
    assert "xyzzy" not in path.read_text()


@pytest.mark.parametrize("name", ["任务 1", "a\nb", "\u2028", "\ud800", 'q"x'])
def test_any_machine_id_is_one_line_and_comes_back(path, name):
    with JsonlJournal(path) as journal:
        fsm = TaskExecution(machine_id=name)
        journal.record(fsm)
        fsm.begin_execution()
    assert path.read_bytes().count(b"\n") == 1
    assert replay(path, DEFINITION, machine_id=name).final_state == "executing"


# case D06, case D07
@pytest.mark.parametrize(
    ("policy", "limit"),
    [
        (CircuitBreakerPolicy(max_transitions=1), "max_transitions"),
        (CircuitBreakerPolicy(state_timeout=5), "state_timeout"),
        (CircuitBreakerPolicy(max_state_visits=1), "max_state_visits"),
        (CircuitBreakerPolicy(state_timeout=0, max_total_duration=5), "max_total_duration"),
        (CircuitBreakerPolicy(meters={"tokens": 10}), "meters"),
        (CircuitBreakerPolicy(max_repeats=1), "max_repeats"),
    ],
)
@pytest.mark.parametrize("degraded", [False, True])
def test_a_trip_says_which_limit_by_how_much_and_from_where(path, policy, limit, degraded):
    now = [0.0]
    policy = policy.model_copy(update={"use_degraded_mode": degraded})
    with JsonlJournal(path) as journal:
        fsm = TaskExecution(policy=policy, clock=lambda: now[0], machine_id="t")
        journal.record(fsm)
        fsm.begin_execution()
        fsm.spend(tokens=11)
        now[0] = 6.0
        for trigger in ("request_tool_call", "tool_call_completed", "request_tool_call"):
            try:
                if not fsm.fire(trigger, tool="search"):
                    break
            except CircuitBrokenError:
                break
    trip = next(line for line in lines_of(path) if line["fact"] == "circuit_broken")
    assert trip["limit"] == limit
    written_down = fsm.circuit_status.broken_reason.replace("with (tool='search')", "with an equal payload")
    assert trip["reason"] == written_down
    assert trip["visits"]["executing"] >= 1
    assert trip["trigger"] in {"request_tool_call", "tool_call_completed"}
    assert trip["policy"]["max_transitions"] == policy.max_transitions
    last = lines_of(path)[-1]
    if degraded:
        assert (last["to_state"], last["degraded"], last["accepted"]) == ("degraded", True, False)
        assert last["from_state"] == trip["state"]
        assert last["reason"]
    else:
        assert last["fact"] == "circuit_broken"
        assert last["state"] == fsm.state
    back = replay(path, DEFINITION)
    assert back.is_circuit_broken
    assert back.broken_reason == written_down
    assert back.final_state == fsm.state
    assert back.histogram == fsm.circuit_status.state_visit_histogram
    assert back.transition_count == fsm.transition_count
    assert back.anomalies == []


def test_a_reset_is_a_line_of_its_own(path):
    with JsonlJournal(path) as journal:
        fsm = TaskExecution(policy=CircuitBreakerPolicy(max_transitions=1))
        journal.record(fsm)
        fsm.begin_execution()
        assert not fsm.try_fire("fail")
        fsm.reset_circuit_breaker()
        fsm.fail()
    assert [line["fact"] for line in lines_of(path)] == [
        "transition",
        "circuit_broken",
        "breaker_reset",
        "transition",
    ]
    back = replay(path, DEFINITION)
    assert (back.final_state, back.transition_count, back.is_circuit_broken) == ("failed", 1, False)
    assert back.histogram == fsm.circuit_status.state_visit_histogram
    assert back.steps[-1].ordinal == 2


# case C01
def test_a_callback_that_fails_after_the_state_marks_its_step(path):
    class Broken(HermesAgentFSM):
        def on_enter_planning(self, event):
            raise ValueError("no model")

    with JsonlJournal(path) as journal:
        agent = Broken("s")
        journal.record(agent)
        with pytest.raises(ValueError, match="no model"):
            agent.receive_task(task="t")
    back = replay(path, machine_definition("hermes_agent"))
    assert back.final_state == agent.state == "planning"
    assert [step.error for step in back.steps] == ["ValueError: no model"]
    assert back.transition_count == agent.transition_count == 1
    assert back.anomalies == []


# case C01
def test_a_callback_that_fails_before_the_state_leaves_no_line(path):
    class Broken(HermesAgentFSM):
        def initialize_context(self, event):
            raise ValueError("no model")

    with JsonlJournal(path) as journal:
        agent = Broken("s")
        journal.record(agent)
        with pytest.raises(ValueError, match="no model"):
            agent.receive_task(task="t")
    assert path.read_bytes() == b""
    assert agent.state == "idle"


# case C03
def test_triggers_fired_inside_of_callbacks_are_in_the_order_of_the_states(path):
    class Eager(HermesAgentFSM):
        def on_enter_planning(self, event):
            self.plan_steps = ["one"]
            self.plan_ready()
            raise ValueError("late")

        def on_enter_executing(self, event):
            self.fire_later("finish_execution", result=1)

    with JsonlJournal(path) as journal:
        agent = Eager("s")
        journal.record(agent)
        with pytest.raises(ValueError, match="late"):
            agent.receive_task(task="t")
    back = replay(path, machine_definition("hermes_agent"))
    assert [(step.from_state, step.to_state) for step in back.steps] == [
        ("idle", "planning"),
        ("planning", "executing"),
        ("executing", "completed"),
    ]
    assert [step.error for step in back.steps] == ["ValueError: late", None, None]
    assert back.anomalies == []


# case C05
def test_an_interruption_is_in_the_journal(path):
    class Slow(AsyncHermesAgentFSM):
        async def on_enter_planning(self, event):
            await asyncio.sleep(60)

    async def run():
        agent = Slow("s")
        journal.record(agent)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(agent.receive_task(task="t"), 0.05)

    with JsonlJournal(path) as journal:
        asyncio.run(run())
    back = replay(path, machine_definition("hermes_agent"))
    assert back.final_state == "planning"
    assert back.steps[0].error == "CancelledError"


# case A07
def test_internal_and_reflexive_are_told_apart(path):
    definition = {
        "name": "m",
        "initial": "a",
        "states": ["a", {"name": "b", "final": True}],
        "transitions": [["stay", "a", None], ["again", "a", "="], ["end", "a", "b"]],
    }
    with JsonlJournal(path) as journal:
        fsm = StateMachine(definition)
        journal.record(fsm)
        fsm.fire("stay")
        fsm.fire("again")
    back = replay(path, fsm.definition)
    assert [step.internal for step in back.steps] == [True, False]
    assert back.histogram == {"a": 2} == fsm.circuit_status.state_visit_histogram
    assert back.transition_count == 2
    assert back.anomalies == []


# --------------------------------------------------------------------------------------- several machines
def test_several_machines_and_threads_share_one_journal(path):
    def work(fsm):
        fsm.begin_execution()
        for _ in range(20):
            fsm.request_tool_call()
            fsm.tool_call_completed()
        fsm.cancel()

    machines = [TaskExecution(machine_id=f"t{i}", max_tool_calls_per_round=20) for i in range(6)]
    with JsonlJournal(path) as journal:
        for fsm in machines:
            journal.record(fsm)
        threads = [threading.Thread(target=work, args=(fsm,)) for fsm in machines]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    for fsm in machines:
        back = replay(path, DEFINITION, machine_id=fsm.machine_id)
        assert back.final_state == "cancelled"
        assert len(back.steps) == 42
        assert back.anomalies == []
    with pytest.raises(JournalError, match=r"'t0'.*'t5'"):
        replay(path, DEFINITION)


def test_machines_of_different_kinds_may_share_a_name(path):
    with JsonlJournal(path) as journal:
        status, execution = TaskStatus(machine_id="collect"), TaskExecution(machine_id="collect")
        journal.record(status)
        journal.record(execution)
        status.start()
        execution.begin_execution()
    assert replay(path, DEFINITION).final_state == "executing"
    assert replay(path, machine_definition("task_status"), machine_id="collect").final_state == "in_progress"


def test_two_processes_append_whole_lines_to_one_file(path):
    script = (
        "import sys\n"
        "from orkeon_transitions.machines import AgentStatus\n"
        "from orkeon_transitions.store import JsonlJournal\n"
        "with JsonlJournal(sys.argv[1]) as journal:\n"
        "    agent = AgentStatus(machine_id=sys.argv[2])\n"
        "    journal.record(agent)\n"
        "    agent.initialize()\n"
        "    for _ in range(100):\n"
        "        agent.assign_task(), agent.complete_task()\n"
    )
    workers = [subprocess.Popen([sys.executable, "-c", script, path, name]) for name in ("one", "two")]
    assert [worker.wait(60) for worker in workers] == [0, 0]
    for name in ("one", "two"):
        back = replay(path, machine_definition("agent_status"), machine_id=name)
        assert (len(back.steps), back.anomalies) == (201, [])


def test_async_machines_are_recorded_too(path):
    async def run():
        fsm = AsyncTaskExecution(machine_id="t")
        journal.record(fsm)
        await fsm.begin_execution()
        await fsm.fail()

    with JsonlJournal(path) as journal:
        asyncio.run(run())
    assert replay(path, DEFINITION).final_state == "failed"


def test_a_machine_has_one_journal(path, tmp_path):
    with JsonlJournal(path) as journal, JsonlJournal(tmp_path / "other.jsonl") as other:
        fsm = TaskExecution()
        journal.record(fsm)
        with pytest.raises(OrkeonError):
            other.record(fsm)
        fsm.begin_execution()
    assert len(lines_of(path)) == 1


# ------------------------------------------------------------------------------------ restored machines
# case E03
def test_a_restored_machine_says_where_it_is(path):
    fsm = TaskExecution(machine_id="t")
    fsm.begin_execution()
    fsm.request_tool_call()
    restored = TaskExecution.restore(fsm.snapshot())
    with JsonlJournal(path) as journal:
        journal.record(restored)
        assert replay(path, DEFINITION).final_state == "tool_calling"
        restored.tool_call_completed()
    back = replay(path, DEFINITION)
    assert back.final_state == restored.state
    assert back.histogram == restored.circuit_status.state_visit_histogram
    assert back.transition_count == restored.transition_count == 3
    assert [step.ordinal for step in back.steps] == [3]
    assert back.anomalies == []


# case E03
def test_moves_made_without_the_journal_are_a_gap(path):
    with JsonlJournal(path) as journal:
        fsm = TaskExecution(machine_id="t")
        journal.record(fsm)
        fsm.begin_execution()
    unrecorded = TaskExecution.restore(fsm.snapshot())
    unrecorded.fail()
    with JsonlJournal(path) as journal:
        journal.record(unrecorded)
        unrecorded.retry()
    back = replay(path, DEFINITION)
    assert back.final_state == "executing"
    assert [(anomaly.code, anomaly.line) for anomaly in back.anomalies] == [("gap", 2)]


def test_a_broken_machine_that_joins_is_broken_in_the_replay(path):
    fsm = TaskExecution(policy=CircuitBreakerPolicy(max_transitions=1))
    fsm.begin_execution()
    assert not fsm.try_fire("fail")
    with JsonlJournal(path) as journal:
        journal.record(fsm)
    back = replay(path, DEFINITION)
    assert back.is_circuit_broken
    assert back.broken_reason == fsm.circuit_status.broken_reason
