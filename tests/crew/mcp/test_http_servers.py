"""Tools of servers that listen elsewhere."""

import logging
import socket
import sys
import textwrap
import threading
import time

import pytest

from orkeon_transitions.crew import load_crew
from tests.crew.mcp.http_server import serving
from tests.crew.scripted import ScriptedModel, calls, one_answer_each


def crew_with(tool, url, *, breaker="", server=""):
    return load_crew(
        f"circuitBreaker: {{{breaker}}}\nmcpServers: {{w: {{url: '{url}'{server}}}}}\n"
        f"agents: {{a: {{tools: [{tool}]}}}}\ntasks: {{t: {{description: d}}}}"
    )


def test_a_tool_of_a_server_is_called():
    model = ScriptedModel(calls(("w_echo", {"text": "hello"})), "done")
    with serving() as server:
        result = crew_with("w.echo", server.url).run_sync(model=model)
    assert (result.status, model.answers) == ("completed", ['{"text": "hello"}'])


def test_headers_are_sent_and_told_to_nobody(monkeypatch, caplog):
    monkeypatch.setenv("MY_TOKEN", "s3cret-token")
    caplog.set_level(logging.DEBUG)
    model = ScriptedModel(calls("w_echo"), "done")
    with serving(wants="Bearer s3cret-token") as server:
        given = ", headers: {Authorization: 'Bearer ${MY_TOKEN}'}"
        crew = crew_with("w.echo", server.url, server=given)
        result = crew.run_sync(model=model)
        assert result.success
        asked = len(server.seen)
        monkeypatch.setenv("MY_TOKEN", "wr0ng-token")
        refused = crew_with("w.echo", server.url, server=given, breaker="maxRetries: 0").run_sync(
            model=ScriptedModel("never")
        )
    assert refused.status == "failed"
    assert "the MCP server 'w': " in refused.error
    assert all(headers["Authorization"] == "Bearer s3cret-token" for _, headers in server.seen[:asked])
    told = caplog.text + repr(crew.config) + repr(result) + repr(refused)
    assert "s3cret" not in told
    assert "wr0ng" not in told


def test_a_connection_that_is_cut_in_a_call_is_retried():
    model = ScriptedModel(calls("w_cut_once"), calls("w_cut_once"), "done")
    with serving() as server:
        result = crew_with("w.cut_once", server.url).run_sync(model=model)
    assert (result.success, result.tasks["t"].attempts, server.called) == (True, 2, ["cut_once"] * 2)
    assert one_answer_each(model.asked[-1])


def test_a_connection_that_is_always_cut_costs_the_retries():
    model = ScriptedModel(calls("w_cut"))
    with serving() as server:
        result = crew_with("w.cut", server.url, breaker="maxRetries: 1").run_sync(model=model)
    assert (result.status, server.called) == ("failed", ["cut", "cut"])
    assert "tool 'w.cut' could not be run" in result.error


def test_a_server_that_hangs_is_for_the_clock_of_the_state():
    model = ScriptedModel(calls("w_hang"))
    before = time.monotonic()
    with serving() as server:
        result = crew_with("w.hang", server.url, breaker="stateTimeoutSeconds: 1").run_sync(model=model)
    assert result.status == "degraded"
    assert "State timeout exceeded" in result.error
    assert time.monotonic() - before < 10


def test_a_server_that_says_too_much_is_not_listened_to():
    model = ScriptedModel(calls("w_flood"))
    with serving() as server:
        result = crew_with("w.flood", server.url, breaker="maxRetries: 0").run_sync(model=model)
    assert result.status == "failed"
    assert "tool 'w.flood' could not be run" in result.error


def test_a_server_that_will_not_let_go_is_left():
    model = ScriptedModel(calls(("w_echo", {})), "done")
    before = time.monotonic()
    with serving(stubborn=True) as server:
        assert crew_with("w.echo", server.url).run_sync(model=model).success
        assert 1.5 < time.monotonic() - before < 6


def test_a_server_that_is_not_there_fails_the_task():
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/mcp"
        model = ScriptedModel("never")
        result = crew_with("w.echo", url, breaker="maxRetries: 1").run_sync(model=model)
    assert (result.status, model.asked) == ("failed", [])
    assert "the MCP server 'w': " in result.error


PROGRAM = """
    from mcp.server import MCPServer

    server = MCPServer("calculator")

    @server.tool(name="add numbers")
    def add(a: int, b: int) -> int:
        "Adds two numbers."
        if a < 0:
            raise ValueError("negative numbers are not there")
        return a + b
"""


def check_calculator(crew):
    model = ScriptedModel(
        calls(
            ("c_add_numbers", {"a": 1, "b": 2}),
            ("c_add_numbers", {"a": "x"}),
            ("c_add_numbers", {"a": -1, "b": 1}),
        ),
        "done",
    )
    result = crew.run_sync(model=model)
    assert (result.status, result.error) == ("completed", None)
    first, wrong, negative = model.answers
    assert first == "3"
    assert wrong.startswith("error: ")
    assert negative.startswith("error: ")


def test_servers_of_the_official_package_are_understood(tmp_path):
    (tmp_path / "calculator.py").write_text(textwrap.dedent(PROGRAM) + "\nserver.run('stdio')\n")
    started = f"command: '{sys.executable}', args: [calculator.py]"
    (tmp_path / "crew.yaml").write_text(
        f"mcpServers: {{c: {{{started}}}}}\nagents: {{a: {{tools: [c.add numbers]}}}}\n"
        "tasks: {t: {description: d}}"
    )
    check_calculator(load_crew(tmp_path / "crew.yaml"))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_servers_of_the_official_package_are_understood_over_http():
    import uvicorn

    made = {}
    exec(textwrap.dedent(PROGRAM), made)
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    web = uvicorn.Server(uvicorn.Config(made["server"].streamable_http_app(), log_level="error"))
    thread = threading.Thread(target=web.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
        check_calculator(
            load_crew(
                f"mcpServers: {{c: {{url: '{url}'}}}}\nagents: {{a: {{tools: [c.add numbers]}}}}\n"
                "tasks: {t: {description: d}}"
            )
        )
    finally:
        web.should_exit = True
        thread.join(10)
        listening.close()
