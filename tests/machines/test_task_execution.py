"""The execution of a task: guards, own counters, sizing, limits that outlive a restart."""

import asyncio
import dataclasses
import itertools
from datetime import timedelta

import pytest

from orkeon_transitions.breaker import BreakerLimit, CircuitBreakerPolicy
from orkeon_transitions.errors import (
    CircuitBrokenError,
    DefinitionError,
    GuardRejectedError,
    InvalidTransitionError,
)
from orkeon_transitions.machines import (
    AsyncTaskExecution,
    TaskExecution,
    TaskExecutionGuardContext,
    TaskState,
    TaskTrigger,
)

COUNTERS = ("retry_count", "tool_call_count", "validation_attempts", "question_count")


def counters(fsm):
    return tuple(getattr(fsm, name) for name in COUNTERS)


def executing(**options):
    fsm = TaskExecution(**options)
    fsm.begin_execution()
    return fsm


# ------------------------------------------------------------------------------------------- guard context
def test_the_context_has_the_seeds_fields_and_limits():
    context = TaskExecutionGuardContext()
    assert dataclasses.asdict(context) == {
        "retry_count": 0,
        "max_retries": 3,
        "tool_call_count": 0,
        "max_tool_calls_per_round": 10,
        "validation_attempts": 0,
        "max_validation_retries": 3,
        "is_tool_registered": True,
        "question_count": 0,
        "max_questions": 10,
    }
    with pytest.raises(dataclasses.FrozenInstanceError):
        context.retry_count = 1


@pytest.mark.parametrize(
    ("ability", "count", "limit"),
    [
        ("can_call_tool", "tool_call_count", "max_tool_calls_per_round"),
        ("can_retry", "retry_count", "max_retries"),
        ("can_retry_validation", "validation_attempts", "max_validation_retries"),
        ("can_ask_human", "question_count", "max_questions"),
    ],
)
@pytest.mark.parametrize(("used", "most"), [(0, 1), (1, 1), (2, 1), (0, 0)])
def test_each_ability_compares_its_count_with_its_limit(ability, count, limit, used, most):
    able = used < most
    assert getattr(TaskExecutionGuardContext(**{count: used, limit: most}), ability) is able


def test_a_tool_that_is_not_registered_cannot_be_called():
    assert not TaskExecutionGuardContext(is_tool_registered=False).can_call_tool


# -------------------------------------------------------------------------------------------------- guards
@pytest.mark.parametrize(
    ("path", "trigger", "context"),
    [
        ("begin_execution", "request_tool_call", {"tool_call_count": 10}),
        ("begin_execution", "request_tool_call", {"is_tool_registered": False}),
        ("begin_execution fail", "retry", {"retry_count": 3}),
        ("begin_execution submit_for_validation", "validation_failed", {"validation_attempts": 3}),
        ("begin_execution", "request_human_input", {"question_count": 10}),
    ],
)
def test_a_given_context_is_what_is_judged(path, trigger, context):
    fsm = TaskExecution()
    for step in path.split():
        fsm.fire(step)
    before = (fsm.state, fsm.transition_count, counters(fsm))
    with pytest.raises(GuardRejectedError) as caught:
        fsm.fire(trigger, TaskExecutionGuardContext(**context))
    assert caught.value.refusal.kind == "guard"
    assert caught.value.refusal.description
    assert (fsm.state, fsm.transition_count, counters(fsm)) == before
    assert fsm.fire(trigger, TaskExecutionGuardContext())


def test_a_given_context_may_allow_what_the_own_counters_would_not():
    fsm = executing(max_retries=0)
    fsm.fail()
    assert not fsm.try_fire("retry")
    assert fsm.fire("retry", TaskExecutionGuardContext())


@pytest.mark.parametrize("context", [{"retry_count": 0}, "context", 0, object()])
def test_a_context_of_another_type_is_refused_by_name(context):
    fsm = executing()
    with pytest.raises(GuardRejectedError, match=f"TaskExecutionGuardContext, not {type(context).__name__}"):
        fsm.fire("request_tool_call", context)
    assert fsm.state is TaskState.EXECUTING


def test_guards_can_be_replaced_so_that_no_tool_runs():
    fsm = executing(guards={"can_call_tool": lambda event: False})
    assert not fsm.try_fire("request_tool_call", TaskExecutionGuardContext())


# --------------------------------------------------------------------------------------------- own counters
def test_the_machine_keeps_its_own_counters():
    fsm = executing()
    fsm.request_tool_call()
    fsm.tool_call_completed()
    fsm.request_tool_call()
    fsm.skip_tool_call()
    assert counters(fsm) == (0, 2, 0, 0)
    fsm.submit_for_validation()
    fsm.validation_failed()
    assert counters(fsm) == (0, 0, 1, 0)
    fsm.request_human_input()
    fsm.human_input_received()
    assert counters(fsm) == (0, 0, 1, 1)
    fsm.request_tool_call()
    fsm.tool_call_failed()
    assert counters(fsm) == (0, 1, 1, 1)
    fsm.retry()
    assert counters(fsm) == (1, 0, 1, 1)


