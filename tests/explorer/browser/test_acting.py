"""What is done by hand: triggers, guards, undo, reset, the breaker, the slider, files to take along."""

import base64

import pytest

from tests.explorer.browser.views import WHY, field, gauge, journal, machine, row, trigger, tripped


@pytest.fixture
def shown(explorer):
    return explorer(machine(), reduced_motion="reduce")


def button(page, name):
    return page.get_by_role("button", name=name, exact=True)


# ---------------------------------------------------------------------------------------------- triggers
def test_each_trigger_is_a_button_that_fires_it(shown):
    for one in machine()["triggers"]:
        assert button(shown.page, one["name"]).count() == 1
    button(shown.page, "submit_for_validation").click()
    shown.until_sent({"do": "fire", "trigger": "submit_for_validation"})


def test_a_refused_trigger_says_why_on_hover_and_on_focus_and_can_be_tried(shown):
    page = shown.page
    refused = button(page, "request_tool_call")
    assert refused.get_attribute("aria-disabled") == "true"
    refused.hover()
    assert WHY in page.get_by_role("tooltip").text_content()
    assert "Click to try it all the same" in page.get_by_role("tooltip").text_content()
    page.mouse.move(5, 5)
    page.get_by_role("tooltip").wait_for(state="hidden")
    button(page, "Reset").focus()
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.dataset.trigger") == "request_tool_call":
            break
    assert WHY in page.get_by_role("tooltip").text_content()
    described = page.evaluate(
        "document.getElementById(document.activeElement.getAttribute('aria-describedby')).textContent"
    )
    assert WHY in described
    page.keyboard.press("Escape")
    assert page.get_by_role("tooltip").count() == 0
    page.keyboard.press("Enter")
    shown.until_sent({"do": "fire", "trigger": "request_tool_call"})


def test_a_refused_trigger_answers_the_pointer_where_it_can_be_tried(shown):
    page = shown.page
    refused = button(page, "request_tool_call")

    def looks():
        style = "({ cursor, backgroundColor }) => [cursor, backgroundColor]"
        return refused.evaluate(f"element => ({style})(getComputedStyle(element))")

    before = looks()
    assert before[0] == "pointer"
    refused.hover()
    assert looks()[1] != before[1]
    page.mouse.move(5, 5)
    shown.show({"can": machine()["can"] | {"fire": False}})
    page.wait_for_function("name => !document.querySelector(name)", arg="[data-try]")
    assert looks()[0] == "default"


def test_the_tooltip_stays_while_the_pointer_is_on_it(shown):
    page = shown.page
    button(page, "request_tool_call").hover()
    tip = page.get_by_role("tooltip")
    tip.wait_for()
    box = tip.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] - 3)
    page.wait_for_timeout(350)
    assert tip.is_visible()


def test_the_reason_covers_no_other_trigger_where_there_is_room(shown):
    page = shown.page
    button(page, "request_tool_call").hover()
    tip = page.get_by_role("tooltip")
    tip.wait_for()
    box, panel = tip.bounding_box(), page.locator(".ork-triggers").first.bounding_box()
    assert box["x"] + box["width"] < panel["x"]


def test_the_reason_covers_neither_its_trigger_nor_the_state_where_there_is_no_room_beside_it(explorer):
    page = explorer(machine(), width=360).page
    refused = button(page, "request_tool_call")
    refused.evaluate("element => element.scrollIntoView({ block: 'center' })")
    refused.hover()
    tip = page.get_by_role("tooltip")
    tip.wait_for()
    box, below = tip.bounding_box(), refused.bounding_box()
    assert box["y"] >= below["y"] + below["height"]


def test_without_a_pointer_the_reason_stands_there(explorer):
    shown = explorer(machine(), width=360, has_touch=True, is_mobile=True)
    assert shown.page.locator(".ork-why", has_text=WHY).first.bounding_box()["height"] > 15


