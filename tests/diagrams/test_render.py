"""Pictures as files: formats, whole files, errors, what is loaded when."""

import os
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from transitions import Machine

from orkeon_transitions.diagrams import render, to_dot, to_mermaid, to_png, to_svg
from orkeon_transitions.errors import OrkeonError
from orkeon_transitions.machines import TaskExecution, machine_definition, machine_names
from tests.diagrams.pictures import PNG_BEGINS, Drawn, steps, ticket


def png_size(data):
    assert data.startswith(PNG_BEGINS)
    return struct.unpack(">II", data[16:24])


@pytest.mark.parametrize("name", machine_names())
def test_every_shipped_machine_is_drawn(name, tmp_path):
    definition = machine_definition(name)
    width, height = png_size(render(definition, tmp_path / "m.png").read_bytes())
    assert 300 < width < 2600
    assert 150 < height < 1600
    svg = render(definition, tmp_path / "m.svg").read_text(encoding="utf-8")
    assert {f"state-{state.name}" for state in definition.states} <= Drawn(svg).ids
    for trigger in definition.triggers:
        assert trigger in svg
    assert render(definition, tmp_path / "m.dot").read_text(encoding="utf-8").startswith("digraph machine {")
    assert "stateDiagram-v2" in render(definition, tmp_path / "m.mmd").read_text(encoding="utf-8")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.dot", "m.mmd", "m.png", "m.svg"]


def test_the_suffix_may_be_in_capitals_and_the_path_a_text(tmp_path):
    assert render(ticket(), str(tmp_path / "M.PNG")) == tmp_path / "M.PNG"
    png_size((tmp_path / "M.PNG").read_bytes())


