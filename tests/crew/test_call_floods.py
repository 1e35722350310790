"""Replies that ask for more tool calls than anybody should look at."""

import time

import pytest

from orkeon_transitions.crew import ModelReply, ToolCall, Usage, tool
from orkeon_transitions.crew.agent_loop import MOST_CALLS, MOST_REFUSED_ROUNDS
from tests.crew.model_server import ModelServer, says
from tests.crew.model_server import calls as server_calls
from tests.crew.models.asking import run_on
from tests.crew.scripted import ScriptedModel, calls, crew_of_one, one_answer_each

FLOOD = 2_000


@tool
async def note(text: str = "x") -> str:
    """Notes something."""
    return f"noted {text}"


class Flooding:
    """Asks for thousands of calls, each time others."""

    def __init__(self, name="note"):
        self.name = name
        self.asked = []

    async def reply(self, messages, tools):
        self.asked.append(list(messages))
        number = len(self.asked)
        wanted = [ToolCall(f"{number}-{n}", self.name, {"text": f"{number}-{n}"}) for n in range(FLOOD)]
        return ModelReply("looking", tuple(wanted), Usage(requests=1))


def answers_of(message_list):
    return [message.content for message in message_list if message.role == "tool"]


def test_a_flood_in_every_reply_ends_soon_and_says_what_ran_out():
    model = Flooding()
    begun = time.process_time()
    task = crew_of_one(note).run_sync(model=model).tasks["t"]
    spent = time.process_time() - begun
    assert str(task.status) == "failed"
    assert "refused tool calls only" in task.error
    assert "its tool calls are used up (maxToolCallsPerRound: 10)" in task.error
    assert "more calls were not looked at" in task.error
    assert spent / len(model.asked) < 0.2
    assert task.output == "looking"


@pytest.mark.parametrize("name", ["note", "ghost", "ask_human"])
def test_of_each_reply_no_more_is_looked_at_and_kept(name):
    model = Flooding(name)
    task = crew_of_one(note, breaker="maxRetries: 0").run_sync(model=model).tasks["t"]
    assert str(task.status) == "failed"
    assert f"{FLOOD - MOST_CALLS:,} more calls were not looked at" in answers_of(model.asked[1])[-1]
    assert one_answer_each(model.asked[-1])
    kept = sum(len(message.tool_calls) for message in model.asked[-1])
    assert kept == (len(model.asked) - 1) * (MOST_CALLS + 1)


def test_how_many_were_passed_over_is_counted_over_all_replies():
    model = Flooding("ghost")
    task = crew_of_one(breaker="maxRetries: 0").run_sync(model=model).tasks["t"]
    assert f"{MOST_REFUSED_ROUNDS * (FLOOD - MOST_CALLS):,} more calls were not looked at" in task.error


@pytest.mark.parametrize(("asked", "passed_over"), [(MOST_CALLS, 0), (MOST_CALLS + 1, 1)])
def test_at_the_bound_itself_nothing_is_passed_over(asked, passed_over):
    many = [("note", {"text": str(number)}) for number in range(asked)]
    model = ScriptedModel(calls(*many), "done")
    result = crew_of_one(note, breaker="maxToolCallsPerRound: 100, preset: permissive").run_sync(model=model)
    assert result.success
    assert sum(answer.startswith("noted") for answer in model.answers) == MOST_CALLS
    assert sum("1 more calls were not looked at" in answer for answer in model.answers) == passed_over


def test_a_real_server_is_told_only_of_the_calls_that_were_looked_at():
    flood = server_calls(*[("note", {"text": str(number)}) for number in range(FLOOD)])
    with ModelServer(flood, says("Done")) as server:
        result = run_on(server, crew_of_one(note))
    assert result.success
    told = server.asked[1]["messages"]
    wanted = [call["id"] for message in told for call in message.get("tool_calls") or ()]
    assert len(wanted) == MOST_CALLS + 1
    assert wanted == [message["tool_call_id"] for message in told if message["role"] == "tool"]
