"""`orkeon explore` and its page, as a person uses them: a real process and a real browser."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from orkeon_transitions import AsyncStateMachine, load_definition, replay
from orkeon_transitions.explorer import open_session
from orkeon_transitions.explorer.serving import Served, address, listen, names_of, port_of
from orkeon_transitions.machines import machine_definition
from tests.explorer.browser.explorers import Wire, serving

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect
expect.set_options(timeout=20_000)  # a computer that is busy with other tests may take a while
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
REFUSED_LOAD = "Failed to load resource"


@pytest.fixture(scope="module")
def task(tmp_path_factory):
    """The page of a machine that ships, for the tests that leave the process as it is."""
    with serving("explore", "task_execution", folder=tmp_path_factory.mktemp("task")) as explorer:
        yield explorer
        assert explorer.end() == 0
        assert b"exploring task_execution; Ctrl-C ends it" in explorer.messages
        assert b"rror" not in explorer.messages


class Person:
    """What a person does on a page, and sees there."""

    def __init__(self, page):
        self.page = page
        self.state = page.locator(".ork-state-name")
        self.log = page.locator(".ork-log tbody tr")
        self.slider = page.get_by_role("slider", name="Step")

    def trigger(self, name):
        return self.page.locator(f'[data-trigger="{name}"]')

    def click(self, name):
        self.trigger(name).click(force=True)

    def fire(self, *names):
        """Clicks triggers, each when the page has shown what became of the one before."""
        for name in names:
            rows = self.log.count()
            self.click(name)
            expect(self.log.nth(rows)).to_be_attached()

    def press(self, name):
        self.page.get_by_role("button", name=name, exact=True).click()

    def rows(self, kind):
        return self.page.locator(f'.ork-log tbody tr[data-kind="{kind}"]')

    def drawn(self, state):
        return self.page.locator(f'svg [id$="state-{state}"]')


@pytest.fixture
def person(chromium, task):
    somebody = Person(chromium.open(task.url))
    expect(somebody.state).to_have_text("assigned")
    return somebody


def sees(person, state):
    expect(person.state).to_have_text(state)


def ends(explorer, page):
    """Closes the page and ends the process in good order."""
    page.close()
    assert explorer.end() == 0


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


class TestForeigners:
    @pytest.mark.parametrize("query", ["/?token=wrong", "/", "/?token="])
    def test_a_wrong_token_is_refused(self, chromium, task, query):
        chromium.allowed.append(REFUSED_LOAD)
        page = chromium.open()
        answer = page.goto(f"{task.base}{query}")
        assert answer.status == 403
        expect(page.get_by_role("heading")).to_have_text("This address is not complete")
        assert page.locator("script").count() == 0

    def test_another_page_gets_nothing(self, chromium, task):
        """A page of somebody else's that has got hold of the whole address."""
        chromium.allowed.append("")
        with foreign_page() as url:
            page = chromium.open(url)
            found = page.evaluate(STEAL, {"page": task.url, "base": task.base})
        assert found == {"socket": "closed", "read": "refused", "script": "refused", "frame": "empty"}

    def test_it_cannot_be_asked_for_by_another_name(self, chromium, task):
        chromium.allowed.append(REFUSED_LOAD)
        page = chromium.open()
        answer = page.request.get(task.url, headers={"Host": "evil.example"})
        assert answer.status == 403


STEAL = """async ({ page, base }) => {
  const token = new URL(page).search;
  const socket = await new Promise((tell) => {
    const made = new WebSocket(base.replace("http", "ws") + "/socket" + token + "&tab=tab-number-one&page=p");
    made.onopen = () => tell("open");
    made.onclose = () => tell("closed");
  });
  const read = await fetch(page).then(() => "read", () => "refused");
  const script = await new Promise((tell) => {
    const made = document.createElement("script");
    made.onload = () => tell("run");
    made.onerror = () => tell("refused");
    made.src = base + "/page.js";
    document.head.append(made);
  });
  const frame = document.createElement("iframe");
  frame.src = page;
  document.body.append(frame);
  await new Promise((tell) => (frame.onload = tell));
  let inside = "empty";
  try { if (frame.contentDocument?.getElementById("explorer")) inside = "seen"; } catch {}
  return { socket, read, script, frame: inside };
}"""


@contextmanager
def foreign_page():
    class Answer(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b'<!doctype html><link rel="icon" href="data:,"><title>x</title><body>')

        def log_message(self, *words):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


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


def in_this_process(subject):
    """Serves what only a program can make, such as a machine with callbacks."""
    from orkeon_transitions.explorer.server import application

    listener = listen("127.0.0.1", 0)
    made = application(lambda: open_session(subject), token="t", hosts=names_of("127.0.0.1"))
    return Served(made, listener), address("127.0.0.1", port_of(listener), "t")


