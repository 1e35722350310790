"""What one part of a crew says of another: names, cycles, folders."""

import pytest

from orkeon_transitions.crew import load_crew
from orkeon_transitions.crew.keys import PROCESSES
from tests.crew.crew_texts import HEAD, TASKS, problems_of


# case G01
@pytest.mark.parametrize(
    ("tasks", "path"),
    [
        ("a: {d: [b]}, b: {d: [c]}, c: {d: [a]}", "a -> b -> c -> a"),
        ("a: {d: [a]}", "a -> a"),
        ("a: {d: [b]}, b: {d: [a]}, d: {d: []}", "a -> b -> a"),
    ],
)
def test_cycles_are_named_with_their_path(tasks, path):
    rows = tasks.replace("{d:", "{description: x, dependencies:")
    problems = problems_of(f"{HEAD}tasks: {{{rows}}}\n")
    assert [problem.message for problem in problems] == [f"tasks wait for each other: {path}"]
    assert problems[0].line == 4


# case G01
@pytest.mark.parametrize("process", PROCESSES)
def test_a_cycle_is_refused_whatever_the_process(process):
    tasks = "tasks:\n  a: {description: d, dependencies: [b]}\n  b: {description: d, dependencies: [a]}\n"
    problems = problems_of(f"process: {process}\nmanagerAgent: cook\n{HEAD}{tasks}")
    assert problems[-1].message == "tasks wait for each other: a -> b -> a"


# case G02
def test_all_unknown_names_come_in_one_answer():
    tasks = (
        "tasks:\n  t: {description: d, agent: coook, dependencies: [colect]}\n  collect: {description: d}\n"
    )
    problems = problems_of(f"managerAgent: ghost\n{HEAD}{tasks}")
    assert [(problem.path, problem.hint) for problem in problems] == [
        ("managerAgent", None),
        ("tasks.t.agent", "cook"),
        ("tasks.t.dependencies[0]", "collect"),
    ]


# case G02
@pytest.mark.parametrize(
    ("task", "message", "hint"),
    [
        ("agent: coock", "unknown agent 'coock': there are cook, chef", "cook"),
        ("dependencies: [biol]", "unknown task 'biol': there is boil", "boil"),
        ("dependencies: zzz", "unknown task 'zzz': there is boil", None),
        ("tools: [directory_raed]", "unknown tool 'directory_raed'", "directory_read"),
    ],
)
def test_what_is_named_must_be_there(task, message, hint):
    (problem,) = problems_of(f"{HEAD}tasks:\n  boil: {{description: d, {task}}}\n")
    assert problem.message.startswith(message)
    assert (problem.hint, problem.line) == (hint, 5)


def test_a_name_is_found_where_it_stands_whatever_came_twice_before():
    tools = "".join(f"      - {name}\n" for name in ("file_read", "file_read", "7", "raed"))
    text = f"agents:\n  cook:\n    tools:\n{tools}{TASKS}"
    assert [(problem.line, problem.path) for problem in problems_of(text)] == [
        (6, "agents.cook.tools[2]"),
        (7, "agents.cook.tools[3]"),
    ]


def test_what_follows_from_a_wrong_shape_is_not_said_as_well():
    task = "tasks:\n  t: {description: d, agent: cook, tools: [file_raed]}\n"
    for agents in ("agents: [cook]\n", "agents:\n", "agents: {}\n", "agents: {cook: [x]}\n"):
        assert len(problems_of(agents + task)) == 2, agents


def test_context_is_another_word_for_dependencies():
    tasks = "tasks:\n  a: {description: d}\n  b: {description: d}\n"
    crew = load_crew(f"{HEAD}{tasks}  c: {{description: d, dependencies: [b], context: [a, b]}}\n")
    assert crew.tasks["c"].dependencies == ("b", "a")
    problems = problems_of(f"{HEAD}{tasks}  c: {{description: d, dependencies: [bb], context: [d, aa]}}\n")
    assert [(problem.path, problem.hint) for problem in problems] == [
        ("tasks.c.dependencies[0]", "b"),
        ("tasks.c.context[0]", None),
        ("tasks.c.context[1]", "a"),
    ]


def test_a_cycle_is_shown_where_its_next_task_is_named():
    tasks = "tasks:\n  a: {description: d, dependencies: [c], context: [b]}\n"
    tasks += "  b: {description: d, context: a}\n  c: {description: d}\n"
    (problem,) = problems_of(HEAD + tasks)
    assert (problem.message, problem.path) == ("tasks wait for each other: a -> b -> a", "tasks.a.context")


