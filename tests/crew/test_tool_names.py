"""What a model calls its tools."""

import re

from hypothesis import given
from hypothesis import strategies as st

from orkeon_transitions.crew import tool
from orkeon_transitions.crew.tool_names import LONGEST, named_for_models


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


@given(st.lists(st.text("ab _.é", min_size=1, max_size=5) | st.text(min_size=60, max_size=80), unique=True))
def test_each_tool_has_one_fit_name(names):
    tools = tools_called(*names)
    named = named_for_models(tools)
    assert list(named.values()) == tools
    assert all(re.fullmatch(r"[A-Za-z0-9_-]+", name) and len(name) <= LONGEST for name in named)
