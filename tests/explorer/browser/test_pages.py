"""The other pages, the notices, and how the explorer begins and ends."""

import pytest

from tests.explorer.browser.views import PAGES, crew, empty, failing, journal, machine, problems, title


def button(page, name):
    return page.get_by_role("button", name=name, exact=True)


@pytest.mark.parametrize("kind", PAGES)
def test_each_page_is_drawn_from_its_view(explorer, kind):
    page = explorer(PAGES[kind]()).page
    assert page.locator(f'.ork-frame[data-page="{PAGES[kind]()["page"]}"] h1').count() == 1


def test_one_page_follows_another_without_leftovers(explorer):
    shown = explorer(empty("loading"))
    listening = shown.page.evaluate("bench.listening()")
    for kind in ("machine", "crew", "problems", "journal", "loading"):
        shown.show(PAGES[kind]())
        assert shown.page.locator(".ork-frame").get_attribute("data-page") == kind
    assert shown.page.evaluate("bench.listening()") == listening


def test_it_ends_without_leftovers_and_two_stand_side_by_side(explorer):
    shown = explorer(machine())
    page = shown.page
    listening = page.evaluate("bench.listening()")
    first = page.evaluate(
        "(bench.first = bench.end, bench.begin(), document.querySelectorAll('.orkeon-explorer').length)"
    )
    assert first == 2
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map((one) => one.id)")
    assert len(ids) == len(set(ids))
    page.evaluate("bench.first()")
    assert page.evaluate("bench.listening()") == listening
    page.evaluate("bench.end()")
    assert page.evaluate("bench.listening()") == 0
    assert page.locator(".orkeon-explorer").count() == 0


def test_texts_are_never_read_as_html(explorer):
    evil = "<img src=x onerror=\"bench.sent.push('run')\">"
    view = machine()
    shown = explorer(
        view
        | {
            "title": {"name": evil, "machine_id": evil, "kind": evil, "source": evil, "note": evil},
            "now": view["now"] | {"problem": {"title": evil, "text": evil}},
            "log": {
                "total": 1,
                "first": 0,
                "rows": [view["log"]["rows"][0] | {"words": evil, "trigger": evil}],
            },
            "anomalies": [{"code": evil, "message": evil, "place": evil, "position": 1}],
        }
    )
    shown.answer({"error": evil})
    shown.page.wait_for_timeout(100)
    assert shown.page.locator("img").count() == 0
    assert shown.sent == []
    assert shown.page.get_by_role("heading", level=1).text_content() == evil


# ------------------------------------------------------------------------------------------------ notices
def test_a_callback_that_raised_and_one_that_hangs_are_told(explorer):
    shown = explorer(failing())
    page = shown.page
    raised = page.get_by_role("alert").filter(has_text="raised ValueError")
    assert "no such tool: 'grep'" in raised.text_content()
    hangs = page.locator(".ork-notice").filter(has_text="a callback may hang")
    hangs.get_by_role("button", name="Reset").click()
    shown.until_sent({"do": "reset"})
    shown.show({"now": machine()["now"]})
    assert page.locator(".ork-notice:visible").count() == 0


def test_an_answer_that_is_no_is_told_until_the_next_step(explorer):
    shown = explorer(machine())
    shown.answer({"error": "'fly' is no trigger"})
    alert = shown.page.get_by_role("alert").filter(has_text="'fly' is no trigger")
    assert alert.is_visible()
    alert.get_by_role("button", name="Close").click()
    assert alert.count() == 0
    shown.answer({"error": "once more"})
    shown.show({"now": machine()["now"] | {"state": "failed"}})
    assert shown.page.get_by_text("once more").count() == 0


def test_that_it_goes_on_with_a_copy_is_told_where_it_is_seen(explorer):
    words = "This is a copy: your own machine stands where it was"
    shown = explorer(machine() | {"title": title("task", note="Yours")})
    assert shown.page.locator(".ork-notices").is_hidden()
    shown.show({"title": title("task", note=words, is_copy=True)})
    shown.page.locator(".ork-notices").get_by_text(words).wait_for()
    assert shown.page.get_by_text(words).count() == 1
    shown.show({"title": title("task", note="Yours")})
    shown.page.locator(".ork-notices").wait_for(state="hidden")


def test_a_lost_connection_is_told(explorer):
    shown = explorer(machine())
    shown.show({"connection": "waiting"})
    assert shown.page.get_by_role("alert").filter(has_text="connection to Python is lost").is_visible()
    shown.show({"connection": "open"})
    assert shown.page.get_by_text("connection to Python").count() == 0
    shown.show({"connection": "closed", "connection_why": "Another tab goes on with it."})
    assert shown.page.get_by_text("Another tab goes on with it.").is_visible()


def test_the_anomalies_of_a_journal_lead_to_their_steps(explorer):
    shown = explorer(journal())
    page = shown.page
    page.locator("summary", has_text="2 anomalies").click()
    assert page.get_by_text("ordinal 611 is missing").is_visible()
    button(page, "step 611").click()
    shown.until_sent({"do": "seek", "at": 611})


