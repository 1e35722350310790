"""The page's application: who may come in, what a tab sees, and when its session ends."""

import threading
from contextlib import contextmanager

import pytest
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from orkeon_transitions.explorer.messages import LARGEST
from orkeon_transitions.explorer.server import REFUSED, application
from tests.explorer.fake_session import FakeSession, FakeSessions

TOKEN = "the-token"
HOST = "127.0.0.1:8421"
ORIGIN = {"host": HOST, "origin": f"http://{HOST}"}
FILES = ["/explorer.js", "/explorer.css", "/page.js"]


class Clock:
    now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def sessions():
    return FakeSessions()


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def serve(sessions, clock):
    """Serves an application as long as the test runs."""
    clients = []

    def begin(make=sessions, **options):
        options = {"token": TOKEN, "hosts": {"127.0.0.1", "localhost", "::1"}, "clock": clock} | options
        client = TestClient(application(make, **options), base_url=f"http://{HOST}")
        client.__enter__()
        clients.append(client)
        return client

    yield begin
    for client in clients:
        client.__exit__(None, None, None)


@pytest.fixture
def client(serve):
    return serve()


@contextmanager
def opened(client, *, tab="tab-number-one", page="p1", token=TOKEN, headers=ORIGIN):
    address = f"/socket?token={token}&tab={tab}&page={page}"
    with client.websocket_connect(address, headers=headers) as socket:
        yield Page(socket)


class Page:
    """A page's side of the socket."""

    def __init__(self, socket):
        self.socket = socket
        self.tab = socket.receive_json()["tab"]

    def next(self):
        return self.socket.receive_json()

    def traits(self):
        return self.next()["traits"]

    def ask(self, **message):
        self.socket.send_json(message)

    def answer(self):
        return self.next()["answer"]


class TestThePage:
    def test_it_is_there_for_who_has_the_token(self, client):
        got = client.get(f"/?token={TOKEN}")
        assert got.status_code == 200
        assert got.headers["content-type"] == "text/html; charset=utf-8"
        assert "page.js" in got.text
        assert client.head(f"/?token={TOKEN}").status_code == 200

    @pytest.mark.parametrize(
        "query", ["", "?token=", "?token=the-toke", "?token=the-token1", "?token=é", "?t=1"]
    )
    def test_another_token_is_refused_on_a_plain_page(self, client, query):
        got = client.get(f"/{query}")
        assert got.status_code == 403
        assert got.headers["content-type"] == "text/html; charset=utf-8"
        assert "token" in got.text
        assert "<script" not in got.text
        assert got.headers["cache-control"] == "no-store"

    @pytest.mark.parametrize("name", FILES)
    def test_its_files_hold_nothing_secret_and_need_no_token(self, client, name):
        got = client.get(name)
        assert got.status_code == 200
        assert got.text
        assert got.headers["content-type"].startswith(
            "text/css" if name.endswith("css") else "text/javascript"
        )

    @pytest.mark.parametrize(
        "path", ["/page.html", "/server.py", "/../server.py", "/static/page.js", "/socket", "/%2e%2e/x"]
    )
    def test_no_other_file_is_served(self, client, path):
        assert client.get(path).status_code == 404

    def test_nothing_is_changed_by_a_request(self, client, sessions):
        assert client.post(f"/?token={TOKEN}").status_code == 405
        assert sessions.made == []

    @pytest.mark.parametrize("path", [f"/?token={TOKEN}", "/", "/nothing", *FILES])
    def test_every_answer_is_protected(self, client, path):
        headers = client.get(path).headers
        rules = dict(rule.split(" ", 1) for rule in headers["content-security-policy"].split("; "))
        assert rules["default-src"] == "'none'"
        assert rules["script-src"] == rules["connect-src"] == "'self'"
        assert rules["frame-ancestors"] == rules["base-uri"] == rules["form-action"] == "'none'"
        assert headers["cache-control"] == "no-store"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert headers["x-frame-options"] == "DENY"


