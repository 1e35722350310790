"""Mermaid text: safe ids, quoted labels, classes."""

import html
import re
from itertools import pairwise

import pytest

from orkeon_transitions.definition import load_definition
from orkeon_transitions.diagrams import to_mermaid, to_svg
from tests.diagrams.pictures import Drawn, Result, steps, ticket

# case H01
NAMES = [
    *("state A", "state-B", "a:b", 'q"x', "end", "<b>", "back\\slash", "state", "retry: 2 (ex: t)"),
    *(
        "a;b",
        "#35;",
        "{x}",
        "\\N and \\G",
        "new\\nline",
        "%% c",
        "a-->b",
        "a--b",
        "a---b",
        "note left of",
        "[*]",
    ),
    *(
        "[[fork]]",
        "<<fork>>",
        "direction LR",
        "redirection  tb",
        "as x",
        "class x y",
        "classDef x",
        "style x:#1;",
    ),
    *(
        "`x`",
        "$$x$$",
        "a|b",
        "'",
        "&amp;",
        "__a__",
        "graph",
        "node",
        "subgraph",
        "digraph",
        "<script>x</script>",
    ),
    *(
        "完成",
        "حالة",
        "🙂",
        "é",
        "-",
        ".",
        "<",
        ">",
        "<x>",
        "1",
        "1.5",
        "a\tb",
        "---",
        "***",
        "accTitle: x",
        "click",
    ),
]


def read_back(label):
    """The text that Mermaid shows for a label."""
    plain = html.unescape(label.replace("<br/>", "\n"))
    return re.sub(r"#(\d+);", lambda found: chr(int(found[1])), plain)


def odd_machine(names=NAMES):
    template, row = ticket().states[0], ticket().transitions[4]
    return ticket().model_copy(
        update={
            "name": 'odd "name": <b>\\ #1; ---',
            "initial": names[0],
            "degraded": None,
            "states": tuple(
                template.model_copy(update={"name": name, "description": name}) for name in names
            ),
            "transitions": tuple(
                row.model_copy(update={"trigger": b, "source": (a,), "dest": b, "conditions": (a,)})
                for a, b in pairwise(names)
            ),
        }
    )


def test_odd_names_keep_their_text_in_mermaid():
    text = to_mermaid(odd_machine())
    labels = re.findall(r'^    state "([^"\n]*)" as s_\w+$', text, re.MULTILINE)
    assert [read_back(label) for label in labels] == [name.replace("\t", "\ufffd") for name in NAMES]
    for label in labels:
        assert not re.search(r'[":{}<>\\%`|&]|--|\[\[|\]\]|direction\s+(TB|BT|RL|LR)', label, re.IGNORECASE)
    assert all(
        re.fullmatch(r"s_[A-Za-z0-9_]+", name) for name in re.findall(r'" as (\S+)$', text, re.MULTILINE)
    )


def test_odd_names_keep_their_text_on_arrows():
    words = re.findall(r"^    s_\w+ --> s_\w+ : ([^:;\n]|#\d+;)+$", to_mermaid(odd_machine()), re.MULTILINE)
    assert len(words) == len(NAMES) - 1


def test_the_title_is_quoted():
    assert to_mermaid(odd_machine()).splitlines()[1] == r'title: "odd \"name\": <b>\\ #1; ---"'


# case H01
def test_odd_names_keep_their_text_in_svg():
    drawn = Drawn(to_svg(odd_machine()))
    shown = {drawn.title(name): "".join(drawn.words(name)) for name in drawn.ids if name.startswith("state-")}
    for name in NAMES:
        text = name.replace("\t", "\ufffd")
        assert shown[f"{text}: {text}"] == re.sub(r"\s+", " ", text)


def test_line_breaks_survive():
    definition = odd_machine(["one\ntwo", "three\r\nfour", "\n"])
    assert 'state "one<br/>two" as s_one_two' in to_mermaid(definition)
    assert 'state "three<br/>four" as s_three_four' in to_mermaid(definition)
    assert 'state "#160;<br/>#160;" as s_state' in to_mermaid(definition)
    assert Drawn(to_svg(definition)).words("state-one_two") == ["one", "two"]


def test_characters_that_no_picture_can_carry_are_shown_as_such():
    definition = odd_machine(["a\x00b", "\ud800", "\x1b[31m", ""])
    assert Drawn(to_svg(definition)).words("state-a_b") == ["a\ufffdb"]
    assert "\ufffd" not in to_mermaid(definition)
    assert "#65533;" in to_mermaid(definition)


def test_a_name_that_is_too_long_is_cut_into_lines():
    drawn = Drawn(to_svg(odd_machine(["a_long_name_" * 5, "x" * 500])))
    lines = drawn.words("state-" + "a_long_name_" * 5)
    assert "".join(lines) == "a_long_name_" * 5
    assert all(line.endswith("_") and len(line) <= 34 for line in lines)
    shown = drawn.words("state-" + "x" * 500)
    assert len(shown) == 5
    assert shown[-1].endswith("x…")


def test_rows_say_what_they_are():
    lines = to_mermaid(ticket()).splitlines()
    for line in (
        "    [*] --> s_open",
        "    s_open --> s_waiting : ask [has_question and not is_spam]",
        "    s_waiting --> s_waiting : remind (re-enters)",
        "    s_open --> s_open : note (internal)",
        "    s_closed --> [*]",
        "    class s_closed final",
        "    class s_parked degraded",
        '    state "waiting<br/>after 30 s#58; remind" as s_waiting',
    ):
        assert line in lines
    assert len([line for line in lines if line.endswith(": close (from 3 of 3, past any limit)")]) == 1
    assert len([line for line in lines if line.endswith(": circuit breaker trips")]) == 1


def test_a_run_is_marked():
    trace = [*steps("open ask waiting"), Result("waiting", "ask", "parked", False, degraded=True)]
    lines = to_mermaid(ticket(), trace=trace).splitlines()
    for line in (
        '    state "open ×1" as s_open',
        "    s_open --> s_waiting : ask ×1 [has_question and not is_spam]",
        "    s_waiting --> s_parked : circuit breaker trips ×1",
        "    class s_parked current",
        "    class s_open visited",
        "    class s_asked unvisited",
        "    %% in parked, 2 steps",
    ):
        assert line in lines


def test_every_class_that_is_used_is_defined():
    text = to_mermaid(ticket(), trace=steps("open close closed"))
    used = set(re.findall(r"^    class \w+ (\w+)$", text, re.MULTILINE))
    assert used <= set(re.findall(r"^    classDef (\w+) ", text, re.MULTILINE))
    assert {"final", "degraded", "current", "visited", "unvisited", "anywhere"} <= used


@pytest.mark.parametrize(("number", "direction"), [(1, "LR"), (4, "LR"), (5, "TB")])
def test_the_direction_follows_the_size(number, direction):
    definition = load_definition({"initial": "s0", "states": [f"s{index}" for index in range(number)]})
    assert f"    direction {direction}\n" in to_mermaid(definition)
