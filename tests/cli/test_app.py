"""What all commands share: help, exit codes, and what an error becomes."""

import importlib
import subprocess
import sys
from importlib.metadata import version

import click
import pytest

from orkeon_transitions.cli import app, main
from orkeon_transitions.cli import machines as machines_command
from orkeon_transitions.errors import OrkeonError


def test_the_version_and_the_help(orkeon):
    assert version("orkeon-transitions") in orkeon("--version").out
    done = orkeon("--help")
    assert done.code == 0
    for name in app.COMMANDS:
        assert f"  {name} " in done.out
    assert "Exit codes: 0 done, 1 failed, 2 invalid input, 3 degraded, 130 interrupted." in done.out


@pytest.mark.parametrize("name", app.COMMANDS)
def test_the_help_of_each_command_has_examples_that_parse(orkeon, name):
    done = orkeon(name, "--help")
    assert done.code == 0
    examples = [line.strip() for line in done.out.splitlines() if line.strip().startswith(f"orkeon {name}")]
    assert examples
    for example in examples:
        words = example.split(" | ")[0].split(" > ")[0].split()[2:]
        command = app.application.get_command(click.Context(app.application), name)
        command.make_context(name, words)


def test_no_command_shows_the_help(orkeon):
    done = orkeon()
    assert done == orkeon("--help")
    assert done.code == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["explore"], "FILE|NAME|LOG|URL"),
        (["chek"], "did you mean 'check'?"),
        (["zzzzzz"], "there are: run, check"),
        (["machines", "--nope"], "--nope"),
        (["--nope"], "--nope"),
        (["schema"], "{machine|crew}"),
        (["schema", "graph"], "graph"),
        (["render", "task_execution"], "--output"),
        (["run"], "CREW"),
        (["run", "x.yaml", "--input", "novalue"], "KEY=VALUE"),
        (["run", "x.yaml", "--input", "=v"], "KEY=VALUE"),
        (["run", "x.yaml", "--model", "oflin"], "did you mean 'offline'?"),
        (["run", "x.yaml", "--model", "opnai:gpt-5"], "did you mean 'openai'?"),
        (["run", "x.yaml", "--base-url", "localhost:1234"], "--base-url"),
        (["run", "x.yaml", "--base-url", "http://me:secret@localhost:1234"], "no password"),
        (["run", "x.yaml", "--watch", "--json"], "--watch and --json"),
        (["run", "x.yaml", "--store", "sqlite://"], "--store"),
        (["run", "x.yaml", "--report", "r.html"], "--report"),
        (["replay"], "LOG"),
        (["check"], "FILE..."),
    ],
)
def test_a_wrong_command_line_is_invalid_input(orkeon, arguments, words):
    done = orkeon(*arguments)
    assert done.code == 2
    assert words.lower() in done.err.lower()
    assert done.out == ""
    assert "Traceback" not in done.err


class TestErrors:
    """Every error ends as an exit code and a clear line."""

    def raised(self, orkeon, monkeypatch, error, *options):
        def fail(**_):
            raise error

        monkeypatch.setattr(machines_command, "_list", fail)
        return orkeon("machines", *options)

    def test_an_error_of_ours_is_invalid_input(self, orkeon, monkeypatch):
        done = self.raised(orkeon, monkeypatch, OrkeonError("no such thing"))
        assert (done.code, done.err) == (2, "error: no such thing\n")

    def test_a_file_that_cannot_be_used_is_invalid_input(self, orkeon, monkeypatch):
        done = self.raised(orkeon, monkeypatch, PermissionError(13, "Permission denied", "secret.yaml"))
        assert (done.code, done.err) == (2, "error: secret.yaml: Permission denied\n")

    def test_a_fault_of_ours_is_one_line(self, orkeon, monkeypatch):
        done = self.raised(orkeon, monkeypatch, ZeroDivisionError("division by zero"))
        assert done.code == 1
        assert done.err == "error: unexpected ZeroDivisionError: division by zero (--debug shows where)\n"

    def test_a_fault_without_words_is_told_by_its_name(self, orkeon, monkeypatch):
        assert "unexpected RuntimeError (--debug" in self.raised(orkeon, monkeypatch, RuntimeError()).err

    def test_an_error_of_the_system_without_a_file_is_a_fault_of_ours(self, orkeon, monkeypatch):
        assert self.raised(orkeon, monkeypatch, OSError("strange")).code == 1

    @pytest.mark.parametrize("how", ["option", "variable"])
    def test_debug_shows_where(self, orkeon, monkeypatch, how):
        if how == "variable":
            monkeypatch.setenv("ORKEON_DEBUG", "1")
        options = ["--debug"] if how == "option" else []
        done = self.raised(orkeon, monkeypatch, ZeroDivisionError("division by zero"), *options)
        assert done.code == 1
        assert "Traceback" in done.err
        assert "in fail" in done.err

    @pytest.mark.parametrize("error", [KeyboardInterrupt(), click.Abort()])
    def test_an_interrupt_is_130(self, orkeon, monkeypatch, error):
        done = self.raised(orkeon, monkeypatch, error)
        assert (done.code, done.err.lstrip()) == (130, "error: interrupted\n")

    @pytest.mark.parametrize(("error", "code"), [(SystemExit(3), 3), (SystemExit("text"), 2)])
    def test_an_exit_keeps_its_code(self, orkeon, monkeypatch, error, code):
        assert self.raised(orkeon, monkeypatch, error).code == code

    def test_a_click_error_is_invalid_input(self, orkeon, monkeypatch):
        done = self.raised(orkeon, monkeypatch, click.ClickException("odd"))
        assert (done.code, done.err) == (2, "error: odd\n")


def test_shared_options_stand_before_or_after_the_command(orkeon):
    render = ("render", "task_execution", "-o", "m.mmd")
    assert orkeon(*render).err == "wrote m.mmd\n"
    assert orkeon(*render, "--quiet").err == ""
    assert orkeon("--quiet", *render).err == ""
    assert orkeon("--quiet", "machines").out == orkeon("machines").out


def test_the_module_and_the_script_are_the_same(capsys):
    def run(*command):
        return subprocess.run(
            [*command, "machines"], capture_output=True, text=True, timeout=60, check=True
        ).stdout

    main(["machines"])
    listed = capsys.readouterr().out
    assert run(sys.executable, "-m", "orkeon_transitions") == listed
    script = "import sys; from orkeon_transitions.cli import main; sys.exit(main())"
    assert run(sys.executable, "-c", script) == listed


def test_importing_the_module_runs_nothing(capsys):
    importlib.import_module("orkeon_transitions.__main__")
    assert capsys.readouterr() == ("", "")


def test_only_what_is_listed_is_a_command():
    context = click.Context(app.application)
    assert app.application.list_commands(context) == list(app.COMMANDS)
    assert app.application.get_command(context, "explorer") is None


def test_the_help_loads_no_room_of_the_library():
    program = (
        "import sys; from orkeon_transitions.cli import main; code = main(['--help']);"
        "print(code, *[name for name in ('rich', 'transitions', 'orkeon_transitions.crew', 'graphviz')"
        " if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stderr == "0\n"
