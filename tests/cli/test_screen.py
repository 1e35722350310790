"""Where words go: broken pipes, full disks, narrow encodings, hostile names."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from orkeon_transitions.cli.screen import Screen
from orkeon_transitions.cli.words import counted, visible


def shell(line, **more):
    """Runs a line of shell; `$ORKEON` is the command line."""
    env = {**os.environ, "ORKEON": f"{sys.executable} -m orkeon_transitions"} | more
    return subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=60, env=env)


pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")


@pytest.mark.parametrize(
    "command", ["machines", "schema machine", "machines task_execution --json", "--help"]
)
def test_a_reader_that_leaves_early_is_no_fault(command):
    done = shell(f"set -o pipefail; $ORKEON {command} | true; echo ${{PIPESTATUS[0]}}")
    assert done.stdout == "0\n"
    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr


def test_a_run_goes_on_when_its_reader_has_gone(little_crew, folder):
    done = shell("$ORKEON run little.yaml | true; echo ${PIPESTATUS[0]}")
    assert done.stdout == "0\n"
    assert (folder / "out" / "report.md").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("command", ["machines", "machines --json", "--version"])
def test_a_full_disk_behind_standard_output_is_told(command):
    done = shell(f"$ORKEON {command} > /dev/full")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("error: ")
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("closing", [">&-", "2>&-", ">&- 2>&-"])
def test_streams_that_are_closed_are_left_alone(closing):
    assert shell(f"$ORKEON machines {closing}").returncode == 0
    wrong = shell(f"$ORKEON machines nothing {closing}")
    assert wrong.returncode == 2
    assert wrong.stdout == ""


def test_an_encoding_that_cannot_write_it_gets_escapes(folder):
    (folder / "m.yaml").write_text(
        "name: café\ninitial: été\nstates: [été]\ntransitions: [[go, été, =]]\n", encoding="utf-8"
    )
    narrow = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    plain = shell("$ORKEON machines m.yaml", **narrow)
    assert (plain.returncode, plain.stderr) == (0, "")
    assert "caf\\xe9" in plain.stdout
    for_programs = shell("$ORKEON machines m.yaml --json", **narrow)
    assert json.loads(for_programs.stdout)["name"] == "café"
    assert json.loads(shell("$ORKEON machines m.yaml --json").stdout)["name"] == "café"


def test_a_file_name_that_is_no_text_is_told(folder):
    done = subprocess.run(
        [sys.executable, "-m", "orkeon_transitions", "check", b"no\xfffile.yaml"],
        capture_output=True,
        timeout=60,
    )
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr


def test_control_characters_are_spelled_out():
    assert visible("a\x1b[2Jb\x07\u202ec\nd") == "a\\x1b[2Jb\\x07\\u202ec\nd"


def test_numbers_and_nouns():
    assert [counted(n, "state") for n in (0, 1, 2)] == ["0 states", "1 state", "2 states"]


def test_a_screen_survives_a_broken_standard_error(monkeypatch):
    class Broken(io.StringIO):
        def write(self, _):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(sys, "stderr", Broken())
    Screen().say("error", "nobody hears this")


def test_words_outside_of_a_command_have_a_screen(capsys):
    from orkeon_transitions.cli.screen import Mistake

    Mistake("said").show()
    assert capsys.readouterr().err == "error: said\n"


def test_plain_tables_are_aligned_and_never_cut(capsys):
    long = "x" * 300
    Screen().table(("one", "two"), [("a\nb", long), ("", "y")])
    assert capsys.readouterr().out.splitlines() == ["ONE  TWO", f"a b  {long}", "     y"]
