"""Crew files: every problem at once, each with its place."""

import re
from datetime import timedelta

import pytest

from orkeon_transitions.crew import load_crew
from orkeon_transitions.crew.keys import LATER_PROCESSES, PROCESSES
from orkeon_transitions.errors import CrewDefinitionError

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
HEAD = "agents:\n  cook: {role: Cook}\n  chef: {role: Chef}\n"
TASKS = "tasks:\n  boil: {description: d}\n"


def problems_of(text, **options):
    with pytest.raises(CrewDefinitionError) as raised:
        load_crew(text, **options)
    return raised.value.problems


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
@pytest.mark.parametrize("process", [*PROCESSES, *LATER_PROCESSES])
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


def test_what_follows_from_a_wrong_shape_is_not_said_as_well():
    task = "tasks:\n  t: {description: d, agent: cook, tools: [file_raed]}\n"
    for agents in ("agents: [cook]\n", "agents:\n", "agents: {}\n", "agents: {cook: [x]}\n"):
        assert len(problems_of(agents + task)) == 2, agents


# case G07
def test_both_spellings_may_say_the_same_and_nothing_else():
    same = "expectedOutput: x, expected_output: x"
    assert load_crew(f"{HEAD}tasks:\n  t: {{description: d, {same}}}\n").tasks["t"].expected_output == "x"
    (problem,) = problems_of(f"{HEAD}tasks:\n  t: {{description: d, {same[:-1]}y}}\n")
    assert "'expectedOutput' and 'expected_output' are the same key" in problem.message


# case G07
@pytest.mark.parametrize(
    ("where", "one", "other"),
    [
        ("crew", "maxRpm: 1", "max_rpm: 2"),
        ("crew", "managerAgent: cook", "manager_agent: chef"),
        ("crew", "circuitBreaker: {preset: strict}", "circuit_breaker: {preset: default}"),
        ("crew", "graphConfig: {maxRetryCycles: 1}", "graph_config: {maxRetryCycles: 2}"),
        ("agent", "topP: 0.1", "top_p: 0.2"),
        ("agent", "allowDelegation: true", "allow_delegation: false"),
        ("task", "llm_override: offline", "llmOverride: OFFLINE"),
        ("task", "asyncExecution: true", "async_execution: false"),
    ],
)
def test_both_spellings_of_any_key_are_one_key(where, one, other):
    def text(*lines):
        put = {"crew": "", "agent": "role: x", "task": "description: d"}
        put[where] = ", ".join(filter(None, [put[where], *lines]))
        crew = put["crew"].replace(", ", "\n")
        return f"{crew}\nagents:\n  cook: {{{put['agent']}}}\n  chef: {{}}\ntasks:\n  t: {{{put['task']}}}\n"

    load_crew(text(one, one.replace(one.split(":")[0], other.split(":")[0])))
    (problem,) = problems_of(text(one, other))
    first, second = one.split(":")[0], other.split(":")[0]
    assert problem.message == f"'{first}' and '{second}' are the same key, and their values differ"


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


@pytest.mark.parametrize("name", ["", "  ", "a\\nb", "a\\eb"])
@pytest.mark.parametrize("kind", ["agents", "tasks"])
def test_an_id_is_a_name(name, kind):
    parts = {"agents": "cook", "tasks": "boil"} | {kind: name}
    text = f'agents:\n  "{parts["agents"]}": {{}}\ntasks:\n  "{parts["tasks"]}": {{description: d}}\n'
    (problem,) = problems_of(text)
    assert "name" in problem.message
    assert problem.line == (2 if kind == "agents" else 4)


def test_the_manager_is_one_of_the_agents():
    (problem,) = problems_of(f"managerAgent: chief\n{HEAD}{TASKS}")
    assert (problem.path, problem.hint) == ("managerAgent", "chef")
    assert problem.message == "unknown agent 'chief': there are cook, chef"
    crew = load_crew(f"manager_agent: chef\n{HEAD}{TASKS}")
    assert crew.config.manager_agent == "chef"
    assert [found.message for found in crew.findings] == ["carried, not acted on: manager_agent"]


