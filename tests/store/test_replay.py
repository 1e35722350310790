"""Replay: what a journal or a log in the seed's format says, and what is odd about it."""

import json
import warnings
from datetime import UTC, datetime, timedelta

import pytest

from orkeon_transitions.errors import JournalError
from orkeon_transitions.machines import TaskExecution, TaskStatus, machine_definition
from orkeon_transitions.store import Anomaly, JsonlJournal, recorded_machines, replay, replay_each

HERMES = machine_definition("hermes_agent")
TASK = machine_definition("task_execution")
WALK = [("receive_task", "idle", "planning"), ("plan_ready", "planning", "executing")]
DETOUR = [("execution_error", "executing", "error"), ("retry", "error", "executing")]
CALL = [("call_tool", "executing", "waiting"), ("tool_result_received", "waiting", "executing")]


def seed_line(number, trigger, source, dest, session="s", **more):
    return {
        "timestamp": (datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=number)).isoformat(),
        "session_id": session,
        "trigger": trigger,
        "from_state": source,
        "to_state": dest,
        **more,
    }


@pytest.fixture
def write(tmp_path):
    def write(*lines):
        path = tmp_path / "agent.log"
        texts = (line if isinstance(line, str) else json.dumps(line) for line in lines)
        path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
        return path

    return write


def walk(*rows, **more):
    return [seed_line(number, *row, **more) for number, row in enumerate(rows)]


# ------------------------------------------------------------------------------------- the seed's format
def test_a_log_with_the_five_keys_is_a_journal(write):
    back = replay(write(*walk(*WALK, *CALL)), HERMES)
    assert (back.machine_id, back.final_state, back.transition_count) == ("s", "executing", 4)
    assert [
        (step.ordinal, step.trigger, step.from_state, step.to_state, step.line) for step in back.steps
    ] == [
        (1, "receive_task", "idle", "planning", 1),
        (2, "plan_ready", "planning", "executing", 2),
        (3, "call_tool", "executing", "waiting", 3),
        (4, "tool_result_received", "waiting", "executing", 4),
    ]
    assert back.histogram == {"idle": 1, "planning": 1, "executing": 2, "waiting": 1}
    assert not back.is_circuit_broken
    assert back.broken_reason is None
    assert back.anomalies == []


def test_the_seeds_sentences_and_error_records_between_the_records_are_passed_over(write):
    first, second = walk(*WALK)
    error = {"timestamp": first["timestamp"], "session_id": "s", "state_when_error": "planning", "error": "x"}
    back = replay(write(first, "[s] Entering PLANNING state", error, "", second), HERMES)
    assert [step.line for step in back.steps] == [1, 5]


def test_an_empty_journal_is_a_machine_that_has_not_moved(write):
    back = replay(write(), TASK)
    assert (back.machine_id, back.final_state, back.steps) == (None, "assigned", [])
    assert (back.histogram, back.transition_count) == ({"assigned": 1}, 0)


# case D02
@pytest.mark.parametrize(
    ("stamp", "hour"),
    [
        ("2024-01-01T12:00:00", 12),
        ("2024-01-01T12:00:00Z", 12),
        ("2024-01-01T12:00:00+00:00", 12),
        ("2024-01-01T12:00:00+02:00", 10),
        ("2024-01-01T12:00:00.123456", 12),
    ],
)
def test_stamps_are_compared_whatever_their_offset(write, stamp, hour):
    lines = walk(*WALK)
    lines[0]["timestamp"] = stamp
    back = replay(write(*lines), HERMES)
    first = back.steps[0].timestamp
    assert first.utcoffset() is not None
    assert first.astimezone(UTC).hour == hour
    assert back.steps[1].timestamp - first > timedelta(0)
    assert back.anomalies == []


# ----------------------------------------------------------------------------------------------- anomalies
def codes(path, definition=HERMES, machine_id=None):
    return [(anomaly.code, anomaly.line) for anomaly in replay(path, definition, machine_id).anomalies]


@pytest.mark.parametrize(
    "row",
    [
        ("teleport", "planning", "idle"),
        ("plan_ready", "planning", "waiting"),
        ("plan_ready", "planning", "nowhere"),
    ],
)
def test_a_step_that_the_definition_has_not_is_illegal(write, row):
    assert codes(write(*walk(WALK[0], row))) == [("illegal-step", 2)]


def test_a_step_out_of_a_state_that_does_not_exist_is_illegal_and_a_gap(write):
    assert codes(write(*walk(WALK[0], ("plan_ready", "limbo", "executing")))) == [
        ("gap", 2),
        ("illegal-step", 2),
    ]


