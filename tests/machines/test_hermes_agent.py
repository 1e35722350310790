"""The agent of seed 004: every row, what it remembers, what it logs, and the clock of `waiting`."""

import asyncio
import dataclasses
import json
import logging
from datetime import UTC, datetime

import pytest

from orkeon_transitions.breaker import CircuitBreakerPolicy
from orkeon_transitions.errors import CircuitBrokenError, GuardRejectedError, InvalidTransitionError
from orkeon_transitions.machines import (
    AgentState,
    AsyncHermesAgentFSM,
    HermesAgentFSM,
    StateContext,
    machine_definition,
)
from orkeon_transitions.runtime import TriggerEvent
from orkeon_transitions.store import replay


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def agent_in(state, **options):
    agent = HermesAgentFSM("s1", **options)
    agent.register_tool("web_search")
    if state != "idle":
        agent.receive_task(task="Compare three parsers")
        agent.plan_steps = ["read", "measure", "write"]
    if state in ("executing", "waiting", "error", "completed"):
        agent.plan_ready()
    if state == "waiting":
        agent.call_tool(tool_name="web_search", query="q")
    if state == "error":
        agent.execution_error(error="boom")
    if state == "completed":
        agent.finish_execution(result="report")
    assert agent.state == state
    return agent


# ---------------------------------------------------------------------------------------------------- rows
@pytest.mark.parametrize(
    ("state", "trigger", "payload", "dest"),
    [
        ("idle", "receive_task", {"task": "t"}, "planning"),
        ("planning", "plan_ready", {}, "executing"),
        ("planning", "planning_failed", {}, "error"),
        ("executing", "call_tool", {"tool_name": "web_search"}, "waiting"),
        ("executing", "finish_execution", {"result": 1}, "completed"),
        ("executing", "execution_error", {"error": "x"}, "error"),
        ("waiting", "tool_result_received", {"result": 1}, "executing"),
        ("waiting", "needs_replan", {}, "planning"),
        ("waiting", "timeout", {}, "error"),
        ("waiting", "skip_step", {}, "executing"),
        ("error", "skip_step", {}, "executing"),
        ("error", "retry", {}, "executing"),
        ("error", "abort", {}, "idle"),
        ("completed", "reset", {}, "idle"),
    ],
)
def test_every_row_leads_where_the_seed_says(state, trigger, payload, dest):
    agent = agent_in(state)
    assert getattr(agent, trigger)(**payload)
    assert agent.state is AgentState(dest)


@pytest.mark.parametrize("state", [state.value for state in AgentState])
def test_every_other_trigger_is_refused_and_leaves_no_trace(state):
    agent = agent_in(state)
    definition = machine_definition("hermes_agent")
    before = (list(agent.state_history), agent.snapshot().fields)
    for trigger in set(definition.triggers) - set(definition.triggers_from(state)):
        with pytest.raises(InvalidTransitionError):
            agent.fire(trigger, task="t", tool_name="web_search")
    assert (agent.state_history, agent.snapshot().fields) == before


# -------------------------------------------------------------------------------------------------- guards
@pytest.mark.parametrize("task", ["", "   ", "\n", None, 17, b"bytes", ["t"], {"t": 1}])
def test_a_task_that_is_no_text_or_empty_is_refused(task):
    agent = HermesAgentFSM("s")
    with pytest.raises(GuardRejectedError, match="is_task_valid"):
        agent.receive_task(task=task)
    with pytest.raises(GuardRejectedError):
        agent.receive_task()
    assert agent.state == "idle"
    assert agent.state_history == []


@pytest.mark.parametrize("tool", ["rm_rf", "", None, ["web_search"], {}, 1])
def test_a_tool_that_is_not_registered_is_refused(tool):
    agent = agent_in("executing")
    with pytest.raises(GuardRejectedError, match="is_tool_registered"):
        agent.call_tool(tool_name=tool)
    with pytest.raises(GuardRejectedError):
        agent.call_tool()
    assert agent.current_tool is None


