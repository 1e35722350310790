"""Crew files: every problem at once, each with its place."""

import re
from datetime import timedelta

import pytest

from orkeon_transitions.crew import load_crew
from tests.crew.crew_texts import HEAD, TASKS, problems_of

GOOD = """\
name: tea
goal: Make tea
process: Sequential
agents:
  cook: {role: Cook, goal: Tea, tools: [file_read]}
tasks:
  boil: {description: Boil water, expectedOutput: Hot water, agent: cook}
  pour: {description: Pour, expected_output: Tea, agent: cook, dependencies: [boil]}
"""


def test_a_good_crew_loads():
    crew = load_crew(GOOD)
    assert crew.name == "tea"
    assert crew.findings == ()
    assert list(crew.agents) == ["cook"]
    assert crew.agents["cook"].tools == ("file_read",)
    assert crew.tasks["pour"].dependencies == ("boil",)
    assert crew.tasks["pour"].expected_output == "Tea"


def test_a_file_gives_its_name_and_folder(tmp_path):
    file = tmp_path / "lunch.yaml"
    file.write_text(HEAD + TASKS)
    crew = load_crew(file)
    assert crew.name == "lunch"
    assert crew.config.folder == tmp_path.resolve()


def test_null_where_absent_is_fine_is_fine():
    nulls = "".join(
        f"{key}: null\n" for key in ("name", "goal", "process", "llm", "mounts", "circuitBreaker")
    )
    task_nulls = "expectedOutput: ~, agent: null, dependencies: null, tools: , deliverable: null"
    crew = load_crew(
        f"{nulls}graphConfig: null\nagents:\n  cook: {{role: null, goal: ~, tools: null}}\n"
        f"tasks:\n  t: {{description: d, {task_nulls}, circuitBreaker: {{preset: null, maxRetries: null}}}}\n"
    )
    assert crew.tasks["t"].agent == ""
    assert crew.findings == ()


def test_a_task_may_leave_its_agent_to_the_run():
    assert load_crew(HEAD + TASKS).tasks["boil"].agent == ""


def test_all_problems_come_at_once_in_the_order_of_the_file(tmp_path):
    file = tmp_path / "crew.yaml"
    file.write_text(
        "process: graf\n"
        "agents:\n"
        "  cook: {role: 7, tools: [file_raed]}\n"
        "tasks:\n"
        "  boil: {description: d, agent: coook, dependencies: [puor]}\n"
        "  pour: {expectedOutput: x, circuitBreaker: {preset: strickt, maxRetries: -1}}\n"
    )
    problems = problems_of(file)
    places = [(problem.line, problem.path, problem.hint) for problem in problems]
    assert places == [
        (1, "process", "graph"),
        (3, "agents.cook.role", None),
        (3, "agents.cook.tools[0]", "file_read"),
        (5, "tasks.boil.agent", "cook"),
        (5, "tasks.boil.dependencies[0]", "pour"),
        (6, "tasks.pour", None),
        (6, "tasks.pour.circuitBreaker.preset", "strict"),
        (6, "tasks.pour.circuitBreaker.maxRetries", None),
    ]
    assert all(problem.file == str(file) and problem.column for problem in problems)


# case G05
@pytest.mark.parametrize(
    ("text", "needle"),
    [
        (f"{HEAD}tasks:\n  - {{description: d}}\n", "tasks: must be a mapping of task ids"),
        (f"agents:\n  - {{name: cook}}\n{TASKS}", "agents: must be a mapping of agent ids"),
        ("- a\n- b\n", "a crew must be a mapping, not a list"),
        (f"crew:\n  name: x\n{HEAD}{TASKS}", "'crew' wraps the crew"),
        (f"agents: {{}}\n{TASKS}", "agents: is empty: a crew needs at least one agent"),
        (f"{HEAD}tasks:\n", "'tasks' is missing: a crew needs at least one task"),
        (TASKS, "'agents' is missing"),
        (f"agents:\n  cook: [x]\n{TASKS}", "agents.cook: must be a mapping, not a list"),
        (f"{HEAD}tasks:\n  boil: just do it\n", "tasks.boil: must be a mapping"),
        (f"{HEAD}tasks:\n  boil: {{description: null}}\n", "description: must be text, not null"),
        (f"{HEAD}tasks:\n  boil: {{description: ' '}}\n", "description: must not be empty"),
        (f"{HEAD}tasks:\n  boil: {{description: [x]}}\n", "description: must be text"),
        (f"name: a\nname: b\n{HEAD}{TASKS}", "given twice"),
        ("a: [\n", "not valid YAML"),
        ("\n", "nothing in it"),
    ],
)
def test_a_wrong_shape_is_said(text, needle):
    problems = problems_of(text)
    assert any(needle in str(problem) for problem in problems), problems
    assert all(problem.line for problem in problems)


