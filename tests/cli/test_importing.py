"""`orkeon import crewai FOLDER`, and `orkeon run FOLDER` on the pair itself."""

import os
from pathlib import Path

import pytest

AGENTS = "# Ours.\ncook:\n  role: '{style} cook'\n  verbose: true\n"
TASKS = "dish:\n  description: Cook {dish}\n  expected_output: x\n  agent: cook\n  output_file: dish.md\n"


@pytest.fixture
def pair(folder):
    (folder / "kitchen").mkdir()
    (folder / "kitchen" / "agents.yaml").write_text(AGENTS)
    (folder / "kitchen" / "tasks.yaml").write_text(TASKS)
    return folder / "kitchen"


def test_the_pair_runs_as_it_is(orkeon, pair):
    done = orkeon("run", "kitchen", "--input", "style=slow", "--input", "dish=soup")
    assert done.code == 0
    assert "carried, not acted on: verbose" in done.err
    assert "Task: Cook soup" in (pair / "output" / "dish.md").read_text()


def test_missing_inputs_are_named_at_once(orkeon, pair):
    done = orkeon("run", "kitchen")
    assert done.code == 2
    assert [line.partition("error: ")[2] for line in done.err.splitlines()[1:]] == [
        "agents.cook.role: the input 'style' is missing",
        "tasks.dish.description: the input 'dish' is missing",
    ]


@pytest.mark.parametrize("on", ["orkeon", "on_terminal"])
def test_it_goes_to_standard_output_as_it_is(request, pair, on):
    done = request.getfixturevalue(on)("import", "crewai", "kitchen")
    assert done.code == 0
    assert done.out.startswith("# From CrewAI's agents.yaml and tasks.yaml.\n")
    assert "agents:\n  # Ours.\n  cook:\n    role: '{style} cook'\n    # verbose: true\n" in done.out
    assert "note:" in done.err
    assert "without effect here: verbose" in done.err


def test_it_is_written_to_a_file_that_checks_and_runs(orkeon, folder, pair):
    done = orkeon("import", "crewai", "kitchen", "-o", "mine.yaml")
    assert (done.code, done.out) == (0, "wrote mine.yaml\n")
    done = orkeon("check", "--strict", "mine.yaml")
    assert (done.code, done.err) == (0, "")
    assert orkeon("run", "mine.yaml", "--input", "style=slow", "--input", "dish=soup").code == 0
    assert (pair / "output" / "dish.md").is_file()


@pytest.mark.parametrize("place", [".", "kitchen", "apart/deep"])
def test_a_task_s_file_lies_where_the_pair_writes_it(orkeon, folder, pair, place):
    (folder / place).mkdir(parents=True, exist_ok=True)
    inputs = ("--input", "style=slow", "--input", "dish=soup")
    assert orkeon("run", "kitchen", *inputs).code == 0
    (written,) = folder.rglob("dish.md")
    text = written.read_text()
    written.unlink()
    new = f"{place}/mine.yaml"
    assert orkeon("import", "crewai", "kitchen", "-o", new).code == 0
    assert "where the pair writes it, too" in (folder / new).read_text()
    assert orkeon("run", new, *inputs).code == 0
    assert list(folder.rglob("dish.md")) == [written]
    assert written.read_text() == text


def test_without_a_file_the_text_says_where_files_come_to(orkeon, pair):
    out = orkeon("import", "crewai", "kitchen").out
    assert "# Each output_file lies below the folder that is mounted beside this file; the pair" in out
    assert "mounts: ['./output:/output:rw']" in out


@pytest.mark.parametrize("below", ["config", "src/kitchen/config"])
def test_a_project_runs_is_checked_and_goes_on_as_it_is(orkeon, folder, below):
    pair = folder / "project" / below
    pair.mkdir(parents=True)
    (pair / "agents.yaml").write_text(AGENTS)
    (pair / "tasks.yaml").write_text(TASKS)
    assert f"crew {pair.parent.name}, 1 agent, 1 task" in orkeon("check", "project").out
    options = ("--store", "sqlite:///runs.db", "--run-id", "r")
    inputs = ("--input", "style=slow", "--input", "dish=soup")
    assert orkeon("run", "project", *inputs, *options).code == 0
    assert (pair / "output" / "dish.md").is_file()
    done = orkeon("resume", "r", "--store", "sqlite:///runs.db", "--crew", "project")
    assert done.code == 2
    assert "ended" in done.err


