"""A Chromium for the tests of the explorer, and what holds for each page that it opens."""

import shutil
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest

from tests.explorer.browser import bench, explorers

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    # A container's shared memory is too small for it.
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
HEIGHTS = {360: 740, 1280: 800, 1920: 1080}


class Browser:
    """Opens pages, each as somebody who was never there. Closing them tells what was wrong with them.

    Attributes:
        requests: The addresses of everything that the open pages asked for.
        allowed: Beginnings of messages on the console that the test means to see.
    """

    def __init__(self, chromium):
        self._chromium = chromium
        self._contexts = []
        self.requests = []
        self.allowed = []
        self._wrong = []

    def open(self, url=None, *, width=1280, scheme="light", **options):
        """A new page in a window of this width."""
        context = self._chromium.new_context(
            viewport={"width": width, "height": HEIGHTS.get(width, 800)}, color_scheme=scheme, **options
        )
        self._contexts.append(context)
        context.on("request", lambda request: self.requests.append(request.url))
        context.on("page", self._listen)
        page = context.new_page()
        page.set_default_timeout(10_000)
        if url is not None:
            page.goto(url)
        return page

    def _listen(self, page):
        page.on("websocket", lambda socket: self.requests.append(socket.url))
        page.on("console", lambda message: message.type in {"error", "warning"} and self._note(message.text))
        page.on("pageerror", lambda error: self._note(f"{error}\n{error.stack}"))

    def _note(self, words):
        if not words.startswith(tuple(self.allowed)):
            self._wrong.append(words)

    def close(self):
        """Ends the pages.

        Raises:
            AssertionError: One of them wrote an error, or asked somebody who is not on this computer.
        """
        for context in self._contexts:
            context.close()
        assert self._wrong == []
        assert [url for url in self.requests if not is_here(url)] == []


def is_here(url):
    """Whether what is asked for is on the loopback, or in the page itself."""
    parts = urlsplit(url)
    return parts.scheme in {"data", "blob", "about"} or parts.hostname in {"127.0.0.1", "localhost", "::1"}


# Playwright leaves a running event loop in this thread until it is stopped, and no other test could use one
# of its own: so it is started for the tests of this folder, not for all.
@pytest.fixture(scope="package")
def chromium_process():
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("there is no Chromium; on Debian: apt-get install chromium")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser
        browser.close()


@contextmanager
def watched(process):
    browser = Browser(process)
    try:
        yield browser
    finally:
        browser.close()


@pytest.fixture
def chromium(chromium_process):
    """Opens pages; the test fails if one of them wrote an error or if a request left this computer."""
    with watched(chromium_process) as browser:
        yield browser


@pytest.fixture(scope="package")
def bench_url():
    with bench.serving() as url:
        yield url


class Shown:
    """A page with the explorer that shows what the test gives it."""

    def __init__(self, page):
        self.page = page

    def show(self, traits):
        self.page.evaluate("traits => bench.show(traits)", traits)

    def answer(self, message):
        self.page.evaluate("message => bench.answer(message)", message)

    @property
    def sent(self):
        """What the explorer has sent so far."""
        return self.page.evaluate("bench.sent")

    def until_sent(self, *messages):
        """Waits until nothing but these messages was sent."""
        for _ in range(100):
            if len(self.sent) >= len(messages):
                break
            self.page.wait_for_timeout(20)
        assert self.sent == list(messages)

    def forget(self):
        self.page.evaluate("bench.sent.length = 0")


@pytest.fixture
def explorer(chromium, bench_url):
    """Shows a view: `explorer(view, width=360, scheme="dark")`."""

    def show(view, **options):
        page = chromium.open(bench_url, **options)
        page.locator(".orkeon-explorer").wait_for()
        shown = Shown(page)
        shown.show(view)
        return shown

    return show


@pytest.fixture(scope="package")
def task(tmp_path_factory):
    """`orkeon explore task_execution`, for the tests that leave the process as it is."""
    with explorers.serving("explore", "task_execution", folder=tmp_path_factory.mktemp("task")) as explorer:
        yield explorer
        assert explorer.end() == 0
        assert b"exploring task_execution; Ctrl-C ends it" in explorer.messages
        assert b"rror" not in explorer.messages


@pytest.fixture
def person(chromium, task):
    """Somebody who has just opened that page."""
    from tests.explorer.browser.person import Person, sees

    somebody = Person(chromium.open(task.url))
    sees(somebody, "assigned")
    return somebody
