"""The page's application: who may come in, and what is shown where nothing can be opened."""

import threading

import pytest
from starlette.websockets import WebSocketDisconnect

from orkeon_transitions.explorer.server import REFUSED
from tests.explorer.conftest import HOST, ORIGIN, TOKEN, opened
from tests.explorer.fake_session import FakeSession

FILES = ["/explorer.js", "/explorer.css", "/page.js"]


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
