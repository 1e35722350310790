"""Ports, addresses, and an application that is served in a thread, with a real socket."""

import errno
import json
import socket
import subprocess
import sys
from contextlib import ExitStack, suppress
from pathlib import Path

import httpx
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from orkeon_transitions.errors import OrkeonError
from orkeon_transitions.explorer import serving
from orkeon_transitions.explorer.messages import LARGEST
from orkeon_transitions.explorer.server import application
from tests.explorer.fake_session import FakeSessions

HOST = "127.0.0.1"


@pytest.fixture
def taken():
    """A port that somebody listens on."""
    with serving.listen(HOST, 0) as listener:
        yield serving.port_of(listener)


class TestPorts:
    def test_any_that_is_free(self):
        with serving.listen(HOST, 0) as one, serving.listen(HOST, 0) as two:
            assert serving.port_of(one) != serving.port_of(two) != 0

    def test_one_that_is_in_use(self, taken):
        with pytest.raises(OSError) as refused:
            serving.listen(HOST, taken)
        assert refused.value.errno == errno.EADDRINUSE

    def test_the_next_that_is_free(self, taken):
        with serving.listen_near(HOST, taken) as listener:
            assert taken < serving.port_of(listener) <= taken + serving.TRIES

    def test_the_one_itself_where_it_is_free(self, taken):
        with serving.listen_near(HOST, taken) as listener:
            port = serving.port_of(listener)
        with serving.listen_near(HOST, port) as listener:
            assert serving.port_of(listener) == port

    def test_any_where_all_that_are_near_are_in_use(self, taken, monkeypatch):
        monkeypatch.setattr(serving, "TRIES", 1)
        with serving.listen_near(HOST, taken) as listener:
            assert serving.port_of(listener) not in (0, taken)

    def test_a_port_at_the_end_has_none_after_it(self, monkeypatch):
        asked = []

        def listen(host, port):
            asked.append(port)
            raise OSError(errno.EADDRINUSE, "in use")

        monkeypatch.setattr(serving, "listen", listen)
        with pytest.raises(OSError):
            serving.listen_near(HOST, 65534)
        assert asked == [65534, 65535, 0]

    def test_another_trouble_is_told_as_it_is(self, monkeypatch):
        def listen(host, port):
            raise PermissionError(errno.EACCES, "not for you")

        monkeypatch.setattr(serving, "listen", listen)
        with pytest.raises(PermissionError):
            serving.listen_near(HOST, 80)

    @pytest.mark.parametrize("host", ["no-such-host.invalid", "192.0.2.1"])
    def test_a_host_that_is_none_of_this_computer(self, host):
        with pytest.raises(OSError):
            serving.listen(host, 0)

    def test_a_name_for_both_kinds_of_address_is_the_older_one(self):
        with serving.listen("localhost", 0) as listener:
            assert listener.family == socket.AF_INET


@pytest.mark.parametrize(
    ("host", "is_loopback"),
    [
        ("127.0.0.1", True), ("127.3.4.5", True), ("localhost", True), ("LOCALHOST", True), ("::1", True),
        ("0.0.0.0", False), ("::", False), ("192.168.0.3", False), ("example.com", False), ("", False),
    ],
)  # fmt: skip
def test_what_is_a_loopback(host, is_loopback):
    assert serving.is_loopback(host) is is_loopback


@pytest.mark.parametrize(
    ("host", "start"),
    [
        ("127.0.0.1", "http://127.0.0.1:8421/?token="),
        ("0.0.0.0", "http://127.0.0.1:8421/?token="),
        ("::", "http://[::1]:8421/?token="),
        ("::1", "http://[::1]:8421/?token="),
        ("mine.example", "http://mine.example:8421/?token="),
    ],
)
def test_an_address_can_be_opened(host, start):
    assert serving.address(host, 8421, "t-1") == f"{start}t-1"


def test_tokens_are_long_and_never_the_same():
    tokens = {serving.new_token() for _ in range(100)}
    assert len(tokens) == 100
    assert min(map(len, tokens)) >= 32


def test_the_page_has_the_names_of_the_loopback_and_its_own():
    here = {"127.0.0.1", "localhost", "::1"}
    assert serving.names_of("127.0.0.1") == serving.names_of("LOCALHOST") == here
    assert serving.names_of("Mine.Example") == here | {"mine.example", socket.gethostname().lower()}


class Browser:
    """As much of a browser as a test needs."""

    def __init__(self, port, token):
        self.base = f"http://{HOST}:{port}"
        self.token = token

    def get(self, path="/", **options):
        return httpx.get(f"{self.base}{path}", params={"token": self.token}, trust_env=False, **options)

    def connect(self, *, token=None, origin=None, tab="tab-number-one", page="p"):
        address = f"ws://{self.base[7:]}/socket?token={token or self.token}&tab={tab}&page={page}"
        return connect(address, origin=origin or self.base, proxy=None)


