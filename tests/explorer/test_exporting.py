"""What a page takes along: pictures of what it shows, and the log as a journal."""

import base64

import pytest

from orkeon_transitions import OrkeonError, replay
from orkeon_transitions.explorer import exporting
from orkeon_transitions.machines import TaskExecution, machine_definition
from tests.explorer.sessions import door, fired, opened


def taken(session, wanted):
    download = session.act({"do": "export", "format": wanted})["download"]
    return download["name"], download["type"], base64.b64decode(download["data"])


def test_pictures_are_what_they_say():
    with opened(door()) as session:
        fired(session, "unlock")
        name, kind, content = taken(session, "png")
        assert name.startswith("door-")
        assert (name[-4:], kind, content[:8]) == (".png", "image/png", b"\x89PNG\r\n\x1a\n")
        name, kind, content = taken(session, "svg")
        assert (name[-4:], kind) == (".svg", "image/svg+xml")
        assert b"<svg" in content


def test_a_picture_shows_the_moment_that_the_page_shows():
    with opened(door()) as session:
        fired(session, "unlock", "shut")
        end = taken(session, "svg")[2]
        session.act({"do": "seek", "at": 1})
        assert taken(session, "svg")[2] != end


def test_the_log_is_a_journal_that_replays(tmp_path):
    with opened("task_execution") as session:
        fired(session, "begin_execution", "retry", "request_tool_call", "tool_call_completed", "fail")
        session.act({"do": "undo"})
        session.act({"do": "reset_breaker"})
        fired(session, "submit_for_validation")
        name, kind, content = taken(session, "jsonl")
        assert kind == "application/jsonl"
        file = tmp_path / name
        file.write_bytes(content)
        told = replay(file, machine_definition("task_execution"))
        assert told.machine_id == session.machine.machine_id
        assert [step.to_state for step in told.steps] == [
            "executing",
            "tool_calling",
            "executing",
            "validating",
        ]
        assert told.anomalies == []
        assert told.transition_count == 1


def test_the_journal_of_a_trip_replays(tmp_path):
    with opened(door(circuit_breaker={"max_transitions": 1, "use_degraded_mode": True})) as session:
        fired(session, "unlock", "shut")
        session.act({"do": "undo"})
        fired(session, "look")
        file = tmp_path / "door.jsonl"
        file.write_bytes(taken(session, "jsonl")[2])
    told = replay(file, door(circuit_breaker={"max_transitions": 1, "use_degraded_mode": True}))
    assert told.final_state == "jammed"
    assert told.is_circuit_broken
    assert len(told.steps) == 2
    assert told.anomalies == []


def test_the_journal_of_a_machine_that_had_moved_begins_where_it_was(tmp_path):
    fsm = TaskExecution()
    fsm.begin_execution()
    with opened(fsm) as session:
        fired(session, "fail")
        file = tmp_path / "t.jsonl"
        file.write_bytes(taken(session, "jsonl")[2])
    told = replay(file, fsm.definition)
    assert told.anomalies == []
    assert (told.final_state, len(told.steps)) == ("failed", 1)


@pytest.mark.parametrize("wanted", ["pdf", "", "PNG", "../x"])
def test_other_formats_are_refused(wanted):
    with opened(door()) as session:
        assert "png, svg, jsonl can" in session.act({"do": "export", "format": wanted})["error"]


def test_odd_names_make_no_paths():
    with opened(door(name="../a b/ü")) as session:
        name = taken(session, "jsonl")[0]
        assert "/" not in name
        assert not name.startswith(".")


def test_a_picture_that_cannot_be_drawn_is_answered(monkeypatch):
    def fail(*args, **options):
        raise OrkeonError("no picture today")

    monkeypatch.setattr(exporting, "to_png", fail)
    with opened(door()) as session:
        assert session.act({"do": "export", "format": "png"}) == {"error": "no picture today"}
