"""`orkeon check`: everything that is wrong with a file, with its place."""

import re

import pytest

from orkeon_transitions.machines import machine_names

GOOD = "name: m\ninitial: a\nstates: [a, {name: b, final: true}]\ntransitions: [[go, a, b]]\n"
WARNED = "name: w\ninitial: a\nstates: [a, b, c]\ntransitions: [[go, a, b]]\nsend_event: true\n"
BAD = """\
name: b
initial: a
states: [a]
transitions:
  - [go, a, nowhere]
  - {trigger: go, source: x, dest: a}
"""
LINE = re.compile(
    r"(?P<file>[^:]+)(:(?P<line>\d+)(:(?P<column>\d+))?)?: (error|warning|note): .+ \[[a-z-]+\]"
)


@pytest.fixture
def files(folder, little_crew):
    for name, text in {"good": GOOD, "warned": WARNED, "bad": BAD}.items():
        (folder / f"{name}.yaml").write_text(text)
    (folder / "crew-warned.yaml").write_text(
        little_crew.read_text().replace("role: Scout", "role: Scout, colour: red")
    )
    (folder / "crew-bad.yaml").write_text(little_crew.read_text().replace("agent: writer", "agent: writter"))


def test_good_files_are_told_what_they_are(orkeon, files):
    done = orkeon("check", "good.yaml", "little.yaml")
    assert done.code == 0
    assert done.out.splitlines()[:2] == [
        "good.yaml: ok (machine m, 2 states, 1 trigger)",
        "little.yaml: ok (crew little, 2 agents, 2 tasks)",
    ]


LIMITED = """\
process: graph
graphConfig: {maxRetryCycles: 1, maxTotalDurationSeconds: 90.5}
circuitBreaker: {preset: default, maxTransitions: 0, useDegradedMode: true}
agents:
  a: {role: r}
tasks:
  one: {description: d}
  two: {description: d, circuitBreaker: {maxRetries: 2, meters: {tokens: 500}}}
  three: {description: d}
"""


def test_each_task_s_limits_are_told_with_where_they_come_from(orkeon, folder):
    (folder / "limited.yaml").write_text(LIMITED)
    lines = orkeon("check", "limited.yaml").out.splitlines()
    assert lines[:7] == [
        "limited.yaml: ok (crew limited, 1 agent, 3 tasks)",
        "  the graph over the tasks",
        "    maxRetryCycles              1  graphConfig",
        "    maxTransitions             50  preset strict",
        "    maxStateVisits              6  widened",
        "    maxTotalDurationSeconds  90.5  graphConfig",
        "  each task: one, three",
    ]
    assert [line.split() for line in lines[7:18]] == [
        ["maxTransitions", "off", "crew"],
        ["stateTimeoutSeconds", "300", "preset", "default"],
        ["maxStateVisits", "154", "widened"],
        ["maxTotalDurationSeconds", "1800", "preset", "default"],
        ["useDegradedMode", "yes", "crew"],
        ["maxRepeats", "4", "default"],
        ["maxRetries", "0", "graph", "process"],
        ["maxToolCallsPerRound", "10", "default"],
        ["maxValidationRetries", "3", "default"],
        ["maxQuestions", "10", "default"],
        ["task:", "two"],
    ]
    assert ["maxRetries", "2", "task"] in [line.split() for line in lines[18:]]
    assert ["meters", "tokens", "500", "task"] in [line.split() for line in lines[18:]]


def test_a_crew_without_limits_of_its_own_is_told_that_it_has_some(orkeon, folder, little_crew):
    _, said, _, *limits = orkeon("check", "little.yaml").out.splitlines()
    assert said == "  no circuitBreaker: strict, its counts widened to what a task's budgets need"
    assert ["maxRepeats", "4", "default"] in [line.split() for line in limits]
    little_crew.write_text("circuitBreaker: {maxRepeats: 0}\n" + little_crew.read_text())
    done = orkeon("check", "little.yaml")
    assert "no circuitBreaker" not in done.out
    assert ["maxRepeats", "off", "crew"] in [line.split() for line in done.out.splitlines()]


def test_limits_are_there_for_programs(orkeon, folder):
    (folder / "limited.yaml").write_text(LIMITED)
    (folder / "good.yaml").write_text(GOOD)
    crew, machine = orkeon("check", "--json", "limited.yaml", "good.yaml").json["files"]
    assert machine["limits"] is None
    assert list(crew["limits"]["tasks"]) == ["one", "two", "three"]
    assert crew["limits"]["tasks"]["two"]["meters"] == {"value": {"tokens": 500}, "origin": "task"}
    assert crew["limits"]["graph"]["maxTotalDurationSeconds"] == {"value": 90.5, "origin": "graphConfig"}