class TestCallbacks:
    DEFINITION = """\
name: risky
initial: calm
states: [{name: calm, on_enter: settle}, {name: busy, on_enter: work}]
transitions:
  - [begin, calm, busy]
  - [stop, busy, calm]
"""

    def machine(self, work):
        return AsyncStateMachine(
            load_definition(self.DEFINITION), actions={"work": work, "settle": lambda event: None}
        )

    def test_one_that_raises_is_shown_and_the_page_lives_on(self, chromium):
        def work(event):
            raise ZeroDivisionError("division by nobody")

        served, url = in_this_process(self.machine(work))
        with served:
            person = Person(chromium.open(url))
            sees(person, "calm")
            person.fire("begin")
            expect(person.page.get_by_role("alert").filter(visible=True)).to_contain_text(
                "division by nobody"
            )
            sees(person, "busy")  # it was raised after the state was written
            person.fire("stop")
            sees(person, "calm")
            person.page.close()

    def test_one_that_hangs_is_shown_and_the_page_lives_on(self, chromium):
        go_on = threading.Event()

        async def work(event):
            go_on.wait(60)

        served, url = in_this_process(self.machine(work))
        try:
            with served:
                person = Person(chromium.open(url))
                sees(person, "calm")
                person.click("begin")
                expect(person.page.get_by_text("begin has been running")).to_be_visible()
                person.press("Reset")
                sees(person, "calm")
                person.page.close()
        finally:
            go_on.set()


def test_a_page_that_is_open_is_told_of_the_end(chromium, tmp_path):
    with serving("explore", "hermes_agent", folder=tmp_path) as explorer:
        person = Person(chromium.open(explorer.url))
        sees(person, "idle")
        person.fire("receive_task")
        assert explorer.end() == 0
        expect(person.page.get_by_text("orkeon has ended. This is what was there last.")).to_be_visible()
        sees(person, "planning")


class TestConnection:
    @pytest.fixture
    def wire(self, task):
        made = Wire(urlsplit(task.base).port)
        yield made
        made.close()

    def test_it_is_made_again_and_finds_its_machine(self, chromium, task, wire):
        chromium.allowed += ["WebSocket connection", REFUSED_LOAD]
        url = task.url.replace(f":{urlsplit(task.base).port}/", f":{wire.port}/")
        person = Person(chromium.open(url))
        sees(person, "assigned")
        person.fire("start_planning")
        sees(person, "planning")
        wire.cut()
        lost = person.page.get_by_text("The connection to Python is lost")
        expect(lost).to_be_visible()
        person.click("begin_execution")
        expect(person.page.get_by_text("Not connected: this was not done.")).to_be_visible()
        wire.mend()
        expect(lost).to_be_hidden()
        sees(person, "planning")
        person.fire("begin_execution")
        sees(person, "executing")

    def test_another_server_on_the_port_is_noticed(self, chromium, tmp_path):
        chromium.allowed += ["WebSocket connection", REFUSED_LOAD]
        with serving("explore", "hermes_agent", folder=tmp_path) as explorer:
            person = Person(chromium.open(explorer.url))
            sees(person, "idle")
            explorer.close()
        port = urlsplit(explorer.base).port
        with serving("explore", "hermes_agent", "--port", str(port), folder=tmp_path) as second:
            assert urlsplit(second.base).port == port
            expect(person.page.get_by_text("This address is not valid any more")).to_be_visible()
            ends(second, person.page)


def test_a_journal_of_a_run_is_stepped_through(chromium, tmp_path):
    from orkeon_transitions import JsonlJournal, TaskExecution

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


SLOW_TOOL = """\
import time
from pathlib import Path
from orkeon_transitions import tool

@tool
def ponder(text: str) -> str:
    \"\"\"Thinks until it may go on.\"\"\"
    while not Path("go").exists():
        time.sleep(0.02)
    return "well"
"""
PONDERERS = """\
name: ponderers
agents:
  thinker: {role: Thinker, tools: [ponder]}
tasks:
  first: {description: Think, agent: thinker}
  second: {description: Think more, agent: thinker, dependencies: [first]}
"""


class TestWatching:
    def tasks(self, page):
        return page.locator(".ork-machines button")

    def test_a_run_is_followed_while_it_goes_on(self, chromium, tmp_path):
        (tmp_path / "slow.py").write_text(SLOW_TOOL)
        (tmp_path / "crew.yaml").write_text(PONDERERS)
        with serving("run", "crew.yaml", "--tools", "slow", "--watch", folder=tmp_path) as explorer:
            page = chromium.open(explorer.url)
            person = Person(page)
            expect(self.tasks(page)).to_have_count(2)
            sees(person, "tool_calling")
            expect(page.get_by_label("The crew")).to_contain_text("executing")
            (tmp_path / "go").touch()
            expect(page.get_by_label("The crew")).to_contain_text("completed")
            self.tasks(page).filter(has_text="first").click()
            sees(person, "completed")
            person.slider.focus()
            page.keyboard.press("Home")
            sees(person, "assigned")
            explorer.until(b"stays until Ctrl-C")
            ends(explorer, page)

    def test_the_crew_that_ships(self, chromium, tmp_path):
        name = "103-ts-codebase-with-fsm"
        with serving("run", name, "--watch", "--journal", "run.jsonl", folder=tmp_path) as explorer:
            page = chromium.open(explorer.url)
            expect(page.get_by_label("The crew")).to_contain_text("completed")
            expect(self.tasks(page)).to_have_count(7)
            explorer.until(b"stays until Ctrl-C")
            ends(explorer, page)
        lines = [json.loads(line) for line in Path(tmp_path / "run.jsonl").read_text().splitlines()]
        assert lines
        with serving("explore", "run.jsonl", folder=tmp_path) as explorer:
            page = chromium.open(explorer.url)
            expect(self.tasks(page).first).to_be_visible()
            person = Person(page)
            person.slider.focus()
            page.keyboard.press("Home")
            expect(person.log.first).to_be_visible()
            ends(explorer, page)
