"""`orkeon explore`: the page is served until Ctrl-C, and what cannot be served is told before."""

import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager
from urllib.parse import urlsplit

import httpx
import pytest

from orkeon_transitions.cli import pages
from orkeon_transitions.cli.interrupts import Ending
from orkeon_transitions.cli.screen import Screen
from orkeon_transitions.explorer import serving
from orkeon_transitions.machines import TaskExecution
from orkeon_transitions.store import MachineStore
from tests.cli.conftest import HERMES_ROWS, write_log

COMMAND = [sys.executable, "-m", "orkeon_transitions", "explore", "--no-open"]


@pytest.fixture(autouse=True)
def no_desktop(monkeypatch):
    for name in pages.DESKTOP:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pages.webbrowser, "open", lambda url: pytest.fail("a browser was opened"))


@pytest.fixture
def browser(monkeypatch):
    """A browser that loads the page and then lets the person press Ctrl-C."""
    visits = []

    def visit(url):
        visits.append((url, httpx.get(url, trust_env=False).status_code))
        os.kill(os.getpid(), signal.SIGINT)
        return True

    monkeypatch.setenv("BROWSER", "mine")
    monkeypatch.setattr(pages.webbrowser, "open", visit)
    return visits


@pytest.fixture
def taken():
    """A port that somebody listens on."""
    with serving.listen("127.0.0.1", 0) as listener:
        yield serving.port_of(listener)