def test_a_plan_without_steps_is_refused():
    agent = HermesAgentFSM("s")
    agent.receive_task(task="t")
    with pytest.raises(GuardRejectedError, match="has_valid_plan"):
        agent.plan_ready()


@pytest.mark.parametrize("most", [0, 1, 3])
def test_exactly_so_many_retries(most):
    agent = agent_in("executing", max_retries=most)
    for number in range(most):
        agent.execution_error(error="x")
        agent.retry()
        assert agent.retry_count == number + 1
    agent.execution_error(error="x")
    with pytest.raises(GuardRejectedError, match="can_retry"):
        agent.retry()
    assert agent.retry_count == most


def test_skip_step_moves_on_until_the_last_step():
    agent = agent_in("waiting")
    for step in (1, 2):
        agent.skip_step()
        assert agent.current_step == step
        agent.call_tool(tool_name="web_search")
    with pytest.raises(GuardRejectedError, match="has_next_step"):
        agent.skip_step()


# ---------------------------------------------------------------------------------------- what it remembers
def test_a_session_from_task_to_task():
    agent = agent_in("waiting")
    assert agent.task_description == "Compare three parsers"
    assert agent.current_tool == "web_search"
    agent.tool_result_received(result={"n": 1})
    assert agent.last_result == {"n": 1}
    agent.execution_error(error="x")
    agent.retry()
    agent.finish_execution(result="report")
    assert agent.final_result == "report"
    agent.reset()
    assert (agent.plan_steps, agent.current_step, agent.current_tool) == ([], 0, None)
    assert agent.get_state_summary() == {
        "session_id": "s1",
        "current_state": "idle",
        "retry_count": 1,
        "total_transitions": 8,
    }
    agent.receive_task(task="the next one")
    assert (agent.retry_count, agent.task_description) == (0, "the next one")


def test_abort_forgets_the_plan_too():
    agent = agent_in("error")
    agent.current_step = 2
    agent.abort()
    assert (agent.plan_steps, agent.current_step, agent.current_tool) == ([], 0, None)


def test_nothing_is_remembered_when_the_move_is_not_recorded():
    def full(fact, snapshot):
        raise OSError("disk full")

    agent = agent_in("error")
    agent.attach_commit(full)
    before = agent.snapshot().fields
    for trigger in ("retry", "abort", "skip_step"):
        with pytest.raises(OSError, match="disk full"):
            agent.fire(trigger)
    assert agent.snapshot().fields == before
    assert agent.plan_steps == ["read", "measure", "write"]


def test_what_is_remembered_is_in_the_snapshot_that_is_committed():
    seen = []
    agent = HermesAgentFSM("s", commit=lambda fact, snapshot: seen.append(snapshot.fields))
    agent.receive_task(task="t")
    agent.plan_steps = ["one"]
    agent.plan_ready()
    agent.finish_execution(result="r")
    agent.reset()
    assert [fields["task_description"] for fields in seen] == ["t"] * 4
    assert [fields["final_result"] for fields in seen] == [None, None, "r", "r"]
    assert [fields["plan_steps"] for fields in seen] == [[], ["one"], ["one"], []]


def test_a_forgotten_attempt_does_not_leak_into_the_next_transition():
    class Careful(HermesAgentFSM):
        def increment_retry(self, event):
            super().increment_retry(event)
            if event.kwargs.get("fail"):
                raise RuntimeError("not now")

    agent = Careful("s")
    agent.receive_task(task="t")
    agent.plan_steps = ["one"]
    agent.plan_ready()
    agent.execution_error(error="x")
    with pytest.raises(RuntimeError):
        agent.retry(fail=True)
    assert (agent.state, agent.retry_count) == ("error", 0)
    agent.abort()
    assert agent.retry_count == 0


