"""A journal that is stepped through: ours, foreign ones, torn ones, stores; several machines in one."""

import base64
import json
import warnings

import pytest

from orkeon_transitions import CircuitBreakerPolicy, JsonlJournal, StateMachine, TaskExecution, replay
from orkeon_transitions.errors import JournalError
from orkeon_transitions.explorer import JournalSession
from orkeon_transitions.machines import HermesAgentFSM, machine_definition
from orkeon_transitions.store import MachineStore
from tests.explorer.sessions import door, gauge_of, opened, rows_of, trigger_of


@pytest.fixture
def log(tmp_path):
    return tmp_path / "run.jsonl"


GUARDS = {"has_key": bool, "is_alarmed": lambda event: False}


def write_tasks(log, *names):
    with JsonlJournal(log) as journal:
        for name in names:
            fsm = TaskExecution(machine_id=name)
            journal.record(fsm)
            fsm.begin_execution()
            fsm.request_tool_call(tool="search")
            fsm.tool_call_completed()
            fsm.submit_for_validation()


def test_a_journal_opens_at_its_end(log):
    write_tasks(log, "t1")
    with opened(log) as session:
        view = session.view()
        json.dumps(view, allow_nan=False)
        assert view["page"] == "journal"
        assert view["title"]["name"] == "task_execution"
        assert view["title"]["machine_id"] == "t1"
        assert view["title"]["source"] == str(log)
        assert view["now"]["state"] == "validating"
        assert view["now"]["visits"] == {"assigned": 1, "executing": 2, "tool_calling": 1, "validating": 1}
        assert view["position"] == {"at": 4, "last": 4, "live": True}
        assert [row["kind"] for row in view["log"]["rows"]] == ["made"] * 4
        assert view["machines"] == []
        assert view["can"] == {**view["can"], "fire": False, "undo": False, "reset": False, "seek": True}


def test_the_slider_steps_through_it(log):
    write_tasks(log, "t1")
    with opened(log) as session:
        seen = []
        for at in range(5):
            assert session.act({"do": "seek", "at": at}) is None
            view = session.view()
            seen.append(view["now"]["state"])
            assert view["position"]["at"] == at
            assert len(view["now"]["taken"]) <= at
        assert seen == ["assigned", "executing", "tool_calling", "executing", "validating"]
        session.act({"do": "seek", "at": 1})
        assert trigger_of(session, "request_tool_call")["next"]
        assert not trigger_of(session, "cancel")["next"]
        assert gauge_of(session, "max_transitions")["used"] == 1
        assert gauge_of(session, "state_timeout")["label"] == "Time in executing"
        assert gauge_of(session, "max_state_visits")["label"] == "Visits of executing"
        session.act({"do": "seek", "at": 0})
        assert session.view()["gauges"] == []


def test_the_log_is_shown_in_parts(log):
    write_tasks(log, "t1")
    with opened(log) as session:
        session.act({"do": "rows", "first": 1, "count": 2})
        assert [row["n"] for row in rows_of(session)] == [2, 3]
        session.act({"do": "seek", "at": 0})
        assert [row["n"] for row in rows_of(session)] == [1, 2, 3, 4]


def test_many_machines_are_listed_in_part(log, monkeypatch):
    monkeypatch.setattr("orkeon_transitions.explorer.journal_session.MOST_MACHINES", 2)
    write_tasks(log, "t1", "t2", "t3")
    with opened(log, machine_id="t3") as session:
        assert len(session.view()["machines"]) == 2
        assert session.view()["title"]["note"] == "3 machines, of which the first 2 are listed"
        assert session.view()["title"]["machine_id"] == "t3"


def test_nothing_can_be_fired(log):
    write_tasks(log, "t1")
    with opened(log) as session:
        before = session.view()
        for order in ({"do": "fire", "trigger": "cancel"}, {"do": "undo"}, {"do": "reset"}, {"do": "fly"}):
            assert session.act(order).keys() == {"error"}
        assert session.view() == before


def test_several_machines_are_a_list_to_choose_from(log):
    write_tasks(log, "t1", "t2")
    with opened(log, machine_id="t2") as session:
        assert session.view()["title"]["machine_id"] == "t2"
        machines = session.view()["machines"]
        assert [(each["id"], each["selected"], each["steps"]) for each in machines] == [
            ("t1", False, 4),
            ("t2", True, 4),
        ]
        session.act({"do": "seek", "at": 1})
        assert session.act({"do": "select", "machine": "t1"}) is None
        view = session.view()
        assert view["title"]["machine_id"] == "t1"
        assert view["position"]["live"]
        assert "no machine 't9'" in session.act({"do": "select", "machine": "t9"})["error"]


def test_a_machine_that_is_not_in_the_journal(log):
    write_tasks(log, "task-1")
    with pytest.raises(JournalError, match="did you mean 'task-1'"):
        JournalSession(log, machine_id="task-2")


