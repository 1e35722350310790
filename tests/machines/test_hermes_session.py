"""The session of seed 004 over time: budgets, the clock of `waiting`, logs, restarts."""

import asyncio
import json
import logging
from datetime import UTC, datetime

import pytest

from orkeon_transitions.breaker import CircuitBreakerPolicy
from orkeon_transitions.errors import CircuitBrokenError, InvalidTransitionError
from orkeon_transitions.machines import (
    AgentState,
    AsyncHermesAgentFSM,
    HermesAgentFSM,
    machine_definition,
)
from orkeon_transitions.store import replay
from tests.machines.agents import agent_in
from tests.runtime.samples import Clock


# -------------------------------------------------------------------------------------------------- budgets
def test_every_task_begins_a_new_budget():
    agent = HermesAgentFSM("s")
    for number in range(200):
        agent.receive_task(task=f"task {number}")
        assert agent.transition_count == 1
        agent.plan_steps = ["one"]
        agent.plan_ready()
        agent.finish_execution(result=number)
        agent.reset()
    assert not agent.is_circuit_broken
    assert agent.get_state_summary()["total_transitions"] == 800


def test_a_refused_task_begins_no_budget():
    agent = HermesAgentFSM("s")
    agent.receive_task(task="t")
    agent.planning_failed()
    agent.abort()
    assert not agent.try_fire("receive_task", task="")
    assert agent.transition_count == 3


def test_the_default_policy_is_permissive():
    assert HermesAgentFSM("s").policy == CircuitBreakerPolicy.permissive()


def test_the_same_tool_call_over_and_over_is_a_repetition():
    agent = agent_in("executing", policy=CircuitBreakerPolicy(max_repeats=2))
    for _ in range(2):
        agent.call_tool(tool_name="web_search", query="q")
        agent.tool_result_received(result=1)
    with pytest.raises(CircuitBrokenError, match="Repetition"):
        agent.call_tool(tool_name="web_search", query="q")


# -------------------------------------------------------------------------------------------------- the wait
def test_an_overdue_wait_times_out_at_the_next_trigger():
    clock = Clock(0.0)
    agent = agent_in("waiting", clock=clock)
    clock.now += 30.5
    with pytest.raises(InvalidTransitionError):
        agent.tool_result_received(result="late")
    assert agent.state == "error"
    assert agent.last_result is None
    assert [line["trigger"] for line in agent.state_history][-1] == "timeout"
    assert agent.error_type == "timeout"


@pytest.mark.parametrize(
    ("wait", "waited", "state"), [(5, 6, "error"), (5, 5, "executing"), (0, 1e6, "executing")]
)
def test_the_wait_is_configurable(wait, waited, state):
    clock = Clock(0.0)
    agent = agent_in("waiting", clock=clock, wait_timeout=wait)
    clock.now += waited
    agent.try_fire("tool_result_received", result=1)
    assert agent.state == state


@pytest.mark.parametrize("wait", [-1, "30", None, True, float("inf"), float("nan")])
def test_a_wait_that_is_no_time_is_refused(wait):
    with pytest.raises(ValueError, match="wait_timeout"):
        HermesAgentFSM("s", wait_timeout=wait)


@pytest.mark.parametrize("most", [-1, "3", None, 1.5])
def test_a_limit_that_is_no_count_is_refused(most):
    with pytest.raises(ValueError, match="max_retries"):
        HermesAgentFSM("s", max_retries=most)


@pytest.mark.parametrize("name", [None, 17, ""])
def test_a_session_has_a_name(name):
    with pytest.raises(ValueError, match="session_id"):
        HermesAgentFSM(name)


def test_an_async_wait_times_out_by_itself():
    async def run():
        agent = AsyncHermesAgentFSM("s", wait_timeout=0.05)
        agent.register_tool("t")
        await agent.receive_task(task="t")
        agent.plan_steps = ["one"]
        await agent.plan_ready()
        await agent.call_tool(tool_name="t")
        for _ in range(100):
            await asyncio.sleep(0.02)
            if agent.state == "error":
                break
        return agent

    agent = asyncio.run(run())
    assert agent.state is AgentState.ERROR
    assert agent.state_history[-1]["trigger"] == "timeout"


def test_async_overrides_are_awaited():
    class Mine(AsyncHermesAgentFSM):
        async def initialize_context(self, event):
            await asyncio.sleep(0)
            super().initialize_context(event)

    async def run():
        agent = Mine("s")
        await agent.receive_task(task="t")
        return agent.task_description

    assert asyncio.run(run()) == "t"


