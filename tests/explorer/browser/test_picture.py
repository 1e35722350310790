"""The picture of a machine, and the list of its states beside it."""

import pytest

from tests.explorer.browser.views import large, machine, picture, unpicturable


def part(page, name):
    return page.locator(f'[data-part="{name}"]')


def classes(page, name):
    return set(part(page, name).get_attribute("class").split())


def seen(page):
    """What of the drawing is seen: x, y, width, height."""
    return [float(number) for number in page.locator(".ork-drawing").get_attribute("viewBox").split()]


def is_in_sight(page, name):
    inner, outer = part(page, name).bounding_box(), page.locator(".ork-canvas").bounding_box()
    return (
        outer["x"] <= inner["x"]
        and inner["x"] + inner["width"] <= outer["x"] + outer["width"]
        and outer["y"] <= inner["y"]
        and inner["y"] + inner["height"] <= outer["y"] + outer["height"]
    )


@pytest.fixture
def shown(explorer):
    return explorer(machine(), reduced_motion="reduce")


def test_the_current_state_the_path_and_the_visits_are_marked(shown):
    page = shown.page
    assert "ork-current" in classes(page, "state-executing")
    assert page.locator(".ork-drawing .ork-current").count() == 1
    assert "ork-visited" in classes(page, "state-assigned")
    assert "ork-visited" not in classes(page, "state-failed")
    assert "ork-taken" in classes(page, "arrow-assigned-planning")
    assert {"ork-taken", "ork-last"} <= classes(page, "arrow-tool_calling-executing")
    assert "ork-last" not in classes(page, "arrow-assigned-planning")
    assert part(page, "state-executing").locator(".ork-badge").text_content() == "×2"
    assert part(page, "state-failed").locator(".ork-badge").count() == 0


def test_a_step_moves_the_marks_and_lays_nothing_out_anew(shown):
    page = shown.page
    page.locator(".ork-drawing").evaluate("drawing => drawing.dataset.same = 'yes'")
    before = seen(page)
    now = machine()["now"]
    visits = now["visits"] | {"failed": 1}
    shown.show({"now": now | {"state": "failed", "visits": visits, "last": "arrow-executing-failed"}})
    assert page.locator(".ork-drawing").get_attribute("data-same") == "yes"
    assert "ork-current" in classes(page, "state-failed")
    assert "ork-current" not in classes(page, "state-executing")
    assert part(page, "state-failed").locator(".ork-badge").text_content() == "×1"
    assert seen(page) == before
    shown.show({"now": now | {"visits": {"assigned": 1}}})
    assert part(page, "state-failed").locator(".ork-badge").count() == 0


def test_another_machine_is_another_picture(shown):
    shown.show(
        {
            "picture": picture("hermes_agent"),
            "now": machine()["now"] | {"state": "idle", "visits": {"idle": 3}},
        }
    )
    page = shown.page
    assert part(page, "state-assigned").count() == 0
    assert part(page, "state-idle").locator(".ork-badge").text_content() == "×3"


def test_the_picture_has_no_ids_so_that_a_page_may_show_it_twice(shown):
    assert shown.page.locator(".ork-drawing [id]").count() == 0


