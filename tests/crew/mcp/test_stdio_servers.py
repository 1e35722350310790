"""Tools of servers that a run starts: what they answer, and what becomes of those that do not."""

import sys
from pathlib import Path

from orkeon_transitions.crew import load_crew
from tests.crew.scripted import ScriptedModel, calls, path_of

SERVER = Path(__file__).parent / "stdio_server.py"


def crew_with(tools, *options, breaker="", server="", head=""):
    """A crew of one agent with tools of the server `s`."""
    listed = ", ".join(f"'{name}'" for name in tools)
    args = ", ".join(f"'{one}'" for one in (SERVER, *options))
    return load_crew(
        f"name: one\n{head}circuitBreaker: {{{breaker}}}\n"
        f"mcpServers:\n  s: {{command: '{sys.executable}', args: [{args}]{server}}}\n"
        f"agents:\n  a: {{tools: [{listed}]}}\ntasks:\n  t: {{description: Do it, agent: a}}\n"
    )


def test_a_tool_of_a_server_is_called():
    model = ScriptedModel(calls(("s_echo", {"text": "hello"})), "done")
    result = crew_with(["s.echo"]).run_sync(model=model)
    assert (result.status, result.error) == ("completed", None)
    assert model.answers == ["hello"]
    assert "tool_calling" in path_of(result.tasks["t"])
