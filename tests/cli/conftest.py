"""A command line that is run in this process, in a folder of its own."""

import io
import json
import signal
import sys
from dataclasses import dataclass

import pytest

from orkeon_transitions.cli import main


@dataclass
class Done:
    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    for name in ("NO_COLOR", "ORKEON_DEBUG", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def orkeon(capsys):
    """Runs `orkeon` in a pipe: neither stream is a terminal."""

    def run(*arguments):
        handlers = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
        code = main([str(argument) for argument in arguments])
        assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == handlers
        return Done(code, *capsys.readouterr())

    return run


class Terminal(io.StringIO):
    """A stream that says that a person looks at it."""

    encoding = "utf-8"

    def isatty(self):
        return True


@pytest.fixture
def on_terminal(monkeypatch):
    """Runs `orkeon` on a terminal of some width."""

    def run(*arguments, columns=100):
        monkeypatch.setenv("COLUMNS", str(columns))
        out, err = Terminal(), Terminal()
        monkeypatch.setattr(sys, "stdout", out)
        monkeypatch.setattr(sys, "stderr", err)
        code = main([str(argument) for argument in arguments])
        return Done(code, out.getvalue(), err.getvalue())

    return run


LITTLE_CREW = """\
name: little
agents:
  scout: {role: Scout, tools: [directory_read, file_read]}
  writer: {role: Writer, tools: [file_write]}
mounts: ["./code:/code:ro", "./out:/out:rw"]
tasks:
  look: {description: Look at /code, agent: scout}
  write: {description: Write it up, agent: writer, dependencies: [look], deliverable: /out/report.md}
"""


@pytest.fixture
def little_crew(folder):
    (folder / "code").mkdir()
    (folder / "code" / "a.py").write_text("x = 1\n")
    path = folder / "little.yaml"
    path.write_text(LITTLE_CREW)
    return path


def write_log(path, *rows, tail="", session="s", **extra):
    """Writes a transition log in the seed's format (004), with further keys if wanted."""
    lines = [
        json.dumps(
            {
                "timestamp": f"2026-01-01T00:00:{second:02}+00:00",
                "session_id": session,
                "trigger": trigger,
                "from_state": source,
                "to_state": dest,
            }
            | extra
        )
        for second, (trigger, source, dest) in enumerate(rows)
    ]
    path.write_text("".join(line + "\n" for line in lines) + tail)
    return path


HERMES_ROWS = [
    ("receive_task", "idle", "planning"),
    ("plan_ready", "planning", "executing"),
    ("call_tool", "executing", "waiting"),
]
