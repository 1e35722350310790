"""The agent of seed 004: every row, what it remembers, what it logs, and the clock of `waiting`."""

import dataclasses

import pytest

from orkeon_transitions.errors import GuardRejectedError, InvalidTransitionError
from orkeon_transitions.machines import (
    AgentState,
    HermesAgentFSM,
    StateContext,
    machine_definition,
)
from orkeon_transitions.runtime import TriggerEvent
from tests.machines.agents import agent_in
from tests.runtime.samples import Clock


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
    clock = Clock(0.0)
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
    clock = Clock(0.0)
    agent = agent_in("executing", clock=clock)
    clock.now += 4
    context = agent.context
    assert context.time_in_state() == pytest.approx(4)
    clock.now += 2
    assert context.time_in_state() == pytest.approx(6)
    agent.finish_execution(result=1)
    assert agent.context.time_in_state() == 0


class Wordless(Exception):
    def __str__(self):
        raise RuntimeError("no words")


@pytest.mark.parametrize(
    ("error", "told"),
    [
        ({"error": "boom"}, ("execution_error", "boom")),
        ({"error": ValueError("bad")}, ("ValueError", "bad")),
        ({}, ("execution_error", "Unknown error")),
        ({"error": None}, ("execution_error", "None")),
        ({"error": Wordless()}, ("Wordless", "Unknown error")),
    ],
)
def test_the_last_error_is_kept_until_the_next_task(error, told):
    agent = agent_in("executing")
    agent.execution_error(**error)
    assert (agent.context.error_type, agent.context.error_message) == told
    agent.abort()
    agent.receive_task(task="t")
    assert (agent.context.error_type, agent.context.error_message) == (None, None)
