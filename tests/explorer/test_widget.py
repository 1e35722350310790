"""The widget as Jupyter's page sees it, through a comm that writes everything down; no browser."""

import asyncio
import gc
import importlib.util
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import comm
import pytest

from orkeon_transitions import JsonlJournal, TaskExecution, load_crew
from orkeon_transitions.errors import MissingExtraError, OrkeonError
from orkeon_transitions.explorer import MachineSession, explore
from orkeon_transitions.explorer.session import empty_traits
from orkeon_transitions.explorer.widget import ExplorerWidget
from orkeon_transitions.machines import AsyncTaskExecution
from tests.explorer.fake_session import FakeSession


class RecordingComm:
    """What lies between a widget and its page."""

    def __init__(self, data, **_rest):
        self.comm_id = f"comm-{id(self)}"
        self.known = dict(data["state"])
        self.sent = []
        self.is_closed = False

    def send(self, data=None, buffers=None, **_rest):
        assert not self.is_closed, "nothing is sent after the end"
        assert not buffers
        self.sent.append(data)
        if data["method"] == "update":
            self.known |= data["state"]

    def on_msg(self, callback):
        self._callback = callback

    def close(self, *_args, **_rest):
        self.is_closed = True

    def do(self, content):
        """What a page sends."""
        self._callback({"content": {"data": {"method": "custom", "content": content}}, "buffers": []})

    def set(self, **state):
        """What a page sends that sets traits."""
        self._callback({"content": {"data": {"method": "update", "state": state}}, "buffers": []})

    @property
    def answers(self):
        return [data["content"] for data in self.sent if data["method"] == "custom"]


@pytest.fixture
def page(monkeypatch):
    """The comms that widgets open in this test."""
    comms = []

    def create_comm(**options):
        comms.append(RecordingComm(**options))
        return comms[-1]

    monkeypatch.setattr(comm, "create_comm", create_comm)
    return comms


@contextmanager
def shown(page, trait, **values):
    """Waits until a page knows these values, however late and from whichever thread they come."""
    yield
    until = time.monotonic() + 5
    while not values.items() <= page.known[trait].items() and time.monotonic() < until:
        time.sleep(0.01)
    assert values.items() <= page.known[trait].items()


@pytest.fixture
def session():
    return FakeSession(**empty_traits() | {"page": "machine", "title": {"name": "review"}})


@pytest.fixture
def widget(page, session):
    widget = ExplorerWidget(session)
    yield widget
    widget.close()


class TestShowing:
    def test_a_page_knows_everything_from_the_start(self, widget, page, session):
        assert session.view().items() <= page[-1].known.items()
        assert set(empty_traits()) <= set(page[-1].known)

    def test_it_brings_the_code_and_the_look_of_the_page(self, widget, page):
        assert "export default" in page[-1].known["_esm"]
        assert ".orkeon-explorer" in page[-1].known["_css"]

    def test_a_change_is_one_message_with_what_is_new_and_nothing_else(self, widget, page, session):
        session.change(now={"state": "in_review"}, position={"at": 1, "last": 1, "live": True})
        (message,) = page[-1].sent
        assert message["method"] == "update"
        assert message["state"] == {
            "now": {"state": "in_review"},
            "position": {"at": 1, "last": 1, "live": True},
        }

    def test_a_page_that_is_loaded_again_is_told_the_newest(self, widget, session):
        session.change(now={"state": "accepted"})
        assert widget.get_state()["now"] == {"state": "accepted"}
        assert widget.get_state("now") == {"now": {"state": "accepted"}}
        assert widget.get_state(["now", "_esm"]).keys() == {"now", "_esm"}

    def test_a_page_cannot_set_what_it_is_shown(self, widget, page, session):
        page[-1].set(now={"state": "forged"}, title={"name": "forged"})
        assert widget.get_state(["now", "title"]) == {
            "now": session.view()["now"],
            "title": session.view()["title"],
        }

    def test_what_it_shows_leaves_jupyter_s_own_names_alone(self, widget):
        widget.log.debug("the trait 'log' is not the widget's logger")

    def test_it_says_what_it_shows(self, widget, session):
        assert repr(widget) == "<ExplorerWidget of 'review'>"
        session.change(now={"state": "draft"})
        assert repr(widget) == "<ExplorerWidget of 'review' in 'draft'>"
        assert "text/plain" in widget._repr_mimebundle_()[0]