HOSTS = [
    ("127.0.0.1:8421", True),
    ("127.0.0.1", True),
    ("LocalHost:9000", True),
    ("[::1]:8421", True),
    ("evil.example", False),
    ("evil.example:8421", False),
    ("127.0.0.1.evil.example:8421", False),
    ("localhost.evil.example", False),
    ("user@127.0.0.1:8421", False),
    ("127.0.0.1:8421, evil.example", False),
    ("10.0.0.1:8421", False),
    ("::1", False),
    ("", False),
]
ORIGINS = [
    "http://evil.example",
    "http://localhost:8421",
    "http://127.0.0.1:3000",
    "http://127.0.0.1",
    "https://127.0.0.1:8421",
    "http://127.0.0.1:8421.evil.example",
    "file://",
    "null",
    "",
]


class TestForeigners:
    @pytest.mark.parametrize(("host", "is_ours"), HOSTS)
    def test_a_name_that_is_not_ours_is_refused(self, client, sessions, host, is_ours):
        """Whoever points a name of theirs at the loopback gets nothing, the token or not."""
        for path in (f"/?token={TOKEN}", "/page.js"):
            assert client.get(path, headers={"host": host}).status_code == (200 if is_ours else 403)
        headers = {"host": host, "origin": f"http://{host.lower()}"}
        if is_ours:
            with opened(client, headers=headers) as page:
                assert page.traits()["page"] == "machine"
        else:
            with pytest.raises(WebSocketDisconnect), opened(client, headers=headers):
                pass
            assert sessions.made == []

    @pytest.mark.parametrize("origin", ORIGINS)
    def test_another_page_is_refused(self, client, sessions, origin):
        headers = {"host": HOST, "origin": origin}
        assert client.get(f"/?token={TOKEN}", headers=headers).status_code == 403
        with pytest.raises(WebSocketDisconnect), opened(client, headers=headers):
            pass
        assert sessions.made == []

    def test_a_socket_without_an_origin_is_refused(self, client, sessions):
        with pytest.raises(WebSocketDisconnect), opened(client, headers={"host": HOST}):
            pass
        assert sessions.made == []

    @pytest.mark.parametrize("token", ["", "wrong", "the-token1", "é"])
    def test_a_socket_without_the_token_is_refused(self, client, sessions, token):
        with pytest.raises(WebSocketDisconnect) as refused, opened(client, token=token):
            pass
        assert refused.value.code == REFUSED
        assert sessions.made == []

    @pytest.mark.parametrize("host", ["192.168.1.7:80", "[fe80::1]", "mine.example"])
    def test_every_address_is_ours_where_all_are_served_but_no_other_name(self, serve, host):
        client = serve(hosts={"0.0.0.0", "mine.example"})
        assert client.get(f"/?token={TOKEN}", headers={"host": host}).status_code == 200
        assert client.get(f"/?token={TOKEN}", headers={"host": "evil.example"}).status_code == 403

    def test_who_asks_for_another_socket_is_refused(self, client):
        with pytest.raises(WebSocketDisconnect):
            client.websocket_connect(f"/elsewhere?token={TOKEN}", headers=ORIGIN).__enter__()


