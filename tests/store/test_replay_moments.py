"""Replay: back to a step, names that were recorded again, stores in place of files."""

import json

import pytest

from orkeon_transitions.breaker import CircuitBreakerPolicy
from orkeon_transitions.definition import load_definition
from orkeon_transitions.errors import JournalError
from orkeon_transitions.machines import HermesAgentFSM, TaskExecution, machine_definition
from orkeon_transitions.runtime import StateMachine
from orkeon_transitions.store import JsonlJournal, Replay, recorded_machines, replay, replay_each

TASK = machine_definition("task_execution")
HERMES = machine_definition("hermes_agent")


@pytest.fixture
def tripped(path):
    machine = TaskExecution(
        policy=CircuitBreakerPolicy(max_transitions=3, use_degraded_mode=True), machine_id="t1"
    )
    with JsonlJournal(path) as journal:
        journal.record(machine)
        machine.begin_execution()
        machine.request_tool_call()
        machine.tool_call_completed()
        machine.try_fire("request_tool_call")
    return replay(path, TASK)


# ------------------------------------------------------------------------------------------ back to a step
def test_each_step_is_told_as_it_was_then(tripped):
    told = [
        (then.final_state, then.transition_count, then.is_circuit_broken)
        for then in map(tripped.at, range(5))
    ]
    assert told == [
        ("assigned", 0, False),
        ("executing", 1, False),
        ("tool_calling", 2, False),
        ("executing", 3, False),
        ("degraded", 4, True),
    ]
    assert [len(tripped.at(step).steps) for step in range(5)] == [0, 1, 2, 3, 4]
    assert tripped.at(2).histogram == {"assigned": 1, "executing": 1, "tool_calling": 1}
    assert tripped.at(4) == tripped
    assert tripped.at(3).at(1) == tripped.at(1)


@pytest.mark.parametrize(("step", "life"), [(5, None), (-1, None), (99, None), (1, 2), (0, 2), (1, 0)])
def test_a_step_that_is_not_there_is_a_clear_error(tripped, step, life):
    with pytest.raises(JournalError, match="machine 't1'"):
        tripped.at(step, life)


def test_an_empty_journal_has_its_beginning_only(path):
    path.touch()
    nothing = replay(path, TASK)
    assert nothing.at(0) == nothing
    with pytest.raises(JournalError, match="made no step"):
        nothing.at(1)


def test_a_replay_that_was_made_by_hand_has_no_steps_to_go_back_to():
    made = Replay("m", "a", [], {"a": 1}, [], 0, False, None)
    with pytest.raises(JournalError, match="not made from a journal"):
        made.at(0)


def test_a_failure_belongs_to_its_step(path):
    states = [{"name": "a"}, {"name": "b", "on_enter": "burst"}]
    rows = [["go", "*", "b"], ["back", "b", "a"]]
    definition = load_definition({"name": "m", "initial": "a", "states": states, "transitions": rows})

    def burst(event):
        raise ValueError("no")

    machine = StateMachine(definition, machine_id="m", actions={"burst": burst})
    with JsonlJournal(path) as journal:
        journal.record(machine)
        for trigger in ("go", "back"):
            try:
                machine.fire(trigger)
            except ValueError:
                continue
    then = replay(path, machine.definition).at(1)
    assert [step.error for step in then.steps] == ["ValueError: no"]
    assert replay(path, machine.definition).at(2).final_state == "a"


def test_a_machine_that_joined_late_begins_where_it_joined(path):
    machine = TaskExecution(machine_id="t1")
    machine.begin_execution()
    machine.request_tool_call()
    with JsonlJournal(path) as journal:
        journal.record(machine)
        machine.tool_call_completed()
    back = replay(path, TASK)
    assert [step.ordinal for step in back.steps] == [3]
    assert (back.at(0).final_state, back.at(0).transition_count) == ("tool_calling", 2)
    assert back.at(3).histogram == {"assigned": 1, "executing": 2, "tool_calling": 1}
    with pytest.raises(JournalError, match="its steps go from 3 to 3"):
        back.at(1)


