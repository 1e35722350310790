"""Whatever a person names opens, or says in one sentence why not."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from orkeon_transitions import (
    END,
    START,
    OrkeonError,
    StateGraph,
    StateMachineBuilder,
    TaskExecution,
    load_crew,
)
from orkeon_transitions.crew.packaged import example_file
from orkeon_transitions.explorer import CrewSession, CrewWatch, MachineSession, open_session
from tests.explorer.sessions import DOOR, door, opened

CREW = "103-ts-codebase-with-fsm"


def graph():
    return (
        StateGraph()
        .add_node("work", lambda state: state)
        .add_edge(START, "work")
        .add_conditional_edge("work", lambda state: END, ["work", END])
    )


def machine_file(folder, name="door.yaml"):
    file = folder / name
    file.write_text(door().to_yaml())
    return file


@pytest.mark.parametrize(
    ("subject", "page"),
    [
        (door, "machine"),
        (lambda: "task_execution", "machine"),
        (graph, "machine"),
        (lambda: StateMachineBuilder().initial("a").when("a", "go").to("b"), "machine"),
        (lambda: graph().compile(), "machine"),
        (lambda: door().to_yaml(), "machine"),
        (lambda: CREW, "crew"),
        (lambda: load_crew(CREW), "crew"),
        (lambda: CrewWatch(load_crew(CREW)), "crew"),
        (lambda: example_file(CREW), "crew"),
        (lambda: example_file(CREW).parent, "crew"),
    ],
)
def test_it_opens(subject, page):
    with opened(subject()) as session:
        assert session.view()["page"] == page


def test_files_are_known_by_what_is_in_them(tmp_path):
    file = machine_file(tmp_path)
    with opened(file) as session:
        assert session.view()["title"]["source"] == str(file)
        assert isinstance(session.session, MachineSession)
        assert session.machine.state == "closed"
    crew = tmp_path / "crew.txt"
    shutil.copy(example_file(CREW), crew)
    with opened(crew) as session:
        assert session.view()["page"] == "crew"
        assert session.machine is None
        assert isinstance(session.session, CrewSession)
        assert f"`orkeon run {crew} --watch`" in session.view()["crew"]["summary"]


@pytest.mark.parametrize("name", ["door.yaml", "door.json", "door"])
def test_the_suffix_of_a_machine_file_does_not_matter(tmp_path, name):
    with opened(machine_file(tmp_path, name)) as session:
        assert session.view()["title"]["name"] == "door"


def test_a_journal_of_any_name_is_known_by_its_first_line(tmp_path):
    log = tmp_path / "what.txt"
    record = {
        "timestamp": "2026-01-01T00:00:00+00:00",
        "session_id": "s",
        "trigger": "go",
        "from_state": "a",
        "to_state": "b",
    }
    log.write_text(f"\n{json.dumps(record)}\n")
    with opened(log) as session:
        assert session.view()["page"] == "journal"
        assert session.view()["now"]["state"] == "b"


def test_a_json_file_that_is_no_record_is_read_as_a_machine(tmp_path):
    file = tmp_path / "machine.json"
    file.write_text('{"states": ["a", "b"], "initial": "a", "transitions": [["go", "a", "b"]]}\n')
    with opened(file) as session:
        assert session.view()["page"] == "machine"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nowhere.yaml", "no such file"),
        ("task_executon", "did you mean 'task_execution'?"),
        ("103-ts-codebase", "did you mean '103-ts-codebase-with-fsm'?"),
        ("", "an empty name"),
    ],
)
def test_what_is_not_there_is_refused_in_one_sentence(name, words):
    with pytest.raises(OrkeonError) as refused:
        open_session(name)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_pipe_is_refused(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OrkeonError, match="is a pipe"):
        open_session(pipe)


@pytest.mark.parametrize("subject", [3, None, object(), [DOOR]])
def test_what_cannot_be_explored_is_refused_with_what_can(subject):
    with pytest.raises(TypeError, match="a machine, a definition, a graph"):
        open_session(subject)


def test_a_class_is_no_machine_yet():
    with pytest.raises(TypeError, match="TaskExecution is a class: make a machine of it"):
        open_session(TaskExecution)


def test_a_mended_file_is_read_again_and_a_broken_one_too(tmp_path):
    file = machine_file(tmp_path)
    good = file.read_text()
    with opened(file) as session:
        told = []
        session.subscribe(told.append)
        session.act({"do": "fire", "trigger": "unlock"})
        file.write_text(good.replace("initial: closed", "initial: clsd"))
        assert session.act({"do": "reload"}) is None
        view = session.view()
        assert view["page"] == "problems"
        assert view["problems"][0]["hint"] == "closed"
        assert session.machine is None
        assert not view["can"]["fire"]
        file.write_text(good)
        session.act({"do": "reload"})
        assert session.view()["page"] == "machine"
        assert session.view()["now"]["state"] == "closed"
        assert {"page", "problems"} <= {name for changed in told for name in changed}


def test_a_file_that_has_gone_is_a_problem_when_it_is_read_again(tmp_path):
    file = machine_file(tmp_path)
    with opened(file) as session:
        file.unlink()
        session.act({"do": "reload"})
        assert "no such file" in session.view()["problems"][0]["message"]


def test_the_room_loads_no_server_and_no_widget():
    code = (
        "import sys; from orkeon_transitions.explorer import open_session, explore;"
        "open_session('task_status');"
        "heavy = ('starlette', 'uvicorn', 'anywidget', 'sqlalchemy', 'rich', 'pydantic_ai');"
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"


def test_the_names_of_the_room():
    from orkeon_transitions import explorer

    for name in explorer.__all__:
        assert getattr(explorer, name)
    with pytest.raises(AttributeError, match="explor"):
        _ = explorer.explor
