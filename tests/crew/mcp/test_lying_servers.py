"""Servers that answer with what is none, that hang, hang up or send on: each ends in one sentence."""

import pytest

from tests.crew.mcp.http_server import HANGS, serving
from tests.crew.mcp.test_http_servers import crew_with
from tests.crew.scripted import ScriptedModel, calls

NO_MESSAGE = "it said something that is no message of the protocol"
LIST, CALL, GREET = "tools/list", "tools/call", "initialize"


def result(value):
    return {"result": value}


def listed(**tool):
    return result({"tools": [{"name": "echo", "inputSchema": {"type": "object"}, **tool}]})


def run(answers, breaker="maxRetries: 0, stateTimeout: 20", **options):
    model = ScriptedModel(calls("w_echo"), "done")
    with serving(answers=answers, **options) as server:
        return crew_with("w.echo", server.url, breaker=breaker).run_sync(model=model), model


@pytest.mark.parametrize(
    ("method", "answer", "why"),
    [
        (LIST, result("nothing"), NO_MESSAGE),
        (LIST, result(None), NO_MESSAGE),
        (LIST, result({"tools": "echo"}), "a list of its tools of the wrong shape: at tools: "),
        (LIST, result({"tools": [7]}), "a list of its tools of the wrong shape: at tools.0: "),
        (LIST, listed(inputSchema=[1]), "at tools.0.inputSchema: "),
        (LIST, listed(inputSchema={"type": "string"}), "at tools.0.inputSchema.type: "),
        (LIST, listed(inputSchema={"type": "object", "properties": 5}), "tools.0.inputSchema.properties: "),
        (LIST, result({"tools": [], "nextCursor": "again"}), "has no tool 'echo'"),
        (LIST, None, "Server disconnected"),
        (CALL, result("yes"), NO_MESSAGE),
        (CALL, result([1]), NO_MESSAGE),
        (CALL, result({"content": "words"}), "a result of the wrong shape: at content: "),
        (CALL, result({"content": [{"type": "video"}]}), "a result of the wrong shape: at content.0."),
        (CALL, result({"content": [{"type": "text", "text": 5}]}), "a result of the wrong shape: at content"),
        (CALL, {"error": "bad"}, NO_MESSAGE),
        (CALL, {"error": {"code": "x", "message": 5}}, NO_MESSAGE),
        (CALL, {}, NO_MESSAGE),
        (GREET, result({"protocolVersion": 5}), "a greeting of the wrong shape: at "),
        (GREET, {"error": {"code": 1, "message": "go\naway"}}, "go away"),
        (GREET, None, "Server disconnected"),
    ],
)
def test_a_lie_is_one_sentence_that_names_the_server(method, answer, why, capfd):
    told, _ = run({method: answer})
    assert told.status == "failed"
    assert "the MCP server 'w'" in told.error
    assert why in told.error
    assert "\n" not in told.error
    assert not {"validation error", "input_value", "pydantic", "Traceback"} & set(told.error.split("'"))
    assert "pydantic" not in told.error
    assert len(told.error) < 250
    assert capfd.readouterr().err == "", "nothing is printed over a person's screen"


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ({"allOf": [{"$ref": "#"}]}, "refers to itself without end"),
        ({"properties": {"a": {"$ref": "#/$defs/none"}}}, "refers to '#/$defs/none', which is not in it"),
        ({"properties": {"a": {"$ref": "http://x/y"}}}, "refers to 'http://x/y': nothing is fetched"),
        ({"properties": {"a": {"type": "objekt"}}}, "is no JSON Schema"),
    ],
)
def test_a_schema_that_nobody_can_fill_is_refused_where_the_tool_is_named(schema, why):
    told, model = run({LIST: listed(inputSchema={"type": "object", **schema})})
    assert f"the MCP server 'w': the schema of its tool 'echo' {why}" in told.error
    assert model.asked == []


def test_a_schema_that_holds_itself_further_down_is_fine():
    tree = {"type": "object", "properties": {"kids": {"type": "array", "items": {"$ref": "#"}}}}
    told, _ = run({LIST: listed(inputSchema=tree)})
    assert told.success


@pytest.mark.parametrize("method", [GREET, LIST, CALL])
def test_a_server_that_hangs_is_for_the_clock_of_the_state(method):
    told, _ = run({method: HANGS}, breaker="stateTimeout: 1.5")
    assert told.status == "degraded"
    assert "State timeout exceeded" in told.error


@pytest.mark.parametrize("status_host", ["http://localhost:{port}/mcp", "/elsewhere"])
def test_a_server_that_sends_on_to_another_is_not_followed(status_host):
    with serving() as other:
        elsewhere = status_host.format(port=other.server_port)
        told, model = run({}, elsewhere=elsewhere)
        assert other.seen == [], "it is told nothing, no header at least"
    assert told.status == "failed"
    assert "the MCP server 'w': Redirect to http://" in told.error
    assert model.asked == []