def test_a_step_out_of_a_final_state_is_illegal(write):
    rows = [("begin_execution", "assigned", "executing"), ("cancel", "executing", "cancelled")]
    again = ("cancel", "cancelled", "cancelled")
    assert codes(write(*walk(*rows, again)), TASK) == [("illegal-step", 3)]


def test_degraded_moves_are_legal(write):
    rows = [("begin_execution", "assigned", "executing"), ("fail", "executing", "degraded")]
    assert codes(write(*walk(*rows)), TASK) == []
    assert codes(write(*walk(*rows, degraded=False)), TASK) == [("illegal-step", 2)]
    by_clock = seed_line(2, None, "executing", "degraded", degraded=True)
    assert codes(write(*walk(rows[0]), by_clock), TASK) == []
    elsewhere = seed_line(2, None, "executing", "failed", degraded=True)
    assert codes(write(*walk(rows[0]), elsewhere), TASK) == [("illegal-step", 2)]


def test_the_third_error_is_many(write):
    assert codes(write(*walk(*WALK, *DETOUR * 2))) == []
    back = replay(write(*walk(*WALK, *DETOUR * 4)), HERMES)
    assert [(found.code, found.line) for found in back.anomalies] == [("many-errors", 7)]
    assert "4" in back.anomalies[0].message


def test_the_eleventh_wait_is_many(write):
    assert codes(write(*walk(*WALK, *CALL * 10))) == []
    assert codes(write(*walk(*WALK, *CALL * 12))) == [("many-waits", 23)]


def test_failures_and_questions_of_a_task_count_as_errors_and_waits(write):
    start = [("begin_execution", "assigned", "executing")]
    failures = [("fail", "executing", "failed"), ("retry", "failed", "executing")]
    questions = [
        ("request_human_input", "executing", "waiting_for_human_input"),
        ("human_input_received", "waiting_for_human_input", "executing"),
    ]
    assert codes(write(*walk(*start, *failures * 3)), TASK) == [("many-errors", 6)]
    assert codes(write(*walk(*start, *questions * 11)), TASK) == [("many-waits", 22)]


def test_a_step_that_does_not_follow_is_a_gap(write):
    assert codes(write(*walk(WALK[1]))) == [("gap", 1)]
    assert codes(write(*walk(WALK[0], ("call_tool", "executing", "waiting")))) == [("gap", 2)]


@pytest.mark.parametrize("ordinals", [(1, 3), (1, 1), (2, 3)])
def test_ordinals_that_do_not_follow_are_a_gap(write, ordinals):
    lines = [line | {"ordinal": ordinal} for line, ordinal in zip(walk(*WALK), ordinals, strict=True)]
    assert len(codes(write(*lines))) == 1
    assert codes(write(*lines))[0][0] == "gap"


def test_a_failure_without_its_transition_is_a_gap(write):
    failed = seed_line(3, None, "idle", "idle") | {"fact": "transition_failed", "state": "idle", "ordinal": 7}
    back = replay(write(*walk(*WALK), failed), HERMES)
    assert [(found.code, found.line) for found in back.anomalies] == [("gap", 3)]
    assert back.final_state == "executing"


def test_a_clock_that_goes_backwards_is_told(write):
    lines = walk(*WALK)
    lines[1]["timestamp"] = "2025-12-31T23:59:59Z"
    assert codes(write(*lines)) == [("clock-backwards", 2)]


def test_another_content_of_the_definition_is_told_once(write):
    lines = walk(*WALK, CALL[0], definition="0" * 64)
    back = replay(write(*lines), HERMES)
    assert back.anomalies == [Anomaly("definition-changed", back.anomalies[0].message, 1)]
    assert codes(write(*walk(*WALK, definition=HERMES.content_hash))) == []


def test_anomalies_come_in_the_order_of_the_lines(write):
    lines = walk(*WALK, *DETOUR * 3, ("teleport", "executing", "idle"))
    lines[7]["timestamp"] = "2020-01-01T00:00:00Z"
    found = codes(write(*lines))
    assert found == sorted(found, key=lambda pair: pair[1])
    assert {code for code, _ in found} == {"many-errors", "illegal-step", "clock-backwards"}


