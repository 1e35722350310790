"""The keys of crew files: in both spellings, carried, not there yet, unknown."""

import pytest

from orkeon_transitions.crew import load_crew
from tests.crew.crew_texts import HEAD, TASKS, problems_of

LATER = {
    "": [
        "planningLlm: gpt", "managerLlm: gpt", "mcp: [x]", "mcp: {a: b}", "embedder: {a: b}",
        "responseSchema: {type: object}", "knowledge_sources: [a.txt]",
    ],
    "agent": ["llmOverride: gpt", "mcp_servers: [x]", "knowledgeSources: [x]", "humanInput: true"],
    "task": ["condition: x", "callback: x", "converter_cls: X"],
}  # fmt: skip


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


def test_switched_off_is_as_good_as_absent():
    off = "planning: false\nmemory: false\nhumanInput: false\nguardrails: []\ngraphConfig: {}\n"
    assert load_crew(off + HEAD + TASKS).findings == ()


def test_carried_keys_are_listed_once_for_a_file():
    agents = "agents:\n  cook: {cache: 3, allow_delegation: false}\n  chef: {cache: 4, knowledge: [x]}\n"
    crew = load_crew(f"verbose: false\nmemory: 9\nlinks: {{a: b}}\n{agents}{TASKS}")
    (note,) = crew.findings
    assert note.message == "carried, not acted on: cache, knowledge, memory, links"
    assert (note.severity, note.code, note.line, note.column) == ("note", "carried", 5, 10)
    assert crew.config.carried == {"verbose": False, "memory": 9, "links": {"a": "b"}}
    assert crew.agents["cook"].carried == {"cache": 3, "allow_delegation": False}


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
        "carried, not acted on: allowDelegation, verbose, knowledge, "
        "memory, memoryProvider, links, rag, settings"
    )
    assert load_crew(crew).tasks["t"].llm_override.model == "offline"


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