def test_nothing_is_overwritten_unless_it_is_forced(orkeon, folder, pair):
    (folder / "mine.yaml").write_text("precious")
    done = orkeon("import", "crewai", "kitchen", "-o", "mine.yaml")
    assert done.code == 2
    assert "mine.yaml: is there already; --force writes over it" in done.err
    assert (folder / "mine.yaml").read_text() == "precious"
    assert orkeon("import", "crewai", "kitchen", "-o", "mine.yaml", "--force").code == 0
    assert (folder / "mine.yaml").read_text().startswith("# From CrewAI")


@pytest.mark.parametrize("name", ["kitchen/agents.yaml", "link.yaml"])
def test_the_pair_itself_is_never_written_over(orkeon, folder, pair, name):
    (folder / "link.yaml").symlink_to(pair / "agents.yaml")
    done = orkeon("import", "crewai", "kitchen", "-o", name, "--force")
    assert done.code == 2
    assert "is one of the files that it is made of" in done.err
    assert (pair / "agents.yaml").read_text() == AGENTS


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("mine.txt", "ends with .yaml or .yml"),
        ("kitchen.yaml", "is a folder"),
        ("no/x.yaml", "there is no folder"),
    ],
)
def test_what_cannot_become_a_crew_file_is_refused(orkeon, folder, pair, name, words):
    (folder / "kitchen.yaml").mkdir()
    done = orkeon("import", "crewai", "kitchen", "-o", name)
    assert done.code == 2
    assert words in done.err


def test_a_folder_with_both_is_told_of(orkeon, pair):
    done = orkeon("import", "crewai", "kitchen", "-o", "kitchen/crew.yaml")
    assert done.code == 0
    assert "the folder has agents and tasks twice now" in done.err
    done = orkeon("run", "kitchen/crew.yaml", "--input", "style=slow", "--input", "dish=soup")
    assert done.code == 0


def test_mistakes_are_said_in_one_line_each(orkeon, folder, pair):
    done = orkeon("import", "crewai", "nowhere")
    assert (done.code, done.err) == (2, "nowhere: error: has no 'agents.yaml' and 'tasks.yaml'\n")
    done = orkeon("import", "langgraph", "kitchen")
    assert done.code == 2
    assert "'langgraph' is not 'crewai'" in done.err
    (pair / "tasks.yaml").write_text("dish:\n  description: d\n  agent: cok\n")
    done = orkeon("import", "crewai", "kitchen", "-o", "mine.yaml")
    assert done.code == 2
    assert "unknown agent 'cok'" in done.err
    assert not (folder / "mine.yaml").exists()


def test_somebody_who_was_quicker_is_not_written_over(orkeon, folder, pair, monkeypatch):
    (folder / "mine.yaml").write_text("precious")
    found = os.path.lexists
    monkeypatch.setattr("os.path.lexists", lambda path: Path(path).name != "mine.yaml" and found(path))
    done = orkeon("import", "crewai", "kitchen", "-o", "mine.yaml")
    assert done.code == 2
    assert "mine.yaml: is there already" in done.err
    assert (folder / "mine.yaml").read_text() == "precious"


def test_a_file_that_cannot_be_written_is_said(orkeon, folder, pair):
    (folder / "mine.yaml").symlink_to(folder / "nowhere" / "mine.yaml")
    done = orkeon("import", "crewai", "kitchen", "-o", "mine.yaml", "--force")
    assert done.code == 2
    assert "mine.yaml: cannot be written: No such file or directory" in done.err


def test_quiet_is_quiet(orkeon, pair):
    done = orkeon("import", "crewai", "kitchen", "-o", "mine.yaml", "--quiet")
    assert (done.code, done.out, done.err) == (0, "", "")