# case A07
def test_a_foreign_log_leaves_open_what_the_definition_leaves_open(write):
    from orkeon_transitions.definition import load_definition

    rows = [["stay", "a", None], ["again", "a", "="], ["both", "a", None], ["both", "a", "="]]
    definition = load_definition({"initial": "a", "states": ["a"], "transitions": rows})
    log = walk(("stay", "a", "a"), ("again", "a", "a"), ("both", "a", "a"))
    back = replay(write(*log), definition)
    assert [step.internal for step in back.steps] == [True, False, None]
    assert back.anomalies == []
    lie = seed_line(1, "again", "a", "a", internal=True)
    assert codes(write(lie), definition) == [("illegal-step", 1)]


# ------------------------------------------------------------------------------------------ budgets, reset
def test_a_record_that_counts_one_begins_a_new_budget(write):
    lines = [
        seed_line(0, "begin_execution", "assigned", "executing", transition_count=1, ordinal=1),
        seed_line(1, "fail", "executing", "failed", transition_count=2, ordinal=2),
        seed_line(2, "retry", "failed", "executing", transition_count=1, ordinal=3),
    ]
    back = replay(write(*lines), TASK)
    assert back.transition_count == 1
    assert back.histogram == {"failed": 1, "executing": 1}
    assert len(back.steps) == 3


# ----------------------------------------------------------------------------------------------- choosing
def test_several_sessions_need_a_name(write):
    path = write(*walk(*WALK), *walk(WALK[0], session="other"))
    with pytest.raises(JournalError, match="'s', 'other'"):
        replay(path, HERMES)
    assert replay(path, HERMES, machine_id="s").final_state == "executing"
    assert replay(path, HERMES, machine_id="other").final_state == "planning"


def test_the_only_one_of_its_definition_needs_no_name(write):
    hermes, task = walk(*WALK, machine="hermes_agent"), walk(CALL[0], session="t", machine="task_execution")
    assert replay(write(*hermes, *task), HERMES).machine_id == "s"
    assert replay(write(*task, *hermes), TASK).machine_id == "t"
    with pytest.raises(JournalError, match="'s', 'u'"):
        replay(write(*hermes, *task, *walk(WALK[0], session="u", machine="hermes_agent")), HERMES)


def test_a_machine_that_is_not_there_is_an_error_with_the_nearest_name(write):
    path = write(*walk(*WALK, session="session-1"))
    with pytest.raises(JournalError, match="did you mean 'session-1'"):
        replay(path, HERMES, machine_id="sesion-1")
    with pytest.raises(JournalError, match="it has 'session-1'"):
        replay(path, HERMES, machine_id="zzz")


def test_the_machines_of_a_journal_are_listed_once_in_their_order(write):
    lines = [*walk(*WALK), *walk(WALK[0], session="other", machine="hermes_agent"), *walk(CALL[0])]
    assert recorded_machines(write(*lines)) == [("s", None), ("other", "hermes_agent")]
    assert recorded_machines(write()) == []


def test_machines_of_one_name_are_listed_with_their_definitions(tmp_path):
    with JsonlJournal(tmp_path / "run.jsonl") as journal:
        for machine in (TaskStatus(machine_id="collect"), TaskExecution(machine_id="collect")):
            journal.record(machine)
            machine.cancel()
    assert recorded_machines(journal) == [("collect", "task_status"), ("collect", "task_execution")]


# ------------------------------------------------------------------------------------------ damaged files
# case E01
@pytest.mark.parametrize(
    "tail", [b'{"half": ', b'{"half": \n', b'{"half": \n\n \n', b'{"s": "caf\xc3', b"\x00\x00", b"[1]", b"17"]
)
def test_a_torn_last_line_is_one_warning(write, tail):
    path = write(*walk(*WALK))
    with path.open("ab") as log:
        log.write(tail)
    with pytest.warns(UserWarning, match=r"agent\.log:3: the last line is torn") as caught:
        back = replay(path, HERMES)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert len(back.steps) == 2
    with pytest.warns(UserWarning, match=r"agent\.log:3: the last line is torn") as caught:
        assert recorded_machines(path) == [("s", None)]
    assert [warning.filename for warning in caught] == [__file__]


# case E01
@pytest.mark.parametrize("bad", ["{oops", "oops", '{"a": 1}}', "[1, 2]", "null", '"text"', "[" * 100_000])
def test_a_bad_line_in_the_middle_is_an_error(write, bad):
    first, second = walk(*WALK)
    with pytest.raises(JournalError, match=r"agent\.log:2"):
        replay(write(first, bad, second), HERMES)
    with pytest.raises(JournalError, match=r"agent\.log:2"):
        recorded_machines(write(first, bad, second))


def test_a_bad_byte_in_the_middle_is_an_error(write):
    path = write(*walk(*WALK))
    path.write_bytes(path.read_bytes().replace(b"planning", b"plan\xff", 1))
    with pytest.raises(JournalError, match=":1"):
        replay(path, HERMES)