class TestChangesFromOtherThreads:
    def test_they_arrive_whole_and_in_their_order(self, widget, page, session):
        def count():
            for number in range(200):
                session.change(position={"at": number, "last": number, "live": True})

        counting = threading.Thread(target=count)
        counting.start()
        while counting.is_alive():
            widget.get_state()
        counting.join()
        seen = [message["state"]["position"]["at"] for message in page[-1].sent]
        assert seen == list(range(200))

    def test_none_is_lost_while_the_page_is_being_opened(self, page, session, monkeypatch):
        arrived = threading.Event()

        def change_meanwhile(**options):
            # Another thread tells a change after the state was read, before anything can be sent.
            threading.Thread(target=lambda: (session.change(now={"state": "late"}), arrived.set())).start()
            arrived.wait(0.05)
            page.append(RecordingComm(**options))
            return page[-1]

        monkeypatch.setattr(comm, "create_comm", change_meanwhile)
        widget = ExplorerWidget(session)
        assert arrived.wait(5)
        assert page[-1].known["now"] == {"state": "late"}
        widget.close()

    def test_none_is_lost_between_looking_and_listening(self, page, session):
        view = session.view

        def view_and_move_on():
            shown = view()
            session.change(now={"state": "moved on"})
            return shown

        session.view = view_and_move_on
        widget = ExplorerWidget(session)
        assert page[-1].known["now"] == {"state": "moved on"}
        widget.close()


class TestAsking:
    def test_what_a_page_asks_is_passed_on(self, widget, page, session):
        page[-1].do({"do": "fire", "trigger": "submit"})
        assert session.asked == [{"do": "fire", "trigger": "submit"}]
        assert page[-1].known["now"] == {"state": "submit"}
        assert page[-1].answers == []

    def test_an_answer_goes_to_the_page(self, widget, page):
        page[-1].do({"do": "dance"})
        assert page[-1].answers == [{"error": "no 'dance'"}]

    @pytest.mark.parametrize("nonsense", [{}, {"do": None}, {"do": "fire"}, [], "fire", None, 7])
    def test_nonsense_is_answered_and_changes_nothing(self, page, nonsense):
        widget = explore("task_execution")
        before = widget.get_state()
        page[-1].do(nonsense)
        (answer,) = page[-1].answers
        assert list(answer) == ["error"]
        assert widget.get_state() == before
        widget.close()


class TestClosing:
    def test_it_ends_the_session(self, page, session):
        widget = ExplorerWidget(session)
        widget.close()
        assert session.is_closed
        assert session.listeners == 0
        assert page[-1].is_closed
        assert repr(widget) == "<ExplorerWidget, closed>"

    def test_twice_is_once(self, page, session):
        widget = ExplorerWidget(session)
        widget.close()
        widget.close()

    def test_afterwards_nothing_is_shown_and_nothing_done(self, page, session):
        widget = ExplorerWidget(session)
        widget.close()
        session.change(now={"state": "elsewhere"})
        page[-1].do({"do": "fire", "trigger": "submit"})
        assert page[-1].sent == []
        assert session.asked == []

    def test_one_that_was_never_finished_can_be_thrown_away(self, page):
        session = FakeSession()
        del session.traits["page"]
        session.view = lambda: (_ for _ in ()).throw(OrkeonError("not today"))
        with pytest.raises(OrkeonError, match="not today"):
            ExplorerWidget(session)
        gc.collect()


