"""Who has no business at the explorer's page gets nothing there: no token, another page, another name."""

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.explorer.browser.person import REFUSED_LOAD, expect

pytestmark = [pytest.mark.slow, pytest.mark.browser]


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