def test_two_kinds_of_machine_under_one_name_are_told_apart(log):
    write_tasks(log, "t1")
    with JsonlJournal(log) as journal:
        status = StateMachine(machine_definition("task_status"), machine_id="t1", guards={}, actions={})
        journal.record(status)
        status.fire("start")
    with opened(log) as session:
        assert [each["id"] for each in session.view()["machines"]] == [
            "t1 (task_execution)",
            "t1 (task_status)",
        ]
        session.act({"do": "select", "machine": "t1 (task_status)"})
        assert session.view()["now"]["state"] == "in_progress"


def test_a_machine_that_nobody_has_defined_is_drawn_as_it_went(log):
    definition = door(guards={})
    fsm = StateMachine(
        definition,
        guards={"has_key": bool, "is_alarmed": lambda e: False},
        actions={"squeak": str},
        machine_id="d",
    )
    fsm.policy = CircuitBreakerPolicy(max_transitions=3, use_degraded_mode=True)
    with JsonlJournal(log) as journal:
        journal.record(fsm)
        for trigger in ("unlock", "look", "shut", "unlock"):
            fsm.try_fire(trigger)
    with opened(log) as session:
        view = session.view()
        assert "name the machine's definition" in view["title"]["note"]
        assert {state["name"] for state in view["picture"]["states"]} == {"closed", "open", "jammed"}
        assert view["anomalies"] == []
        assert view["now"]["degraded"]
        assert [row["kind"] for row in view["log"]["rows"]] == ["made", "internal", "made", "degraded"]
    with opened(log, machine=definition) as session:
        assert session.view()["title"]["note"] is None
        assert len(session.view()["picture"]["states"]) == 4


def test_a_foreign_log_of_five_keys_opens_with_a_definition_and_without(log):
    agent = HermesAgentFSM("s1")
    agent.receive_task(task="x")
    agent.plan_steps = ["one"]
    agent.plan_ready()
    keys = ("timestamp", "session_id", "trigger", "from_state", "to_state")
    lines = [json.dumps({key: record[key] for key in keys}) for record in agent.state_history]
    log.write_text("\n".join(["[s1] Entering PLANNING state", *lines]) + "\n")
    with opened(log, machine="hermes_agent") as session:
        assert session.view()["title"]["name"] == "hermes_agent"
        assert session.view()["position"]["last"] == 2
    with opened(log) as session:
        assert session.view()["now"]["state"] == "executing"


def test_what_is_odd_is_shown_where_it_stands(log):
    write_tasks(log, "t1")
    lines = log.read_text().splitlines(keepends=True)
    log.write_text("".join([lines[0], *lines[2:]]))
    with opened(log) as session:
        anomaly = session.view()["anomalies"][0]
        assert anomaly["code"] == "gap"
        assert anomaly["place"] == f"{log}:2"
        assert anomaly["position"] == 2


def test_a_torn_last_line_is_said_and_left_out(log):
    write_tasks(log, "t1")
    log.write_text(log.read_text()[:-40])
    with opened(log) as session:
        view = session.view()
        assert view["position"]["last"] == 3
        assert [(each["code"], each["place"]) for each in view["anomalies"]] == [("torn", f"{log}:4")]
        assert "torn" in view["anomalies"][0]["message"]


def test_a_damaged_line_in_the_middle_is_a_problem_that_says_which(log):
    write_tasks(log, "t1")
    lines = log.read_text().splitlines(keepends=True)
    lines[1] = '{"timestamp": broken\n'
    log.write_text("".join(lines))
    with opened(log) as session:
        view = session.view()
        assert view["page"] == "problems"
        problem = view["problems"][0]
        assert (problem["place"], problem["line"]) == (f"{log}:2", 2)
        assert [line["here"] for line in problem["excerpt"]] == [False, True, False, False]
        log.write_text("".join([lines[0], *lines[2:]]))
        assert session.act({"do": "reload"}) is None
        assert session.view()["page"] == "journal"
        assert session.view()["problems"] == []


def test_what_is_no_journal_says_which_line(tmp_path):
    log = tmp_path / "other.jsonl"
    log.write_text('{"level": "info", "message": "hello"}\n')
    with opened(log) as session:
        assert session.view()["page"] == "problems"
        assert session.view()["problems"][0]["line"] == 1


def test_lines_of_others_between_the_records_are_not_taken_along(log):
    write_tasks(log, "t1")
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join([lines[0], b"[t1] a sentence\n", *lines[1:], b'{"torn']))
    with opened(log) as session:
        download = session.act({"do": "export", "format": "jsonl"})["download"]
        assert base64.b64decode(download["data"]) == b"".join(lines)
        log.unlink()
        assert "cannot read the journal" in session.act({"do": "export", "format": "jsonl"})["error"]


def test_an_empty_journal_opens(log):
    log.write_text("")
    with opened(log) as session:
        view = session.view()
        assert view["page"] == "journal"
        assert view["title"]["note"] == "Nothing was recorded"
        assert "nothing was recorded" in session.act({"do": "export", "format": "png"})["error"]
        session.act({"do": "seek", "at": 0})


