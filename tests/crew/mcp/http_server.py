"""A server that speaks the protocol over HTTP on the loopback, by itself, and misbehaves on demand."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HANGS = object()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        server = self.server
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server.seen.append((message["method"], dict(self.headers)))
        if server.wants and self.headers.get("Authorization") != server.wants:
            return self.reply(401, {"error": "who are you?"})
        if server.elsewhere:
            return self.reply(307, headers={"Location": server.elsewhere})
        if server.answers.get(message["method"]) is HANGS:
            server.over.wait(30)
            return None
        if "id" not in message:
            return self.reply(202)
        result = self.result(message)
        if result is None:
            self.close_connection = True
            return None
        return self.reply(200, {"jsonrpc": "2.0", "id": message["id"], **result})

    def result(self, message):
        method, params = message["method"], message.get("params") or {}
        if method in self.server.answers:
            return self.server.answers[method]
        if method == "initialize":
            info = {"name": "web", "version": "1"}
            version = params["protocolVersion"]
            return {"result": {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}}
        if method == "tools/list":
            names = ("echo", "cut", "cut_once", "hang", "flood")
            tools = [{"name": name, "inputSchema": {"type": "object"}} for name in names]
            return {"result": {"tools": tools}}
        if method != "tools/call":
            return {"error": {"code": -32601, "message": "no such method"}}
        name = params["name"]
        self.server.called.append(name)
        if name == "cut" or (name == "cut_once" and self.server.called.count(name) == 1):
            return None
        if name == "hang":
            self.server.over.wait(30)
        text = "x" * 17_000_000 if name == "flood" else json.dumps(params.get("arguments"))
        return {"result": {"content": [{"type": "text", "text": text}]}}

    def reply(self, status, body=None, headers=()):
        data = b"" if body is None else json.dumps(body).encode()
        try:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.send_header("Mcp-Session-Id", "session-of-a-test")
            for name, value in dict(headers).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)
        except OSError:  # nobody waits any more
            self.close_connection = True

    def do_GET(self):
        self.reply(405)

    def do_DELETE(self):
        if self.server.stubborn:
            self.server.over.wait(30)
        self.reply(200)

    def log_message(self, *args):
        pass


@contextmanager
def serving(wants=None, *, stubborn=False, answers=None, elsewhere=None):
    """A server; `answers` has what it says in place of what it should, by method (None: it hangs up)."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.seen, server.called, server.wants = [], [], wants
    server.stubborn, server.over = stubborn, threading.Event()
    server.answers, server.elsewhere = answers or {}, elsewhere
    server.url = f"http://127.0.0.1:{server.server_port}/mcp"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.over.set()
        server.shutdown()
        server.server_close()
        thread.join()
