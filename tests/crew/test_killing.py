"""Processes that are really killed, at every point of both packaged crews: each run then comes to its end."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LINE, REVIEW = "102-graph-orchestration", "103-ts-codebase-with-fsm"
# At least so many, the end of the run among them.
WRITES = {LINE: 42, REVIEW: 150}


def killed(crew, folder, points):
    """What came of killing at each point, and resuming."""
    command = [sys.executable, "-m", "tests.crew.killing", crew, folder, *map(str, points)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=110, check=False)
    assert done.returncode == 0, done.stderr
    return list(map(json.loads, done.stdout.splitlines()))


def check(told):
    """A run that was killed and resumed is whole."""
    result = told["result"]
    assert (told["code"], told["after"], result["status"]) == (0, "completed", "completed"), told
    assert told["before"] == "interrupted"
    assert set(told["restored"]) == set(told["finished"])
    assert all(task["status"] == "completed" and task["output"] for task in result["tasks"])
    assert len({task["id"] for task in result["tasks"]}) == len(result["tasks"])
    for ordinals in told["journals"].values():
        assert ordinals == list(range(1, len(ordinals) + 1)), told["point"]
    for task in result["tasks"]:
        ran = [told["journals"][machine["machine_id"]] for machine in task["machines"]]
        assert sum(map(len, ran)) == len(task["history"])
        # One beginning and one end, however many processes there were.
        assert [step["to_state"] for step in task["history"]].count("completed") == 1
        assert len([step for step in task["history"] if step["trigger"] == "begin_execution"]) == len(ran)


@pytest.mark.parametrize("crew", [LINE, REVIEW])
def test_killed_after_the_last_write_there_is_nothing_to_resume(crew, tmp_path):
    # What an earlier run has left in the folder is looked at by the next: the first one only makes it.
    first, *told = killed(crew, tmp_path, [1000, *range(WRITES[crew] - 2, WRITES[crew] + 6)])
    assert not first["killed"]
    ends = ["whole" if not one["killed"] else "ended" if "refused" in one else "resumed" for one in told]
    assert ends == sorted(ends, key=["resumed", "ended", "whole"].index)
    assert ends.count("ended") == 1
    assert {"resumed", "whole"} <= set(ends)
    for one in told:
        if "refused" in one:
            assert "has ended (completed)" in one["refused"]
        elif one["killed"]:
            check(one)


@pytest.mark.parametrize(
    ("crew", "step"),
    [(LINE, 1), (REVIEW, 13), pytest.param(REVIEW, 1, marks=[pytest.mark.slow, pytest.mark.timeout(240)])],
)
def test_killed_after_any_write(crew, step, tmp_path):
    points = range(1, WRITES[crew], step)
    for first in range(0, len(points), 50):
        told = killed(crew, tmp_path, points[first : first + 50])
        assert len(told) == len(points[first : first + 50])
        for one in told:
            assert one["killed"]
            check(one)


@pytest.mark.parametrize("crew", [LINE, REVIEW])
def test_killed_at_any_moment(crew, tmp_path):
    resumed = 0
    for told in killed(crew, tmp_path, [f"{0.031 + 0.047 * n:.3f}" for n in range(10)]):
        if "refused" in told:
            assert "no run 'r'" in told["refused"] or "has ended" in told["refused"]
        elif told["killed"]:
            check(told)
            resumed += 1
    assert resumed > 0
