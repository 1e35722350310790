"""A web server on the loopback whose answers the test writes."""

import socket
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length)
        self.server.seen.append((self.command, self.path, dict(self.headers), body))
        try:
            self.server.routes[self.path.partition("?")[0]](self)
        except OSError:  # nobody waits any more
            self.close_connection = True

    do_GET = do_POST = do_PUT = do_HEAD = do_DELETE = answer

    def reply(self, status=200, body=b"", kind="text/plain", **headers):
        self.send_response(status)
        if kind:
            self.send_header("Content-Type", kind)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *args):
        pass


def page(body, kind="text/html", status=200, **headers):
    body = body.encode() if isinstance(body, str) else body
    return lambda handler: handler.reply(status, body, kind, **headers)


def redirect(location, status=302):
    return lambda handler: handler.reply(status, b"", None, Location=location)


def endless(handler):
    handler.send_response(200)
    handler.send_header("Content-Type", "text/plain")
    handler.end_headers()
    handler.close_connection = True
    while not handler.server.over.is_set():
        handler.wfile.write(b"x" * 100_000)


def dripping(handler):
    handler.send_response(200)
    handler.send_header("Content-Type", "text/plain")
    handler.end_headers()
    handler.close_connection = True
    while not handler.server.over.is_set():
        handler.wfile.write(b"x")
        time.sleep(0.05)


def cut(handler):
    handler.close_connection = True
    handler.connection.shutdown(socket.SHUT_RDWR)


@contextmanager
def serving(host="127.0.0.1", **routes):
    """Serves each route under its name; `_` is a slash."""

    class Server(ThreadingHTTPServer):
        address_family = socket.AF_INET6 if ":" in host else socket.AF_INET

        def handle_error(self, *args):
            pass

    server = Server((host, 0), Handler)
    server.routes = {f"/{name}": route for name, route in routes.items()}
    server.seen, server.over, server.port = [], threading.Event(), server.server_port
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.over.set()
        server.shutdown()
        server.server_close()
        thread.join()
