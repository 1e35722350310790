"""Models of providers, against a server on the loopback: what goes out and what comes back."""

import asyncio
import json

import pytest

from orkeon_transitions.crew import (
    Message,
    OfflineModel,
    ToolCall,
    ToolSpec,
    Usage,
)
from orkeon_transitions.crew.chat import ModelError, StreamingModel
from orkeon_transitions.crew.models import ModelSettings, Price
from orkeon_transitions.crew.models.providers import provider_model
from tests.crew.model_server import ModelServer, Raw, calls, says
from tests.crew.models.asking import KEY, TALK, asked

LOOK = ToolSpec(
    "look", "Looks.", {"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]}
)


def test_a_text_and_what_it_took():
    reply, server = asked(
        says("It is me.", usage={"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15})
    )
    assert (reply.text, reply.tool_calls) == ("It is me.", ())
    assert reply.usage == Usage(requests=1, input_tokens=12, output_tokens=3)
    (body,) = server.asked
    assert body["model"] == "x"
    assert body["messages"] == [
        {"role": "system", "content": "You are short."},
        {"role": "user", "content": "Who is there?"},
    ]
    assert "tools" not in body


def test_a_call_and_its_answer():
    reply, server = asked(calls(("look", {"at": "door"}), text="Let me see."), tools=[LOOK])
    (call,) = reply.tool_calls
    assert (reply.text, call.name, call.arguments) == ("Let me see.", "look", {"at": "door"})
    function = server.asked[0]["tools"][0]["function"]
    assert (function["name"], function["description"]) == ("look", "Looks.")
    assert function["parameters"]["required"] == ["at"]
    talk = [
        *TALK,
        Message("assistant", reply.text, reply.tool_calls, native=reply.native),
        Message("tool", "Anna", tool_call_id=call.id),
    ]
    _, server = asked(says("Anna is."), talk, [LOOK])
    said, answered = server.asked[0]["messages"][2:]
    assert said["tool_calls"][0]["id"] == answered["tool_call_id"] == call.id
    assert (said["content"], answered["content"]) == ("Let me see.", "Anna")


@pytest.mark.parametrize(
    ("setting", "sent"),
    [
        ({"temperature": 0.0}, {"temperature": 0.0}),
        ({"top_p": 0.5}, {"top_p": 0.5}),
        ({"max_tokens": 7}, {"max_completion_tokens": 7}),
        ({"seed": 3}, {"seed": 3}),
        ({"stop": ("END",)}, {"stop": ["END"]}),
        ({"response_format": "json"}, {"response_format": {"type": "json_object"}}),
        ({"response_format": "text"}, {}),
    ],
)
def test_settings_reach_the_provider(setting, sent):
    _, server = asked(says("{}"), **setting)
    (body,) = server.asked
    known = {"model", "messages", "stream"}
    lengths = {"max_tokens", "max_completion_tokens"}
    found = {name: value for name, value in body.items() if name not in known}
    if lengths & set(found):
        found = {"max_completion_tokens": next(iter(found.values()))}
    assert found == sent


def test_a_schema_of_answers_reaches_the_provider():
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    _, server = asked(says('{"n": 1}'), response_format=schema)
    body = server.asked[0]
    told = str(body.get("response_format")) + str(body["messages"])
    assert "integer" in told


def test_a_model_that_thinks_is_told_to():
    async def ask(server):
        model = provider_model(ModelSettings("openai:o3", base_url=server.url, thinking="high"))
        await model.reply(TALK, ())
        await model.close()

    with ModelServer(says("Hm.")) as server:
        asyncio.run(ask(server))
    assert server.asked[0]["reasoning_effort"] == "high"


def test_tokens_that_a_server_does_not_count_are_estimated():
    reply, _ = asked(says("x" * 400, usage=None))
    assert reply.usage.output_tokens == 100
    assert reply.usage.input_tokens >= 5


@pytest.mark.parametrize(("finish", "is_cut"), [("length", True), ("stop", False)])
def test_an_answer_that_was_cut_off_says_so(finish, is_cut):
    reply, _ = asked(says("Once upon a", finish=finish))
    assert reply.is_cut is is_cut


def test_a_price_makes_dollars():
    usage = {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100}
    reply, _ = asked(says("x", usage=usage), price=Price(2, 10))
    assert reply.usage.usd == pytest.approx(0.003)
    assert asked(says("x", usage=usage))[0].usage.usd == 0


def test_a_known_price_is_known(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert provider_model(ModelSettings("openai:gpt-4o")).has_price
    assert not provider_model(ModelSettings("openai:no-such-model")).has_price


# ---- what models make up
@pytest.mark.parametrize("text", ["{bad", "[1, 2]", "null", '"x"', "{" * 5000, '{"at": "x"} and more'])
def test_malformed_arguments_are_kept_as_text_and_go_back_as_json(text):
    reply, _ = asked(calls(("look", text)))
    (call,) = reply.tool_calls
    assert isinstance(call.arguments, str)
    talk = [*TALK, Message("assistant", "", reply.tool_calls, native=reply.native)]
    _, server = asked(says("x"), [*talk, Message("tool", "error", tool_call_id=call.id)])
    again = server.asked[0]["messages"][2]["tool_calls"][0]["function"]["arguments"]
    assert set(json.loads(again)) == {"unreadable"}


@pytest.mark.parametrize("text", ["", "  ", "{}"])
def test_no_arguments_are_none(text):
    assert asked(calls(("look", text)))[0].tool_calls[0].arguments == {}


@pytest.mark.parametrize("name", ["rm -rf /", "файл", "x" * 300, "a.b"])
def test_a_made_up_name_goes_back_as_providers_take_it(name):
    reply, _ = asked(calls((name, {})))
    assert reply.tool_calls[0].name == name
    talk = [
        *TALK,
        Message("assistant", "", reply.tool_calls),
        Message("tool", "no", tool_call_id=reply.tool_calls[0].id),
    ]
    _, server = asked(says("x"), talk)
    sent = server.asked[0]["messages"][2]["tool_calls"][0]["function"]["name"]
    assert sent.replace("_", "").replace("-", "").isalnum() or not sent.strip("_")
    assert sent.isascii()
    assert 0 < len(sent) <= 64


def test_calls_that_share_an_id_get_ids_of_their_own():
    def twice(body):
        call = {"id": "same", "type": "function", "function": {"name": "look", "arguments": "{}"}}
        message = {"role": "assistant", "content": None, "tool_calls": [call, dict(call)]}
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
        answer = {"id": "a", "object": "chat.completion", "created": 1, "model": "x", "choices": [choice]}
        return Raw(json.dumps(answer).encode())

    earlier = Message("assistant", "", (ToolCall("same", "look", {}),))
    reply, _ = asked(twice, [*TALK, earlier, Message("tool", "x", tool_call_id="same")])
    ids = [call.id for call in reply.tool_calls]
    assert len({*ids, "same"}) == 3


# ---- streaming
def test_text_is_told_while_it_is_written():
    heard = []
    reply, server = asked(says("Slowly, but surely."), on_text=heard.append)
    assert "".join(heard) == reply.text == "Slowly, but surely."
    assert len(heard) > 1
    assert server.asked[0]["stream"] is True
    assert reply.usage == Usage(1, 10, 5)


def test_calls_come_in_pieces():
    reply, _ = asked(
        calls(("look", {"at": "door"}), ("look", {"at": "window"}), text="So:"), on_text=lambda _: None
    )
    assert [call.arguments for call in reply.tool_calls] == [{"at": "door"}, {"at": "window"}]
    assert reply.text == "So:"


def test_a_stream_that_is_cut_is_a_failure():
    with pytest.raises(ModelError) as raised:
        asked(says("Never to the end", cut_after=2), on_text=lambda _: None)
    assert str(raised.value).startswith("openai:x ")


def test_models_that_stream_say_so():
    assert isinstance(
        provider_model(ModelSettings("openai:x", base_url="http://127.0.0.1:1/v1")), StreamingModel
    )
    assert not isinstance(OfflineModel(), StreamingModel)


def test_openai_s_newer_protocol_is_spoken_too():
    def answer(body):
        if any(item.get("type") == "function_call_output" for item in body["input"]):
            output = [{"type": "message", "id": "m1", "role": "assistant", "status": "completed"}]
            output[0]["content"] = [{"type": "output_text", "text": "Anna is.", "annotations": []}]
        else:
            call = {"type": "function_call", "id": "f1", "call_id": "c1", "name": "look", "arguments": "{}"}
            thought = {"type": "reasoning", "id": "r1", "summary": [], "encrypted_content": "sealed"}
            output = [thought, call]
        counted = {"input_tokens": 4, "output_tokens": 2, "total_tokens": 6}
        details = {
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        }
        whole = {"id": "resp", "object": "response", "created_at": 1, "status": "completed", "model": "x"}
        whole |= {"output": output, "usage": counted | details, "tools": [], "tool_choice": "auto"}
        return Raw(json.dumps(whole | {"parallel_tool_calls": True}).encode())

    async def talk(server):
        model = provider_model(ModelSettings("openai-responses:gpt-5", base_url=server.url, is_trusted=True))
        first = await model.reply(TALK, [LOOK])
        said = Message("assistant", first.text, first.tool_calls, native=first.native)
        answered = Message("tool", "Anna", tool_call_id=first.tool_calls[0].id)
        second = await model.reply([*TALK, said, answered], [LOOK])
        await model.close()
        return first, second

    with ModelServer(answer) as server:
        first, second = asyncio.run(talk(server))
    assert (first.tool_calls[0].name, second.text) == ("look", "Anna is.")
    assert second.usage.tokens == 6
    kinds = [item.get("type", "message") for item in server.asked[1]["input"]]
    assert kinds[-3:] == ["reasoning", "function_call", "function_call_output"], (
        "its thoughts go back as they came"
    )