def test_counters_are_kept_when_a_context_is_given_too():
    fsm = executing()
    fsm.fire(TaskTrigger.REQUEST_TOOL_CALL, TaskExecutionGuardContext(tool_call_count=9))
    assert fsm.tool_call_count == 1


@pytest.mark.parametrize(
    ("limit", "round_trip"),
    [
        ("max_tool_calls_per_round", "request_tool_call tool_call_completed"),
        ("max_retries", "fail retry"),
        ("max_validation_retries", "submit_for_validation validation_failed"),
        ("max_questions", "request_human_input human_input_received"),
    ],
)
@pytest.mark.parametrize("most", [0, 1, 2])
def test_each_budget_can_be_used_up_exactly(limit, round_trip, most):
    fsm = executing(**{limit: most})
    steps = round_trip.split()
    for _ in range(most):
        for step in steps:
            assert fsm.fire(step)
    for step in steps:
        refused = fsm.try_fire(step)
        if not refused:
            break
    assert refused.refusal.kind == "guard"
    assert not fsm.is_circuit_broken


def test_counters_do_not_move_when_the_move_is_not_recorded():
    def full(fact, snapshot):
        raise OSError("disk full")

    fsm = executing()
    fsm.attach_commit(full)
    with pytest.raises(OSError, match="disk full"):
        fsm.request_tool_call()
    assert counters(fsm) == (0, 0, 0, 0)


def test_counters_are_in_the_snapshot_that_is_committed():
    seen = []
    fsm = executing(commit=lambda fact, snapshot: seen.append(snapshot.fields["tool_call_count"]))
    fsm.request_tool_call()
    assert seen == [0, 1]


def test_a_degraded_move_counts_no_tool_call():
    policy = CircuitBreakerPolicy(max_transitions=1, use_degraded_mode=True)
    fsm = executing(policy=policy)
    result = fsm.try_fire("request_tool_call")
    assert (result.to_state, fsm.tool_call_count) == (TaskState.DEGRADED, 0)


@pytest.mark.parametrize(
    "limit", ["max_retries", "max_tool_calls_per_round", "max_validation_retries", "max_questions"]
)
@pytest.mark.parametrize("value", [-1, 1.5, "3", True, None])
def test_a_limit_that_is_no_count_is_refused(limit, value):
    with pytest.raises(ValueError, match=limit):
        TaskExecution(**{limit: value})


# --------------------------------------------------------------------------------------------------- sizing
def test_the_default_policy_is_strict_and_sized_to_the_budgets():
    strict = CircuitBreakerPolicy.strict()
    policy = TaskExecution.default_policy()
    assert policy.max_state_visits == (1 + 3 + 3 + 10) * (1 + 10) == 187
    assert policy.max_transitions == 3 * 187
    assert policy.model_copy(update={"max_state_visits": 5, "max_transitions": 50}) == strict
    assert TaskExecution().policy == policy


@pytest.mark.parametrize("budgets", list(itertools.product((0, 2), repeat=4)))
def test_the_machines_policy_follows_its_own_limits(budgets):
    names = ("max_retries", "max_tool_calls_per_round", "max_validation_retries", "max_questions")
    limits = dict(zip(names, budgets, strict=True))
    assert TaskExecution(**limits).policy == TaskExecution.default_policy(**limits)


@pytest.mark.parametrize("budgets", [(0, 0, 0, 0), (1, 2, 1, 1), (3, 10, 3, 10), (0, 5, 3, 0)])
def test_a_task_that_uses_all_its_budgets_is_never_cut_short(budgets):
    names = ("max_retries", "max_tool_calls_per_round", "max_validation_retries", "max_questions")
    fsm = TaskExecution(clock=lambda: 0.0, **dict(zip(names, budgets, strict=True)))

    def use_up_the_round():
        for _ in range(fsm.max_tool_calls_per_round):
            fsm.request_tool_call()
            fsm.tool_call_completed()

    fsm.start_planning()
    fsm.begin_execution()
    use_up_the_round()
    for _ in range(fsm.max_retries):
        fsm.fail()
        fsm.retry()
        use_up_the_round()
    for _ in range(fsm.max_validation_retries):
        fsm.submit_for_validation()
        fsm.validation_failed()
        use_up_the_round()
    for _ in range(fsm.max_questions):
        fsm.request_human_input()
        fsm.human_input_received()
        use_up_the_round()
    fsm.submit_for_validation()
    fsm.validation_passed()
    assert fsm.state is TaskState.COMPLETED


