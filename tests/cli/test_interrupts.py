"""Ctrl-C: the first one cancels the tasks, the second one ends the program at once."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from orkeon_transitions.cli.interrupts import Interrupts
from orkeon_transitions.crew import Crew
from tests.cli.conftest import Terminal

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals as POSIX has them")

# The offline model, but its second request never ends. `stubborn` does not listen to a cancellation either.
PROGRAM = """\
import asyncio, sys, time
from pathlib import Path
from orkeon_transitions.cli import main
from orkeon_transitions.crew import OfflineModel

fast, asked = OfflineModel.reply, []

async def reply(self, messages, tools):
    asked.append(1)
    if len(asked) == 4:
        Path("waiting").touch()
        if sys.argv.pop() == "stubborn":
            time.sleep(60)
        await asyncio.sleep(60)
    return await fast(self, messages, tools)

OfflineModel.reply = reply
sys.exit(main(sys.argv[1:-1]))
"""


def wait_for(file, process):
    """Until the process has made the file."""
    deadline = time.monotonic() + 30
    while not file.exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.fixture
def started(folder, little_crew):
    """Starts `orkeon` and waits until its second task is at work."""
    processes = []

    def start(*arguments, how="polite", program=PROGRAM):
        process = subprocess.Popen(
            [sys.executable, "-c", program, *arguments, how],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=folder,
        )
        processes.append(process)
        wait_for(folder / "waiting", process)
        time.sleep(0.1)
        return process

    yield start
    for process in processes:
        process.kill()
        process.wait()
        process.stdout.close()
        process.stderr.close()


def test_a_run_that_was_cancelled_before_it_began_was_interrupted(orkeon, little_crew, monkeypatch):
    async def run(self, *_, **__):
        raise asyncio.CancelledError

    monkeypatch.setattr(Crew, "run", run)
    done = orkeon("run", "little.yaml")
    assert (done.code, done.out) == (130, "")
    assert "interrupted" in done.err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_the_first_signal_cancels_the_tasks_and_says_what_was_done(started, folder, orkeon, number):
    process = started("run", "little.yaml", "--json", "--journal", "run.jsonl")
    process.send_signal(number)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "interrupted" in err
    assert "Traceback" not in err
    result = json.loads(out)
    assert result["status"] == "cancelled"
    assert [task["status"] for task in result["tasks"]] == ["completed", "cancelled"]
    assert result["tasks"][1]["state"] == "cancelled"
    write = result["tasks"][1]["machine_id"]
    assert orkeon("replay", "run.jsonl", "--machine-id", write, "--json").json["final_state"] == "cancelled"


def test_a_person_is_told_what_was_done(started):
    process = started("run", "little.yaml")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 130
    rows = [line.split()[:3] for line in out.splitlines()]
    assert ["look", "scout", "completed"] in rows
    assert ["write", "writer", "cancelled"] in rows
    assert "cancelled in" in out
    assert "once more" in err


def test_a_second_signal_ends_the_program_at_once(started):
    process = started("run", "little.yaml", how="stubborn")
    process.send_signal(signal.SIGINT)
    time.sleep(0.3)
    assert process.poll() is None, "the model does not listen"
    process.send_signal(signal.SIGINT)
    began = time.monotonic()
    _, err = process.communicate(timeout=20)
    assert time.monotonic() - began < 5
    assert process.returncode == 130
    assert "aborted" in err


class TestListening:
    def test_the_handlers_are_put_back(self):
        before = signal.getsignal(signal.SIGINT)
        with Interrupts(lambda: None):
            assert signal.getsignal(signal.SIGINT) != before
        assert signal.getsignal(signal.SIGINT) == before

    def test_a_signal_before_the_run_began_cancels_it_at_once(self):
        async def work():
            await asyncio.sleep(60)

        async def run(interrupts):
            task = asyncio.create_task(work())
            interrupts.watch(task)
            with pytest.raises(asyncio.CancelledError):
                await task

        with Interrupts(lambda: None) as interrupts:
            os.kill(os.getpid(), signal.SIGINT)
            assert interrupts.asked
            asyncio.run(run(interrupts))

    def test_a_second_signal_ends_the_program(self, monkeypatch):
        said, ended = [], []
        monkeypatch.setattr(os, "write", lambda _, text: said.append(text))
        monkeypatch.setattr(os, "_exit", ended.append)
        monkeypatch.setattr(sys, "stderr", Terminal())
        with Interrupts(lambda: None):
            os.kill(os.getpid(), signal.SIGINT)
            assert not ended
            os.kill(os.getpid(), signal.SIGTERM)
        assert ended == [130]
        assert said[0] == b"\x1b[?25h", "the cursor is shown again"
        assert b"aborted" in said[1]

    def test_a_signal_while_nothing_is_watched_is_remembered(self):
        said = []
        with Interrupts(lambda: said.append(1)) as interrupts:
            interrupts._cancel()
            os.kill(os.getpid(), signal.SIGTERM)
            assert interrupts.asked
        assert said == [1]

    def test_a_hang_up_that_is_ignored_stays_ignored(self):
        before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as `nohup` does
        try:
            with Interrupts(lambda: None) as interrupts:
                os.kill(os.getpid(), signal.SIGHUP)
                assert not interrupts.asked
        finally:
            signal.signal(signal.SIGHUP, before)

    def test_another_thread_listens_to_nothing(self):
        heard = []

        def enter():
            with Interrupts(lambda: None):
                heard.append(signal.getsignal(signal.SIGINT))

        before = signal.getsignal(signal.SIGINT)
        thread = threading.Thread(target=enter)
        thread.start()
        thread.join()
        assert heard == [before]


def test_an_interrupt_while_the_program_loads_is_one_line():
    program = """\
