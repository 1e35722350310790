"""Pictures for pages that mark them themselves."""

from importlib import import_module
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from orkeon_transitions.definition import load_definition
from orkeon_transitions.diagrams import scene, to_svg
from orkeon_transitions.diagrams.effort import MOST_ARROWS, MOST_STATES
from orkeon_transitions.errors import MissingExtraError, OrkeonError
from orkeon_transitions.machines import machine_definition, machine_names
from tests.diagrams.pictures import SVG, Drawn, ticket

# The room has a function of the same name.
front = import_module("orkeon_transitions.diagrams.render")


def chain(states, arrows, name="chain"):
    """A machine of that many states; each leads to the next, and the further arrows jump about."""
    names = [f"s{number}" for number in range(states)]
    rows = [{"trigger": "go", "source": one, "dest": other} for one, other in pairwise(names)]
    far = [(one, other) for step in range(2, states) for one, other in zip(names, names[step:], strict=False)]
    rows += [{"trigger": "jump", "source": one, "dest": other} for one, other in far[: arrows - len(rows)]]
    return load_definition({"name": name, "initial": "s0", "states": names, "transitions": rows})


@pytest.fixture
def efforts(monkeypatch):
    """What is asked of Graphviz, without asking it: each call's engine and whether words were to be drawn."""
    asked = []

    def lay_out(dot_text, kind, *, engine, seconds):
        asked.append((engine, "jump" in dot_text))
        return b'<svg width="1pt" height="1pt" viewBox="0 0 1 1"></svg>'

    monkeypatch.setattr(front, "lay_out", lay_out)
    return asked


@pytest.mark.parametrize("name", machine_names())
def test_every_state_and_arrow_of_a_machine_is_found_in_its_picture(name):
    definition = machine_definition(name)
    drawn = scene(definition)
    picture = Drawn(drawn.svg)
    assert list(drawn.states) == list(definition.states_by_name)
    assert {"node", "state"} <= set.intersection(*(picture.classes(one) for one in drawn.states.values()))
    for arrow in drawn.arrows:
        assert {"edge", "arrow", arrow.kind} <= picture.classes(arrow.element)
    assert {trigger for arrow in drawn.arrows for trigger in arrow.triggers} == set(definition.triggers)


def test_what_the_arrows_of_a_scene_say():
    told = {(arrow.kind, arrow.source, arrow.dest): arrow.triggers for arrow in scene(ticket()).arrows}
    assert told == {
        ("row", "open", "waiting"): ("ask",),
        ("row", "waiting", "asked"): ("ask",),
        ("row", "waiting", "waiting"): ("remind",),
        ("row", "open", "open"): ("note",),
        ("row", "asked", "asked"): ("note",),
        ("row", "waiting", "open"): ("answer",),
        ("row", "asked", "open"): ("answer",),
        ("anywhere", None, "closed"): ("close",),
        ("breaker", None, "parked"): (),
    }


def test_an_internal_row_from_anywhere_ends_where_it_began():
    rows = [
        {"trigger": "note", "source": "*", "dest": None},
        {"trigger": "go", "source": "a", "dest": "b"},
    ]
    drawn = scene(load_definition({"name": "m", "initial": "a", "states": ["a", "b"], "transitions": rows}))
    [arrow] = [arrow for arrow in drawn.arrows if arrow.kind == "anywhere"]
    assert (arrow.source, arrow.dest, arrow.triggers) == (None, None, ("note",))
    assert arrow.element in Drawn(drawn.svg).ids


def test_it_has_no_size_no_ground_and_no_heading():
    drawn = ElementTree.fromstring(scene(ticket()).svg)
    assert drawn.get("viewBox")
    assert not {"width", "height"} & set(drawn.attrib)
    [graph] = drawn.findall(f"{SVG}g")
    assert [child.tag for child in graph if child.tag != f"{SVG}g"] == []
    assert not [part for part in drawn.iter() if part.get("style")]


def test_a_picture_by_itself_stands_on_a_card_with_round_corners():
    drawn = to_svg(ticket())
    assert '<rect class="ground" fill="#ffffff"' in drawn
    assert "ground" not in scene(ticket()).svg


