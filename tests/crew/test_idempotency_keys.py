"""Names of calls: the same wherever a call may have been made already, another one where it is another."""

import pytest

from orkeon_transitions.crew import IdempotencyKey, MemoryRunLog, ModelReply, ToolCall, tool
from tests.crew.dying import died, resumed
from tests.crew.scripted import ScriptedModel, calls, crew_of_one


def paying(keys, *, fails=()):
    """A tool that pays once for each key, and breaks at some calls after it has paid."""
    paid = {}

    @tool
    def pay(amount: int, key: IdempotencyKey) -> str:
        "Pays."
        keys.append(key)
        paid.setdefault(key, amount)
        if len(keys) in fails:
            raise ConnectionError("no answer")
        return "paid"

    return pay, paid


def test_a_tool_is_told_what_names_its_call():
    keys = []
    pay, paid = paying(keys, fails=[1])
    model = ScriptedModel(
        calls(("pay", {"amount": 5})),  # pays, and is not heard of again
        calls(("pay", {"amount": 5})),  # the same payment
        calls(("pay", {"amount": 5})),  # another one
        calls(("pay", {"amount": 6})),
        "done",
    )
    assert "key" not in pay.parameters["properties"]
    assert crew_of_one(pay).run_sync(model=model, run_id="r").success
    assert keys[0] == keys[1]
    assert len(set(keys)) == len(paid) == 3
    assert all(key.startswith("r/t/pay/") for key in keys)


@pytest.mark.parametrize("writes", range(1, 9))
def test_what_is_paid_once_is_paid_once_wherever_the_process_dies(writes):
    keys = []
    pay, paid = paying(keys)
    crew, log = crew_of_one(pay), MemoryRunLog()
    replies = [calls(("pay", {"amount": 5})), calls(("pay", {"amount": 5})), "done"]
    if died(crew, log, writes, model=ScriptedModel(*replies)):
        assert resumed(crew, log, model=ScriptedModel(*replies)).success
    assert len(paid) == 2


def test_arguments_that_nobody_can_read_are_answered_as_ever():
    keys = []
    pay, _ = paying(keys)
    odd = {1: "x", "amount": object()}
    odd["self"] = odd
    model = ScriptedModel(ModelReply("", (ToolCall("c", "pay", odd),)), "done")
    result = crew_of_one(pay).run_sync(model=model)
    assert result.success
    assert "wrong arguments" in model.answers[0]
    assert keys == []
