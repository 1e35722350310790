"""A person at the terminal who is asked while a crew runs."""

import os
import re
import sys
import tempfile
import threading
from pathlib import Path

import pytest
from rich.cells import cell_len

from orkeon_transitions.cli import people
from orkeon_transitions.cli.people import QUESTION_PROMPT, REVIEW_PROMPT
from orkeon_transitions.crew import ModelReply, OfflineModel

ASKS = """\
name: asks
agents: {a: {tools: [ask_human]}}
tasks: {t: {description: Which color?, agent: a}}
"""
SHOWS = """\
name: shows
agents: {a: {}}
tasks:
  t: {description: Write, agent: a, humanInput: true}
"""


class Keyboard:
    """A terminal's input that has a file behind it."""

    encoding = "utf-8"
    closed = False

    def __init__(self, *pieces):
        self._read, self._write = os.pipe()
        threading.Thread(target=self._type, args=(pieces,), daemon=True).start()

    def _type(self, pieces):
        for piece in pieces:
            os.write(self._write, piece.encode())
            threading.Event().wait(0.05)
        os.close(self._write)

    def fileno(self):
        return self._read

    def isatty(self):
        return True


class Typed:
    """One that has none."""

    encoding = "utf-8"
    closed = False

    def __init__(self, *lines):
        self.lines = list(lines)

    def fileno(self):
        raise OSError("no file")

    def isatty(self):
        return True

    def readline(self):
        return self.lines.pop(0) if self.lines else ""


@pytest.fixture(params=[Keyboard, Typed])
def types(request, monkeypatch):
    def given(*lines):
        monkeypatch.setattr(sys, "stdin", request.param(*lines))

    return given


@pytest.fixture
def crew(folder):
    (folder / "asks.yaml").write_text(ASKS)
    (folder / "shows.yaml").write_text(SHOWS)


def test_an_agent_s_question_is_asked_and_answered(orkeon, crew, types):
    types("blue\n")
    done = orkeon("run", "asks.yaml")
    assert done.code == 0
    assert "task t, a asks (1 of 10):\n  Which color?\n" + QUESTION_PROMPT in done.err
    assert "the first: blue" in done.out
    assert QUESTION_PROMPT not in done.out


def test_an_output_is_shown_and_enter_accepts_it(orkeon, crew, types):
    types("Longer\n", "\r\n")
    done = orkeon("run", "shows.yaml", "--json")
    assert done.code == 0
    assert done.err.count(REVIEW_PROMPT) == 2
    assert "task t, the output of a (2 of 10):\n  [offline model]" in done.err
    assert done.json["status"] == "completed"


def test_the_live_table_stands_still_meanwhile(on_terminal, crew, types):
    types("\n")
    done = on_terminal("run", "shows.yaml")
    assert done.code == 0
    shown = done.err.index("the output of a")
    assert "\x1b[?25h" in done.err[:shown]  # the cursor is there again before the question


# ------------------------------------------------------------------------------------------- little room
LONG = "\n\n".join(f"Part {n}: {'a few words on parsers ' * 6}" for n in range(40))


@pytest.fixture
def looked(monkeypatch):
    """What the file with the whole text held while a person was asked, and its place."""
    seen = []
    line = people._line

    with tempfile.TemporaryDirectory(prefix="o") as place:  # its name is to be short

        async def look():
            (path,) = Path(place).glob("orkeon-t-*.txt")
            seen.append((path, path.read_text(encoding="utf-8"), path.stat().st_mode & 0o077))
            return await line()

        monkeypatch.setattr(people, "_line", look)
        monkeypatch.setattr("tempfile.tempdir", place)
        yield seen