@pytest.fixture
def sessions():
    return FakeSessions()


@pytest.fixture
def browser(sessions):
    listener = serving.listen(HOST, 0)
    made = application(sessions, token="secret", hosts=serving.names_of(HOST))
    with serving.Served(made, listener) as served:
        assert served.is_running
        yield Browser(serving.port_of(listener), "secret")
    assert not served.is_running


def told(connection):
    return json.loads(connection.recv(timeout=10))


class TestServed:
    def test_a_page_and_its_session(self, browser, sessions):
        assert browser.get().status_code == 200
        with browser.connect() as page:
            assert told(page) == {"tab": "tab-number-one"}
            assert told(page) == {"traits": sessions.made[0].view()}
            page.send('{"do": "fire", "trigger": "begin"}')
            assert told(page) == {"traits": {"now": {"state": "begin"}}}

    def test_it_does_not_say_what_it_is(self, browser):
        assert "server" not in browser.get().headers

    @pytest.mark.parametrize("wrong", [{"token": "wrong"}, {"origin": "http://evil.example"}])
    def test_who_has_no_business_here_gets_no_socket(self, browser, sessions, wrong):
        with pytest.raises(InvalidStatus) as refused, browser.connect(**wrong):
            pass
        assert refused.value.response.status_code == 403
        assert sessions.made == []

    def test_a_foreign_name_gets_nothing(self, browser):
        assert browser.get(headers={"host": "evil.example"}).status_code == 403

    def test_a_message_that_is_too_large_is_not_read(self, browser, sessions):
        with browser.connect() as page:
            told(page), told(page)
            page.send("x" * (LARGEST + 1))
            with pytest.raises(ConnectionClosed) as ended:
                told(page)
        assert ended.value.rcvd.code == 1009
        assert sessions.made[0].asked == []

    def test_a_broken_connection_finds_its_session_again(self, browser, sessions):
        with browser.connect() as page:
            told(page), told(page)
            page.send('{"do": "fire", "trigger": "begin"}')
            told(page)
            page.socket.shutdown(socket.SHUT_RDWR)
        with browser.connect() as page:
            told(page)
            assert told(page)["traits"]["now"] == {"state": "begin"}
        assert len(sessions.made) == 1

    def test_nonsense_is_answered_and_nothing_else_happens(self, browser, caplog):
        for nonsense in (b"\x00\x01\x02\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n", b"x" * 100_000):
            with socket.create_connection((HOST, int(browser.base.rpartition(":")[2])), timeout=5) as raw:
                raw.sendall(nonsense)
                raw.shutdown(socket.SHUT_WR)
                with suppress(ConnectionResetError):
                    while raw.recv(4096):
                        pass
        assert browser.get().status_code == 200
        assert caplog.records == []


def test_pages_are_told_when_it_ends(sessions):
    listener = serving.listen(HOST, 0)
    browser, stack = Browser(serving.port_of(listener), "secret"), ExitStack()
    with serving.Served(application(sessions, token="secret", hosts={HOST}), listener):
        page = stack.enter_context(browser.connect())
        told(page), told(page)
    with stack, pytest.raises(ConnectionClosed):
        told(page)
    assert sessions.made[0].is_closed
    with pytest.raises(httpx.ConnectError):
        browser.get()


HANGING = """
import sys, time
from websockets.sync.client import connect
from orkeon_transitions.explorer.server import application
from orkeon_transitions.explorer.serving import Served, listen, port_of
from tests.explorer.fake_session import FakeSession

class Hanging(FakeSession):
    def act(self, message):
        self.change(hangs=True)
        time.sleep(600)

listener = listen("127.0.0.1", 0)
base = f"127.0.0.1:{port_of(listener)}"
with Served(application(Hanging, token="t", hosts={"127.0.0.1"}), listener):
    with connect(f"ws://{base}/socket?token=t&tab=&page=p", origin=f"http://{base}", proxy=None) as page:
        page.send('{"do": "fire", "trigger": "begin"}')
        while "hangs" not in page.recv():
            pass
"""


def test_the_program_ends_though_a_session_hangs():
    done = subprocess.run(
        [sys.executable, "-c", HANGING],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=Path(__file__).parents[2],
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_one_that_cannot_start_says_so():
    async def failing(scope, receive, send):
        await receive()
        await send({"type": "lifespan.startup.failed", "message": "not today"})

    listener = serving.listen(HOST, 0)
    with pytest.raises(OrkeonError, match="did not start"), serving.Served(failing, listener):
        pass