@pytest.mark.parametrize("name", ["", "  ", "a\\nb", "a\\eb"])
@pytest.mark.parametrize("kind", ["agents", "tasks"])
def test_an_id_is_a_name(name, kind):
    parts = {"agents": "cook", "tasks": "boil"} | {kind: name}
    text = f'agents:\n  "{parts["agents"]}": {{}}\ntasks:\n  "{parts["tasks"]}": {{description: d}}\n'
    (problem,) = problems_of(text)
    assert "name" in problem.message
    assert problem.line == (2 if kind == "agents" else 4)


@pytest.mark.parametrize("process", ["sequential", "Parallel", "' GRAPH '", "Autonomous", "null"])
def test_the_processes_that_are_there(process):
    crew = load_crew(f"process: {process}\n{HEAD}{TASKS}")
    expected = "sequential" if process == "null" else process.strip("' ").lower()
    assert (crew.config.process, crew.findings) == (expected, ())


def graph_crew(block):
    return f"process: graph\ngraphConfig: {{{block}}}\n{HEAD}{TASKS}"


def test_a_graph_config_is_read():
    written = "maxRetryCycles: 0, circuit_breaker_preset: Permissive, maxTotalDurationSeconds: 5"
    block = load_crew(graph_crew(written)).config.graph_config
    assert (block.max_retry_cycles, block.preset) == (0, "permissive")
    assert block.fields == {"max_total_duration": timedelta(seconds=5)}


@pytest.mark.parametrize(
    ("written", "needle", "hint"),
    [
        ("maxRetryCycles: -1", "0 or more", None),
        ("maxRetryCycles: '2'", "whole number", None),
        ("circuitBreakerPreset: strickt", "unknown preset 'strickt'", "strict"),
        ("maxRetryCycle: 2", "unknown key 'maxRetryCycle'", "maxRetryCycles"),
        ("stateTimeoutSeconds: 2", "unknown key", None),
        ("maxTransitions: 1, max_transitions: 2", "are the same key", None),
    ],
)
def test_a_wrong_graph_config_is_said(written, needle, hint):
    (problem,) = problems_of(graph_crew(written))
    assert needle in problem.message
    assert (problem.hint, problem.line) == (hint, 2)


def test_a_graph_config_without_a_graph_has_no_effect():
    crew = load_crew(f"graphConfig: {{maxRetryCycles: 1}}\n{HEAD}{TASKS}")
    assert [found.message for found in crew.findings] == ["carried, not acted on: graphConfig"]


@pytest.mark.parametrize(
    ("mounts", "needle"),
    [
        ("[7]", "mounts[0]: must be a text"),
        ("{a: b}", "must be a list"),
        ("code", "must look like"),
        ("['a:/x:ro', 'b:/x/:rw']", "mounts[1]: '/x' is mounted twice"),
        ("['a:/x:rx']", "'rx' is neither"),
    ],
)
def test_wrong_mounts_are_said(mounts, needle):
    (problem,) = problems_of(f"mounts: {mounts}\n{HEAD}{TASKS}")
    assert needle in str(problem)


def test_a_home_is_a_folder_of_the_host(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    crew = load_crew(f"mounts: ['~:/x:ro', '~/later:/y:rw']\n{HEAD}{TASKS}")
    assert crew.findings == ()
    assert [mount.host for mount in crew.mounts] == [tmp_path, tmp_path / "later"]
    (problem,) = problems_of(f"mounts: ['~nobody-of-this-name:/x:ro']\n{HEAD}{TASKS}")
    assert "'~nobody-of-this-name' is no user's home" in problem.message


def test_a_folder_whose_name_is_too_long_is_not_there():
    crew = load_crew(f"mounts: ['{'x' * 300}:/x:ro']\n{HEAD}{TASKS}")
    assert [finding.code for finding in crew.findings] == ["missing-folder"]
    assert crew.run_sync().success


def test_two_own_tools_of_one_name_are_refused():
    def weigh() -> int: ...

    with pytest.raises(ValueError, match="two tools are called 'weigh'"):
        load_crew(GOOD, tools=[weigh, weigh])


@pytest.mark.parametrize("kind", ["missing.yaml", "folder", "binary", "large", "x" * 300])
def test_what_cannot_be_read_is_one_clear_problem(tmp_path, kind):
    path = tmp_path / kind
    if kind == "folder":
        path.mkdir()
    elif kind == "binary":
        path.write_bytes(b"\x00\x01\xff")
    elif kind == "large":
        path.write_text("# " + "x" * 1_000_001)
    (problem,) = problems_of(path)
    needle = {
        "missing.yaml": "no such file",
        "folder": "a folder without",
        "binary": "binary",
        "large": "1 MB",
    }
    assert re.search(needle.get(kind, "too long"), str(problem))