class TestATab:
    def test_it_is_told_everything_and_then_what_changes(self, client, sessions):
        with opened(client) as page:
            assert page.traits() == sessions.made[0].view()
            page.ask(do="fire", trigger="begin", context={})
            assert page.traits() == {"now": {"state": "begin"}}
            sessions.made[0].change(gauges=[1], position={"at": 1})
            assert page.traits() == {"gauges": [1], "position": {"at": 1}}
        assert sessions.made[0].asked == [{"do": "fire", "trigger": "begin", "context": {}}]

    def test_it_gets_its_answers(self, client):
        with opened(client) as page:
            page.traits()
            page.ask(do="dance")
            assert page.answer() == {"error": "no 'dance'"}

    def test_it_outlives_whatever_its_session_raises(self, client, caplog):
        with opened(client) as page:
            page.traits()
            page.ask(do="raise")
            assert page.answer() == {"error": "that failed: ZeroDivisionError: by nobody"}
            page.ask(do="dance")
            assert page.answer() == {"error": "no 'dance'"}
        assert "failed on 'raise'" in caplog.text

    @pytest.mark.parametrize(
        "text",
        [
            "", "fire", "[]", "1", "null", '{"trigger": "x"}', '{"do": 1}', '{"do": ["fire"]}',
            '{"do": "fire"', '{"do": "set", "value": NaN}', '{"do": "set", "value": "\\ud800"}',
            '{"do": "x", "x": ' + "[" * 5000, '{"do": "' + "x" * LARGEST + '"}',
        ],
    )  # fmt: skip
    def test_what_is_no_message_changes_nothing(self, client, sessions, text):
        with opened(client) as page:
            page.traits()
            page.socket.send_text(text)
            assert "a message" in page.answer()["error"]
            page.socket.send_bytes(b'{"do": "fire", "trigger": "x"}')
            assert page.answer() == {"error": "a message is a text"}
            assert sessions.made[0].asked == []

    def test_what_json_does_not_know_reaches_the_page_all_the_same(self, client, sessions):
        sessions.traits = {"odd": [float("nan"), float("inf"), {1}, b"\xff", "\ud800", object]}
        with opened(client) as page:
            odd = page.traits()["odd"]
        assert len(odd) == 6
        assert odd[4] == "\ud800"

    def test_two_do_not_see_each_other(self, client, sessions):
        with opened(client) as one, opened(client, tab="tab-number-two", page="p2") as two:
            assert one.traits()
            assert two.traits()
            one.ask(do="fire", trigger="begin")
            assert one.traits() == {"now": {"state": "begin"}}
            two.ask(do="dance")
            assert two.next() == {"answer": {"error": "no 'dance'"}}
        assert len(sessions.made) == 2

    def test_it_finds_its_session_when_it_comes_back(self, client, sessions, clock):
        with opened(client) as page:
            page.traits()
            page.ask(do="fire", trigger="begin")
            page.traits()
        clock.now += 299
        with opened(client) as page:
            assert page.traits()["now"] == {"state": "begin"}
        assert len(sessions.made) == 1
        assert not sessions.made[0].is_closed

    def test_its_session_is_closed_after_some_minutes(self, client, sessions, clock):
        with opened(client) as page:
            page.traits()
        clock.now += 301
        with opened(client) as page:
            assert "now" not in page.traits()
        assert len(sessions.made) == 2
        assert sessions.made[0].is_closed

    def test_one_that_is_connected_is_never_idle(self, client, sessions, clock):
        with opened(client) as page:
            page.traits()
            clock.now += 10_000
            with opened(client, tab="tab-number-two", page="p2") as other:
                other.traits()
            page.ask(do="dance")
            page.answer()
        assert not sessions.made[0].is_closed

    def test_a_duplicate_gets_a_session_of_its_own(self, client, sessions):
        with opened(client) as one, opened(client, page="p2") as two:
            assert two.tab != one.tab == "tab-number-one"
            assert one.traits()
            assert two.traits()
            assert len(sessions.made) == 2
        with opened(client, tab=two.tab, page="p2") as again:
            assert again.tab == two.tab
        assert len(sessions.made) == 2

    def test_a_page_that_is_loaded_again_waits_for_the_one_that_it_was(self, client, sessions):
        with opened(client) as page:
            page.traits()
            leaving = threading.Timer(0.1, page.socket.close)
            leaving.start()
            with opened(client, page="p2") as again:
                assert again.tab == page.tab
                again.traits()
            leaving.join()
        assert len(sessions.made) == 1

    def test_a_connection_that_is_made_again_takes_the_place_of_the_one_before(self, client, sessions):
        with opened(client) as page:
            page.traits()
            with opened(client) as again:
                assert again.tab == page.tab
                with pytest.raises(WebSocketDisconnect):
                    page.next()
                again.traits()
                again.ask(do="fire", trigger="begin")
                assert again.traits() == {"now": {"state": "begin"}}
                assert sessions.made[0].listeners == 1
        assert len(sessions.made) == 1
        assert sessions.made[0].listeners == 0

    @pytest.mark.parametrize(
        "name", ["", "short", "x" * 65, "no%20blanks", "n%C3%B6-umlauts", "a/../../b-c-d"]
    )
    def test_a_name_that_is_none_is_replaced(self, client, name):
        with opened(client, tab=name) as page:
            assert len(page.tab) == 22

    def test_file_with_problems_is_read_again_when_the_page_is_loaded_again(self, client, sessions):
        sessions.traits = {"page": "problems", "problems": [{"message": "odd"}]}
        with opened(client) as page:
            assert page.traits()["page"] == "problems"
        with opened(client) as page:  # the same page, connected again
            assert page.traits()["page"] == "problems"
        with opened(client, page="p2") as page:
            assert page.traits()["page"] == "machine"
        assert sessions.made[0].asked == [{"do": "reload"}]

    def test_a_machine_is_not_begun_anew_when_the_page_is_loaded_again(self, client, sessions):
        for page in ("p1", "p2"):
            with opened(client, page=page) as connected:
                connected.traits()
        assert sessions.made[0].asked == []


