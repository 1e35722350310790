"""What a server says that it has counted: nothing of it may spoil the screen, or the sum."""

import subprocess
import sys

import pytest

from tests.crew.model_server import Answer, ModelServer

PROGRAM = """
import sys
from orkeon_transitions.crew import CrewObserver, ModelSettings, load_crew

told = CrewObserver(task_text=lambda text: None) if sys.argv[2] == "streamed" else None
crew = load_crew("agents: {a: {}}\\ntasks: {t: {description: d}}")
result = crew.run_sync(model=ModelSettings("openai:x", base_url=sys.argv[1]), observer=told)
print(result.status, result.usage.tokens >= 0)
"""


@pytest.mark.parametrize("how", ["whole", "streamed"])
@pytest.mark.parametrize("counted", [-5, 10**30])
def test_nothing_is_printed_over_the_screen(how, counted):
    usage = {"prompt_tokens": counted, "completion_tokens": counted, "total_tokens": counted}
    with ModelServer(Answer("hello", usage=usage)) as server:
        command = [sys.executable, "-c", PROGRAM, server.url, how]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ended.stdout.split() == ["completed", "True"]
    assert ended.stderr == ""