def test_the_hierarchical_process_asks_for_its_manager_before_it_is_there():
    messages = [problem.message for problem in problems_of(f"process: hierarchical\n{HEAD}{TASKS}")]
    assert messages == [
        "process 'hierarchical' is not there yet: 'sequential', 'parallel', 'graph' are",
        "process 'hierarchical' needs a 'managerAgent'",
    ]
    (problem,) = problems_of(f"process: hierarchical\nmanagerAgent: chef\n{HEAD}{TASKS}")
    assert "is not there yet" in problem.message


LATER = {
    "": [
        "planning: true", "consensusConfig: {quorum: 2}", "managerLlm: gpt", "mcp: [x]", "planning: 1",
        "humanInput: true", "guardrails: [x]", "mcpServers: {a: b}", "consensus: {mode: majority}",
        "executionBudget: strict", "responseSchema: {type: object}", "knowledge_sources: [a.txt]",
    ],
    "agent": [
        "guardrails: [short]", "llmOverride: gpt", "mcp_servers: [x]", "knowledgeSources: [x]",
        "reasoning: true",
    ],
    "task": ["humanInput: true", "guardrail: x", "output_json: X", "guardrails: {max: 3}"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("where", "line"), [(where, line) for where, lines in LATER.items() for line in lines]
)
def test_what_comes_later_is_refused_by_name(where, line):
    body = {"": "", "agent": "", "task": ""} | {where: f", {line}" if where else f"{line}\n"}
    text = (
        f"{body['']}agents:\n  cook: {{role: x{body['agent']}}}\n"
        f"tasks:\n  boil: {{description: d{body['task']}}}\n"
    )
    (problem,) = problems_of(text)
    assert problem.message == f"'{line.partition(':')[0]}' is not there yet"


@pytest.mark.parametrize("process", ["Hierarchical", "consensual", "AUTONOMOUS"])
def test_other_processes_are_refused_by_name(process):
    (problem,) = problems_of(f"process: {process}\nmanagerAgent: cook\n{HEAD}{TASKS}")
    assert problem.message == (
        f"process '{process.lower()}' is not there yet: 'sequential', 'parallel', 'graph' are"
    )


@pytest.mark.parametrize("process", ["sequential", "Parallel", "' GRAPH '", "null"])
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
        ("maxRetryCycle: 2", "unknown key 'maxRetryCycle'", "max_retry_cycles"),
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


def test_switched_off_is_as_good_as_absent():
    off = "planning: false\nmemory: false\nhumanInput: false\nguardrails: []\ngraphConfig: {}\n"
    assert load_crew(off + HEAD + TASKS).findings == ()


@pytest.mark.parametrize("llm", ["offline", "Offline", "{model: offline}", "{provider: offline}"])
def test_the_offline_model_is_there(llm):
    assert load_crew(f"llm: {llm}\n{HEAD}{TASKS}").findings == ()
    assert load_crew(f"agents:\n  cook: {{llm: {llm}}}\n{TASKS}").findings == ()


@pytest.mark.parametrize("llm", ["gpt-5", "{model: gpt-5}", "{}", "7", "[offline]"])
@pytest.mark.parametrize("where", ["crew", "agent"])
def test_no_other_model_is_taken_for_it(llm, where):
    agent = f"agents:\n  cook: {{llm: {llm}}}\n"
    text = f"llm: {llm}\n{HEAD}{TASKS}" if where == "crew" else agent + TASKS
    (problem,) = problems_of(text)
    assert "not there yet: only 'offline' is" in problem.message


def test_carried_keys_are_listed_once_for_a_file():
    agents = "agents:\n  cook: {maxIter: 3, allow_delegation: false}\n  chef: {maxIter: 4, knowledge: [x]}\n"
    crew = load_crew(f"verbose: false\nmaxRpm: 9\nlinks: {{a: b}}\n{agents}{TASKS}")
    (note,) = crew.findings
    assert note.message == "carried, not acted on: maxIter, knowledge, maxRpm, links"
    assert (note.severity, note.code, note.line, note.column) == ("note", "carried", 5, 10)
    assert crew.config.carried == {"verbose": False, "max_rpm": 9, "links": {"a": "b"}}
    assert crew.agents["cook"].carried == {"max_iter": 3, "allow_delegation": False}


@pytest.mark.parametrize(
    "wrong", ["verbose: loud", "verbose: -1", "maxRpm: many", "maxRpm: -1", "verbose: yes"]
)
def test_a_carried_key_of_the_wrong_kind_is_said_all_the_same(wrong):
    (problem,) = problems_of(f"{wrong}\n{HEAD}{TASKS}")
    assert problem.path == wrong.partition(":")[0]


def test_all_that_crew_files_carry_is_known():
    crew = """\
verbose: 2
memory: true
memoryProvider: sqlite
planning: false
maxRpm: 10
llm: offline
links: [x]
rag: {folder: docs}
anchors: {tone: Be brief}
settings: {a: 1}
agents:
  cook: {role: r, goal: g, backstory: b, tools: [], allowDelegation: true, maxIter: 3, maxRpm: 2,
         verbose: true, llm: offline, guardrails: [], knowledge: [a.md]}
tasks:
  t: {description: d, expectedOutput: e, agent: cook, dependencies: [], asyncExecution: true,
      humanInput: false, context: [], tools: [], deliverable: null, llm_override: offline, guardrails: [],
      circuitBreaker: {preset: strict}}
"""
    (note,) = load_crew(crew, strict=True).findings
    assert note.message == (
        "carried, not acted on: allowDelegation, maxIter, maxRpm, verbose, knowledge, asyncExecution, "
        "memory, memoryProvider, links, rag, settings"
    )
    assert load_crew(crew).tasks["t"].llm_override == "offline"


def test_a_model_of_a_task_s_own_is_not_taken_for_the_offline_one():
    (problem,) = problems_of(f"{HEAD}tasks:\n  t: {{description: d, llmOverride: gpt-5}}\n")
    assert problem.path == "tasks.t.llmOverride"


def test_an_unknown_key_is_a_warning_and_with_strict_an_error():
    text = f"agents:\n  cook: {{backstroy: x}}\n{TASKS}"
    (finding,) = load_crew(text).findings
    assert (finding.severity, finding.code, finding.line) == ("warning", "unknown-key", 2)
    assert "did you mean 'backstory'?" in finding.message
    (problem,) = problems_of(text, strict=True)
    assert (problem.message, problem.hint) == ("unknown key 'backstroy'", "backstory")


def test_thousands_of_unknown_keys_are_no_matter():
    keys = "".join(f"unknwon{n}: x\n" for n in range(5_000))
    assert len(load_crew(keys + HEAD + TASKS).findings) == 5_000


@pytest.mark.timeout(20)
def test_thousands_of_unknown_names_are_no_matter():
    tasks = "".join(f"  task{n}: {{description: d, dependencies: [tsak{n}]}}\n" for n in range(2_000))
    problems = problems_of(f"{HEAD}tasks:\n{tasks}")
    assert len(problems) == 2_000
    assert problems[0].hint


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


def test_a_folder_that_is_not_there_is_a_warning():
    (finding,) = load_crew(f"mounts: ['./nowhere-at-all:/x:ro', './later:/y:rw']\n{HEAD}{TASKS}").findings
    assert (finding.code, finding.path) == ("missing-folder", "mounts[0]")


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


def test_own_tools_can_be_named():
    def weigh(what: str) -> int:
        """Weighs."""
        return len(what)

    text = f"agents:\n  cook: {{tools: [weigh]}}\n{TASKS}"
    assert load_crew(text, tools=[weigh]).agents["cook"].tools == ("weigh",)
    (problem,) = problems_of(text)
    assert "unknown tool 'weigh'" in problem.message
    assert "load_crew(..., tools=[...]) takes your own" in problem.message
    assert "the command line knows the built-in ones only" in problem.message


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