def test_nesting_beyond_reason_in_the_last_line_is_torn(write):
    path = write(*walk(*WALK), '{"a": ' + "[" * 100_000)
    with pytest.warns(UserWarning, match=":3"):
        replay(path, HERMES)


@pytest.mark.parametrize("newline", ["\n\n", "\r\n", "\n \t\n"])
def test_blank_lines_and_other_line_ends_are_no_matter(tmp_path, newline):
    path = tmp_path / "a.log"
    path.write_bytes("".join(json.dumps(line) + newline for line in walk(*WALK)).encode())
    assert len(replay(path, HERMES).steps) == 2


def test_a_byte_order_mark_is_no_matter(tmp_path):
    path = tmp_path / "a.log"
    path.write_text("\n".join(map(json.dumps, walk(*WALK))), encoding="utf-8-sig")
    assert len(replay(path, HERMES).steps) == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"timestamp": "yesterday"}, "ISO 8601"),
        ({"timestamp": 17}, "'timestamp' must be a text"),
        ({"session_id": None}, "no 'session_id'"),
        ({"session_id": 17}, "'session_id' must be a text"),
        ({"from_state": None}, "no 'from_state'"),
        ({"to_state": ["x"]}, "'to_state' must be a text"),
        ({"trigger": 1}, "'trigger' must be a text"),
        ({"ordinal": "1"}, "'ordinal' must be a whole number"),
        ({"ordinal": True}, "'ordinal' must be a whole number"),
        ({"ordinal": -1}, "negative"),
        ({"degraded": "yes"}, "'degraded' must be true or false"),
        ({"fact": "miracle"}, "unknown fact 'miracle'"),
        ({"fact": ["x"]}, "unknown fact"),
        ({"v": 2}, "newer than format 1"),
        ({"v": "1"}, "'v' must be a version"),
        ({"v": 0}, "'v' must be a version"),
        ({"fact": "recording", "state": "idle", "visits": [1]}, "'visits' must be a mapping"),
        ({"fact": "recording", "state": "idle", "visits": {"a": "b"}}, "'visits' must be whole numbers"),
        ({"fact": "circuit_broken"}, "no 'state'"),
    ],
)
def test_a_record_of_the_wrong_shape_is_an_error_with_its_line(write, change, message):
    first, second = walk(*WALK)
    with pytest.raises(JournalError, match=rf"agent\.log:2: .*{message}"):
        replay(write(first, second | change), HERMES)


def test_a_record_without_a_trigger_is_an_error(write):
    line = walk(*WALK)[0]
    del line["trigger"]
    with pytest.raises(JournalError, match="no 'trigger'"):
        replay(write(line), HERMES)


@pytest.mark.parametrize("name", ["missing.log", "."])
def test_a_file_that_cannot_be_read_is_one_clear_error(tmp_path, name):
    with pytest.raises(JournalError, match="cannot read the journal"):
        replay(tmp_path / name, HERMES)


# ------------------------------------------------------------------------------------------------- purity
def test_replay_makes_no_machine_and_changes_no_file(tmp_path):
    path = tmp_path / "run.jsonl"
    with JsonlJournal(path) as journal:
        fsm = TaskExecution()
        journal.record(fsm)
        fsm.begin_execution()
        before = path.read_bytes()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert replay(journal, TASK) == replay(str(path), TASK)
    assert path.read_bytes() == before
    with pytest.raises(AttributeError):
        replay(path, TASK).final_state = "x"


def test_many_machines_are_read_in_one_pass(write, monkeypatch):
    walks = {name: WALK if name == "a" else WALK[:1] for name in "abc"}
    path = write(*(seed_line(n, *step, session=name) for name in walks for n, step in enumerate(walks[name])))
    alone = [replay(path, HERMES, name) for name in walks]
    opened, really = [], type(path).open
    monkeypatch.setattr(type(path), "open", lambda *args: opened.append(1) or really(*args))
    assert replay_each(path, [(name, HERMES) for name in walks]) == alone
    assert len(opened) == 1
    assert replay_each(path, [("nobody", HERMES)])[0].steps == []


@pytest.mark.parametrize("content", [b"\x89PNG\r", b"\0\0", b"[1]", b'"x"', b"name: mine"])
def test_a_file_that_holds_no_part_of_a_record_is_no_torn_journal(tmp_path, content):
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(JournalError, match=r"x:1: not a journal record"):
        replay(tmp_path / "x", HERMES)