class TestExplore:
    def test_a_machine_that_ships_by_its_name(self, page):
        widget = explore("task_execution")
        assert page[-1].known["page"] == "machine"
        assert page[-1].known["title"]["name"] == "task_execution"
        assert widget.machine.state == "assigned"
        page[-1].do({"do": "fire", "trigger": "begin_execution"})
        assert widget.machine.state == "executing"
        widget.close()

    def test_a_machine_of_the_program_s_is_followed_and_fired(self, page):
        fsm = TaskExecution()
        widget = explore(fsm)
        assert widget.machine is fsm
        with shown(page[-1], "now", state="executing"):
            fsm.begin_execution()
        with shown(page[-1], "now", state="validating"):
            page[-1].do({"do": "fire", "trigger": "submit_for_validation"})
        assert fsm.state == "validating"
        widget.close()
        fsm.validation_passed()
        assert page[-1].known["now"]["state"] == "validating"

    def test_an_async_machine_is_fired_in_the_loop_that_it_lives_in(self, page):
        async def until(condition):
            async with asyncio.timeout(5):
                while not condition(page[-1].known):
                    await asyncio.sleep(0.01)

        async def as_in_a_notebook():
            fsm = AsyncTaskExecution()
            widget = explore(fsm)
            await fsm.begin_execution()
            await until(lambda known: known["can"]["fire"] and known["now"]["state"] == "executing")
            page[-1].do({"do": "fire", "trigger": "submit_for_validation"})
            await until(lambda known: known["now"]["state"] == "validating")
            widget.close()
            return fsm.state

        assert asyncio.run(as_in_a_notebook()) == "validating"

    def test_a_crew_is_followed_by_its_observer(self, page):
        crew = load_crew("{agents: {ann: {}}, tasks: {brew: {description: Brew, agent: ann}}}")
        widget = explore(crew)
        assert page[-1].known["page"] == "crew"
        with shown(page[-1], "crew", status="completed"):
            crew.run_sync(observer=widget.observer)
        widget.close()

    def test_a_machine_has_no_observer(self, page):
        widget = explore("task_status")
        assert widget.observer is None
        widget.close()

    def test_a_journal_of_several_machines_begins_with_the_one_that_is_named(self, page, tmp_path):
        with JsonlJournal(tmp_path / "run.jsonl") as journal:
            for name in "one", "two":
                task = TaskExecution(machine_id=name)
                journal.record(task)
                task.begin_execution()
        widget = explore(tmp_path / "run.jsonl", machine_id="two")
        assert page[-1].known["page"] == "journal"
        assert page[-1].known["title"]["machine_id"] == "two"
        assert widget.machine is None
        widget.close()

    def test_a_file_with_problems_shows_them(self, page, tmp_path):
        file = tmp_path / "review.yaml"
        file.write_text("name: review\ninitial: drft\nstates: [draft]\n", encoding="utf-8")
        widget = explore(file)
        assert page[-1].known["page"] == "problems"
        assert "drft" in page[-1].known["problems"][0]["message"]
        assert str(file) in repr(widget)
        widget.close()

    def test_a_class_is_no_machine_yet(self, page):
        with pytest.raises(TypeError, match=r"explore\(TaskExecution\(\.\.\.\)\)"):
            explore(TaskExecution)

    def test_a_session_whose_widget_fails_is_closed(self, page, monkeypatch):
        closed = []
        monkeypatch.setattr(MachineSession, "close", lambda self: closed.append(self))
        monkeypatch.setattr(comm, "create_comm", lambda **_: (_ for _ in ()).throw(OSError("no kernel")))
        with pytest.raises(OSError, match="no kernel"):
            explore("task_status")
        assert closed

    @pytest.mark.parametrize("subject", [None, 7, object(), ["task_execution"]])
    def test_what_is_nothing_to_explore_is_refused_by_its_kind(self, subject, page):
        with pytest.raises((TypeError, OrkeonError), match=type(subject).__name__):
            explore(subject)
        assert page == []

    def test_without_anywidget_it_says_what_to_install(self, monkeypatch):
        find = importlib.util.find_spec
        monkeypatch.setattr(
            "orkeon_transitions.explorer.notebook.find_spec",
            lambda name: None if name == "anywidget" else find(name),
        )
        with pytest.raises(MissingExtraError, match=r"pip install 'orkeon-transitions\[explore\]'"):
            explore("task_execution")

    def test_only_who_asks_loads_anywidget(self):
        code = (
            "import sys; from orkeon_transitions.explorer import explore;"
            "print(*sorted({'anywidget', 'traitlets', 'ipywidgets', 'starlette'} & set(sys.modules)))"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout.split() == []
