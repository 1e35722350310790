"""`orkeon run` and `orkeon check` with one crew under all six processes."""

import pytest

from tests.crew.model_server import ModelServer
from tests.crew.six import PROCESSES, answers, six

TASKS = {"boil": "completed", "warm": "completed", "brew": "completed"}
each_process = pytest.mark.parametrize("process", PROCESSES)


@pytest.fixture
def crew(folder, process):
    (folder / "six.yaml").write_text(six(process, tools="json_tool"), encoding="utf-8")
    return "six.yaml"


def ends(result):
    return {task["id"]: task["status"] for task in result["tasks"]}


@each_process
def test_run_on_the_offline_model(orkeon, crew, process):
    done = orkeon("run", crew, "--json", "--model", "offline")
    assert (done.code, done.json["status"], ends(done.json)) == (0, "completed", TASKS)


@each_process
def test_run_on_a_server(orkeon, crew, process):
    with ModelServer(answers) as server:
        done = orkeon("run", crew, "--json", "--model", "openai:x", "--base-url", server.url)
    assert (done.code, done.json["status"], ends(done.json)) == (0, "completed", TASKS)
    assert done.json["usage"]["requests"] == len(server.asked)


@each_process
def test_check(orkeon, crew, process):
    done = orkeon("check", crew)
    assert done.code == 0
    assert "six.yaml: ok (crew six, 3 agents, 3 tasks)" in done.out
    # A manager whom nobody asks is a note.
    assert ("managerAgent: carried" in done.out) == (process != "hierarchical")
