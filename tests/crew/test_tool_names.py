"""What a model calls its tools."""

from orkeon_transitions.crew import tool
from orkeon_transitions.crew.tool_names import named_for_models


def tools_called(*names):
    def nothing() -> str:
        """Does nothing."""
        return ""

    return [tool(name=name)(nothing) for name in names]


def test_fit_names_stay_and_others_are_made_fit():
    named = named_for_models(tools_called("a_b", "a b", "a.b", "größe", "…", "x" * 70, "x" * 71))
    assert list(named) == ["a_b", "a_b_2", "a_b_3", "gr_e", "tool", "x" * 64, "x" * 62 + "_2"]


def test_a_fit_name_stays_though_it_comes_later():
    assert [one.name for one in named_for_models(tools_called("a b", "a_b")).values()] == ["a b", "a_b"]
    assert list(named_for_models(tools_called("a b", "a_b"))) == ["a_b_2", "a_b"]
