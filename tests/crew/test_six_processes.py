"""One crew under all six processes: the same ends on any model, and as many requests as the README says."""

import re
from pathlib import Path

import pytest

from orkeon_transitions.crew import ModelReply, OfflineModel, Usage, load_crew
from orkeon_transitions.crew.keys import PROCESSES as KNOWN
from tests.crew.model_server import ModelServer
from tests.crew.models.asking import run_on
from tests.crew.six import PROCESSES, answers, six

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
TABLE = README.partition("| process | what")[2].partition("\n\n")[0]
ROWS = dict(re.findall(r"^\| `(\w+)` \|(.*)\|$", TABLE, re.MULTILINE))


def ends(result):
    return {task.id: (str(task.status), task.state) for task in result.tasks.values()}


WELL = dict.fromkeys(["boil", "warm", "brew"], ("completed", "completed"))


def test_these_are_all_processes():
    assert set(PROCESSES) == set(KNOWN)
    assert list(ROWS) == list(PROCESSES)


@pytest.mark.parametrize("process", PROCESSES)
def test_on_the_offline_model(process):
    result = load_crew(six(process, tools="json_tool")).run_sync()
    assert (str(result.status), ends(result)) == ("completed", WELL)
    assert "[offline model]" in result.output


@pytest.mark.parametrize("process", PROCESSES)
def test_on_a_server(process):
    with ModelServer(answers) as server:
        result = run_on(server, load_crew(six(process, tools="json_tool")))
    assert (str(result.status), ends(result)) == ("completed", WELL)
    assert result.output.startswith("Done by")
    assert result.usage.requests == len(server.asked)
    assert result.usage.tool_calls >= 2


class Counting:
    """Counts what it is asked; every agent's work is different, or none is ever done."""

    def __init__(self, *, works):
        self.works = works
        self.count = 0

    async def reply(self, messages, tools):
        self.count += 1
        if any("One JSON object and nothing else" in message.content for message in messages):
            return await OfflineModel().reply(messages, tools)
        if not self.works:
            raise ConnectionError("500")
        return ModelReply(f"work {self.count}", usage=Usage(requests=1))


def in_readme(process, column):
    """What the README says that a task costs in a crew of three agents."""
    number = re.match(r"(\d*)(n?)", ROWS[process].split("|")[column].strip())
    return int(number[1] or 1) * (3 if number[2] else 1)


@pytest.mark.parametrize("process", PROCESSES)
def test_what_each_costs(process):
    alone = six(process).partition("  warm")[0]
    well, badly = Counting(works=True), Counting(works=False)
    assert load_crew(alone).run_sync(model=well).success
    assert well.count == in_readme(process, 1)
    assert not load_crew(alone).run_sync(model=badly).success
    assert badly.count == in_readme(process, 2)


def test_equal_answers_need_no_vote():
    class Same(Counting):
        async def reply(self, messages, tools):
            reply = await super().reply(messages, tools)
            return reply if "work" not in reply.text else ModelReply("the same")

    model = Same(works=True)
    assert load_crew(six("consensual").partition("  warm")[0]).run_sync(model=model).success
    assert model.count == 3
