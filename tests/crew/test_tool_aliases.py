"""Other frameworks' names of tools."""

import pytest

from orkeon_transitions.crew import load_crew, tool
from orkeon_transitions.crew.builtin_tools import BUILTIN_NAMES
from orkeon_transitions.crew.tool_aliases import NEAR, SAME
from orkeon_transitions.crew.web import WEB_NAMES
from tests.crew.crew_texts import problems_of

CREW = "agents:\n  a: {{tools: [{}]}}\ntasks:\n  t: {{description: d}}\n"
WEB = "web: {allow: example.org}\n"


@pytest.mark.parametrize(("name", "own"), SAME.items())
def test_a_name_of_one_of_ours_is_read_as_ours(name, own):
    crew = load_crew(WEB + CREW.format(name))
    assert crew.agents["a"].tools == (own,)
    (note,) = crew.findings
    assert (note.severity, note.code, note.line) == ("note", "tool-alias", 3)
    assert note.message == f"'{name}' is called '{own}' here"
    assert own in (*BUILTIN_NAMES, *WEB_NAMES)


@pytest.mark.parametrize("spelling", ["FileReadTool", "file_read_tool", "'File Read Tool'", "filereadtool"])
def test_its_spelling_does_not_matter(spelling):
    assert load_crew(CREW.format(spelling)).agents["a"].tools == ("file_read",)


def test_both_names_are_one_tool():
    crew = load_crew(CREW.format("FileReadTool, file_read, DirectoryReadTool"))
    assert crew.agents["a"].tools == ("file_read", "directory_read")


@pytest.mark.parametrize("name", NEAR)
def test_a_name_of_none_of_ours_is_refused_with_what_is_near(name):
    (problem,) = problems_of(CREW.format(f"file_read, {name}"))
    assert problem.message.startswith(f"there is no tool '{name}' here: ")
    assert (problem.line, problem.path) == (2, "agents.a.tools[1]")


def test_a_program_s_own_tool_may_have_such_a_name():
    @tool(name="SerperDevTool")
    def search(query: str) -> str:
        """Searches."""
        return query

    @tool(name="FileReadTool")
    def read(path: str) -> str:
        """Reads."""
        return path

    crew = load_crew(CREW.format("SerperDevTool, FileReadTool"), tools=[search, read])
    assert crew.agents["a"].tools == ("SerperDevTool", "FileReadTool")
    assert crew.findings == ()


def test_a_task_s_tools_are_read_so_too():
    text = "agents: {a: {}}\ntasks: {t: {description: d, tools: FileReadTool}}\n"
    assert load_crew(text).tasks["t"].tools == ("file_read",)
    (problem,) = problems_of(text.replace("FileReadTool", "ScrapeWebsiteTool"))
    assert problem.message.startswith("the tool 'web_scrape' is off")


@pytest.mark.parametrize(("name", "hint"), [("file_raed", "file_read"), ("json_tol", "json_tool")])
def test_an_unknown_tool_is_refused_with_the_nearest_name(name, hint):
    (problem,) = problems_of(CREW.format(name))
    assert (problem.message.partition(":")[0], problem.hint) == (f"unknown tool '{name}'", hint)
