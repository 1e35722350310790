"""Every page for people who do not use a mouse, or do not see the picture."""

import itertools

import pytest

from tests.explorer.browser.accessibility import violations
from tests.explorer.browser.views import PAGES, crew, large, machine

KINDS = ["machine", "tripped", "failing", "unpicturable", "journal", "crew", "problems", "loading"]


def in_each_look(page):
    """The page in both colour schemes, narrow and wide."""
    for width in (360, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            yield width, scheme


@pytest.mark.parametrize("kind", KINDS)
def test_axe_finds_no_violation(explorer, kind):
    page = explorer(PAGES[kind](), reduced_motion="reduce").page
    for summary in page.locator("details:not([open]) > summary:visible").all():
        summary.click()
    assert {look: violations(page) for look in in_each_look(page)} == {
        look: [] for look in itertools.product((360, 1280), ("light", "dark"))
    }


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_none_in_what_is_opened_by_hand(explorer, scheme):
    page = explorer(machine(), scheme=scheme, reduced_motion="reduce").page
    page.get_by_role("button", name="States").click()
    page.get_by_role("button", name="executing").first.click()
    page.get_by_role("button", name="retry", exact=True).hover()
    page.get_by_role("tooltip").wait_for()
    assert violations(page) == []
    page.locator(".ork-frame").evaluate("frame => frame.style.fontSize = '28px'")
    assert violations(page) == []


@pytest.mark.parametrize("kind", ["machine", "journal", "crew", "problems"])
def test_nothing_is_wider_than_the_window(explorer, kind):
    page = explorer(PAGES[kind]()).page
    for width in (320, 360, 780, 1000, 1280, 1920):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.scrollingElement.scrollWidth") <= width
        boxes = page.evaluate(
            """[...document.querySelectorAll(".ork-frame > *, .ork-side > *")]
                 .map((part) => part.getBoundingClientRect())
                 .filter((box) => box.width).map(({ left, right }) => [left, right])"""
        )
        assert min(left for left, _ in boxes) >= 0
        assert max(right for _, right in boxes) <= width + 0.5


def test_whoever_wants_less_motion_gets_none(explorer):
    page = explorer(machine(), reduced_motion="reduce").page
    moving = page.evaluate("document.getAnimations().filter(one => one.playState === 'running').length")
    assert moving == 0


def test_a_machine_is_used_with_the_keyboard_alone(explorer):
    shown = explorer(machine())
    page = shown.page
    page.get_by_role("button", name="submit_for_validation").focus()
    page.keyboard.press("Enter")
    shown.until_sent({"do": "fire", "trigger": "submit_for_validation"})
    view = machine()
    later = [
        {
            "name": "validation_passed",
            "permitted": True,
            "why": None,
            "kind": None,
            "to": ["completed"],
            "description": None,
        }
    ]
    shown.show({"now": view["now"] | {"state": "validating"}, "triggers": later})
    # The button that had the focus is gone: the next one has it, and the state is told.
    assert page.evaluate("document.activeElement.dataset.trigger") == "validation_passed"
    assert page.locator("[aria-live]").text_content() == "Now in validating."


def test_every_stop_of_the_tab_key_is_seen_and_named(explorer):
    page = explorer(machine()).page
    names = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        stop = page.evaluate(
            """() => {
              const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement);
              const { tagName, id } = document.activeElement;
              return { tag: tagName, ring: outlineStyle !== "none" && parseFloat(outlineWidth) >= 2, id };
            }"""
        )
        if stop["tag"] == "BODY":
            break
        names.add(stop["tag"])
        assert stop["ring"], stop
    assert {"BUTTON", "INPUT", "SELECT", "TEXTAREA", "SUMMARY", "DIV"} <= names


def test_a_list_of_hundreds_is_one_stop(explorer):
    page = explorer(large()).page
    page.get_by_role("searchbox").focus()
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.textContent").startswith("station_000")
    page.keyboard.press("End")
    assert page.evaluate("document.activeElement.textContent").startswith("station_299")
    page.keyboard.press("ArrowUp")
    assert page.evaluate("document.activeElement.textContent").startswith("station_298")
    assert page.locator(".ork-states [tabindex='0']").count() == 1


def test_the_picture_says_in_words_what_it_shows(explorer):
    page = explorer(machine()).page
    label = page.locator(".ork-canvas").get_attribute("aria-label")
    assert label.startswith("State diagram of task_execution: in executing, 4 of 10 states visited.")


def test_the_tabs_of_a_crew_turn_with_the_arrow_keys(explorer):
    page = explorer(crew()).page
    page.get_by_role("tab", name="Tasks").focus()
    page.keyboard.press("ArrowRight")
    assert page.get_by_role("tab", name="Machine of draft").get_attribute("aria-selected") == "true"
    assert page.get_by_role("tabpanel", name="Machine of draft").is_visible()