def test_guards_and_actions_can_be_overridden_in_the_seeds_way():
    class Mine(HermesAgentFSM):
        cleaned = 0

        def is_task_valid(self, event):
            return bool(event.kwargs.get("task"))

        def cleanup_resources(self, event):
            super().cleanup_resources(event)
            self.cleaned += 1

        def inject_result(self, event):
            self.last_result = ("mine", event.kwargs["result"])

        def on_enter_executing(self, event):
            self.plan_steps = [*self.plan_steps, f"after {event.from_state}"]

    agent = Mine("s")
    agent.register_tool("t")
    agent.receive_task(task=17)
    agent.plan_steps = ["one"]
    agent.plan_ready()
    agent.call_tool(tool_name="t")
    agent.tool_result_received(result=1)
    assert agent.last_result == ("mine", 1)
    assert agent.plan_steps == ["one", "after planning", "after waiting"]
    agent.finish_execution()
    agent.reset()
    assert (agent.plan_steps, agent.cleaned) == ([], 1)


def test_an_override_may_call_the_seeds_action_twice():
    class Eager(HermesAgentFSM):
        def increment_retry(self, event):
            super().increment_retry(event)
            super().advance_step(event)

    agent = Eager("s")
    agent.receive_task(task="t")
    agent.plan_steps = ["one"]
    agent.plan_ready()
    agent.execution_error(error="x")
    agent.retry()
    assert (agent.retry_count, agent.current_step) == (1, 1)


def test_logging_before_the_first_transition_logs_nothing():
    agent = HermesAgentFSM("s")
    agent.log_transition(TriggerEvent("receive_task", AgentState.IDLE, None, {}))
    assert agent.state_history == []


# ----------------------------------------------------------------------------------------------- the context
def test_the_context_is_a_frozen_view_of_the_seeds_fields():
    clock = Clock()
    agent = agent_in("waiting", clock=clock, max_retries=5, wait_timeout=12)
    agent.spend(tokens=700)
    context = agent.context
    assert isinstance(context, StateContext)
    assert (context.state, context.session_id) == (AgentState.WAITING, "s1")
    assert (context.task_description, context.plan_steps) == (
        "Compare three parsers",
        ("read", "measure", "write"),
    )
    assert (context.current_step_index, context.current_tool, context.waiting_for) == (
        0,
        "web_search",
        "web_search",
    )
    assert (context.timeout_seconds, context.retry_count, context.max_retries) == (12, 0, 5)
    assert (context.error_type, context.error_message, context.result) == (None, None, None)
    assert context.total_tokens_used == 700
    with pytest.raises(dataclasses.FrozenInstanceError):
        context.retry_count = 1
    agent.plan_steps.append("more")
    agent.tool_result_received(result=1)
    assert len(context.plan_steps) == 3
    assert agent.context.waiting_for is None


def test_time_in_state_is_monotonic_and_goes_on():
    clock = Clock()
    agent = agent_in("executing", clock=clock)
    clock.now += 4
    context = agent.context
    assert context.time_in_state() == pytest.approx(4)
    clock.now += 2
    assert context.time_in_state() == pytest.approx(6)
    agent.finish_execution(result=1)
    assert agent.context.time_in_state() == 0


@pytest.mark.parametrize(
    ("error", "told"),
    [
        ({"error": "boom"}, ("execution_error", "boom")),
        ({"error": ValueError("bad")}, ("ValueError", "bad")),
        ({}, ("execution_error", "Unknown error")),
        ({"error": None}, ("execution_error", "None")),
    ],
)
def test_the_last_error_is_kept_until_the_next_task(error, told):
    agent = agent_in("executing")
    agent.execution_error(**error)
    assert (agent.context.error_type, agent.context.error_message) == told
    agent.abort()
    agent.receive_task(task="t")
    assert (agent.context.error_type, agent.context.error_message) == (None, None)


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
    clock = Clock()
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
    clock = Clock()
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
    clock = Clock()
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
