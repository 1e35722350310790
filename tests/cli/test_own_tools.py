"""`--tools MODULE`."""

import sys

import pytest

CREW = "agents: {a: {tools: [count_words]}}\ntasks: {t: {description: Count these four words, agent: a}}\n"
TOOLS = """
from orkeon_transitions import tool

@tool
def count_words(text: str) -> int:
    "Counts words."
    return len(text.split())
"""


@pytest.fixture(autouse=True)
def files(folder, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    (folder / "crew.yaml").write_text(CREW)
    (folder / "counting_tools.py").write_text(TOOLS)
    yield
    sys.modules.pop("counting_tools", None)


@pytest.mark.parametrize("named", ["counting_tools", "counting_tools.py", "./counting_tools.py"])
def test_functions_of_a_module_are_tools(orkeon, named):
    done = orkeon("run", "crew.yaml", "--tools", named, "--json")
    assert (done.code, done.json["status"]) == (0, "completed")
    assert "count_words" in done.json["output"]


def test_a_check_knows_them_too(orkeon):
    without = orkeon("check", "crew.yaml")
    assert without.code == 2
    assert "unknown tool 'count_words'" in without.out
    assert "--tools MODULE" in without.out
    assert orkeon("check", "crew.yaml", "--tools", "counting_tools").code == 0


def test_a_run_goes_on_with_them(orkeon):
    store = ("--store", "sqlite:///runs.db")
    assert orkeon("run", "crew.yaml", "--tools", "counting_tools", "--run-id", "r", *store).code == 0
    done = orkeon("resume", "r", "--tools", "counting_tools", *store)
    assert "r has ended" in done.err.replace("'", "")
    assert "unknown tool 'count_words'" in orkeon("resume", "r", *store).err


@pytest.mark.parametrize(
    ("named", "content", "why"),
    [
        ("no_such_module_here", None, "there is no module 'no_such_module_here'"),
        ("no_such_file.py", None, "there is no file 'no_such_file.py'"),
        ("empty_tools.py", "x = 1", "has no tools: a tool is a function with the decorator @tool"),
        ("broken_tools.py", "def (", "cannot be imported: SyntaxError"),
        ("raising_tools.py", "raise ValueError('no')", "cannot be imported: ValueError: no"),
        ("exiting_tools.py", "import sys; sys.exit(3)", "cannot be imported: SystemExit"),
        ("needing_tools.py", "import no_such_dependency", "No module named 'no_such_dependency'"),
        ("counting_tools.py", TOOLS, "has a tool 'count_words', and so has another module"),
    ],
)
def test_what_is_no_module_of_tools_is_a_mistake(orkeon, folder, named, content, why):
    if content is not None:
        (folder / named).write_text(content)
    twice = ["--tools", "counting_tools"] if named == "counting_tools.py" else []
    done = orkeon("run", "crew.yaml", *twice, "--tools", named)
    assert done.code == 2
    assert done.err.startswith("error: --tools: ")
    assert why in done.err
    assert "Traceback" not in done.err


def test_no_crew_file_can_ask_for_a_module(orkeon, folder):
    (folder / "crew.yaml").write_text("tools: [counting_tools]\n" + CREW)
    done = orkeon("check", "crew.yaml")
    assert done.code == 2
    assert "counting_tools" not in sys.modules
