"""Tools that installed packages offer."""

import sys
import textwrap

import pytest

from orkeon_transitions.crew import load_crew, tool
from orkeon_transitions.errors import OrkeonError
from tests.crew.crew_texts import problems_of
from tests.crew.scripted import ScriptedModel, calls

CREW = "agents: {{a: {{tools: [{}]}}}}\ntasks: {{t: {{description: d}}}}\n"


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Installs a package that offers tools: its name, its entry points, its module."""
    modules = set(sys.modules)
    monkeypatch.syspath_prepend(tmp_path)

    def install(package, points, code):
        (tmp_path / f"{package}.py").write_text(textwrap.dedent(code))
        info = tmp_path / f"{package}-1.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1\n")
        lines = "".join(f"{name} = {package}:{value}\n" for name, value in points.items())
        (info / "entry_points.txt").write_text(f"[orkeon_transitions.tools]\n{lines}")

    yield install
    for name in set(sys.modules) - modules:
        del sys.modules[name]


GOOD = """
    def greet(name: str) -> str:
        "Greets."
        return f"hello {name}"
"""


def test_a_tool_that_a_package_offers_can_be_named(installed):
    installed("greeting_package", {"greet": "greet"}, GOOD)
    model = ScriptedModel(calls(("greet", {"name": "you"})), "done")
    assert load_crew(CREW.format("greet")).run_sync(model=model).success
    assert model.answers == ["hello you"]


def test_it_goes_by_the_name_under_which_it_is_offered(installed):
    installed("greeting_package", {"say_hello": "greet"}, GOOD)
    model = ScriptedModel(calls(("say_hello", {"name": "you"})), "done")
    assert load_crew(CREW.format("say_hello")).run_sync(model=model).success
    assert model.answers == ["hello you"]


def test_nothing_is_imported_that_no_crew_names(installed):
    installed("terrible_package", {"greet": "greet"}, "raise SystemExit('boom')")
    load_crew(CREW.format("file_read"))
    (problem,) = problems_of(CREW.format("gret"))
    assert problem.hint == "greet"
    assert "terrible_package" not in sys.modules


def test_the_program_s_own_tool_and_a_built_in_one_come_first(installed):
    installed("terrible_package", {"file_read": "x", "greet": "x"}, "raise ValueError('boom')")

    @tool
    def greet() -> str:
        """Greets."""
        return "mine"

    model = ScriptedModel(calls("greet"), "done")
    assert load_crew(CREW.format("greet, file_read"), tools=[greet]).run_sync(model=model).success
    assert model.answers == ["mine"]
    assert "terrible_package" not in sys.modules


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("raise ValueError('boom')", "ValueError: boom"),
        ("", "AttributeError"),
        ("greet = 7", "TypeError"),
        ("def greet(name): pass", "parameter 'name' has no type hint"),
    ],
)
def test_one_that_cannot_be_imported_is_named(installed, code, why):
    installed("broken_package", {"greet": "greet"}, code)
    with pytest.raises(OrkeonError, match="the tool 'greet' of 'broken_package' cannot be used") as raised:
        load_crew(CREW.format("greet"))
    assert why in str(raised.value)


def test_one_that_two_packages_offer_is_refused_when_it_is_named(installed):
    installed("one_package", {"greet": "greet", "only": "greet"}, GOOD)
    installed("two_package", {"greet": "greet"}, GOOD)
    load_crew(CREW.format("only"))
    with pytest.raises(OrkeonError, match=r"the tool 'greet' is offered by '.*' and '.*': uninstall one"):
        load_crew(CREW.format("greet"))


def test_packages_are_not_looked_through_for_a_crew_that_names_none_of_their_tools(monkeypatch):
    def never(**_):
        raise AssertionError("looked through")

    monkeypatch.setattr("orkeon_transitions.crew.tool_sources.entry_points", never)
    load_crew(CREW.format("file_read, file_write"))
    with pytest.raises(AssertionError, match="looked through"):
        load_crew(CREW.format("greet"))