import sys
from orkeon_transitions.cli import main

class Interrupted:
    def find_spec(self, name, *_):
        if name == "click":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupted())
sys.exit(main(["machines"]))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "error: interrupted\n")


# The result is there, and the end has not come yet: `closing` waits for something that does not listen,
# `writing` draws for long, `ending` is what a program's threads may do, and `going` what its objects may.
AFTER = """\
import asyncio, sys, threading, time
from pathlib import Path
from orkeon_transitions.cli import carrying_out, main
from orkeon_transitions.crew import Crew

how, run, draw = sys.argv.pop(), Crew.run, carrying_out.draw_tasks

async def closing(self, *arguments, **options):
    result = await run(self, *arguments, **options)
    Path("waiting").touch()
    while True:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            Path("cancelled").touch()
            time.sleep(60)

def still_there():
    threading.main_thread().join()  # until all is done, and the program waits for its threads
    Path("waiting").touch()
    time.sleep(60)

class Heavy:  # when the interpreter takes itself apart
    def __del__(self, touch=Path("waiting").touch, sleep=time.sleep):
        touch()
        sleep(1)

def drawing(*arguments):
    Path("waiting").touch()
    for _ in range(40 if how == "writing" else 1200):
        time.sleep(0.05)
    return draw(*arguments)

if how == "closing":
    Crew.run = closing
elif how == "going":
    heavy = Heavy()
elif how == "ending":
    threading.Thread(target=still_there).start()
else:
    carrying_out.draw_tasks = drawing
sys.exit(main())
"""
WRITTEN = ("run", "little.yaml", "--report", "report.md", "--diagrams", "pictures")


class TestAfterTheResult:
    """What a run has given is not lost to an impatient person."""

    def test_a_second_signal_ends_what_the_run_waits_for_and_the_report_is_written(self, started, folder):
        process = started(*WRITTEN, program=AFTER, how="closing")
        process.send_signal(signal.SIGINT)
        wait_for(folder / "cancelled", process)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
        assert process.returncode == 130
        assert "little: completed" in out
        assert "Traceback" not in err
        assert "little" in (folder / "report.md").read_text()
        assert (folder / "pictures" / "look.svg").exists()

    def test_a_signal_while_it_is_written_down_lets_that_end(self, started, folder):
        process = started(*WRITTEN, program=AFTER, how="writing")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
        assert process.returncode == 130
        assert "little: completed" in out
        assert "the result is being written down (once more ends the program at once)" in err
        assert "Traceback" not in err
        assert (folder / "report.md").exists()

    @pytest.mark.parametrize(("how", "code"), [("ending", 130), ("going", 0)])
    def test_a_signal_while_the_program_ends_is_no_traceback(self, started, folder, how, code):
        process = started(*WRITTEN, program=AFTER, how=how)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
        assert process.returncode == code
        assert "little: completed" in out
        assert "KeyboardInterrupt" not in err
        assert (folder / "report.md").exists()

    def test_once_more_ends_the_program_at_once(self, started, folder):
        process = started(*WRITTEN, program=AFTER, how="writing for ever")
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=5)
        assert process.returncode == 130
        assert "aborted" in err