def test_a_trigger_is_not_fired_twice_by_two_clicks(shown):
    button(shown.page, "fail").dblclick()
    shown.until_sent({"do": "fire", "trigger": "fail"})
    shown.show({"log": machine()["log"] | {"total": 7}})
    button(shown.page, "fail").click()
    shown.until_sent(*[{"do": "fire", "trigger": "fail"}] * 2)


def test_while_one_is_under_way_the_others_wait(explorer):
    view = machine()
    shown = explorer(view | {"now": view["now"] | {"busy": {"trigger": "fail", "since_ms": 0}}})
    assert button(shown.page, "fail").get_attribute("aria-busy") == "true"
    assert button(shown.page, "cancel").get_attribute("aria-disabled") == "true"


def test_a_look_back_fires_nothing_but_goes_where_it_went(explorer):
    view = machine()
    taken = [
        trigger("begin_execution", ["executing"], "a look back", next=True),
        trigger("cancel", ["cancelled"]),
    ]
    shown = explorer(
        view
        | {
            "triggers": taken,
            "can": view["can"] | {"fire": False},
            "position": {"at": 1, "last": 4, "live": False},
        }
    )
    button(shown.page, "cancel").click(force=True)
    assert shown.sent == []
    button(shown.page, "begin_execution").click(force=True)
    shown.until_sent({"do": "seek", "at": 2})


# ------------------------------------------------------------------------------------------------ guards
def test_each_field_has_the_control_of_its_type(shown):
    page = shown.page
    assert page.get_by_label("retry count").get_attribute("type") == "number"
    assert page.get_by_role("switch", name="is tool registered").is_checked()
    assert page.get_by_label("mode").locator("option").all_text_contents() == ["fast", "thorough"]
    assert page.get_by_label("arguments").input_value() == '{"query":"parsers"}'


def test_a_changed_field_is_sent_with_its_type(shown):
    page = shown.page
    page.get_by_label("retry count").fill("2")
    shown.until_sent({"do": "set", "field": "retry_count", "value": 2})
    page.get_by_role("switch", name="is tool registered").click()
    page.get_by_label("mode").select_option("thorough")
    page.get_by_label("note").fill("a <b>bold</b> one")
    page.get_by_label("arguments").fill('{"query": [1, null]}')
    page.wait_for_timeout(300)
    assert [(one["field"], one["value"]) for one in shown.sent[1:]] == [
        ("is_tool_registered", False),
        ("mode", "thorough"),
        ("note", "a <b>bold</b> one"),
        ("arguments", {"query": [1, None]}),
    ]


def test_what_is_typed_is_sent_before_a_trigger_is_fired(shown):
    page = shown.page
    page.get_by_label("retry count").fill("3")
    button(page, "fail").click()
    shown.until_sent({"do": "set", "field": "retry_count", "value": 3}, {"do": "fire", "trigger": "fail"})


def test_a_value_that_does_not_fit_is_said_at_its_field(shown):
    page = shown.page
    page.get_by_label("arguments").fill('{"query":')
    page.get_by_text("This is no JSON.").wait_for()
    assert page.get_by_label("arguments").get_attribute("aria-invalid") == "true"
    assert shown.sent == []
    wrong = field("retry_count", "integer", -1, 0, error="must be 0 or more")
    shown.show({"form": {"kind": "typed", "fields": [wrong]}})
    assert page.get_by_text("must be 0 or more").is_visible()


def test_what_somebody_types_is_not_written_over(shown):
    page = shown.page
    page.get_by_label("note").press_sequentially("abc", delay=1)
    fields = machine()["form"]["fields"]
    shown.show(
        {"form": {"kind": "typed", "fields": [*fields[:6], field("note", "string", "a", ""), *fields[7:]]}}
    )
    assert page.get_by_label("note").input_value() == "abc"


def test_the_defaults_come_back_at_once(shown):
    button(shown.page, "Defaults").click()
    shown.until_sent({"do": "set", "field": "tool_call_count", "value": 0})


