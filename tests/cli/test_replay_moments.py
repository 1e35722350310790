"""`orkeon replay`: back to a step, the way as a picture, and names that were recorded again."""

import pytest

from orkeon_transitions import CircuitBreakerPolicy, HermesAgentFSM
from orkeon_transitions.machines import TaskExecution
from orkeon_transitions.store import JsonlJournal
from tests.cli.conftest import HERMES_ROWS, write_log


# ------------------------------------------------------------------------------------------ back to a step
@pytest.fixture
def tripped(folder):
    machine = TaskExecution(
        policy=CircuitBreakerPolicy(max_transitions=3, use_degraded_mode=True), machine_id="t1"
    )
    with JsonlJournal(folder / "run.jsonl") as journal:
        journal.record(machine)
        machine.begin_execution()
        machine.request_tool_call()
        machine.tool_call_completed()
        machine.try_fire("request_tool_call")
    return machine


@pytest.mark.parametrize(
    ("step", "state", "visits", "end"),
    [
        (0, "assigned", {"assigned": "1"}, "0 transitions made; circuit whole"),
        (1, "executing", {"assigned": "1", "executing": "1"}, "1 transition made; circuit whole"),
        (
            3,
            "executing",
            {"assigned": "1", "executing": "2", "tool_calling": "1"},
            "3 transitions made",
        ),
        (
            4,
            "degraded",
            {"degraded": "1", "executing": "2"},
            "broken: Max transitions exceeded (3/3)",
        ),
    ],
)
def test_how_things_stood_after_a_step(orkeon, tripped, step, state, visits, end):
    done = orkeon("replay", "run.jsonl", "--at", step)
    assert done.code == 0
    assert f"state then: {state} (" in done.out
    assert end in done.out
    rows = [line.split() for line in done.out.splitlines()]
    assert {row[0]: row[1] for row in rows if row and row[0] in visits}.items() >= visits.items()
    assert [row[0] for row in rows if row and row[0].isdigit()] == ([str(step)] if step else [])


def test_a_step_for_programs_is_the_journal_up_to_it(orkeon, tripped):
    document = orkeon("replay", "run.jsonl", "--at", "2", "--json").json
    assert (document["at"], document["final_state"], document["transition_count"]) == (2, "tool_calling", 2)
    assert [step["ordinal"] for step in document["steps"]] == [1, 2]
    assert not document["is_circuit_broken"]
    assert "at" not in orkeon("replay", "run.jsonl", "--json").json


@pytest.mark.parametrize(
    ("step", "words"),
    [
        ("5", "made no step 5: its steps go from 1 to 4"),
        ("2/1", "was not recorded"),
        ("-1", "'-1' is no step"),
        ("one", "'one' is no step"),
        ("1/", "'1/' is no step"),
        ("", "'' is no step"),
        ("٣", "is no step"),
        ("9" * 30, "is no step"),
    ],
)
def test_a_step_that_is_not_there_is_one_clear_error(orkeon, tripped, step, words):
    done = orkeon("replay", "run.jsonl", f"--at={step}")
    assert (done.code, done.out) == (2, "")
    assert words in done.err.splitlines()[-1]


@pytest.mark.parametrize("option", [["--at", "1"], ["--diagram", "x.mmd"]])
def test_of_several_machines_one_must_be_chosen(orkeon, folder, option):
    with JsonlJournal(folder / "run.jsonl") as journal:
        for name in ("t1", "t2"):
            machine = TaskExecution(machine_id=name)
            journal.record(machine)
            machine.begin_execution()
    done = orkeon("replay", "run.jsonl", *option)
    assert (done.code, done.out) == (2, "")
    assert f"{option[0]}" in done.err
    assert "--machine-id: t1, t2" in done.err
    assert orkeon("replay", "run.jsonl", "--machine-id", "t2", *option).code == 0