# case G02
@pytest.mark.parametrize(
    ("written", "meant"),
    [("agent: Cook", "cook"), ("agent: 'cook '", "cook"), ("agent: ' c o o k'", "cook"), ("agent: A", "a"),
     ("agent: 'a    '", "a"), ("dependencies: ['Boil  water']", "boil water")],
)  # fmt: skip
def test_a_name_that_differs_in_case_or_blanks_has_the_nearest(written, meant):
    text = "agents:\n  cook: {role: x}\n  a: {role: x}\ntasks:\n  boil water: {description: d}\n"
    (problem,) = problems_of(f"{text}  t: {{description: d, {written}}}\n")
    assert problem.hint == meant


def test_ids_that_differ_in_case_or_blanks_alone_are_a_warning():
    text = "agents:\n  cook: {role: x}\n  Cook: {role: x}\ntasks:\n"
    text += "  boil: {description: d}\n  'b oil': {description: d}\n"
    findings = load_crew(text).findings
    assert [(found.code, found.path, found.line) for found in findings] == [
        ("lookalike", "agents.Cook", 3),
        ("lookalike", "tasks.b oil", 6),
    ]


def test_the_manager_is_one_of_the_agents():
    (problem,) = problems_of(f"managerAgent: chief\n{HEAD}{TASKS}")
    assert (problem.path, problem.hint) == ("managerAgent", "chef")
    assert problem.message == "unknown agent 'chief': there are cook, chef"
    crew = load_crew(f"manager_agent: chef\n{HEAD}{TASKS}")
    assert crew.config.manager_agent == "chef"
    assert [found.message for found in crew.findings] == ["carried, not acted on: manager_agent"]


@pytest.mark.timeout(20)
def test_thousands_of_unknown_names_are_no_matter():
    tasks = "".join(f"  task{n}: {{description: d, dependencies: [tsak{n}]}}\n" for n in range(2_000))
    problems = problems_of(f"{HEAD}tasks:\n{tasks}")
    assert len(problems) == 2_000
    assert problems[0].hint


def test_a_folder_that_is_not_there_is_a_warning():
    (finding,) = load_crew(f"mounts: ['./nowhere-at-all:/x:ro', './later:/y:rw']\n{HEAD}{TASKS}").findings
    assert (finding.code, finding.path) == ("missing-folder", "mounts[0]")


@pytest.mark.parametrize("deliverable", ["/x/a.md", "/y", "/y/../x/a", "a.md", "/yy/a.md"])
def test_a_deliverable_must_lie_where_files_may_be_written(deliverable):
    (problem,) = problems_of(
        f"mounts: ['.:/x:ro', './later:/y:rw']\n{HEAD}"
        f"tasks:\n  t: {{description: d, deliverable: {deliverable}, tools: [file_write]}}\n"
    )
    assert "must be a file below a folder that may be written: /y" in problem.message


def test_a_deliverable_needs_a_folder_that_may_be_written():
    (problem,) = problems_of(f"{HEAD}tasks:\n  t: {{description: d, deliverable: /y/a.md}}\n")
    assert "there is no mount with ':rw'" in problem.message


AGENT = "agents: {cook: {role: Cook, tools: [spawn_agent, json_tool]}}\ntasks: {t: {description: d}}\n"


def test_a_tool_that_comes_by_itself_may_be_named_where_it_does():
    text = f"process: autonomous\n{AGENT}"
    crew = load_crew(text, strict=True)
    assert crew.agents["cook"].tools == ("json_tool",)
    (found,) = crew.findings
    assert (found.severity, found.code, found.path) == ("note", "automatic-tool", "agents.cook.tools")
    assert found.message == "'spawn_agent' need not be named: every agent of an autonomous crew has it"
    on_task = text.replace("description: d", "description: d, tools: [spawn_agent]")
    assert load_crew(on_task).tasks["t"].tools == ()

    def spawn_agent() -> str:
        """One of the program's own."""
        return "mine"

    own = load_crew(text, tools=[spawn_agent])
    assert (own.agents["cook"].tools, own.findings) == (("spawn_agent", "json_tool"), ())


@pytest.mark.parametrize("process", [name for name in PROCESSES if name != "autonomous"])
def test_a_tool_that_only_one_process_has_is_refused_with_its_name(process):
    problems = problems_of(f"process: {process}\nmanagerAgent: cook\n{AGENT}")
    message = "the tool 'spawn_agent' comes with `process: autonomous`, to every agent, unnamed"
    assert message in [problem.message for problem in problems]


def test_own_tools_can_be_named():
    def weigh(what: str) -> int:
        """Weighs."""
        return len(what)

    text = f"agents:\n  cook: {{tools: [weigh]}}\n{TASKS}"
    assert load_crew(text, tools=[weigh]).agents["cook"].tools == ("weigh",)
    (problem,) = problems_of(text)
    assert "unknown tool 'weigh'" in problem.message
    assert "load_crew(..., tools=[...]) takes your own" in problem.message
    assert "--tools MODULE on the command line" in problem.message
