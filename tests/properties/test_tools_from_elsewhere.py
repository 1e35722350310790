"""Random names of tools, addresses and pages: what must hold for all of them."""

import re
from ipaddress import IPv4Address, IPv6Address

from hypothesis import given
from hypothesis import strategies as st

from orkeon_transitions.crew import tool
from orkeon_transitions.crew.tool_names import LONGEST, named_for_models
from orkeon_transitions.crew.web.addresses import may_connect
from orkeon_transitions.crew.web.reading import readable


def tools_called(*names):
    def nothing() -> str:
        """Does nothing."""
        return ""

    return [tool(name=name)(nothing) for name in names]


@given(st.lists(st.text("ab _.é", min_size=1, max_size=5) | st.text(min_size=60, max_size=80), unique=True))
def test_each_tool_has_one_fit_name(names):
    tools = tools_called(*names)
    named = named_for_models(tools)
    assert list(named.values()) == tools
    assert all(re.fullmatch(r"[A-Za-z0-9_-]+", name) and len(name) <= LONGEST for name in named)


@given(st.integers(0, 2**32 - 1).map(IPv4Address))
def test_no_wrapping_makes_an_address_more_reachable(inner):
    number = int(inner)
    wrapped = [
        IPv6Address((0xFFFF << 32) | number),
        IPv6Address((0x2002 << 112) | (number << 80)),
        IPv6Address((0x0064FF9B << 96) | number),
        IPv6Address((0x20010000 << 96) | (number << 64) | (number ^ 0xFFFFFFFF)),
    ]
    for one in wrapped:
        assert not may_connect(one, ()) or may_connect(inner, ())


@given(st.text("<>!-/\"'= abtitlescrp&;\n"))
def test_no_page_is_too_malformed(page):
    title, text = readable(page)
    assert isinstance(title + text, str)