# ---------------------------------------------------------------------------------------- journals, crews
def test_the_machines_of_a_journal_are_chosen_from(explorer):
    shown = explorer(journal())
    entry = shown.page.locator(".ork-machines button", has_text="s-3")
    assert "1 anomaly" in entry.text_content()
    entry.click()
    shown.until_sent({"do": "select", "machine": "s-3"})


def test_a_crew_shows_its_tasks_and_its_figures(explorer):
    page = explorer(crew()).page
    cards = page.locator(".ork-machines button")
    assert cards.count() == 6
    assert (
        "writer with a rather long name · 3/10 tool calls · 2,140 tokens · 12 s"
        in cards.nth(3).text_content()
    )
    assert cards.nth(3).get_attribute("aria-pressed") == "true"
    assert "Visits of executing: 6 of 20" in cards.nth(3).text_content()
    assert "12,950 tokens · 8 ms" in cards.nth(2).text_content()
    assert page.get_by_text("2 of 6 completed").is_visible()
    figures = page.locator(".ork-stats").text_content()
    assert "Tokens17,230" in figures
    assert "Requests21" in figures
    page.get_by_text("1:24 min").wait_for(timeout=3000)


def test_the_boxes_of_the_graph_take_the_colour_of_their_tasks(explorer):
    shown = explorer(crew())
    page = shown.page
    looks = {
        task: page.locator(f'.ork-crew-graph [data-part="{box}"]').get_attribute("class")
        for task, box in crew()["crew"]["boxes"].items()
    }
    assert "ork-is-good" in looks["collect"]
    assert "ork-is-warning" in looks["read"]
    assert "ork-is-going" in looks["draft"]
    assert "ork-is-quiet" in looks["review"]
    shown.show({"machines": [crew()["machines"][0] | {"status": "failed"}]})
    assert "ork-is-bad" in page.locator('.ork-crew-graph [data-part="state-collect"]').get_attribute("class")


@pytest.mark.parametrize("by", ["card", "box"])
def test_a_task_that_is_chosen_shows_its_machine(explorer, by):
    shown = explorer(crew())
    page = shown.page
    place = (
        '.ork-crew-graph [data-part="state-read"] text'
        if by == "box"
        else ".ork-machines li:nth-child(2) button"
    )
    page.locator(place).first.click()
    shown.until_sent({"do": "select", "machine": "read"})
    shown.show({"machines": [one | {"selected": one["id"] == "read"} for one in crew()["machines"]]})
    assert page.get_by_role("tab", name="Machine of read").get_attribute("aria-selected") == "true"
    current = page.locator('.ork-tabs [data-part="state-executing"]')
    assert "ork-current" in current.get_attribute("class")
    assert current.locator(".ork-badge").text_content() == "×2"


def test_a_crew_without_a_picture_has_its_list(explorer):
    page = explorer(crew() | {"crew": crew()["crew"] | {"svg": None}}).page
    assert page.get_by_role("tab", name="Machine of draft").get_attribute("aria-selected") == "true"
    page.get_by_role("tab", name="Tasks").click()
    assert page.get_by_text("There is no picture of the tasks").is_visible()
    assert page.locator(".ork-machines button").count() == 6


def test_the_picture_of_the_tasks_comes_to_the_front_when_it_is_drawn(explorer):
    shown = explorer(crew() | {"crew": crew()["crew"] | {"svg": None}})
    shown.show({"crew": crew()["crew"]})
    tasks = shown.page.get_by_role("tab", name="Tasks")
    assert tasks.get_attribute("aria-selected") == "true"
    shown.page.get_by_role("tab", name="Machine of draft").click()
    shown.show({"crew": crew()["crew"] | {"tokens": 1}})
    assert tasks.get_attribute("aria-selected") == "false"


# ----------------------------------------------------------------------------------------------- problems
def test_each_problem_has_its_place_its_lines_and_its_hint(explorer):
    shown = explorer(problems())
    page = shown.page
    assert page.get_by_role("heading", level=1).text_content() == "3 problems in crew.yaml"
    cards = page.locator(".ork-problem")
    assert cards.count() == 3
    first = cards.first
    assert first.locator("p").first.text_content() == "crew.yaml:12:12"
    assert "Did you mean 'researcher'?" in first.text_content()
    line = first.locator(".ork-here span").last
    caret = first.locator(".ork-caret span").last
    assert line.text_content()[caret.text_content().index("^")] == "r"
    assert "<b>parsers</b>" in first.locator("pre").text_content()
    assert cards.nth(2).locator("pre").count() == 0
    button(page, "Read the file again").click()
    shown.until_sent({"do": "reload"})


def test_a_file_that_was_mended_is_shown(explorer):
    shown = explorer(problems())
    shown.show(machine())
    assert shown.page.get_by_role("heading", level=1).text_content() == "task_execution"