def test_a_file_that_has_grown_is_read_again(log):
    write_tasks(log, "t1", "t2")
    with opened(log) as session:
        session.act({"do": "select", "machine": "t2"})
        write_tasks(log, "t3")
        assert session.view()["can"]["reload"]
        session.act({"do": "reload"})
        assert len(session.view()["machines"]) == 3
        assert session.view()["title"]["machine_id"] == "t2", "what was chosen is still shown"


def test_new_budgets_and_errors_are_told(log):
    with JsonlJournal(log) as journal:
        agent = HermesAgentFSM("s1")
        journal.record(agent)
        for _ in range(2):
            agent.receive_task(task="x")
            agent.planning_failed()
            agent.abort()
    with opened(log) as session:
        words = [row["words"] for row in rows_of(session)]
        assert words == [None, None, None, "a new budget begins", None, None]
        assert gauge_of(session, "max_transitions")["used"] == 3


def test_a_name_that_was_recorded_anew_is_told(log):
    write_tasks(log, "t1")
    write_tasks(log, "t1")
    with opened(log) as session:
        assert session.view()["position"]["last"] == 8
        words = [row["words"] for row in rows_of(session)]
        assert words[4] == "recorded anew: another machine of this name"


def test_a_trip_and_a_failure_stand_in_the_log(log):
    def act(event):
        raise ValueError("no power")

    definition = door(
        states=["closed", {"name": "open", "on_enter": "act"}, {"name": "gone", "final": True}, "jammed"]
    )
    fsm = StateMachine(
        definition,
        guards={"has_key": bool, "is_alarmed": lambda e: False},
        actions={"squeak": str, "act": act},
        policy=CircuitBreakerPolicy(max_transitions=1),
    )
    with JsonlJournal(log) as journal:
        journal.record(fsm)
        with pytest.raises(ValueError, match="no power"):
            fsm.fire("unlock")
        fsm.try_fire("shut")
    with opened(log, machine=definition) as session:
        rows = rows_of(session)
        assert [row["kind"] for row in rows] == ["made", "failed", "broken"]
        assert rows[1]["words"] == "ValueError: no power"
        assert "Max transitions exceeded" in rows[2]["words"]
        picture = session.act({"do": "export", "format": "svg"})["download"]
        assert b"Max transitions exceeded" in base64.b64decode(picture["data"])


# --------------------------------------------------------------------------------------------------- exports
def test_the_lines_that_are_taken_along_are_those_of_the_machine(log, tmp_path):
    write_tasks(log, "t1", "t2")
    with opened(log, machine_id="t2") as session:
        download = session.act({"do": "export", "format": "jsonl"})["download"]
    assert download["name"] == "task_execution-t2.jsonl"
    content = base64.b64decode(download["data"])
    assert content.splitlines() == [line for line in log.read_bytes().splitlines() if b'"t2"' in line]
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(content)
    assert replay(copy, machine_definition("task_execution")).final_state == "validating"


def test_a_store_is_stepped_through_and_taken_along(tmp_path):
    url = f"sqlite:///{tmp_path / 'machines.db'}"
    with MachineStore(url) as store:
        fsm = store.create(TaskExecution, machine_id="t1")
        fsm.begin_execution()
        fsm.fail()
    with opened(url) as session:
        view = session.view()
        assert (view["page"], view["now"]["state"]) == ("journal", "failed")
        content = base64.b64decode(session.act({"do": "export", "format": "jsonl"})["download"]["data"])
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(content)
    assert replay(copy, machine_definition("task_execution")).final_state == "failed"
    with opened(tmp_path / "machines.db") as session:
        assert session.view()["now"]["state"] == "failed"


def test_secrets_of_a_stores_url_are_shown_nowhere(tmp_path):
    urls = [
        "mysql://me:s3cret@host/db?key=s3cret",
        "postgresql+psycopg://me:s3@cret@host/db",
        "odd://s3cret@",
    ]
    for url in urls:
        with opened(url) as session:
            view = session.view()
            assert view["page"] == "problems"
            assert "cret" not in json.dumps(view)


def test_an_empty_store_opens(tmp_path):
    url = f"sqlite:///{tmp_path / 'empty.db'}"
    MachineStore(url).close()
    with opened(url) as session:
        assert session.view()["title"]["source"] == url
        assert session.view()["title"]["note"] == "Nothing was recorded"
        assert session.act({"do": "rows", "first": 0}) is None


def test_what_is_odd_in_a_store_is_shown_with_its_version(tmp_path):
    url = f"sqlite:///{tmp_path / 'machines.db'}"
    with MachineStore(url) as store, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first = store.create(
            StateMachine, door(guards={}), machine_id="d", guards=GUARDS, actions={"squeak": str}
        )
        first.fire("unlock")
    with opened(url, machine=door()) as session:
        place = session.view()["anomalies"][0]["place"]
        assert place == f"{url} d, version 1"


def test_a_store_that_is_not_there_is_a_problem(tmp_path):
    with opened(f"sqlite:///{tmp_path / 'no.db'}") as session:
        assert session.view()["page"] == "problems"
