"""Two processes that want to go on with the same run: one does, the other is told who."""

import subprocess
import sys

import pytest

PROGRAM = """
import os, sys, time
from orkeon_transitions.crew import load_crew
from orkeon_transitions.errors import OrkeonError
from orkeon_transitions.store import MachineStore

folder, what = sys.argv[1:]
crew = load_crew(
    "agents: {a: {}}\\ntasks:\\n  one: {description: d, agent: a}\\n"
    "  two: {description: d, agent: a, dependencies: [one]}\\n"
)

def work(agent, task, context):
    if what == "begin" and task.id == "two":
        os._exit(7)
    if what != "begin":
        with open(f"{folder}/done", "a") as file:
            file.write(f"{task.id} ")
        time.sleep(1)
    return task.id

with MachineStore(f"sqlite:///{folder}/runs.db") as store:
    try:
        if what == "begin":
            crew.run_sync(executor=work, run_log=store.runs, run_id="r")
        else:
            print(crew.resume_sync("r", executor=work, run_log=store.runs).status)
    except OrkeonError as error:
        print(error)
"""


@pytest.fixture
def begin(tmp_path):
    def start(what):
        command = [sys.executable, "-c", PROGRAM, str(tmp_path), what]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    return start


def test_one_of_two_goes_on_and_the_other_is_told(begin, tmp_path):
    first = begin("begin")
    first.communicate(timeout=60)
    assert first.returncode == 7
    said = [process.communicate(timeout=60)[0].strip() for process in [begin("resume"), begin("resume")]]
    assert "completed" in said
    (other,) = [words for words in said if words != "completed"]
    assert "run 'r' is being worked on by process" in other or "has ended (completed)" in other
    assert (tmp_path / "done").read_text() == "two "
