"""What goes wrong while the explorer's page is open: a callback, the connection, the process."""

import threading
from urllib.parse import urlsplit

import pytest

from orkeon_transitions import AsyncStateMachine, load_definition
from orkeon_transitions.explorer import open_session
from orkeon_transitions.explorer.serving import Served, address, listen, names_of, port_of
from tests.explorer.browser.explorers import Wire, serving
from tests.explorer.browser.person import REFUSED_LOAD, Person, ends, expect, sees

pytestmark = [pytest.mark.slow, pytest.mark.browser]


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