def test_guards_alone_are_switches(explorer):
    switches = [
        field("can_retry", "boolean", True, True, "Retries are left", "What the guard 'can_retry' answers")
    ]
    shown = explorer(machine() | {"form": {"kind": "switches", "fields": switches}})
    shown.page.get_by_role("switch", name="Retries are left").click()
    shown.until_sent({"do": "set", "field": "can_retry", "value": False})


# ----------------------------------------------------------------------------------------------- breaker
def test_a_clock_that_stands_tells_milliseconds(explorer):
    clock = gauge("max_total_duration", "Time in all", 0.067, 600, "s")
    page = explorer(machine() | {"gauges": [clock]}).page
    assert page.locator(".ork-gauges .ork-figures").text_content() == "67 ms / 10 min"
    meter = page.get_by_role("meter", name="Time in all")
    assert meter.get_attribute("aria-valuetext") == "67 ms of 10 min"


def test_a_gauge_says_what_is_used_of_what_is_allowed(shown):
    page = shown.page
    meter = page.get_by_role("meter", name="Transitions")
    assert meter.get_attribute("aria-valuenow") == "4"
    assert meter.get_attribute("aria-valuetext") == "4 of 330"
    rows = page.locator(".ork-gauges li")
    assert "4 / 330" in rows.nth(0).text_content()
    assert rows.nth(2).get_attribute("data-kind") == "near"
    assert "8,120 tokens · no limit" in rows.nth(4).text_content()
    assert page.get_by_text("within its limits").is_visible()


def test_a_clock_runs_on_by_itself(explorer):
    shown = explorer(
        machine() | {"gauges": [gauge("state_timeout", "Time in executing", 59.6, 120, "s", running=True)]}
    )
    shown.page.get_by_text("1:01 min / 2 min").wait_for(timeout=4000)


def test_a_breaker_that_tripped_can_be_reset(explorer):
    shown = explorer(tripped())
    assert shown.page.get_by_text("tripped", exact=True).is_visible()
    assert shown.page.locator(".ork-state-now").get_attribute("data-kind") == "degraded"
    button(shown.page, "Reset the breaker").click()
    shown.until_sent({"do": "reset_breaker"})


# -------------------------------------------------------------------------------------- undo, reset, files
@pytest.mark.parametrize("what", ["Undo", "Reset"])
def test_undo_and_reset(explorer, what):
    shown = explorer(machine())
    button(shown.page, what).click()
    shown.until_sent({"do": what.lower()})
    shown.forget()
    shown.show({"can": machine()["can"] | {what.lower(): False}})
    button(shown.page, what).click(force=True)
    assert shown.sent == []


@pytest.mark.parametrize(("label", "name"), [("PNG", "png"), ("SVG", "svg"), ("JSON lines", "jsonl")])
def test_an_export_is_saved_as_a_file(explorer, label, name):
    shown = explorer(machine())
    button(shown.page, f"Export as {label}").click()
    shown.until_sent({"do": "export", "format": name})
    content = bytes(range(256))
    with shown.page.expect_download() as download:
        shown.answer(
            {
                "download": {
                    "name": f"a.{name}",
                    "type": "image/png",
                    "data": base64.b64encode(content).decode(),
                }
            }
        )
    assert download.value.suggested_filename == f"a.{name}"
    assert download.value.path().read_bytes() == content


def test_only_what_can_be_exported_is_offered(explorer):
    page = explorer(journal()).page
    assert button(page, "Export as PNG").count() == 0
    assert button(page, "Export as SVG").count() == 1
    assert button(page, "Undo").count() == 0


# ----------------------------------------------------------------------------------------- log and slider
def test_the_log_has_what_was_made_and_what_was_refused_newest_first(shown):
    page = shown.page
    rows = page.locator(".ork-log tbody tr")
    assert [one.get_attribute("data-kind") for one in rows.all()] == [
        "refused", "made", "made", "refused", "made", "made",
    ]  # fmt: skip
    assert WHY in rows.first.text_content()
    assert rows.nth(1).locator("td").nth(3).text_content() == "tool_call_completed"


