"""What the tests of the agent share."""

from orkeon_transitions.machines import HermesAgentFSM


def agent_in(state, **options):
    """An agent that has come to a state, with three steps in its plan and one tool."""
    agent = HermesAgentFSM("s1", **options)
    agent.register_tool("web_search")
    if state != "idle":
        agent.receive_task(task="Compare three parsers")
        agent.plan_steps = ["read", "measure", "write"]
    if state in ("executing", "waiting", "error", "completed"):
        agent.plan_ready()
    if state == "waiting":
        agent.call_tool(tool_name="web_search", query="q")
    if state == "error":
        agent.execution_error(error="boom")
    if state == "completed":
        agent.finish_execution(result="report")
    assert agent.state == state
    return agent