@pytest.mark.parametrize("name", ["m", "m.jpg", "m.png.txt", ".png"])
def test_an_unknown_suffix_is_refused_with_the_valid_ones(name, tmp_path):
    with pytest.raises(OrkeonError, match=r"\.png, \.svg, \.pdf, \.dot, \.mmd"):
        render(ticket(), tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(OrkeonError, match=r"cannot write '.*m\.svg': the folder '.*gone' does not exist"):
        render(ticket(), tmp_path / "gone" / "m.svg")


def test_a_folder_that_is_a_file(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(OrkeonError, match="Not a directory"):
        render(ticket(), tmp_path / "file" / "m.mmd")


def test_a_target_that_is_a_folder(tmp_path):
    (tmp_path / "m.mmd").mkdir()
    with pytest.raises(OrkeonError, match="Is a directory"):
        render(ticket(), tmp_path / "m.mmd")
    assert [path.name for path in tmp_path.iterdir()] == ["m.mmd"]


def test_what_is_no_file_is_written_to_and_never_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    (tmp_path / "link.dot").symlink_to(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        render(machine_definition("hermes_agent"), tmp_path / "link.dot")
        assert os.read(reader, 7) == b"digraph"
    finally:
        os.close(reader)
    assert pipe.is_fifo()


def test_a_link_that_names_itself_is_one_clear_error(tmp_path):
    (tmp_path / "x.dot").symlink_to("x.dot")
    with pytest.raises(OrkeonError, match=r"cannot write '.*x\.dot': Symlink loop"):
        render(machine_definition("hermes_agent"), tmp_path / "x.dot")


def test_a_failure_while_writing_leaves_the_old_picture(tmp_path, monkeypatch):
    target = tmp_path / "m.mmd"
    target.write_text("old")

    def full(self, other):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OrkeonError, match="No space left on device"):
        render(ticket(), target)
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["m.mmd"]


def test_a_picture_that_is_there_is_replaced_through_a_link(tmp_path):
    (tmp_path / "real.mmd").write_text("old")
    (tmp_path / "link.mmd").symlink_to("real.mmd")
    render(ticket(), tmp_path / "link.mmd")
    assert (tmp_path / "link.mmd").is_symlink()
    assert "stateDiagram" in (tmp_path / "real.mmd").read_text(encoding="utf-8")


def test_others_may_read_the_file(tmp_path):
    (tmp_path / "plain").write_text("")
    mode = render(ticket(), tmp_path / "m.mmd").stat().st_mode
    assert mode == (tmp_path / "plain").stat().st_mode


@pytest.mark.parametrize("subject", [None, "task_execution", {"initial": "a"}, TaskExecution])
def test_what_is_no_machine_is_refused(subject):
    with pytest.raises(TypeError, match=r"cannot draw an object of .*MachineDefinition.*load_definition"):
        to_mermaid(subject)


def test_a_machine_of_transitions_has_no_definition_and_is_refused(tmp_path):
    machine = Machine(states=["a", "b"], initial="a")
    with pytest.raises(TypeError, match=r"an object of Machine: .*keywords of a `transitions` machine"):
        render(machine, tmp_path / "m.svg")
    assert not list(tmp_path.iterdir())


def test_a_definition_may_come_from_a_method_and_without_a_snapshot():
    class Graph:
        def definition(self):
            return ticket()

    assert to_mermaid(Graph()) == to_mermaid(ticket())


def test_a_machine_is_drawn_as_it_is_now():
    task = TaskExecution()
    task.begin_execution()
    drawn = Drawn(to_svg(task))
    assert "current" in drawn.classes("state-executing")
    assert drawn.words("state-assigned") == ["assigned", "×1"]
    assert "current" not in Drawn(to_svg(task.definition)).classes("state-executing")


def test_a_real_run_is_drawn_and_the_machine_is_not_touched():
    task, trace = TaskExecution(), []
    task.on_transition(trace.append)
    task.begin_execution()
    task.request_tool_call(tool="search")
    before = task.snapshot().model_dump(exclude={"taken_at", "time_in_state", "active_time"})
    drawn = Drawn(to_svg(task, trace=trace))
    assert "last" in drawn.classes("arrow-executing-tool_calling")
    assert task.snapshot().model_dump(exclude={"taken_at", "time_in_state", "active_time"}) == before
    assert len(trace) == 2


def test_a_trace_may_be_read_only_once():
    assert "×1" in to_mermaid(ticket(), trace=iter(steps("open ask waiting")))


def test_triggers_named_like_anything_in_transitions_are_drawn():
    names = ["state", "get_graph", "to_b", "trigger", "model", "states", "add_model", "is_a", "initial"]
    rows = [{"trigger": name, "source": ("a",), "dest": "b"} for name in names]
    definition = ticket().model_copy(
        update={
            "initial": "a",
            "degraded": None,
            "states": tuple(ticket().states[0].model_copy(update={"name": name}) for name in "ab"),
            "transitions": tuple(
                ticket().transitions[0].model_copy(update={**row, "unless": (), "conditions": ()})
                for row in rows
            ),
        }
    )
    assert Drawn(to_svg(definition)).words("arrow-a-b") == names


def test_a_machine_of_sixty_states_is_drawn():
    names = [f"a_rather_long_name_of_a_state_{index}" for index in range(60)]
    rows = [["next_step_of_the_process", a, b] for a, b in zip(names, names[1:] + names[:1], strict=True)]
    from orkeon_transitions.definition import load_definition

    definition = load_definition(
        {"initial": names[0], "states": names, "transitions": [*rows, ["stop", "*", names[0]]]}
    )
    assert "from 60 of 60" in to_svg(definition)
    png_size(to_png(definition))


LOADED = """
import sys
import orkeon_transitions.diagrams as diagrams
from orkeon_transitions.definition import load_definition
heavy = {"graphviz", "transitions"}
assert not heavy & set(sys.modules), heavy & set(sys.modules)
definition = load_definition({"initial": "a", "states": ["a"]})
sys.modules["graphviz"] = None      # as if it were broken
assert "stateDiagram" in diagrams.to_mermaid(definition)
assert "transitions" not in sys.modules
try:
    diagrams.to_dot(definition)
except diagrams.render.__globals__["MissingExtraError"] as error:
    print(error)
"""


# case H03
def test_nothing_heavy_is_loaded_before_a_picture_is_drawn_and_mermaid_needs_nothing():
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "package `graphviz` cannot be loaded" in done.stdout
    assert "Mermaid" in done.stdout
    assert "orkeon-transitions[diagrams]" in done.stdout


def test_dot_text_is_the_same_every_time():
    assert to_dot(ticket(), trace=steps("open ask waiting")) == to_dot(
        ticket(), trace=steps("open ask waiting")
    )