def test_limits_are_readable_in_eighty_columns_and_left_out_when_quiet(orkeon, folder):
    tasks = "".join(f"  task-number-{n}: {{description: d}}\n" for n in range(40))
    (folder / "many.yaml").write_text(f"agents:\n  a: {{role: r}}\ntasks:\n{tasks}")
    lines = orkeon("check", "many.yaml").out.splitlines()
    assert max(map(len, lines)) <= 80
    assert sum("task-number-39" in line for line in lines) == 1
    assert orkeon("check", "--quiet", "many.yaml").out == ""


def crew_folder(folder, **changed):
    files = {"crew.yaml": "name: tea\n", "agents.yaml": "cook: {role: Cook}\n"}
    files["tasks.yaml"] = "boil:\n  description: d\n  agent: cook\n"
    path = folder / "tea"
    path.mkdir()
    for name, text in (files | {f"{name}.yaml": text for name, text in changed.items()}).items():
        (path / name).write_text(text)
    return path


@pytest.mark.parametrize("named", ["tea", "tea/crew.yaml"])
def test_a_crew_s_folder_is_checked_as_one(orkeon, folder, named):
    crew_folder(folder, agents="cook: {role: Cook, colour: red, cache: true}\n")
    done = orkeon("check", named)
    assert done.code == 0, done.out
    assert [line.partition(": ")[0] for line in done.out.splitlines()[:2]] == [
        "tea/agents.yaml:1:20", "tea/agents.yaml:1:33",
    ]  # fmt: skip
    assert f"{named}: ok (crew tea, 1 agent, 1 task)" in done.out


def test_the_problems_of_a_crew_s_files_come_each_with_its_own(orkeon, folder):
    crew_folder(folder, agents="cook: {role: 7}\n", tasks="boil:\n  description: d\n  agent: coook\n")
    done = orkeon("check", "tea")
    assert done.code == 2
    assert [line.partition(": ")[0] for line in done.out.splitlines()] == [
        "tea/agents.yaml:1:14", "tea/tasks.yaml:3:10",
    ]  # fmt: skip
    (report,) = orkeon("check", "--json", "tea").json["files"]
    assert [remark["file"] for remark in report["remarks"]] == ["tea/agents.yaml", "tea/tasks.yaml"]
    assert report["limits"] is None


def test_under_strict_an_unknown_key_is_told_with_the_other_problems(orkeon, folder):
    crew_folder(
        folder, agents="cook: {role: Cook, gaol: g}\n", tasks="boil:\n  description: d\n  agent: coook\n"
    )
    done = orkeon("check", "--strict", "tea")
    assert done.code == 2
    assert [line.partition(": ")[0] for line in done.out.splitlines()] == [
        "tea/agents.yaml:1:20", "tea/tasks.yaml:3:10",
    ]  # fmt: skip
    assert "unknown key 'gaol' (did you mean 'goal'?)" in done.out


@pytest.mark.parametrize(
    ("file", "looks"),
    [("agents", "it looks like the agents of a crew"), ("tasks", "it looks like the tasks of a crew")],
)
def test_a_part_of_a_crew_is_told_what_it_is(orkeon, folder, file, looks):
    crew_folder(folder)
    done = orkeon("check", f"tea/{file}.yaml")
    assert done.code == 2
    assert looks in done.out


def test_an_example_that_ships_is_checked_by_its_name(orkeon, folder):
    done = orkeon("check", "103-ts-codebase-with-fsm")
    assert done.code == 0
    assert "103-ts-codebase-with-fsm: ok (crew ts-codebase-with-fsm, 7 agents, 7 tasks)" in done.out


def test_every_problem_has_its_place(orkeon, files):
    done = orkeon("check", "bad.yaml")
    assert done.code == 2
    assert done.err == ""
    lines = done.out.splitlines()
    assert [LINE.fullmatch(line)["line"] for line in lines] == ["5", "6"]
    assert lines[0].startswith("bad.yaml:5:13: error: ")
    assert "'nowhere'" in lines[0]
    assert "'x'" in lines[1]


def test_a_crew_s_problems_come_with_the_nearest_name(orkeon, files):
    done = orkeon("check", "crew-bad.yaml")
    assert done.code == 2
    assert re.match(r"crew-bad\.yaml:8:\d+: error: .*'writter'.*'writer'.* \[invalid\]", done.out)


