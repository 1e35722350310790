"""An OpenAI-compatible server on the loopback that answers as it was told to.

Each request takes the next answer of the script, the last one again and again. What was asked is kept. It can
also fail in the ways that real servers do: with a status, too late, in the middle, or with nonsense.
"""

import contextlib
import itertools
import json
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ids = itertools.count(1)


@dataclass
class Answer:
    """One answer: a text, tool calls as pairs of a name and arguments (a mapping, or any text), or both."""

    text: str | None = None
    calls: tuple = ()
    usage: dict | None = field(
        default_factory=lambda: {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    )
    finish: str | None = None
    piece: int = 5  # how long the pieces of a streamed text are
    pause: float = 0.0  # seconds before each of them
    cut_after: int | None = None  # after how many of them the connection is cut


@dataclass
class Status:
    """An answer that is an error."""

    code: int
    message: str = "something is wrong here"
    headers: dict = field(default_factory=lambda: {"Retry-After": "0"})
    body: bytes | None = None


@dataclass
class Raw:
    """An answer that is not what it should be: these bytes, with status 200."""

    body: bytes
    kind: str = "application/json"


@dataclass
class Hang:
    """No answer, until the server is stopped or the client goes away."""


@dataclass
class Cut:
    """The connection is closed in the middle of the answer."""

    after: bytes = b'{"choices": [{"mess'


def says(text, **options):
    return Answer(text, **options)


def calls(*pairs, text=None, **options):
    return Answer(text, tuple(pairs), **options)


class ModelServer:
    """The server; `with ModelServer(says("Done")) as server`, then `server.url` is its base URL."""

    def __init__(self, *script):
        self.script = script or (says("Done"),)
        self.asked = []  # the bodies of the requests
        self.headers = []  # and their headers, by name in small letters
        self.gone = threading.Event()  # set when a client went away from a hanging request
        self._turn = threading.Lock()
        self._stopped = threading.Event()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"owner": self}))
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)

    @property
    def url(self):
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stopped.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def next_answer(self, body, headers):
        with self._turn:
            answer = self.script[min(len(self.asked), len(self.script) - 1)]
            self.asked.append(body)
            self.headers.append(headers)
        return answer(body) if callable(answer) else answer

    def wait_for_the_end(self, connection):
        """Until the server is stopped or nobody listens any more."""
        connection.settimeout(0.05)
        while not self._stopped.is_set():
            with contextlib.suppress(TimeoutError):
                try:
                    if not connection.recv(1):
                        self.gone.set()
                        return
                except ConnectionError:
                    self.gone.set()
                    return


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else each small answer waits for 40 ms
    owner = None

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answer = self.owner.next_answer(body, {name.lower(): value for name, value in self.headers.items()})
        with contextlib.suppress(ConnectionError):
            self._give(answer, body)

    def _give(self, answer, body):
        match answer:
            case Hang():
                self.owner.wait_for_the_end(self.connection)
                self.close_connection = True
            case Status():
                error = {"error": {"message": answer.message, "type": "error", "code": answer.code}}
                self._send(answer.code, answer.body or json.dumps(error).encode(), headers=answer.headers)
            case Raw():
                self._send(200, answer.body, kind=answer.kind)
            case Cut():
                self._head(200, "application/json", {"Content-Length": "100000"})
                self.wfile.write(answer.after)
                self.close_connection = True
            case Answer() if body.get("stream"):
                self._stream(answer, body)
            case Answer():
                self._send(200, json.dumps(self._whole(answer, body)).encode())

    def _send(self, code, content, kind="application/json", headers=()):
        self._head(code, kind, {"Content-Length": str(len(content)), **dict(headers)})
        self.wfile.write(content)

    def _head(self, code, kind, headers):
        self.send_response(code)
        self.send_header("Content-Type", kind)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def _whole(self, answer, body):
        message = {"role": "assistant", "content": answer.text}
        if answer.calls:
            message["tool_calls"] = [_call(name, arguments) for name, arguments in answer.calls]
        return _base(body, "chat.completion") | {
            "choices": [{"index": 0, "message": message, "finish_reason": _finish(answer)}],
            **({"usage": answer.usage} if answer.usage else {}),
        }

    def _stream(self, answer, body):
        self._head(200, "text/event-stream", {"Connection": "close"})
        self.close_connection = True
        text = answer.text or ""
        pieces = [{"content": text[at : at + answer.piece]} for at in range(0, len(text), answer.piece)]
        for index, (name, arguments) in enumerate(answer.calls):
            whole = _call(name, arguments)
            split = whole["function"]["arguments"]
            first = {**whole, "index": index, "function": {"name": name, "arguments": ""}}
            rest = {"index": index, "function": {"arguments": split}}
            pieces += [{"tool_calls": [first]}, {"tool_calls": [rest]}]
        for number, piece in enumerate(pieces):
            if answer.cut_after is not None and number >= answer.cut_after:
                return
            time.sleep(answer.pause)
            self._event(body, {"delta": piece, "index": 0, "finish_reason": None})
        self._event(body, {"delta": {}, "index": 0, "finish_reason": _finish(answer)}, usage=answer.usage)
        self.wfile.write(b"data: [DONE]\n\n")

    def _event(self, body, choice, usage=None):
        counted = {"usage": usage} if usage else {}
        chunk = _base(body, "chat.completion.chunk") | {"choices": [choice], **counted}
        self.wfile.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")
        self.wfile.flush()


def _base(body, kind):
    return {"id": f"answer-{next(ids)}", "object": kind, "created": 1_700_000_000, "model": body["model"]}


def _call(name, arguments):
    written = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"id": f"call_{next(ids)}", "type": "function", "function": {"name": name, "arguments": written}}


def _finish(answer):
    return answer.finish or ("tool_calls" if answer.calls else "stop")
