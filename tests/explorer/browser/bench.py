"""A page with the explorer alone on it: its model is the test, which gives views and hears what is sent."""

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from orkeon_transitions.explorer.assets import script, style

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8"><title>Explorer</title><link rel="icon" href="data:,">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="explorer.css">
</head>
<body class="orkeon-page"><main id="explorer"></main><script type="module" src="bench.js"></script></body>
</html>
"""

# As strict as the server of `orkeon explore`.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; "
    "img-src data: blob:"
)

MODEL = """
import explorer from "./explorer.js";
const values = {}, listeners = {};
const tell = (event, fact) => (listeners[event] ?? []).slice().forEach((listener) => listener(fact));
const model = {
  get: (name) => values[name],
  on: (event, listener) => (listeners[event] ??= []).push(listener),
  off: (event, listener) => (listeners[event] = (listeners[event] ?? []).filter((one) => one !== listener)),
  send: (message) => bench.sent.push(message),
};
window.bench = {
  sent: [],
  listening: () => Object.values(listeners).flat().length,
  show(traits) {
    Object.assign(values, traits);
    for (const name of Object.keys(traits)) tell(`change:${name}`);
  },
  answer: (message) => tell("msg:custom", message),
  begin() { this.end = explorer.render({ model, el: document.getElementById("explorer") }); },
};
bench.begin();
"""


@contextmanager
def serving():
    """Serves the page on a port of the loopback; gives its address."""
    files = {
        "/": ("text/html", PAGE),
        "/bench.js": ("text/javascript", MODEL),
        "/explorer.js": ("text/javascript", script()),
        "/explorer.css": ("text/css", style()),
    }

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self):
            kind, text = files.get(self.path, ("text/plain", None))
            self.send_response(404 if text is None else 200)
            body = (text or "").encode()
            self.send_header("Content-Type", f"{kind}; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Content-Security-Policy", POLICY)
            self.end_headers()
            self.wfile.write(body)

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