def test_a_given_policy_counts_as_it_stands():
    policy = CircuitBreakerPolicy.strict()
    fsm = executing(policy=policy)
    assert fsm.policy is policy
    for _ in range(4):
        fsm.request_tool_call()
        fsm.tool_call_completed()
    fsm.request_tool_call()
    assert not fsm.try_fire("tool_call_completed")
    assert fsm.state is TaskState.DEGRADED


# ----------------------------------------------------------------------------------- the breaker and cancel
def test_patient_states_wait_for_ever():
    now = [0.0]
    fsm = TaskExecution(clock=lambda: now[0])
    now[0] += 1e6
    fsm.begin_execution()
    fsm.request_human_input()
    now[0] += 1e6
    fsm.human_input_received()
    fsm.fail()
    now[0] += 1e6
    fsm.retry()
    assert fsm.circuit_status.total_elapsed == timedelta(0)


def test_working_states_do_not():
    now = [0.0]
    fsm = TaskExecution(clock=lambda: now[0])
    fsm.begin_execution()
    now[0] = 121.0
    assert not fsm.try_fire("submit_for_validation")
    assert fsm.state is TaskState.DEGRADED
    assert fsm.circuit_status.limit is BreakerLimit.STATE_TIMEOUT


@pytest.mark.parametrize(
    "path",
    [
        "",
        "start_planning",
        "begin_execution",
        "begin_execution request_tool_call",
        "begin_execution submit_for_validation",
        "begin_execution request_human_input",
        "begin_execution fail",
    ],
)
def test_cancel_works_everywhere_also_when_the_circuit_is_broken(path):
    fsm = TaskExecution(policy=CircuitBreakerPolicy(max_transitions=len(path.split()) or 1))
    for step in path.split():
        fsm.fire(step)
    if path:
        with pytest.raises(CircuitBrokenError):
            fsm.fire("fail")
    assert TaskTrigger.CANCEL in fsm.permitted_triggers()
    assert fsm.cancel()
    with pytest.raises(InvalidTransitionError):
        fsm.cancel()


def test_the_same_tool_call_over_and_over_is_a_repetition():
    policy = CircuitBreakerPolicy(max_repeats=2, max_state_visits=0)
    fsm = executing(policy=policy)
    for _ in range(2):
        fsm.request_tool_call(tool="web_search", query="q")
        fsm.tool_call_completed()
    with pytest.raises(CircuitBrokenError, match="Repetition"):
        fsm.request_tool_call(tool="web_search", query="q")
    assert executing(policy=policy).request_tool_call(tool="web_search", query="other")


# -------------------------------------------------------------------------------------------------- restore
def test_a_restored_task_goes_on_exactly():
    fsm = executing(max_retries=1, max_tool_calls_per_round=2, max_validation_retries=0, max_questions=1)
    fsm.request_tool_call()
    restored = TaskExecution.restore(fsm.snapshot().model_dump(mode="json"))
    assert restored.guard_context == fsm.guard_context
    assert restored.policy == fsm.policy
    for machine in (fsm, restored):
        machine.tool_call_completed()
        machine.request_tool_call()
        machine.tool_call_completed()
        assert not machine.try_fire("request_tool_call")
        machine.fail()
        machine.retry()
        machine.fail()
        assert not machine.try_fire("retry")
    assert restored.transition_count == fsm.transition_count
    assert counters(restored) == counters(fsm)


def test_options_at_restore_replace_what_was_kept():
    fsm = executing(max_retries=1)
    restored = TaskExecution.restore(fsm.snapshot(), policy=CircuitBreakerPolicy.permissive())
    assert restored.policy == CircuitBreakerPolicy.permissive()
    assert restored.max_retries == 1


def test_the_async_task_goes_the_same_way():
    async def run():
        fsm = AsyncTaskExecution(max_tool_calls_per_round=1, machine_id="t")
        await fsm.begin_execution()
        await fsm.request_tool_call()
        await fsm.tool_call_completed()
        with pytest.raises(GuardRejectedError):
            await fsm.request_tool_call()
        assert not await fsm.try_fire("request_tool_call", "no context")
        assert await fsm.request_tool_call(TaskExecutionGuardContext())
        restored = AsyncTaskExecution.restore(fsm.snapshot())
        await restored.cancel()
        return restored

    restored = asyncio.run(run())
    assert (restored.state, restored.tool_call_count, restored.machine_id) == (TaskState.CANCELLED, 2, "t")


def test_the_default_policy_takes_further_limits():
    policy = TaskExecution.default_policy(max_tool_calls_per_round=2, max_repeats=3)
    assert policy.max_repeats == 3
    assert (
        policy.max_state_visits == TaskExecution.default_policy(max_tool_calls_per_round=2).max_state_visits
    )
    assert policy.use_degraded_mode


def test_a_snapshot_of_another_version_says_so():
    later = TaskExecution().snapshot().model_dump(mode="json") | {"version": 2}
    with pytest.raises(DefinitionError, match="of version 2, and this release reads version 1"):
        TaskExecution.restore(later)
