"""`orkeon explore` and its page, as a person uses them: a real process and a real browser."""

from urllib.parse import urlsplit

import pytest

from orkeon_transitions import JsonlJournal, TaskExecution, replay
from orkeon_transitions.machines import machine_definition
from tests.explorer.browser.explorers import serving
from tests.explorer.browser.person import Person, ends, expect, sees

pytestmark = [pytest.mark.slow, pytest.mark.browser]

LIMITED = """\
name: limited
initial: work
degraded: degraded
circuitBreaker: {maxTransitions: 2, useDegradedMode: DEGRADES}
states: [work, rest, degraded]
transitions:
  - [pause, work, rest]
  - [go_on, rest, work]
"""


class TestAMachine:
    def test_it_is_fired(self, person):
        person.fire("begin_execution")
        sees(person, "executing")
        person.fire("submit_for_validation", "validation_passed")
        sees(person, "completed")
        expect(person.rows("made")).to_have_count(3)
        expect(person.page).to_have_title("task_execution · Explorer")

    def test_what_is_refused_says_why_and_stands_in_the_log(self, person):
        person.fire("begin_execution")
        sees(person, "executing")
        assert person.trigger("retry").get_attribute("aria-disabled") == "true"
        person.fire("retry")
        expect(person.rows("refused")).to_have_count(1)
        expect(person.rows("refused")).to_contain_text("retry")
        sees(person, "executing")

    def test_a_guard_says_no_as_the_form_tells_it(self, person):
        person.fire("begin_execution")
        sees(person, "executing")
        expect(person.trigger("request_tool_call")).not_to_have_attribute("aria-disabled", "true")
        person.page.get_by_label("tool call count", exact=False).first.fill("10")
        button = person.trigger("request_tool_call")
        expect(button).to_have_attribute("aria-disabled", "true")
        button.hover(force=True)
        expect(person.page.get_by_role("tooltip")).to_contain_text("budget")
        person.fire("request_tool_call")
        expect(person.rows("refused")).to_contain_text("budget")
        sees(person, "executing")

    def test_a_step_is_undone(self, person):
        person.fire("start_planning", "begin_execution")
        sees(person, "executing")
        person.press("Undo")
        sees(person, "planning")
        expect(person.rows("made")).to_have_count(1)
        person.fire("begin_execution")
        sees(person, "executing")
        person.press("Reset")
        sees(person, "assigned")

    def test_the_slider_looks_back(self, person):
        person.fire("start_planning", "begin_execution", "submit_for_validation")
        sees(person, "validating")
        person.slider.focus()
        person.page.keyboard.press("Home")
        sees(person, "assigned")
        person.page.keyboard.press("ArrowRight")
        sees(person, "planning")
        person.page.keyboard.press("End")
        sees(person, "validating")
        person.fire("validation_passed")
        sees(person, "completed")

    def test_it_is_exported(self, person, tmp_path):
        person.fire("start_planning", "begin_execution")
        sees(person, "executing")
        starts = {"PNG": b"\x89PNG\r\n", "SVG": b"<", "JSON lines": b'{"timestamp"'}
        for what, start in starts.items():
            with person.page.expect_download() as begun:
                person.press(f"Export as {what}")
            file = tmp_path / begun.value.suggested_filename
            begun.value.save_as(file)
            assert file.read_bytes().startswith(start)
            assert file.suffix in {".png", ".svg", ".jsonl"}
        again = replay(file, machine_definition("task_execution"))
        assert (again.final_state, len(again.steps)) == ("executing", 2)

    def test_it_is_used_by_keyboard_alone(self, person):
        person.trigger("start_planning").focus()
        person.page.keyboard.press("Enter")
        sees(person, "planning")

    def test_it_is_there_when_the_page_is_loaded_again(self, person):
        person.fire("start_planning")
        sees(person, "planning")
        person.page.reload()
        sees(person, "planning")

    def test_nothing_but_the_page_is_asked_for(self, person, chromium, task):
        person.fire("start_planning")
        sees(person, "planning")
        parts = [urlsplit(url) for url in chromium.requests]
        assert {part.netloc for part in parts if part.netloc} == {urlsplit(task.base).netloc}
        asked = {part.path for part in parts if part.netloc}
        assert asked == {"/", "/page.js", "/explorer.js", "/explorer.css", "/socket"}