def test_a_refusal_is_said_aloud(shown):
    log = machine()["log"]
    shown.show(
        {
            "log": log
            | {
                "total": 7,
                "rows": [
                    *log["rows"],
                    row(7, "refused", "retry", "executing", None, "'retry' is refused", 4),
                ],
            }
        }
    )
    assert shown.page.locator("[aria-live]").text_content() == "'retry' is refused"


def test_a_row_of_the_log_is_gone_to(shown):
    button(shown.page, "Go to step 2").first.click()
    shown.until_sent({"do": "seek", "at": 2})


def test_the_slider_steps_with_the_keyboard(shown):
    slider = shown.page.get_by_role("slider", name="Step")
    assert slider.get_attribute("aria-valuetext") == "step 4 of 4"
    slider.focus()
    slider.press("ArrowLeft")
    shown.until_sent({"do": "seek", "at": 3})
    shown.show({"position": {"at": 3, "last": 4, "live": False}})
    slider.press("Home")
    shown.until_sent({"do": "seek", "at": 3}, {"do": "seek", "at": 0})
    shown.show({"position": {"at": 0, "last": 4, "live": False}})
    assert slider.get_attribute("aria-valuetext") == "step 0 of 4"
    button(shown.page, "Back to now").click()
    shown.until_sent({"do": "seek", "at": 3}, {"do": "seek", "at": 0}, {"do": "seek", "at": 4})


def test_seeking_asks_for_one_place_at_a_time_and_ends_at_the_last(shown):
    slider = shown.page.get_by_role("slider", name="Step")
    for key in ("ArrowLeft", "ArrowLeft", "ArrowLeft"):
        slider.press(key)
    assert shown.sent == [{"do": "seek", "at": 3}]
    shown.show({"position": {"at": 3, "last": 4, "live": False}})
    shown.until_sent({"do": "seek", "at": 3}, {"do": "seek", "at": 1})


def test_playing_steps_by_itself_and_can_be_paused(explorer):
    shown = explorer(journal())
    page = shown.page
    page.get_by_label("Speed").select_option("20 / s")
    button(page, "Play").click()
    for at in (504, 505):
        shown.until_sent(*({"do": "seek", "at": step} for step in range(504, at + 1)))
        shown.show({"position": {"at": at, "last": 10_000, "live": False}})
    button(page, "Pause").click()
    count = len(shown.sent)
    shown.show({"position": {"at": 503 + count, "last": 10_000, "live": False}})
    page.wait_for_timeout(150)
    assert len(shown.sent) == count
    assert button(page, "Play").is_visible()


def test_the_row_at_which_the_slider_stands_is_marked_and_in_sight(explorer):
    shown = explorer(journal())
    row_now = shown.page.locator('.ork-log [aria-current="step"]')
    assert row_now.locator("td").first.text_content() == "503"
    shown.page.wait_for_timeout(100)
    frame, box = shown.page.locator(".ork-scroller").bounding_box(), row_now.bounding_box()
    assert frame["y"] <= box["y"]
    assert box["y"] + box["height"] <= frame["y"] + frame["height"] + 1
    # Elsewhere in ten thousand entries, its surroundings are asked for, once.
    shown.show({"position": {"at": 7000, "last": 10_000, "live": False}})
    shown.until_sent({"do": "rows", "first": 6900, "count": 200})


def test_long_logs_are_turned_like_pages(explorer):
    shown = explorer(journal())
    assert shown.page.get_by_text("481–520 of 10,000 entries").is_visible()
    button(shown.page, "Older").click()
    shown.until_sent({"do": "rows", "first": 280, "count": 200})
    button(shown.page, "Newer").click()
    shown.until_sent({"do": "rows", "first": 280, "count": 200}, {"do": "rows", "first": 680, "count": 200})