def test_anomalies_are_those_that_showed_by_then(path):
    rows = [("receive_task", "idle", "planning"), ("teleport", "planning", "idle"), ("fly", "idle", "error")]
    path.write_text(
        "".join(
            json.dumps(
                {
                    "timestamp": f"2026-01-01T00:00:0{number}Z",
                    "session_id": "s",
                    "trigger": trigger,
                    "from_state": source,
                    "to_state": dest,
                }
            )
            + "\n"
            for number, (trigger, source, dest) in enumerate(rows)
        )
    )
    back = replay(path, HERMES)
    assert [len(back.at(step).anomalies) for step in range(4)] == [0, 0, 1, 2]


def test_a_replay_is_plain_data_for_programs(tripped):
    data = tripped.to_dict()
    assert json.loads(json.dumps(data)) == data
    assert data["steps"][0]["timestamp"] == tripped.steps[0].timestamp.isoformat()
    assert not [key for key in data if key.startswith("_")]


# --------------------------------------------------------------------------------- one name, recorded again
def recorded_again(path, *programs):
    for program in programs:
        with JsonlJournal(path) as journal:
            machine = TaskExecution(machine_id="t1", policy=CircuitBreakerPolicy(max_transitions=9))
            journal.record(machine)
            for trigger in program:
                machine.fire(trigger)
    return replay(path, TASK)


FAILING = ["begin_execution", "fail", "retry", "fail"]


def test_a_new_machine_of_an_old_name_begins_at_its_beginning(path):
    back = recorded_again(path, FAILING, ["start_planning"], FAILING)
    assert back.anomalies == []
    assert back.lives == 3
    assert [(step.life, step.ordinal) for step in back.steps] == [
        *((1, number) for number in range(1, 5)),
        (2, 1),
        *((3, number) for number in range(1, 5)),
    ]
    assert (back.final_state, back.transition_count) == ("failed", 4)
    assert back.histogram == {"assigned": 1, "executing": 2, "failed": 2}
    assert back.at(2).final_state == "failed"
    assert (back.at(1, life=2).final_state, back.at(1, life=2).lives) == ("planning", 2)
    assert [step.life for step in back.at(4, life=1).steps] == [1] * 4
    assert (back.at(0, life=2).final_state, back.at(0, life=2).steps) == ("assigned", [])
    with pytest.raises(JournalError, match="in its life 2 made no step 2"):
        back.at(2, life=2)


def test_errors_of_one_machine_are_not_counted_with_those_of_another(path):
    assert recorded_again(path, FAILING, FAILING).anomalies == []
    three = ["begin_execution", *["fail", "retry"] * 3]
    back = recorded_again(path, three, FAILING)
    assert [(found.code, found.line) for found in back.anomalies] == [("many-errors", 14)]


def test_a_trip_or_a_reset_may_be_the_first_that_is_told_of_a_new_machine(path):
    for act in ("trip", "reset"):
        with JsonlJournal(path) as journal:
            machine = TaskExecution(machine_id="t1", policy=CircuitBreakerPolicy(meters={"usd": 1}))
            journal.record(machine)
            if act == "trip":
                machine.begin_execution()
                machine.cancel()
            machine.spend(usd=2)
            machine.reset_circuit_breaker()
    back = replay(path, TASK)
    assert back.anomalies == []
    assert (back.final_state, back.transition_count) == ("assigned", 0)


def test_a_restored_machine_is_no_new_one(path):
    machine = TaskExecution(machine_id="t1")
    with JsonlJournal(path) as journal:
        journal.record(machine)
        machine.begin_execution()
    with JsonlJournal(path) as journal:
        machine = TaskExecution.restore(machine.snapshot())
        journal.record(machine)
        machine.fail()
    back = replay(path, TASK)
    assert (back.lives, back.anomalies) == (1, [])