# ----------------------------------------------------------------------------------------------------- logs
def test_each_transition_is_one_json_line_when_its_state_is_written(caplog):
    class Watching(HermesAgentFSM):
        def on_enter_planning(self, event):
            self.logged_by_then = len(self.state_history)

    with caplog.at_level(logging.INFO, logger="orkeon_transitions"):
        agent = Watching("s1")
        agent.receive_task(task="a secret task")
        agent.plan_steps = ["one"]
        agent.plan_ready()
    assert agent.logged_by_then == 1
    assert [record.name for record in caplog.records] == ["orkeon_transitions.agent"] * 2
    lines = [json.loads(record.getMessage()) for record in caplog.records]
    assert lines == agent.state_history
    assert list(lines[0])[:5] == ["timestamp", "session_id", "trigger", "from_state", "to_state"]
    assert list(lines[0].values())[1:5] == ["s1", "receive_task", "idle", "planning"]
    assert (lines[1]["ordinal"], lines[1]["transition_count"]) == (2, 2)
    assert datetime.fromisoformat(lines[0]["timestamp"]).utcoffset() is not None
    assert "secret" not in caplog.text


def test_nothing_is_logged_that_did_not_happen(caplog):
    agent = agent_in("waiting", commit=None)

    def full(fact, snapshot):
        raise OSError("disk full")

    agent.attach_commit(full)
    with (
        caplog.at_level(logging.INFO, logger="orkeon_transitions"),
        pytest.raises(OSError, match="disk full"),
    ):
        agent.tool_result_received(result=1)
    assert caplog.records == []
    assert len(agent.state_history) == 3


def test_errors_go_to_a_second_logger(caplog):
    with caplog.at_level(logging.ERROR, logger="orkeon_transitions"):
        agent = agent_in("executing")
        agent.execution_error(error="boom")
    (record,) = caplog.records
    assert (record.name, record.levelname) == ("orkeon_transitions.agent.errors", "ERROR")
    line = json.loads(record.getMessage())
    assert list(line)[:5] == ["timestamp", "session_id", "state_when_error", "error", "retry_count"]
    assert (line["state_when_error"], line["error"], line["retry_count"]) == ("executing", "boom", 0)


def test_sentences_for_people_are_debug_only(caplog):
    with caplog.at_level(logging.DEBUG, logger="orkeon_transitions"):
        agent = agent_in("waiting")
        agent.tool_result_received(result=1)
        agent.finish_execution(result=1)
    sentences = [record for record in caplog.records if not record.getMessage().startswith("{")]
    assert sentences
    assert {record.levelname for record in sentences} == {"DEBUG"}
    assert all(record.getMessage().startswith("[s1] ") for record in sentences)


def test_a_log_file_is_a_journal(tmp_path):
    path = tmp_path / "agent.log"
    handler = logging.FileHandler(path, encoding="utf-8")
    logger = logging.getLogger("orkeon_transitions.agent")
    logger.addHandler(handler)
    level, logger.level = logger.level, logging.DEBUG
    try:
        agent = agent_in("error")
        agent.retry()
        agent.finish_execution(result=1)
        agent.reset()
        agent.receive_task(task="next")
    finally:
        logger.removeHandler(handler)
        logger.level = level
        handler.close()
    back = replay(path, machine_definition("hermes_agent"), machine_id="s1")
    assert back.final_state == agent.state
    assert back.transition_count == agent.transition_count == 1
    assert back.histogram == agent.circuit_status.state_visit_histogram
    assert back.anomalies == []


# -------------------------------------------------------------------------------------------------- restore
def test_a_restored_session_goes_on_exactly():
    clock = Clock(0.0)
    agent = agent_in("waiting", clock=clock, max_retries=1, wait_timeout=10)
    clock.now += 7
    restored = HermesAgentFSM.restore(agent.snapshot().model_dump(mode="json"), clock=clock)
    assert restored.registered_tools == {"web_search"}
    assert restored.snapshot().fields == agent.snapshot().fields
    assert (restored.session_id, restored.machine_id) == ("s1", "s1")
    assert restored.context.time_in_state() == pytest.approx(7)
    assert (datetime.now(UTC) - restored.entered_at).total_seconds() == pytest.approx(7, abs=2)
    clock.now += 4
    for machine in (agent, restored):
        assert not machine.try_fire("tool_result_received", result=1)
        assert machine.state == "error"
        machine.retry()
        assert machine.retry_count == 1
    assert restored.get_state_summary() == agent.get_state_summary()


def test_a_session_and_a_machine_may_have_two_names():
    agent = HermesAgentFSM("s", machine_id="m")
    assert (agent.session_id, agent.machine_id) == ("s", "m")
    restored = HermesAgentFSM.restore(agent.snapshot())
    assert (restored.session_id, restored.machine_id) == ("s", "m")


def test_a_result_that_is_no_json_is_kept_but_not_saved():
    agent = agent_in("executing")
    agent.finish_execution(result=object())
    with pytest.warns(UserWarning, match="final_result"):
        snapshot = agent.snapshot()
    assert snapshot.fields["final_result"] is None
    assert agent.final_result is not None
