"""One crew for all six processes, and a model on the loopback that is fit for each of them."""

import asyncio

from orkeon_transitions.crew import Message, OfflineModel
from tests.crew.model_server import calls, says

PROCESSES = ("sequential", "parallel", "graph", "hierarchical", "consensual", "autonomous")
CREW = """\
name: six
goal: Tea for everybody
process: {process}
managerAgent: boss
agents:
  boss: {{role: Head}}
  ann: {{role: Cook, goal: Good tea{tools}}}
  bob: {{role: Waiter{tools}}}
tasks:
  boil: {{description: Boil water, expectedOutput: Hot water}}
  warm: {{description: Warm the pot, expectedOutput: A warm pot}}
  brew: {{description: Brew the tea, expectedOutput: Tea, dependencies: [boil, warm]}}
"""


def six(process, *, tools=""):
    """The crew as text, for one process."""
    return CREW.format(process=process, tools=f", tools: [{tools}]" if tools else "")


def answers(body):
    """Uses the tool of whoever has one, then works; questions are answered as the offline model would."""
    messages = body["messages"]
    if not any("One JSON object and nothing else" in str(message.get("content")) for message in messages):
        if body.get("tools") and not any(message["role"] == "tool" for message in messages):
            return calls(("json_tool", {"operation": "validate", "text": "{}"}))
        return says(f"Done by {str(messages[0]['content'])[:40]}")
    asked = [Message(message["role"], message["content"]) for message in messages]
    return says(asyncio.run(OfflineModel().reply(asked, ())).text)