def asked_for(done, prompt=REVIEW_PROMPT):
    """The rows of a terminal that a person sees while asked."""
    screen = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r", "", done.err)
    begun = screen[screen.index("task t, the output of a (1 of") : screen.index(prompt) + len(prompt)]
    return begun.split("\n")


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (60, 20), (40, 10)])
@pytest.mark.parametrize("text", [LONG, "x" * 9000, "漢字" * 2000], ids=["prose", "one word", "wide"])
def test_a_long_text_leaves_room_for_what_is_asked(
    on_terminal, crew, types, looked, monkeypatch, columns, rows, text
):
    async def reply(self, messages, tools):
        return ModelReply(text)

    monkeypatch.setattr(OfflineModel, "reply", reply)
    monkeypatch.setenv("LINES", str(rows))
    types("\n")
    done = on_terminal("run", "shows.yaml", "--no-color", columns=columns)
    assert done.code == 0
    shown = asked_for(done)
    assert sum(max(1, -(-cell_len(line) // columns)) for line in shown) < rows
    assert len(shown[1].strip()) > 15
    assert text.startswith(shown[1].strip())
    ((path, whole, others),) = looked
    assert whole == text + "\n"
    assert others == 0, "it is nobody else's"
    assert str(path) in "".join(line.strip() for line in shown)
    assert not path.exists()


def test_a_text_that_has_room_needs_no_file(on_terminal, crew, types, monkeypatch):
    monkeypatch.setattr("tempfile.mkstemp", None)
    types("\n")
    assert "beginning" not in on_terminal("run", "shows.yaml").err


@pytest.mark.parametrize("on", ["orkeon", "on_terminal"])
def test_all_is_shown_where_there_is_no_file_or_no_screen(request, crew, types, monkeypatch, on):
    async def reply(self, messages, tools):
        return ModelReply(LONG)

    def refused(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(OfflineModel, "reply", reply)
    monkeypatch.setattr("tempfile.mkstemp", refused)
    types("\n")
    done = request.getfixturevalue(on)("run", "shows.yaml")
    assert done.code == 0
    assert "Part 39: a few words on parsers" in done.err


def test_what_was_asked_stays_when_the_table_comes_again(on_terminal, crew, types):
    """The table erases as many rows as it had itself; those above are somebody else's."""
    types("\n")
    done = on_terminal("run", "shows.yaml")
    after = done.err[done.err.index(REVIEW_PROMPT) + len(REVIEW_PROMPT) :]
    first_frame = after[: after.index("shows  ")]
    assert "\x1b[1A" not in first_frame
    assert "\x1b[2K" not in first_frame


def test_without_more_input_nobody_has_accepted(orkeon, crew, types):
    types()
    done = orkeon("run", "shows.yaml")
    assert done.code == 1
    assert "nobody has accepted the output" in done.out + done.err


@pytest.mark.parametrize("why", ["option", "pipe", "closed", "none"])
def test_a_crew_that_needs_a_person_is_refused_without_one(orkeon, crew, types, monkeypatch, why):
    types("\n")
    if why == "pipe":
        monkeypatch.setattr(sys.stdin, "isatty", lambda: False)
    if why == "closed":
        monkeypatch.setattr(sys.stdin, "closed", True)
    if why == "none":
        monkeypatch.setattr(sys, "stdin", None)
    done = orkeon("run", "shows.yaml", *(["--no-input"] if why == "option" else []))
    assert done.code == 2
    assert done.err.startswith("shows.yaml:4:")
    assert "there is nobody to ask" in done.err
    assert "--no-input" in done.err


def test_a_question_without_anybody_is_answered_with_that(orkeon, crew):
    done = orkeon("run", "asks.yaml", "--no-input")
    assert done.code == 0
    assert "refused: there is nobody who can be asked" in done.out


def test_control_characters_of_an_output_do_not_reach_the_terminal(orkeon, folder, types):
    (folder / "odd.yaml").write_text(SHOWS.replace("Write", '"Wri\\u0085te"'))
    types("\n")
    assert "\x85" not in orkeon("run", "odd.yaml").err


def test_a_run_that_waited_is_asked_again(orkeon, crew, folder, types, monkeypatch):
    store = f"sqlite:///{folder}/runs.db"
    types("\n")
    with monkeypatch.context() as patched:
        patched.setattr("orkeon_transitions.cli.people._line", _interrupted)
        done = orkeon("run", "shows.yaml", "--store", store, "--run-id", "r")
    assert done.code == 130
    done = orkeon("resume", "r", "--store", store, "--json")
    assert done.err.count(REVIEW_PROMPT) == 1
    assert (done.code, done.json["status"]) == (0, "completed")


async def _interrupted():
    import asyncio
    import signal

    signal.raise_signal(signal.SIGINT)
    await asyncio.sleep(20)


# --------------------------------------------------------------------------------------- rates and numbers
def test_a_wait_for_a_slot_is_told(orkeon, folder, monkeypatch):
    from orkeon_transitions.crew import pacing

    text = ASKS.replace("name: asks", "name: x\nmaxRpm: 1").replace("tools: [ask_human]", "planning: true")
    (folder / "slow.yaml").write_text(text)
    made = pacing.Pace
    monkeypatch.setattr(pacing, "Pace", lambda most, clock: made(most, clock, window=0.3))
    done = orkeon("run", "slow.yaml")
    assert done.code == 0
    assert "t (a): waits 0.3 s to ask its model (maxRpm)" in done.err


@pytest.mark.parametrize(("given", "code"), [("3", 0), ("0", 2), ("many", 2)])
def test_how_many_tasks_run_at_once_may_be_said(orkeon, crew, given, code):
    assert orkeon("run", "asks.yaml", "--no-input", "--concurrency", given).code == code
