"""What a server says of its own keys is hidden, before it is cut: half a key is not known as one."""

import json

import pytest

from tests.crew.mcp.test_stdio_servers import crew_with
from tests.crew.scripted import ScriptedModel, calls

KEY = "abcdefghij-KLMNOPQRST-0123456789"


@pytest.mark.parametrize("tool", ["confess", "confess_at_length", "reveal_at_length"])
def test_no_part_of_a_key_is_left_where_words_are_cut(monkeypatch, tool):
    monkeypatch.setenv("MY_TOKEN", KEY)
    model = ScriptedModel(calls(f"s_{tool}"), "done")
    crew = crew_with([f"s.{tool}"], server=", env: {SERVER_KEY: '${MY_TOKEN}'}", breaker="maxRetries: 0")
    result = crew.run_sync(model=model)
    told = repr(result) + repr(result.tasks["t"]) + repr(model.answers)
    parts = {KEY[place : place + 5] for place in range(len(KEY) - 4)}
    assert not {part for part in parts if part in told}
    assert "x" * 300 in told or "[hidden]" in told


def test_an_answer_that_holds_a_key_of_the_server_is_told_without_it(monkeypatch):
    monkeypatch.setenv("MY_TOKEN", "s3cret-token")
    given = ", env: {SERVICE_TOKEN: 'x-${MY_TOKEN}', OTHER: '${MY_TOKEN}', FOLDER: /somewhere/else}"
    model = ScriptedModel(calls("s_environment"), "done")
    assert crew_with(["s.environment"], server=given).run_sync(model=model).success
    environment = json.loads(model.answers[0])
    assert (environment["SERVICE_TOKEN"], environment["OTHER"]) == ("[hidden]", "[hidden]")
    assert environment["FOLDER"] == "/somewhere/else"
