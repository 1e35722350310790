"""`orkeon run --watch`: the page follows the run, and the run is as it is without it."""

import asyncio
import json
import os
import re
import shutil
import signal
import sys
import threading

import pytest
from websockets.sync.client import connect

from orkeon_transitions.cli import pages
from orkeon_transitions.cli.watching import both
from orkeon_transitions.crew import CrewObserver
from orkeon_transitions.crew.offline import OfflineModel

CREW = "103-ts-codebase-with-fsm"
DONE = {"completed", "degraded", "failed", "cancelled"}


class Page:
    """A page that writes down how the crew stands until its run has ended.

    Attributes:
        stood: The crew's status, each time that it was told.
        tasks: The last status of each task.
        begins: Called each time that something is told.
        ends: Called when the run has ended.
    """

    def __init__(self):
        self.stood, self.tasks = [], {}
        self.begins = self.ends = lambda: None
        self.over = threading.Event()
        self.error = None

    def follow(self, url):
        try:
            self._follow(url)
        except BaseException as error:
            self.error = error
            raise

    def _follow(self, url):
        base, _, token = url.partition("/?token=")
        address = f"ws{base[4:]}/socket?token={token}&tab=tab-number-one&page=p"
        with connect(address, origin=base, proxy=None, open_timeout=60) as socket:
            for text in socket:
                self.look(json.loads(text).get("traits", {}))
                if self.stood and self.stood[-1] in DONE:
                    break
        self.over.set()
        self.ends()

    def look(self, traits):
        self.tasks |= {task["id"]: task["status"] for task in traits.get("machines", [])}
        if traits.get("crew"):
            self.stood.append(traits["crew"]["status"])
            self.begins()


@pytest.fixture
def page(monkeypatch):
    """The page that the browser opens."""
    opened = Page()
    monkeypatch.setenv("BROWSER", "mine")
    monkeypatch.setattr(pages.webbrowser, "open", opened.follow)
    return opened


def interrupt_when(said):
    """Presses Ctrl-C when the terminal says something."""

    def wait():
        for _ in range(1000):
            if said in sys.stderr.getvalue():
                break
            threading.Event().wait(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    return wait


def without_times(text):
    return re.sub(r"\d+ ms|\d+\.\d s|\S*/orkeon-output/\S*", "", text)


def test_in_a_pipe_the_run_is_as_it_is_without_the_page(orkeon, page, monkeypatch):
    there = OfflineModel.reply

    async def seen(*arguments):
        while not page.stood:
            await asyncio.sleep(0.01)
        return await there(*arguments)

    plain = orkeon("run", CREW)
    shutil.rmtree("orkeon-output")  # else the second run would find what the first one wrote
    monkeypatch.setattr(OfflineModel, "reply", seen)
    done = orkeon("run", CREW, "--watch", "--port", "0")
    assert done.code == plain.code == 0
    assert without_times(done.out) == without_times(plain.out)
    first, note, rest = done.err.split("\n", 2)
    assert re.fullmatch(r"the run's page: http://127\.0\.0\.1:\d+/\?token=\S+", first)
    assert note == "note: the page ends with the run; at a terminal it stays until Ctrl-C"
    assert without_times(rest) == without_times(plain.err)
    page.over.wait(10)
    assert page.stood[-1] == "completed"
    assert "the run's page stays" not in done.err


def test_on_a_terminal_the_page_stays_until_ctrl_c(on_terminal, page):
    page.ends = interrupt_when("the run's page stays until Ctrl-C")
    done = on_terminal("run", CREW, "--watch", "--port", "0", columns=200)
    assert done.code == 0
    assert page.stood[-1] == "completed"
    assert set(page.tasks.values()) == {"completed"}
    assert len(page.tasks) == 7
    assert "the run's page: http://127.0.0.1:" in done.err
    assert "ends with the run" not in done.err


def test_the_exit_code_is_that_of_the_run(on_terminal, page, little_crew):
    text = little_crew.read_text().replace(
        "agent: scout}", "agent: scout, circuitBreaker: {maxTransitions: 1}}"
    )
    little_crew.write_text(text)
    page.ends = interrupt_when("the run's page stays until Ctrl-C")
    done = on_terminal("run", little_crew, "--watch", "--port", "0", columns=200)
    assert done.code in (1, 3)
    assert page.stood[-1] in {"failed", "degraded"}


def test_ctrl_c_during_the_run_ends_the_page_with_it(on_terminal, page, monkeypatch):
    asked, pressed = threading.Event(), threading.Event()

    async def never(*_):
        asked.set()
        await asyncio.sleep(60)

    def press():
        if asked.wait(20) and not pressed.is_set():
            pressed.set()
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(OfflineModel, "reply", never)
    page.begins = press
    done = on_terminal("run", CREW, "--watch", "--port", "0", columns=200)
    assert (page.error, pressed.is_set()) == (None, True)
    assert done.code == 130
    assert "stays until" not in done.err
    assert pressed.is_set()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--watch", "--json"], "--watch and --json"),
        (["--port", "9000"], "--port goes with --watch"),
        (["--host", "0.0.0.0"], "--host goes with --watch"),
        (["--no-open"], "--no-open goes with --watch"),
    ],
)
def test_options_that_contradict_each_other(orkeon, options, words):
    done = orkeon("run", CREW, *options)
    assert (done.code, done.out) == (2, "")
    assert words in done.err


