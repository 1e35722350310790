"""Coroutine functions as guards, actions and hooks: awaited on async machines, refused on plain ones."""

import asyncio
import functools
import logging

import pytest

from orkeon_transitions.definition import load_definition
from orkeon_transitions.errors import DefinitionError, GuardRejectedError
from orkeon_transitions.runtime import AsyncStateMachine, StateMachine
from tests.runtime.samples import RING, quiet

ROW = "initial: a\nstates: [a, b]\ntransitions: [{{trigger: go, source: a, dest: b, {}}}]\n"


ASYNC_FORMS = ["function", "method", "object", "partial"]


def async_form(form):
    async def function(event):
        return False

    class Object:
        async def __call__(self, event):
            return False

        async def method(self, event):
            return False

    return {
        "function": function,
        "method": Object().method,
        "object": Object(),
        "partial": functools.partial(function),
    }[form]


@pytest.mark.parametrize("form", ASYNC_FORMS)
@pytest.mark.parametrize(("what", "key"), [("guard", "conditions"), ("action", "after")])
def test_a_plain_machine_refuses_a_coroutine_function_when_it_is_made(form, what, key):  # case B05
    with pytest.raises(DefinitionError) as raised:
        StateMachine(ROW.format(f"{key}: may"), **{what + "s": {"may": async_form(form)}})
    [problem] = raised.value.problems
    assert problem.message == f"the {what} 'may' is async: it needs an AsyncStateMachine"


def test_a_plain_class_with_an_async_method_is_refused_when_it_is_made():  # case B05
    class Door(StateMachine):
        async def may(self, event):
            return True

    with pytest.raises(DefinitionError, match="the guard 'may' is async: it needs an AsyncStateMachine"):
        Door(ROW.format("conditions: may"))


def test_a_coroutine_as_an_answer_is_refused_at_run_time():  # case B05
    async def later(event):
        return False

    machine = StateMachine(ROW.format("conditions: may"), **quiet(guards={"may": lambda e: later(e)}))
    with pytest.raises(
        GuardRejectedError, match="the guard 'may' is async: it needs an AsyncStateMachine"
    ) as raised:
        machine.fire("go")
    assert isinstance(raised.value.__cause__, TypeError)
    assert machine.why_not("go").kind == "error"
    assert not machine.can_fire("go")
    for stage in ("before", "after"):
        machine = StateMachine(ROW.format(f"{stage}: note"), **quiet(actions={"note": lambda e: later(e)}))
        with pytest.raises(TypeError, match="the action 'note' is async: it needs an AsyncStateMachine"):
            machine.fire("go")
        assert machine.state == ("a" if stage == "before" else "b")


def test_a_plain_commit_hook_that_is_async_is_refused():
    async def commit(fact, snapshot):
        raise AssertionError

    machine = StateMachine(RING, **quiet(commit=commit))
    with pytest.raises(TypeError, match="the commit hook is async: it needs an AsyncStateMachine"):
        machine.fire("next")
    assert machine.state == "a"


@pytest.mark.parametrize("form", [*ASYNC_FORMS, "lambda"])
def test_an_async_guard_that_says_no_blocks(form):  # case B05
    guard = async_form("function" if form == "lambda" else form)
    machine = AsyncStateMachine(
        ROW.format("conditions: may"),
        **quiet(guards={"may": (lambda e: guard(e)) if form == "lambda" else guard}),
    )
    assert asyncio.run(machine.try_fire("go")).refusal.guard == "may"
    assert machine.state == "a"


def test_async_guards_and_callbacks_run_one_after_another():
    log = []

    def making(name, answer=None):
        async def callback(event):
            log.append(f"{name} begins")
            await asyncio.sleep(0)
            log.append(f"{name} ends")
            return answer

        return callback

    text = ROW.format("conditions: [g1, g2, g3], before: [b1, b2], after: [a1, a2]")
    guards = {"g1": making("g1", True), "g2": making("g2", False), "g3": making("g3", True)}
    actions = {name: making(name) for name in ("b1", "b2", "a1", "a2")}
    machine = AsyncStateMachine(text, **quiet(guards=guards, actions=actions))
    assert not asyncio.run(machine.try_fire("go"))
    assert log == ["g1 begins", "g1 ends", "g2 begins", "g2 ends"]
    del log[:]
    guards["g2"] = making("g2", True)
    assert asyncio.run(AsyncStateMachine(text, **quiet(guards=guards, actions=actions)).fire("go"))
    assert log == [
        f"{name} {what}" for name in ("g1", "g2", "g3", "b1", "b2", "a1", "a2") for what in ("begins", "ends")
    ]


def test_an_async_action_that_raises_stops_those_after_it():
    log = []

    async def broken(event):
        raise OSError("disk")

    actions = {"broken": broken, "second": log.append}
    machine = AsyncStateMachine(ROW.format("before: [broken, second]"), **quiet(actions=actions))
    with pytest.raises(OSError, match="disk"):
        asyncio.run(machine.fire("go"))
    assert log == []


@pytest.mark.parametrize("stage", ["before", "after"])
def test_what_a_callback_raises_is_raised_and_not_logged_as_well(stage, caplog):
    row = {"trigger": "go", "source": "a", "dest": "b", stage: "boom"}
    definition = {"initial": "a", "states": ["a", "b"], "transitions": [row]}

    async def boom(event):
        raise RuntimeError("boom")

    async def main():
        with pytest.raises(RuntimeError, match="boom"):
            await AsyncStateMachine(load_definition(definition), actions={"boom": boom}).fire("go")

    with caplog.at_level(logging.WARNING):
        asyncio.run(main())
    assert caplog.records == []