def test_many_names_are_not_all_told(orkeon, folder):
    for number in range(30):
        write_log(folder / "more.log", *HERMES_ROWS, session=f"s{number}", machine="hermes_agent")
        with (folder / "all.log").open("a") as file:
            file.write((folder / "more.log").read_text())
    assert orkeon("replay", "all.log", "--at", "1").err.endswith("s8, s9 and 20 more\n")
    assert orkeon("replay", "all.log", "--machine-id", "x").err.endswith("s8, s9 and 20 more\n")


# ---------------------------------------------------------------------------------------------- the way taken
@pytest.mark.parametrize("suffix", [".mmd", ".dot", ".svg", ".png"])
def test_the_way_is_drawn_in_each_format(orkeon, folder, tripped, suffix):
    done = orkeon("replay", "run.jsonl", "--diagram", f"way{suffix}")
    assert (done.code, done.err) == (0, f"wrote way{suffix}\n")
    assert "final state: degraded" in done.out
    drawn = (folder / f"way{suffix}").read_bytes()
    assert orkeon("render", "run.jsonl", "-o", f"other{suffix}").code == 0
    assert drawn == (folder / f"other{suffix}").read_bytes()


def test_the_way_up_to_a_step_is_drawn(orkeon, folder, tripped):
    pictures = []
    for step in range(5):
        done = orkeon("replay", "run.jsonl", "--at", step, "--diagram", "at.mmd", "--quiet", "--json")
        assert (done.code, done.err) == (0, "")
        assert done.json["at"] == step
        pictures.append((folder / "at.mmd").read_text())
    assert len(set(pictures)) == 5
    assert "Max transitions exceeded" not in pictures[3]


def test_a_way_through_several_budgets_is_drawn_with_its_own_visits(orkeon, folder):
    with JsonlJournal(folder / "run.jsonl") as journal:
        agent = HermesAgentFSM("s1")
        journal.record(agent)
        agent.receive_task(task="one")
        agent.planning_failed()
        agent.abort()
        agent.receive_task(task="two")
    done = orkeon("replay", "run.jsonl", "--diagram", "way.svg")
    assert "new budget" in done.out
    assert "4 transitions made; 1 in the current budget" in done.out
    drawn = (folder / "way.svg").read_text()
    assert all(f"{state} " in drawn or f"{state}<" in drawn for state in ("idle", "planning", "error"))
    assert "×2" in drawn


@pytest.mark.parametrize("name", ["way.gif", "way", "none/way.svg"])
def test_a_picture_that_cannot_be_drawn_is_told_before_anything_is_shown(orkeon, tripped, name):
    done = orkeon("replay", "run.jsonl", "--diagram", name)
    assert (done.code, done.out) == (2, "")
    assert name in done.err


# --------------------------------------------------------------------------------- one name, recorded again
def test_a_session_that_was_recorded_twice_is_told_as_two(orkeon, folder):
    for _ in range(2):
        with JsonlJournal(folder / "run.jsonl") as journal:
            task = TaskExecution(machine_id="t1")
            journal.record(task)
            task.begin_execution()
            task.cancel()
    done = orkeon("replay", "run.jsonl", "--strict")
    assert done.code == 0, "it is nothing odd"
    assert done.out.startswith("task_execution t1 (recorded 2 times), ")
    labels = [line.split()[0] for line in done.out.splitlines() if "/" in line.split(" ")[0]]
    assert labels == ["1/1", "1/2", "2/1", "2/2"]
    assert done.out.count("recorded anew") == 1
    assert "final state: cancelled (2 transitions made; circuit whole; ended)" in done.out
    assert "state then: executing" in orkeon("replay", "run.jsonl", "--at", "1/1").out
    assert len(orkeon("replay", "run.jsonl", "--at", "1/1", "--json").json["steps"]) == 1
    assert len(orkeon("replay", "run.jsonl", "--at", "1", "--json").json["steps"]) == 3
    orkeon("replay", "run.jsonl", "--diagram", "way.mmd")
    assert "2 steps" in (folder / "way.mmd").read_text()