@contextmanager
def exploring(*arguments):
    """Runs the command as a process of its own; gives it and its page's address."""
    process = subprocess.Popen(
        [*COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        yield process, process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate()


def test_the_page_is_served_and_opened_until_ctrl_c(orkeon, browser):
    done = orkeon("explore", "task_execution")
    [(url, status)] = browser
    assert status == 200
    assert (done.code, done.out) == (0, f"{url}\n")
    assert "exploring task_execution; Ctrl-C ends it\n" in done.err
    assert urlsplit(url).hostname == "127.0.0.1"
    with pytest.raises(httpx.ConnectError):
        httpx.get(url, trust_env=False)


def test_quiet_is_the_address_alone(orkeon, browser):
    done = orkeon("explore", "task_execution", "--quiet", "--port", "0")
    assert (done.code, done.out, done.err) == (0, f"{browser[0][0]}\n", "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_it_ends_well_however_it_is_asked_to(number):
    with exploring("hermes_agent", "--port", "0") as (process, url):
        assert httpx.get(url, trust_env=False).status_code == 200
        process.send_signal(number)
        rest, messages = process.communicate(timeout=20)
    assert (process.returncode, rest) == (0, "")
    assert messages == "exploring hermes_agent; Ctrl-C ends it\n"


def test_what_a_store_s_address_may_hide_is_not_printed(orkeon, browser, folder):
    with MachineStore("sqlite:///runs.db") as store:
        store.create(TaskExecution, machine_id="t1")
    done = orkeon("explore", "sqlite:///file:runs.db?uri=true&key=hunter2", "--port", "0")
    assert done.code == 0
    assert "exploring sqlite:///file:runs.db; Ctrl-C ends it" in done.err
    assert "hunter2" not in done.out + done.err


def test_a_second_one_has_a_page_of_its_own():
    with exploring("task_execution") as (_, one), exploring("task_execution") as (process, two):
        assert one != two
        wrong = httpx.get(two.partition("?")[0], params={"token": one.partition("=")[2]}, trust_env=False)
        assert wrong.status_code == 403
        process.send_signal(signal.SIGINT)
        assert f"is in use; taking {urlsplit(two).port}" in process.communicate(timeout=20)[1]


def test_a_file_with_problems_is_served(orkeon, browser, folder):
    (folder / "broken.yaml").write_text("name: x\nstates: [a, b]\n")
    assert orkeon("explore", "broken.yaml").code == 0
    assert browser[0][1] == 200


def test_a_journal_is_served(orkeon, browser, folder):
    log = write_log(folder / "agent.log", *HERMES_ROWS)
    assert orkeon("explore", log, "--machine-id", "s").code == 0
    assert orkeon("explore", log, "--machine", "hermes_agent").code == 0
    assert [status for _, status in browser] == [200, 200]


class TestPorts:
    def test_one_that_is_in_use_is_named_and_another_offered(self, orkeon, taken, browser):
        done = orkeon("explore", "task_execution", "--port", taken)
        assert (done.code, done.out, browser) == (2, "", [])
        before, free = done.err.rsplit(" ", 1)
        assert before == f"error: port {taken} is in use; {int(free)} is free: --port"
        assert orkeon("explore", "task_execution", "--port", int(free)).code == 0

    def test_the_usual_one_makes_way_for_the_next(self, orkeon, taken, browser, monkeypatch):
        monkeypatch.setattr(serving, "PORT", taken)
        done = orkeon("explore", "task_execution")
        [(url, status)] = browser
        assert (done.code, status) == (0, 200)
        assert f"note: port {taken} is in use; taking {urlsplit(url).port}\n" in done.err

    def test_one_that_may_not_be_taken(self, orkeon, monkeypatch):
        def listen(host, port):
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(serving, "listen", listen)
        done = orkeon("explore", "task_execution", "--port", 80)
        assert (done.code, done.err) == (
            2, "error: port 80 may not be taken by everybody: choose one from 1024\n"
        )  # fmt: skip

    @pytest.mark.parametrize("port", ["-1", "65536", "eighty"])
    def test_what_is_none(self, orkeon, port):
        done = orkeon("explore", "task_execution", "--port", port)
        assert done.code == 2
        assert "--port" in done.err

    def test_none_that_is_free_is_told(self, orkeon, monkeypatch):
        def listen(host, port):
            raise OSError(98, "Address already in use")

        monkeypatch.setattr(serving, "listen", listen)
        done = orkeon("explore", "task_execution", "--port", 9000)
        assert (done.code, done.err) == (2, "error: port 9000 is in use\n")
        done = orkeon("explore", "task_execution")
        assert (done.code, done.err) == (
            2, "error: the page cannot be served on 127.0.0.1: Address already in use\n"
        )  # fmt: skip


class TestHosts:
    @pytest.mark.parametrize("host", ["192.0.2.1", "no-such-host.invalid"])
    def test_one_that_is_not_of_this_computer(self, orkeon, host):
        done = orkeon("explore", "task_execution", "--host", host)
        assert (done.code, done.out) == (2, "")
        assert done.err == f"error: --host {host}: is no name or address of this computer\n"

    def test_one_that_others_can_reach_warns(self, orkeon, browser):
        done = orkeon("explore", "task_execution", "--host", "0.0.0.0", "--port", "0")
        assert done.code == 0
        assert "warning: the page listens on 0.0.0.0: others in the network" in done.err
        [(url, status)] = browser
        assert (urlsplit(url).hostname, status) == ("127.0.0.1", 200)
        assert f"from elsewhere: http://{socket.gethostname()}:{urlsplit(url).port}/?token=" in done.err

    @pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
    def test_the_loopback_does_not(self, orkeon, browser, host):
        assert "warning" not in orkeon("explore", "task_execution", "--host", host).err
        assert browser[0][1] == 200


class TestOpening:
    def ended(self, orkeon, *options):
        return orkeon("explore", "task_execution", "--port", "0", *options)

    @pytest.fixture(autouse=True)
    def soon(self, monkeypatch):
        monkeypatch.setattr(Ending, "wait", lambda *_: threading.Event().wait(0.3))

    def test_not_where_nobody_wants_it(self, orkeon, monkeypatch):
        monkeypatch.setenv("DISPLAY", ":0")
        assert self.ended(orkeon, "--no-open").code == 0

    def test_not_without_a_desktop(self, orkeon, monkeypatch):
        monkeypatch.setattr(sys, "platform", "linux")
        assert self.ended(orkeon).code == 0

    def test_a_browser_that_fails_is_no_matter(self, orkeon, monkeypatch):
        opened = []

        def fail(url):
            opened.append(url)
            raise OSError("no browser")

        monkeypatch.setenv("DISPLAY", ":0")
        monkeypatch.setattr(pages.webbrowser, "open", fail)
        done = self.ended(orkeon)
        assert (done.code, done.out) == (0, f"{opened[0]}\n")


class TestBadInput:
    @pytest.fixture(autouse=True)
    def never(self, monkeypatch):
        monkeypatch.setattr(Ending, "wait", lambda *_: pytest.fail("it was served"))

    @pytest.mark.parametrize("name", ["no-such-file.yaml", "task_exekution", "", "sqlite:///nothing.db"])
    def test_what_is_not_there_is_told_before_anything_is_served(self, orkeon, name):
        done = orkeon("explore", name)
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith("error: ") or ": error: " in done.err
        assert "Traceback" not in done.err

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            (("--machine", "hermes_agnet"), "did you mean 'hermes_agent'?"),
            (("--machine", "hermes_agent", "--machine-id", "zzz"), "no machine 'zzz'"),
        ],
    )
    def test_a_machine_that_a_journal_has_not_is_a_mistake(self, orkeon, folder, options, words):
        log = write_log(folder / "agent.log", *HERMES_ROWS)
        done = orkeon("explore", log, *options)
        assert (done.code, done.out) == (2, "")
        assert words in done.err

    @pytest.mark.parametrize("option", ["--machine", "--machine-id"])
    def test_options_for_journals_go_with_journals(self, orkeon, option):
        done = orkeon("explore", "task_execution", option, "hermes_agent")
        assert (done.code, done.out) == (2, "")
        assert f"task_execution is no journal: {option} goes with a journal" in done.err

    @pytest.mark.parametrize("missing", pages.NEEDED)
    def test_the_extra_is_named_where_it_is_missing(self, orkeon, monkeypatch, missing):
        there = pages.find_spec
        monkeypatch.setattr(pages, "find_spec", lambda name: None if name == missing else there(name))
        done = orkeon("explore", "task_execution")
        assert done.code == 2
        assert missing in done.err
        assert "pip install 'orkeon-transitions[explore]'" in done.err


def test_a_session_that_no_tab_has_asked_for_is_closed(monkeypatch):
    from orkeon_transitions import explorer
    from orkeon_transitions.cli.explore import _Opening
    from tests.explorer.fake_session import FakeSessions

    sessions = FakeSessions(problems=[])
    monkeypatch.setattr(explorer, "open_session", lambda subject, **options: sessions())
    with _Opening("x", None, None):
        pass
    with _Opening("x", None, None) as opening:
        assert [opening(), opening()] == sessions.made[1:]
    assert [session.is_closed for session in sessions.made] == [True, False, False]


def test_the_page_is_the_same_for_a_terminal(on_terminal, browser):
    done = on_terminal("explore", "task_execution", "--port", "0", columns=20)
    assert done.out == f"{browser[0][0]}\n"
    assert Screen().quiet is False