class TestHowMany:
    def test_there_are_only_so_many_at_once(self, serve, sessions):
        client = serve(most_tabs=2)
        with opened(client, tab="tab-number-one"), opened(client, tab="tab-number-two"):
            address = f"/socket?token={TOKEN}&tab=tab-number-three&page=p"
            with client.websocket_connect(address, headers=ORIGIN) as third:
                assert "Too many tabs" in third.receive_json()["notice"]
                with pytest.raises(WebSocketDisconnect) as ended:
                    third.receive_json()
                assert ended.value.code == REFUSED
        assert len(sessions.made) == 2

    def test_one_that_nobody_is_connected_to_makes_room(self, serve, sessions, clock):
        client = serve(most_tabs=2)
        for number in ("one", "two", "three"):
            with opened(client, tab=f"tab-number-{number}") as page:
                page.traits()
            clock.now += 1
        with opened(client, tab="tab-number-two") as page:
            page.traits()
        assert [session.is_closed for session in sessions.made] == [True, False, False]

    def test_all_are_closed_at_the_end(self, sessions):
        with TestClient(
            application(sessions, token=TOKEN, hosts={"127.0.0.1"}), base_url=f"http://{HOST}"
        ) as client:
            for number in ("one", "two"):
                with opened(client, tab=f"tab-number-{number}") as page:
                    page.traits()
        assert [session.is_closed for session in sessions.made] == [True, True]

    def test_deserted_ones_end_by_themselves(self, serve, sessions, clock):
        client = serve(patience=0.1)
        with opened(client) as page:
            page.traits()
        clock.now += 1
        for _ in range(100):
            if sessions.made[0].is_closed:
                break
            threading.Event().wait(0.02)
        assert sessions.made[0].is_closed


class TestOpening:
    def test_what_cannot_be_opened_says_why_and_is_tried_again(self, serve):
        errors = [OSError("gone"), None]

        def make():
            if (error := errors.pop(0)) is not None:
                raise error
            return FakeSession()

        client = serve(make)
        with opened(client) as page:
            assert page.next() == {"notice": "OSError: gone"}
            with pytest.raises(WebSocketDisconnect) as ended:
                page.next()
            assert ended.value.code == REFUSED
        with opened(client, page="p2") as page:
            assert page.traits()["page"] == "machine"

    def test_one_that_cannot_be_shown_says_why(self, serve, caplog):
        class Blind(FakeSession):
            def view(self):
                raise RuntimeError("nothing to see")

        with opened(serve(Blind)) as page:
            assert page.next() == {"notice": "RuntimeError: nothing to see"}
        with opened(serve(Blind), page="p2") as page:
            assert page.next() == {"notice": "RuntimeError: nothing to see"}

    def test_one_that_closes_while_it_opens_is_closed_when_it_is_open(self, serve, sessions):
        go_on = threading.Event()

        def slow():
            go_on.wait(5)
            return sessions()

        client = serve(slow, patience=0.1, clock=lambda: 0.0)
        with opened(client):
            go_on.set()
        client.__exit__(None, None, None)
        assert [session.is_closed for session in sessions.made] in ([True], [])
        client.__enter__()