@pytest.mark.parametrize(
    ("file", "line", "code"), [("warned", 3, "unreachable"), ("crew-warned", 3, "unknown-key")]
)
def test_warnings_refuse_a_file_only_under_strict(orkeon, files, file, line, code):
    done = orkeon("check", f"{file}.yaml")
    assert done.code == 0
    found = [text for text in done.out.splitlines() if text.endswith(f"[{code}]")]
    assert [LINE.fullmatch(text)["line"] for text in found] == [str(line)]
    assert "warning: " in found[0]
    assert int(LINE.fullmatch(found[0])["column"]) > 1
    assert f"\n{file}.yaml: ok" in done.out
    strict = orkeon("check", "--strict", f"{file}.yaml")
    assert strict.code == 2
    assert "warning: " not in strict.out
    assert f"{file}.yaml: ok" not in strict.out


def test_notes_never_refuse_and_are_left_out_when_quiet(orkeon, folder):
    (folder / "noted.yaml").write_text(GOOD + "send_event: true\n")
    done = orkeon("check", "--strict", "noted.yaml")
    assert done.code == 0
    assert "noted.yaml:5:" in done.out
    assert "note: " in done.out
    assert orkeon("check", "--quiet", "noted.yaml").out == ""


def test_all_files_are_reported_whatever_the_first_one_is(orkeon, files):
    done = orkeon("check", "bad.yaml", "missing.yaml", "good.yaml", "crew-bad.yaml")
    assert done.code == 2
    assert list(dict.fromkeys(line.split(":")[0] for line in done.out.splitlines())) == [
        "bad.yaml", "missing.yaml", "good.yaml", "crew-bad.yaml",
    ]  # fmt: skip


def test_for_programs(orkeon, files):
    done = orkeon("check", "--json", "good.yaml", "warned.yaml", "bad.yaml", "little.yaml")
    assert done.code == 2
    assert done.json["ok"] is False
    good, warned, bad, crew = done.json["files"]
    assert (good["ok"], good["kind"], good["remarks"]) == (True, "machine", [])
    assert (crew["ok"], crew["kind"]) == (True, "crew")
    assert (warned["ok"], bad["ok"]) == (True, False)
    assert {remark["code"] for remark in warned["remarks"]} == {"unreachable", "dead-end", "unused-key"}
    assert bad["remarks"][0]["line"] == 5
    assert bad["remarks"][0]["path"] == "transitions[0][2]"
    assert orkeon("check", "--json", "--strict", "warned.yaml").json["ok"] is False


@pytest.mark.parametrize(
    ("content", "looks"),
    [
        ("- 1\n- 2\n", "it is a list"),
        ("just words\n", "it is plain text"),
        ("42\n", "the value 42"),
        ("{}\n", "an empty mapping"),
        ("hello: 1\nworld: 2\n", "its keys are hello, world"),
    ],
)
def test_a_file_that_is_neither_is_told_what_it_looks_like(orkeon, folder, content, looks):
    (folder / "other.yaml").write_text(content)
    done = orkeon("check", "other.yaml")
    assert done.code == 2
    assert "neither a machine nor a crew" in done.out
    assert looks in done.out


def test_a_crew_wrapped_in_a_key_is_still_a_crew(orkeon, folder):
    (folder / "wrapped.yaml").write_text("crew:\n  agents: {}\n")
    done = orkeon("check", "wrapped.yaml")
    assert done.code == 2
    assert "'crew'" in done.out
    assert "neither" not in done.out


@pytest.mark.parametrize("name", machine_names())
def test_what_ships_passes_its_own_check(orkeon, name):
    from importlib.resources import files

    path = files("orkeon_transitions").joinpath("machines", "yaml", f"{name}.yaml")
    assert orkeon("check", "--strict", path).code == 0


def test_the_packaged_crew_passes_its_own_check(orkeon):
    from importlib.resources import files

    path = files("orkeon_transitions").joinpath("examples", "103-ts-codebase-with-fsm", "crew.yaml")
    done = orkeon("check", "--strict", path)
    assert done.code == 0, done.out


def test_control_characters_of_a_file_do_not_reach_the_terminal(on_terminal, folder):
    (folder / "evil.yaml").write_text('initial: a\nstates: [a]\ntransitions: [[go, a, "\\e[2J"]]\n')
    done = on_terminal("check", "--no-color", "evil.yaml")
    assert done.code == 2
    assert "\x1b" not in done.out