class TestTabs:
    def test_two_do_not_see_each_other(self, person, task):
        other = Person(person.page.context.new_page())
        other.page.goto(task.url)
        sees(other, "assigned")
        person.fire("begin_execution")
        sees(person, "executing")
        sees(other, "assigned")
        other.fire("start_planning")
        sees(other, "planning")
        sees(person, "executing")

    def test_a_duplicate_goes_its_own_way(self, person):
        """A browser gives the copy of a tab what the tab has kept, its name included."""
        with person.page.expect_popup() as opened:
            person.page.evaluate("window.open(location.href)")
        copy = Person(opened.value)
        sees(copy, "assigned")
        person.fire("begin_execution")
        sees(person, "executing")
        sees(copy, "assigned")
        copy.page.reload()
        copy.fire("start_planning")
        sees(copy, "planning")
        sees(person, "executing")


class TestTheBreaker:
    def explored(self, chromium, folder, degrades):
        file = folder / "limited.yaml"
        file.write_text(LIMITED.replace("DEGRADES", degrades))
        return serving("explore", "limited.yaml", folder=folder)

    def test_a_trip_goes_into_degraded(self, chromium, tmp_path):
        with self.explored(chromium, tmp_path, "true") as explorer:
            person = Person(chromium.open(explorer.url))
            sees(person, "work")
            person.fire("pause")
            sees(person, "rest")
            person.fire("go_on")
            sees(person, "work")
            person.fire("pause")
            sees(person, "degraded")
            expect(person.rows("degraded")).to_contain_text("Max transitions exceeded")
            expect(person.page.get_by_label("Circuit breaker")).to_contain_text("tripped")
            person.press("Undo")
            sees(person, "work")
            ends(explorer, person.page)

    def test_a_trip_breaks_the_machine_until_it_is_reset(self, chromium, tmp_path):
        with self.explored(chromium, tmp_path, "false") as explorer:
            person = Person(chromium.open(explorer.url))
            sees(person, "work")
            person.fire("pause")
            sees(person, "rest")
            person.fire("go_on")
            sees(person, "work")
            person.fire("pause")
            expect(person.rows("broken")).to_contain_text("Max transitions exceeded")
            sees(person, "work")
            person.press("Reset the breaker")
            person.fire("pause")
            sees(person, "rest")
            ends(explorer, person.page)


def test_a_file_with_problems_is_mended_while_its_page_is_open(chromium, tmp_path):
    file = tmp_path / "broken.yaml"
    good = "name: mine\ninitial: a\nstates: [a, b]\ntransitions:\n  - [go, a, b]\n"
    file.write_text(good.replace("a, b]\n", "a, bb]\n", 1))
    with serving("explore", "broken.yaml", folder=tmp_path) as explorer:
        page = chromium.open(explorer.url)
        expect(page.get_by_text("broken.yaml:5")).to_be_visible()
        file.write_text(good)
        page.get_by_role("button", name="Read the file again").click()
        person = Person(page)
        sees(person, "a")
        person.fire("go")
        sees(person, "b")
        other = Person(page.context.new_page())
        file.write_text("name: mine\nstates: 7\n")
        other.page.goto(explorer.url)
        expect(other.page.get_by_text("broken.yaml:2").first).to_be_visible()
        file.write_text(good)
        other.page.reload()  # which is what people try first
        sees(other, "a")
        sees(person, "b")
        page.close()
        ends(explorer, other.page)


def test_a_journal_of_a_run_is_stepped_through(chromium, tmp_path):
    with JsonlJournal(tmp_path / "run.jsonl") as journal:
        for name in ("one", "two"):
            machine = TaskExecution(machine_id=name)
            journal.record(machine)
            machine.begin_execution()
            machine.submit_for_validation()
    with serving("explore", "run.jsonl", "--machine-id", "two", folder=tmp_path) as explorer:
        person = Person(chromium.open(explorer.url))
        sees(person, "validating")
        person.slider.focus()
        person.page.keyboard.press("Home")
        sees(person, "assigned")
        ends(explorer, person.page)
