import asyncio
from pathlib import Path

import pytest

import orkeon_transitions
from orkeon_transitions.crew import example_names, graph_limits, load_crew
from orkeon_transitions.crew.resolution import running_limits
from orkeon_transitions.errors import CrewDefinitionError

NAME = "103-ts-codebase-with-fsm"
PACKAGE = Path(orkeon_transitions.__file__).parent


def tree(folder):
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*") if "__pycache__" not in path.parts}


def test_the_example_runs_by_its_name_from_anywhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = tree(PACKAGE / "examples")
    crew = load_crew(NAME, strict=True)
    assert crew.findings == ()
    result = crew.run_sync()
    assert result.success, result.error
    assert all(task.output.startswith("[offline model]") for task in result.tasks.values())
    report = tmp_path / "orkeon-output" / NAME / "reports" / "report.md"
    assert report.read_text().startswith("[offline model]")
    assert tree(PACKAGE / "examples") == before, "nothing is written into the package"


def test_it_is_a_supervisor_and_six_specialists():
    crew = load_crew(NAME)
    assert len(crew.agents) == 7
    (supervised,) = [task for task in crew.tasks.values() if task.agent == "supervisor"]
    assert len(supervised.dependencies) == 6
    for task in crew.tasks.values():
        policy = running_limits(crew.config, task).policy
        assert policy.use_degraded_mode
    limits = running_limits(crew.config, supervised)
    policy = limits.policy
    assert (policy.max_transitions, policy.max_state_visits) == (200, 20)
    assert policy.state_timeout.total_seconds() == 600
    assert limits.guards["max_tool_calls_per_round"] == 30
    assert limits.guards["max_retries"] == 2


@pytest.mark.parametrize("by", ["name", "folder", "file"])
def test_it_can_be_named_in_three_ways(tmp_path, monkeypatch, by):
    monkeypatch.chdir(tmp_path)
    folder = PACKAGE / "examples" / NAME
    crew = load_crew({"name": NAME, "folder": folder, "file": folder / "crew.yaml"}[by])
    assert [mount.host.is_relative_to(tmp_path) for mount in crew.mounts] == [False, True]


def test_names_are_listed_and_near_ones_suggested():
    assert NAME in example_names()
    with pytest.raises(CrewDefinitionError, match=f"did you mean '{NAME}'"):
        load_crew("103-ts-codebase-with-fms")


def test_a_file_of_that_name_comes_first(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / NAME).write_text("agents: {a: {}}\ntasks:\n  t: {description: mine}\n")
    assert load_crew(NAME).tasks["t"].description == "mine"


def test_folders_of_an_own_crew_lie_beside_its_file(tmp_path, monkeypatch):
    place = tmp_path / "crews"
    place.mkdir()
    (place / "c.yaml").write_text(
        "mounts: ['./in:/in:ro', 'out:/out:rw']\nagents: {a: {tools: [file_write]}}\n"
        "tasks:\n  t: {description: d, deliverable: /out/x.md}\n"
    )
    monkeypatch.chdir(tmp_path)
    crew = load_crew("crews/c.yaml")
    assert [mount.host for mount in crew.mounts] == [place / "in", place / "out"]
    assert asyncio.run(crew.run()).success
    assert (place / "out" / "x.md").exists()


# ---- 102: a crew that runs as a graph
GRAPH = "102-graph-orchestration"


def test_the_graph_example_retries_what_the_feed_let_down(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = tree(PACKAGE / "examples")
    crew = load_crew(GRAPH, strict=True)
    assert crew.findings == ()
    result = crew.run_sync()
    assert result.success, result.error
    attempts = {task.id: task.attempts for task in result.tasks.values()}
    assert attempts == {"collect": 2, "validate": 1, "analyse": 1, "report": 1}
    assert [machine.state for machine in result.tasks["collect"].machines] == ["failed", "completed"]
    assert "dropped the connection" in result.tasks["collect"].machines[0].error
    assert (tmp_path / "orkeon-output" / GRAPH / "reports" / "counters.md").exists()
    assert tree(PACKAGE / "examples") == before, "nothing is written into the package"


def test_the_graph_example_is_four_in_a_line_under_strict_limits():
    crew = load_crew(GRAPH)
    assert [task.dependencies for task in crew.tasks.values()] == [
        (),
        ("collect",),
        ("validate",),
        ("analyse",),
    ]
    assert {task.agent for task in crew.tasks.values()} == set(crew.agents)
    limits = graph_limits(crew.config)
    assert (crew.config.process, limits.max_retry_cycles) == ("graph", 2)
    assert limits.policy.use_degraded_mode
    assert (limits.policy.max_state_visits, limits.policy.max_transitions) == (12, 50)


def test_the_feed_lets_each_crew_down_once():
    for _ in range(2):
        crew = load_crew(GRAPH)
        assert [crew.run_sync().tasks["collect"].attempts for _ in range(2)] == [2, 1]


def test_the_feed_is_the_examples_alone(tmp_path):
    file = tmp_path / "crew.yaml"
    file.write_text((PACKAGE / "examples" / GRAPH / "crew.yaml").read_text())
    with pytest.raises(CrewDefinitionError, match="unknown tool 'counter_feed'"):
        load_crew(file)


def test_a_link_to_itself_is_no_example(tmp_path):
    link = tmp_path / "crew.yaml"
    link.symlink_to(link)
    with pytest.raises(CrewDefinitionError):
        load_crew(link)


@pytest.mark.parametrize("name", ["a\0.yaml", "\ud800.yaml", "a\0/crew.yaml", "\ud800"])
def test_what_can_be_no_name_of_a_file_is_refused_as_one(name):
    with pytest.raises(CrewDefinitionError) as refused:
        load_crew(name)
    assert [problem.file for problem in refused.value.problems] == [name]