def test_the_extra_is_named_where_it_is_missing(orkeon, monkeypatch):
    monkeypatch.setattr(pages, "find_spec", lambda name: None)
    done = orkeon("run", CREW, "--watch")
    assert (done.code, done.out) == (2, "")
    assert "orkeon-transitions[explore]" in done.err


def test_a_run_that_does_not_begin_opens_no_browser(orkeon, monkeypatch, folder):
    monkeypatch.setenv("BROWSER", "mine")
    monkeypatch.setattr(pages.webbrowser, "open", lambda url: pytest.fail("a browser was opened"))
    (folder / "crew.yaml").write_text(
        "agents: {a: {role: A}}\ntasks: {t: {description: 'About {topic}', agent: a}}\n"
    )
    done = orkeon("run", "crew.yaml", "--watch", "--port", "0")
    assert done.code == 2
    assert "topic" in done.err


def test_a_run_that_goes_on_is_watched_too(orkeon, on_terminal, page, monkeypatch):
    store = ("--store", "sqlite:///runs.db")
    there = OfflineModel.reply

    async def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(OfflineModel, "reply", interrupted)
    assert orkeon("run", CREW, *store, "--run-id", "r").code == 130
    monkeypatch.setattr(OfflineModel, "reply", there)
    page.ends = interrupt_when("the run's page stays until Ctrl-C")
    done = on_terminal("resume", "r", *store, "--watch", "--port", "0", columns=200)
    assert done.code == 0
    assert page.stood[-1] == "completed"
    assert set(page.tasks.values()) == {"completed"}


class TestBoth:
    def test_each_is_told_in_turn(self):
        told = []
        first = CrewObserver(task_started=lambda fact: told.append(("first", fact)))
        second = CrewObserver(
            task_started=lambda fact: told.append(("second", fact)), task_moved=lambda fact: told.append(fact)
        )
        one = both(first, second)
        one.task_started(1)
        one.task_moved(2)
        assert told == [("first", 1), ("second", 1), 2]
        assert one.task_finished is None

    def test_one_that_raises_does_not_keep_the_other_from_being_told(self, caplog):
        def fail(fact):
            raise ZeroDivisionError

        told = []
        both(CrewObserver(decided=fail), CrewObserver(decided=told.append)).decided(1)
        assert told == [1]
        assert "observer failed" in caplog.text