def test_two_scenes_in_one_page_share_no_id():
    one, other = scene(ticket(), prefix="a-"), scene(ticket(), prefix="b-")
    assert Drawn(one.svg).ids & Drawn(other.svg).ids == set()
    assert one.states["open"] == "a-state-open"
    assert {arrow.element for arrow in one.arrows} < Drawn(one.svg).ids


@pytest.mark.parametrize("prefix", ["1", "a b", 'a"', "-", "<"])
def test_a_prefix_with_which_no_id_may_begin_is_refused(prefix):
    with pytest.raises(ValueError, match="must be a word that begins with a letter"):
        scene(ticket(), prefix=prefix)


def test_odd_names_keep_their_elements_apart():
    names = ['<g id="x">', '"quoted"', "a b", "a_b", "state", "ä → ß", "s" * 300, "\\N"]
    rows = [{"trigger": "go", "source": one, "dest": other} for one in names for other in names[:2]]
    drawn = scene(
        load_definition({"name": "<odd>", "initial": names[0], "states": names, "transitions": rows}),
        prefix="p",
    )
    picture = Drawn(drawn.svg)
    elements = [*drawn.states.values(), *(arrow.element for arrow in drawn.arrows)]
    assert len(set(elements)) == len(elements) == len(names) + len(rows)
    assert set(elements) < picture.ids
    assert all(element.startswith("p") for element in picture.ids)
    for name in names[:4]:
        assert picture.title(drawn.states[name]) == name


def test_a_machine_is_laid_out_once(efforts):
    definition = chain(3, 3, "once")
    assert scene(definition, prefix="a").svg
    assert scene(chain(3, 3, "once"), prefix="b").svg
    assert len(efforts) == 1


def test_what_failed_is_tried_again(monkeypatch):
    definition = chain(3, 3, "again")

    def missing(*_, **__):
        raise MissingExtraError("no program", extra="diagrams")

    with monkeypatch.context() as patched:
        patched.setattr(front, "lay_out", missing)
        with pytest.raises(MissingExtraError):
            scene(definition)
    assert scene(definition).states


@pytest.mark.parametrize(
    ("arrows", "asked"),
    [(50, ("dot", True)), (170, ("dot", True)), (171, ("dot", False)), (2600, ("sfdp", False))],
)
def test_a_larger_machine_is_laid_out_more_plainly(efforts, arrows, asked):
    definition = chain(80, arrows, f"plain {arrows}") if arrows > 100 else chain(20, arrows, "best")
    drawn = scene(definition)
    assert efforts == [asked]
    assert drawn.wordless is not asked[1]


def test_what_takes_too_long_is_tried_more_plainly(monkeypatch):
    asked = []

    def lay_out(dot_text, kind, *, engine, seconds):
        asked.append((engine, seconds))
        raise OrkeonError(f"attempt {len(asked)} took longer than {seconds:g} s")

    monkeypatch.setattr(front, "lay_out", lay_out)
    with pytest.raises(OrkeonError, match="attempt 1 "):
        to_svg(chain(5, 6))
    assert [engine for engine, _ in asked] == ["dot"] * 4 + ["sfdp"]
    assert sum(seconds for _, seconds in asked) <= 45


@pytest.mark.parametrize(("states", "arrows"), [(MOST_STATES + 1, MOST_STATES), (90, MOST_ARROWS + 1)])
def test_what_is_too_large_says_so_at_once(efforts, states, arrows):
    with pytest.raises(
        OrkeonError, match=rf"too large to be drawn: 'chain' has {states} states and {arrows} arrows"
    ):
        scene(chain(states, arrows))
    assert efforts == []


@pytest.mark.slow
def test_three_hundred_states_with_many_arrows_are_drawn():
    drawn = scene(chain(300, 600))
    assert drawn.wordless
    assert len(drawn.states) == 300
    assert Drawn(drawn.svg).title(drawn.arrows[0].element) == "s0 to s1: go"