def test_a_foreign_log_begins_again_after_a_final_state_only(path):
    def line(trigger, source, dest):
        stamp = {"timestamp": "2026-01-01T00:00:00Z", "session_id": "t1"}
        return json.dumps(stamp | {"trigger": trigger, "from_state": source, "to_state": dest}) + "\n"

    begin, cancel = line("begin_execution", "assigned", "executing"), line("cancel", "executing", "cancelled")
    path.write_text(begin + cancel + begin)
    assert (replay(path, TASK).lives, replay(path, TASK).anomalies) == (2, [])
    path.write_text(begin + begin)
    back = replay(path, TASK)
    assert (back.lives, [found.code for found in back.anomalies]) == (1, ["gap"])


# -------------------------------------------------------------------------------------------- from a store
@pytest.fixture
def store(tmp_path):
    pytest.importorskip("sqlalchemy")
    from orkeon_transitions.store import MachineStore

    with MachineStore(f"sqlite:///{tmp_path / 'machines.db'}") as store:
        yield store


@pytest.fixture
def filled(store, path):
    """A store and a journal that were told the same."""
    with JsonlJournal(path) as journal:
        for keeper in (journal, store):
            for name in ("s1", "s2"):
                agent = HermesAgentFSM(name)
                keeper.record(agent)
                agent.receive_task(task="t")
                agent.planning_failed()
                if name == "s2":
                    agent.abort()
    store.create(TaskExecution, machine_id="t1")
    return store


def shape(back):
    return [(step.ordinal, step.trigger, step.from_state, step.to_state, step.line) for step in back.steps]


def test_a_store_says_the_same_as_a_file(filled, path):
    for source in (filled, filled.url):
        for number, name in enumerate(("s1", "s2")):
            back, told = replay(source, HERMES, name), replay(path, HERMES, name)
            assert [row[:-1] for row in shape(back)] == [row[:-1] for row in shape(told)]
            assert (back.histogram, back.final_state) == (told.histogram, told.final_state)
            assert back.anomalies == []
            assert [step.line for step in back.steps] == [1, 2, 3][: 2 + number]
            assert back.at(1).final_state == "planning"


def test_machines_of_a_store_are_listed_the_oldest_first(filled):
    assert recorded_machines(filled) == [
        ("s1", "hermes_agent"),
        ("s2", "hermes_agent"),
        ("t1", "task_execution"),
    ]
    first, second, third = replay_each(filled, [("s1", HERMES), ("nobody", HERMES), ("t1", TASK)])
    assert (first.final_state, second.final_state, third.final_state) == ("error", "idle", "assigned")


def test_the_only_one_of_its_definition_needs_no_name_in_a_store(filled):
    assert replay(filled, TASK).machine_id == "t1"
    with pytest.raises(JournalError, match="several machines"):
        replay(filled, HERMES)


def test_a_store_that_is_given_stays_open_and_a_machine_that_is_missing_is_told(filled):
    with pytest.raises(JournalError, match="no machine 's3'"):
        replay(filled, HERMES, "s3")
    assert not filled.closed
    assert filled.journal("s1")


def test_a_store_that_is_not_there_is_not_made(tmp_path):
    pytest.importorskip("sqlalchemy")
    for work in (recorded_machines, lambda url: replay(url, TASK), lambda url: replay_each(url, [])):
        with pytest.raises(JournalError, match="no such database"):
            work(f"sqlite:///{tmp_path / 'none.db'}")
    assert list(tmp_path.iterdir()) == []


def test_a_failure_is_looked_for_in_the_life_that_it_is_told_of(path):
    recorded_again(path, FAILING, ["start_planning"])
    failed = {
        "timestamp": "2100-01-01T00:00:00Z",
        "session_id": "t1",
        "state": "planning",
        "fact": "transition_failed",
        "ordinal": 4,
        "error": "ValueError",
    }
    with path.open("a") as file:
        file.write(json.dumps(failed) + "\n")
    back = replay(path, TASK)
    assert [found.code for found in back.anomalies] == ["gap"]
    assert {step.error for step in back.steps} == {None}
