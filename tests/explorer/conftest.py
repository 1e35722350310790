"""The application of the page with sessions that are made up, and a page's side of its socket."""

from contextlib import contextmanager

import pytest

from tests.explorer.fake_session import FakeSessions

TOKEN = "the-token"
HOST = "127.0.0.1:8421"
ORIGIN = {"host": HOST, "origin": f"http://{HOST}"}


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
    testclient = pytest.importorskip("starlette.testclient", reason="Starlette is not installed")
    from orkeon_transitions.explorer.server import application

    clients = []

    def begin(make=sessions, **options):
        options = {"token": TOKEN, "hosts": {"127.0.0.1", "localhost", "::1"}, "clock": clock} | options
        client = testclient.TestClient(application(make, **options), base_url=f"http://{HOST}")
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