HOSTILE = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100" onload="bench.sent.push('onload')">
<script>bench.sent.push('script')</script>
<style>* { display: none }</style>
<foreignObject><p xmlns="http://www.w3.org/1999/xhtml">p</p></foreignObject>
<image href="http://192.0.2.1/pixel.png"/><use href="http://192.0.2.1/a.svg#a"/>
<a href="javascript:bench.sent.push('link')"><text>link</text></a>
<animate attributeName="href" onbegin="bench.sent.push('begin')"/>
<g id="state-a" class="node" onclick="bench.sent.push('click')" style="background: url(http://192.0.2.1/)">
<path d="M0,0L50,50" fill="url(http://192.0.2.1/#a)"/><text x="9" y="9">a &lt;b&gt;</text></g></svg>"""


def test_only_shapes_and_words_come_out_of_an_svg(explorer, chromium):
    chromium.allowed.append("Executing inline event handler violates")  # already while it is parsed
    view = machine()
    state = {"name": "a", "label": "a", "description": None, "element": "state-a"}
    shown = explorer(view | {"picture": {"svg": HOSTILE, "states": [state], "arrows": []}})
    page = shown.page
    part(page, "state-a").click(force=True)
    inside = page.locator(".ork-drawing").evaluate(
        "drawing => [...drawing.querySelectorAll('*')].map((one) => one.localName)"
    )
    assert set(inside) == {"g", "path", "text"}
    attributes = page.locator(".ork-drawing").evaluate(
        "drawing => [drawing, ...drawing.querySelectorAll('*')].flatMap((one) => one.getAttributeNames())"
    )
    assert not [name for name in attributes if name.startswith("on") or name in {"style", "href"}]
    assert part(page, "state-a").locator("text").first.text_content() == "a <b>"
    assert shown.sent == []


@pytest.mark.parametrize("svg", ["<svg", "<p>no svg</p>", "", "<svg xmlns='urn:other'/>"])
def test_what_is_no_svg_leaves_the_list_of_states(explorer, svg):
    shown = explorer(machine() | {"picture": picture("task_execution") | {"svg": svg}})
    assert shown.page.locator(".ork-drawing").count() == 0
    assert shown.page.locator(".ork-states button").count() == 10


def test_a_picture_that_cannot_be_drawn_says_why_beside_the_list(explorer):
    page = explorer(unpicturable()).page
    assert "There is no Graphviz" in page.locator(".ork-canvas").text_content()
    assert page.locator(".ork-states .ork-current").text_content() == "executingcurrent×2"


def test_a_picture_that_is_still_drawn_says_so(explorer):
    shown = explorer(machine() | {"picture": picture("task_execution") | {"svg": None, "drawing": True}})
    assert "is being drawn" in shown.page.locator(".ork-canvas").text_content()
    shown.show({"picture": picture("task_execution")})
    assert "ork-current" in classes(shown.page, "state-executing")
    assert part(shown.page, "state-executing").locator(".ork-badge").text_content() == "×2"


def test_a_picture_without_words_on_its_arrows_says_where_they_are(explorer):
    page = explorer(machine() | {"picture": picture("task_execution") | {"wordless": True}}).page
    assert page.get_by_text("choose a state to read its ways").is_visible()


def test_zooming_moving_and_fitting(shown):
    page = shown.page
    whole = seen(page)
    page.get_by_role("button", name="Zoom in").click()
    assert seen(page)[2] < whole[2]
    page.get_by_role("button", name="Zoom out").click()
    page.get_by_role("button", name="Zoom out").click()
    assert seen(page)[2] > whole[2]
    page.get_by_role("button", name="Show all of it").click()
    assert seen(page) == whole
    box = page.locator(".ork-canvas").bounding_box()
    x, y = box["x"] + 30, box["y"] + 200
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 40, y + 10)
    page.mouse.move(x + 90, y + 20)
    page.mouse.up()
    assert seen(page)[0] < whole[0]
    assert seen(page)[2] == whole[2]
    page.locator(".ork-canvas").focus()
    page.keyboard.press("0")
    assert seen(page) == whole
    page.keyboard.press("ArrowRight")
    assert seen(page)[0] > whole[0]
    page.keyboard.press("+")
    assert seen(page)[2] < whole[2]


def test_the_wheel_zooms_at_the_pointer(shown):
    page = shown.page
    target = part(page, "state-failed")
    before = target.bounding_box()
    page.mouse.move(before["x"] + before["width"] / 2, before["y"] + before["height"] / 2)
    page.mouse.wheel(0, -240)
    page.wait_for_timeout(100)
    after = target.bounding_box()
    assert after["width"] > before["width"] * 1.2
    assert abs(after["x"] + after["width"] / 2 - before["x"] - before["width"] / 2) < 8


def test_two_fingers_zoom(explorer):
    shown = explorer(machine(), width=360, has_touch=True, reduced_motion="reduce")
    page = shown.page
    before = seen(page)
    page.locator(".ork-canvas").evaluate(
        """canvas => {
          const { left, top } = canvas.getBoundingClientRect();
          canvas.setPointerCapture = () => {};
          const finger = (type, pointerId, x) => canvas.dispatchEvent(
            new PointerEvent(type, {
              pointerId, pointerType: "touch", clientX: left + x, clientY: top + 90, bubbles: true }));
          finger("pointerdown", 1, 100);
          finger("pointerdown", 2, 200);
          for (const x of [210, 230, 260, 300]) finger("pointermove", 2, x);
          finger("pointerup", 1, 100);
          finger("pointerup", 2, 300);
        }"""
    )
    assert seen(page)[2] < before[2] * 0.7


def test_a_small_window_begins_where_the_machine_is_and_follows_it(explorer):
    shown = explorer(machine(), width=360, reduced_motion="reduce")
    page = shown.page
    assert is_in_sight(page, "state-executing")
    assert part(page, "state-executing").bounding_box()["height"] > 16
    now = machine()["now"]
    shown.show({"now": now | {"state": "completed"}})
    assert is_in_sight(page, "state-completed")
    page.get_by_role("button", name="Follow the current state").click()
    shown.show({"now": now | {"state": "assigned"}})
    assert not is_in_sight(page, "state-assigned")
    page.get_by_role("button", name="Follow the current state").click()
    assert is_in_sight(page, "state-assigned")


def test_a_state_says_what_it_is_and_where_it_leads(shown):
    page = shown.page
    part(page, "state-failed").locator("text").first.hover()
    assert page.get_by_role("tooltip").text_content() == "The work went wrong; may be retried or cancelled"
    part(page, "state-failed").locator("text").first.click()
    card = page.get_by_role("region", name="The chosen state")
    assert "not visited" in card.text_content()
    ways = card.locator("li").all_text_contents()
    assert "retry to executing" in ways
    assert "cancel to cancelled" in ways
    assert "fail from planning, executing, validating, waiting_for_human_input" in ways
    assert "ork-leaving" in classes(page, "arrow-failed-executing")
    card.get_by_role("button", name="executing").first.click()
    assert card.locator(".ork-name").text_content() == "executing"
    assert "ork-chosen" in classes(page, "state-executing")
    page.keyboard.press("Escape")
    card.get_by_role("button", name="Close").click()
    assert card.count() == 0
    assert page.locator(".ork-chosen, .ork-leaving").count() == 0


def test_three_hundred_states_are_searched_and_gone_to(explorer):
    shown = explorer(large(), reduced_motion="reduce")
    page = shown.page
    assert page.locator(".ork-states button").count() == 300
    assert page.locator(".ork-state-list").is_visible()
    assert is_in_sight(page, "state-station_039")
    find = page.get_by_role("searchbox", name="Find a state")
    find.fill("29")
    names = page.locator(".ork-states .ork-name").all_text_contents()
    assert names == ["station_029", "station_129", "station_229", *(f"station_29{n}" for n in range(10))]
    assert page.locator("[aria-live]").text_content() == "13 states found"
    assert "ork-passed-over" in classes(page, "state-station_039")
    find.fill("station_29")
    find.press("Enter")
    assert is_in_sight(page, "state-station_290")
    assert part(page, "state-station_290").bounding_box()["height"] > 20
    find.press("Escape")
    assert page.locator(".ork-states button").count() == 300
    assert page.locator(".ork-passed-over").count() == 0
    find.fill("nowhere")
    assert page.get_by_text("No state is called so.").is_visible()


def test_a_step_among_three_hundred_states_is_drawn_at_once(explorer):
    shown = explorer(large(), reduced_motion="reduce")
    milliseconds = shown.page.evaluate(
        """async (now) => {
          const times = [];
          for (let n = 40; n < 60; n += 1) {
            const start = performance.now();
            bench.show({ now: { ...now, state: `station_${String(n).padStart(3, "0")}` } });
            await Promise.resolve();
            times.push(performance.now() - start);
          }
          return times.sort((a, b) => a - b)[10];
        }""",
        large()["now"],
    )
    assert milliseconds < 100
