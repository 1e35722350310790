"""The picture: which arrow a step takes, a picture that comes late, one that cannot be drawn."""

import threading

import pytest

from orkeon_transitions import JsonlJournal, TaskExecution, load_definition
from orkeon_transitions.errors import MissingExtraError
from orkeon_transitions.explorer import scenery as room
from orkeon_transitions.explorer.scenery import Scenery
from orkeon_transitions.explorer.way import Row
from tests.explorer.sessions import door, fired, opened, until

MANY = load_definition(
    {
        "initial": "a",
        "degraded": "d",
        "states": ["a", "b", {"name": "d", "final": True}, {"name": "e", "final": True}],
        "transitions": [
            {"trigger": "go", "source": "a", "dest": "b"},
            {"trigger": "leap", "source": "a", "dest": "e"},
            {"trigger": "stop", "source": "*", "dest": "e"},
            {"trigger": "turn", "source": "b", "dest": "="},
            {"trigger": "look", "source": "*", "dest": None},
            {"trigger": "give_up", "source": "b", "dest": "d"},
        ],
    }
)


@pytest.mark.parametrize(
    ("row", "kind", "source", "dest"),
    [
        (Row("made", "go", "a", "b"), "row", "a", "b"),
        (Row("made", "leap", "a", "e"), "row", "a", "e"),
        (Row("made", "stop", "a", "e"), "anywhere", None, "e"),
        (Row("made", "stop", "b", "e"), "anywhere", None, "e"),
        (Row("made", "turn", "b", "b"), "row", "b", "b"),
        (Row("made", "give_up", "b", "d"), "row", "b", "d"),
        (Row("degraded", None, "b", "d"), "breaker", None, "d"),
        (Row("degraded", "give_up", "b", "d"), "breaker", None, "d"),
        (Row("made", "renamed", "a", "b"), "row", "a", "b"),
    ],
)
def test_each_step_takes_its_arrow(row, kind, source, dest):
    picture = Scenery(MANY, lambda: None, grace=30)
    element = picture.element(row)
    arrow = next(arrow for arrow in picture.trait["arrows"] if arrow["element"] == element)
    assert (arrow["kind"], arrow["from"], arrow["to"]) == (kind, source, dest)
    assert picture.element(row) == element


def test_a_step_that_the_definition_does_not_have_takes_none():
    assert Scenery(MANY, lambda: None, grace=30).element(Row("made", "fly", "e", "a")) is None


def test_each_arrow_is_taken_once():
    picture = Scenery(MANY, lambda: None, grace=30)
    steps = [Row("made", "go", "a", "b"), Row("made", "fly", "e", "a"), Row("made", "go", "a", "b")]
    assert len(picture.taken(steps)) == 1


def test_a_picture_that_takes_long_comes_later(monkeypatch):
    go, drawn = threading.Event(), room.scene

    def slow(definition, **options):
        assert go.wait(20)
        return drawn(definition, **options)

    monkeypatch.setattr(room, "scene", slow)
    monkeypatch.setattr(room, "GRACE", 0.01)
    with opened(door()) as session:
        picture = session.view()["picture"]
        assert picture["drawing"]
        assert picture["svg"] is None
        assert [state["name"] for state in picture["states"]] == ["closed", "open", "gone", "jammed"]
        fired(session, "unlock")
        assert session.view()["now"]["state"] == "open"
        assert session.view()["now"]["last"] is None
        go.set()
        view = until(session, lambda view: view["now"]["last"])
        assert view["picture"]["svg"]
        assert not view["picture"]["drawing"]


@pytest.mark.parametrize("page", ["journal", "crew"])
def test_pages_of_runs_do_not_wait_for_their_picture(page, monkeypatch, tmp_path):
    go, drawn = threading.Event(), room.scene

    def slow(definition, **options):
        assert go.wait(20)
        return drawn(definition, **options)

    monkeypatch.setattr(room, "scene", slow)
    monkeypatch.setattr(room, "GRACE", 0.01)
    subject = "103-ts-codebase-with-fsm"
    if page == "journal":
        subject = tmp_path / "run.jsonl"
        with JsonlJournal(subject) as journal:
            fsm = TaskExecution()
            journal.record(fsm)
            fsm.begin_execution()
    with opened(subject) as session:
        view = session.view()
        assert view["page"] == page
        assert view["picture"]["drawing"]
        go.set()
        view = until(session, lambda view: view["picture"]["svg"])
        assert not view["picture"]["drawing"]
        assert (page == "journal") == bool(view["now"]["last"])


def test_without_graphviz_the_page_has_its_list_of_states(monkeypatch):
    def missing(definition, **options):
        raise MissingExtraError("The program `dot` was not found.", extra="diagrams")

    monkeypatch.setattr(room, "scene", missing)
    with opened(door()) as session:
        picture = session.view()["picture"]
        assert "orkeon-transitions[diagrams]" in picture["problem"]
        assert not picture["drawing"]
        assert len(picture["states"]) == 4
        fired(session, "unlock")
        assert session.view()["now"] == {**session.view()["now"], "state": "open", "taken": [], "last": None}


def test_a_picture_that_goes_wrong_costs_the_picture_only(monkeypatch, caplog):
    def wrong(definition, **options):
        raise ZeroDivisionError

    monkeypatch.setattr(room, "scene", wrong)
    with opened(door()) as session:
        assert "could not be drawn" in session.view()["picture"]["problem"]
        fired(session, "unlock")
        assert session.view()["now"]["state"] == "open"
    assert "ZeroDivisionError" in caplog.text
