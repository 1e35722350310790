"""Widths of texts: those by which Graphviz lays a picture out."""

import re
from itertools import pairwise

import pytest

from orkeon_transitions import StateMachine, load_definition
from orkeon_transitions.diagrams import to_svg
from orkeon_transitions.diagrams.lettering import width_of
from orkeon_transitions.machines import machine_definition, machine_names

TEXT = re.compile(r'<text [^>]*\bx="([-\d.]+)"[^>]*textLength="([\d.]+)"')
LABELS = [
    "assigned",
    "waiting_for_human_input",
    "The quick brown fox, jumps; over: a-lazy dog.",
    "WAVE TYPING QUAKE JMXZ BCDFHLNORSU",
    "0123456789 (x) [y] {z} ~!?@#$%^*+=/|_`'",
]


def test_a_width_is_that_of_the_letters_in_the_font_s_size():
    assert width_of("Ax", 10, bold=False) == pytest.approx(6.67 + 5.0)
    assert width_of("Ax", 10, bold=True) == pytest.approx(7.22 + 5.56)
    assert width_of("", 10, bold=True) == 0


@pytest.mark.parametrize("text", ["Zürich", "任务", "fine ✓", "\t"])
def test_a_letter_that_is_not_known_has_no_width(text):
    assert width_of(text, 12, bold=False) is None


# The current state's name is bold, that of one that was left is not. A space and the number of visits follow.
@pytest.mark.parametrize("weight", ["bold", "regular"])
@pytest.mark.parametrize("label", LABELS)
def test_what_follows_on_a_line_begins_where_the_text_before_it_ends(label, weight):
    machine = StateMachine(
        {"name": "m", "initial": label, "states": [label, "other"], "transitions": [["go", label, "other"]]}
    )
    if weight == "regular":
        machine.go()
    element = next(
        part for part in to_svg(machine).split("<g ") if 'id="state-' in part and "visited" in part
    )
    texts = [(float(x), float(width)) for x, width in TEXT.findall(element)]
    for (start, width), (following, _) in pairwise(texts[-3:]):  # a long name has lines before
        assert start + width == pytest.approx(following, abs=0.05)


def test_a_letter_that_is_not_known_leaves_the_text_as_it_is():
    svg = to_svg(load_definition({"name": "m", "initial": "Zürich", "states": ["Zürich", "Bern"]}))
    assert re.search(r"<text (?![^>]*textLength)[^>]*>Zürich<", svg)
    assert re.search(r"<text [^>]*textLength[^>]*>Bern<", svg)


def size_of(svg):
    return float(re.search(r'<svg width="(\d+)" height="\d+" viewBox', svg)[1])


def points(svg):
    return float(re.search(r'viewBox="\S+ \S+ (\S+)', svg)[1])


@pytest.mark.parametrize("name", machine_names())
def test_a_picture_fits_the_cell_of_a_notebook(name):
    assert size_of(to_svg(machine_definition(name))) <= 840


def test_a_small_picture_is_as_large_as_a_text_and_a_very_wide_one_stays_legible():
    small = to_svg(load_definition("{name: m, initial: a, states: [a]}"))
    assert size_of(small) == pytest.approx(points(small) * 96 / 72, abs=1)
    wide = to_svg(
        load_definition(
            {
                "name": "m",
                "initial": "s0",
                "states": [f"s{n}" for n in range(30)],
                "transitions": [[f"go_to_the_state_{n}", "s0", f"s{n}"] for n in range(1, 30)],
            }
        )
    )
    assert size_of(wide) == pytest.approx(points(wide) * 0.9, abs=1)
    assert size_of(wide) > 840
