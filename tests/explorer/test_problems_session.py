"""A file that cannot be used: every problem with its place and the lines around it."""

import json

from orkeon_transitions.errors import OrkeonError
from orkeon_transitions.explorer import ProblemsSession
from tests.explorer.sessions import opened

BROKEN = """\
name: door
initial: clsed
states: [closed, open]
transitions:
  - {trigger: unlock, source: closed, dest: opn}
  - {trigger: shut, source: open, dest: closed, conditions: [1]}
"""


def test_all_problems_are_shown_with_place_hint_and_lines(tmp_path):
    file = tmp_path / "door.yaml"
    file.write_text(BROKEN)
    with opened(file) as session:
        view = session.view()
        json.dumps(view)
        assert view["page"] == "problems"
        assert view["title"]["name"] == str(file)
        assert view["title"]["note"].startswith("3 problems")
        first = view["problems"][0]
        assert first["place"] == f"{file}:2:10"
        assert (first["line"], first["column"], first["hint"]) == (2, 10, "closed")
        assert first["message"].startswith("initial: ")
        assert first["excerpt"] == [
            {"line": 1, "text": "name: door", "here": False},
            {"line": 2, "text": "initial: clsed", "here": True},
            {"line": 3, "text": "states: [closed, open]", "here": False},
            {"line": 4, "text": "transitions:", "here": False},
        ]
        assert [line["line"] for line in view["problems"][-1]["excerpt"]] == [4, 5, 6]


def test_nothing_can_be_done_but_read_it_again(tmp_path):
    file = tmp_path / "door.yaml"
    file.write_text(BROKEN)
    with opened(file) as session:
        can = session.view()["can"]
        assert can.pop("reload")
        assert not any(can.values())
        for order in ({"do": "fire", "trigger": "unlock"}, {"do": "export", "format": "png"}):
            assert session.act(order).keys() == {"error"}


def test_a_text_has_its_lines_too():
    with opened(BROKEN) as session:
        assert session.view()["problems"][0]["excerpt"][1]["text"] == "initial: clsed"
        assert session.view()["title"]["name"] == "<text>"


def test_a_crew_file_with_problems(tmp_path):
    file = tmp_path / "crew.yaml"
    file.write_text("name: c\nagents:\n  a:\n    role: r\ntasks:\n  t:\n    description: d\n    agent: b\n")
    with opened(file) as session:
        problem = session.view()["problems"][0]
        assert problem["line"] == 8
        assert "b" in problem["message"]


def test_what_is_no_text_is_a_problem_without_lines(tmp_path):
    file = tmp_path / "door.yaml"
    file.write_bytes(b"name: \xff\xfe\n")
    with opened(file) as session:
        assert session.view()["page"] == "problems"


def test_a_long_line_is_shortened(tmp_path):
    file = tmp_path / "door.yaml"
    file.write_text(f"name: door\ninitial: {'x' * 5000}\nstates: [a]\n")
    with opened(file) as session:
        assert max(len(line["text"]) for line in session.view()["problems"][0]["excerpt"]) <= 400


def test_a_sentence_without_a_place_is_a_problem_by_itself():
    session = ProblemsSession(OrkeonError("it is not there"), "somewhere.yaml")
    assert session.view()["problems"] == [
        {"place": "", "line": None, "column": None, "message": "it is not there", "hint": None, "excerpt": []}
    ]


def test_a_file_that_cannot_be_read_any_more_has_no_lines(tmp_path):
    session = ProblemsSession(OrkeonError(f"{tmp_path / 'gone.jsonl'}:3: torn"), tmp_path / "gone.jsonl")
    problem = session.view()["problems"][0]
    assert (problem["line"], problem["message"], problem["excerpt"]) == (3, "torn", [])
