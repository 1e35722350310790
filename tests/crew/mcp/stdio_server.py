"""A server that speaks the protocol over its input and output, by itself, and misbehaves on demand.

Run as a program: `--lives FILE` makes it write its process id there when it begins, a line; `--fail WORDS`
fails at once; `--slow SECONDS` answers late; `--stay` does not end when its input does.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
TOOLS = {
    "echo": TEXT,
    "say it twice": TEXT,
    "say_it_twice": TEXT,
    "refuse": {"type": "object"},
    "reject": {"type": "object"},
    "break": {"type": "object"},
    "die": {"type": "object"},
    "die_once": {"type": "object"},
    "hang": {"type": "object"},
    "hang_once": {"type": "object"},
    "flood": {"type": "object"},
    "endless": {"type": "object"},
    "babble": {"type": "object"},
    "parts": {"type": "object"},
    "numbers": {"type": "object"},
    "deaf": {"type": "object"},
    "environment": {"type": "object"},
    "reveal": {"type": "object"},
    "confess": {"type": "object"},
    "confess_at_length": {"type": "object"},
    "reveal_at_length": {"type": "object"},
    "child": {"type": "object"},
}


PARTS = [
    {"type": "image", "data": "AAAA", "mimeType": "image/png"},
    {"type": "resource", "resource": {"uri": "file:///a", "text": "words of a file"}},
    {"type": "resource", "resource": {"uri": "file:///b", "blob": "AAAA"}},
    {"type": "resource_link", "uri": "file:///c", "name": "c"},
]


def say(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def text(said, **more):
    return {"content": [{"type": "text", "text": said}], **more}


def lives():
    path = option("--lives")
    return len(Path(path).read_text().splitlines()) if path else 1


def option(name):
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else None


def call(number, name, arguments):  # noqa: PLR0912 - one branch for each way to misbehave
    if name in ("echo", "say it twice", "say_it_twice"):
        given = arguments["text"]
        return text({"echo": given, "say it twice": f"{given}, {given}"}.get(name, f"{given}; {given}"))
    if name == "refuse":
        return text("no such city", isError=True)
    if name == "die" or (name == "die_once" and lives() == 1):
        sys.stderr.write("boiler exploded\n")
        sys.stderr.flush()
        os._exit(3)
    if name == "hang" or (name == "hang_once" and lives() == 1):
        time.sleep(60)
    if name in ("die_once", "hang_once"):
        return text("alive again")
    if name == "flood":
        return text("x" * 10_000_000)
    if name == "endless":
        sys.stdout.write('{"jsonrpc": "2.0", "id": ' + str(number) + ', "result": "')
        while True:
            sys.stdout.write("x" * 1_000_000)
    if name == "babble":
        sys.stdout.write("welcome!\n{}\n[1]\n" * 100)
        return text("done babbling")
    if name == "parts":
        return {"content": PARTS}
    if name == "numbers":
        return {"content": [], "structuredContent": {"sum": 3}}
    if name == "deaf":
        os.close(0)
        return text("I hear no more")
    if name == "environment":
        return text(json.dumps(dict(os.environ)))
    if name == "reveal_at_length":
        return text("x" * 49_995 + os.environ["SERVER_KEY"] + " is wrong", isError=True)
    if name == "reveal":
        return text(f"my key {os.environ['SERVER_KEY']} is wrong", isError=True)
    if name.startswith("confess"):
        # A key of which the end is cut apart from the rest, once where it is told and once where it is kept.
        words = f"key={os.environ['SERVER_KEY']} "
        sys.stderr.write(words + "x" * 390 if name == "confess" else words * 3000)
        sys.stderr.flush()
        os._exit(3)
    if name == "child":
        started = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        return text(str(started.pid))
    raise AssertionError(name)


def answer(message):
    number, method, params = message.get("id"), message["method"], message.get("params") or {}
    if number is None:
        return
    if method == "initialize":
        result = {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "misbehaving", "version": "1"},
        }
        say({"id": number, "result": result})
    elif method == "tools/list":
        # Two pages, as a server with many tools has.
        names = list(TOOLS)
        first = "cursor" not in params
        page = names[:5] if first else names[5:]
        tools = [{"name": one, "description": f"does {one}", "inputSchema": TOOLS[one]} for one in page]
        say({"id": number, "result": {"tools": tools, **({"nextCursor": "2"} if first else {})}})
    elif method == "tools/call" and params["name"] == "reject":
        say({"id": number, "error": {"code": -32602, "message": "text is required"}})
    elif method == "tools/call" and params["name"] == "break":
        say({"id": number, "error": {"code": -32603, "message": "database is locked"}})
    elif method == "tools/call":
        say({"id": number, "result": call(number, params["name"], params.get("arguments") or {})})
    else:
        say({"id": number, "error": {"code": -32601, "message": "no such method"}})


if __name__ == "__main__":
    if option("--lives"):
        with Path(option("--lives")).open("a") as file:
            file.write(f"{os.getpid()}\n")
    if option("--fail"):
        sys.exit(option("--fail"))
    time.sleep(float(option("--slow") or 0))
    for line in sys.stdin:
        answer(json.loads(line))
    if option("--stay"):
        time.sleep(60)
