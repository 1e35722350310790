"""Which Graphviz draws, and what happens when none can."""

from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import PackageNotFoundError

import graphviz.backend.dot_command
import pytest

from orkeon_transitions.diagrams import graphviz_binary, mimebundle, render, to_mermaid, to_png, to_svg
from orkeon_transitions.errors import MissingExtraError, OrkeonError
from tests.diagrams.pictures import PNG_BEGINS, ticket

MINE = r"printf '\211PNG\r\n\032\nmine'"
NO_PLUGIN = """echo 'Format: "png" not recognized. Use one of: dot svg' >&2; exit 1"""


@pytest.fixture
def path(tmp_path, monkeypatch):
    """An empty folder that is all of the PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


@pytest.fixture
def no_wheel(monkeypatch):
    """As if graphviz-pure were not installed."""

    def missing(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(graphviz_binary, "distribution", missing)


def install(folder, script, name="dot"):
    program = folder / name
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)


def test_the_wheel_draws_with_an_empty_path(path, tmp_path):
    for suffix in ("png", "svg", "dot", "mmd"):
        assert render(ticket(), tmp_path / f"m.{suffix}").stat().st_size > 300
    assert [program.name for program in graphviz_binary.programs()] == ["graphviz-pure"]


def test_the_systems_dot_comes_first(path):
    install(path, MINE)
    assert to_png(ticket()).endswith(b"mine")


# case H03
@pytest.mark.parametrize(
    "script",
    [
        pytest.param(NO_PLUGIN, id="no png plugin"),
        pytest.param("exit 0", id="says nothing"),
        pytest.param("echo 'not a picture'", id="writes something else"),
        pytest.param("exit 3", id="fails in silence"),
        pytest.param("kill -9 $$", id="is killed"),
    ],
)
def test_the_wheel_steps_in_for_a_dot_that_cannot(path, script):
    install(path, script)
    assert to_png(ticket()).startswith(PNG_BEGINS)


def test_a_dot_that_is_no_program(path):
    (path / "dot").write_bytes(b"\x00\x01nothing")
    (path / "dot").chmod(0o755)
    assert to_png(ticket()).startswith(PNG_BEGINS)


@pytest.mark.parametrize(
    ("script", "words"),
    [(NO_PLUGIN, 'dot: Format: "png" not recognized'), ("exit 3", "ended with status 3")],
)
def test_a_failure_of_all_is_told_in_their_words(path, no_wheel, tmp_path, script, words):
    install(path, script)
    with pytest.raises(OrkeonError, match="could not draw the PNG") as caught:
        render(ticket(), tmp_path / "m.png")
    assert words in str(caught.value)
    assert "Mermaid" in str(caught.value)
    assert not (tmp_path / "m.png").exists()
    assert mimebundle(ticket()) == {
        "text/markdown": f"```mermaid\n{to_mermaid(ticket())}\n```\n",
        "text/plain": repr(ticket()),
    }


def test_a_dot_that_hangs_is_ended(path, no_wheel, monkeypatch):
    monkeypatch.setattr(graphviz_binary, "TIME_LIMIT", 0.2)
    install(path, "exec /bin/sleep 20")
    with pytest.raises(OrkeonError, match=r"took longer than 0\.2 s"):
        to_svg(ticket())


# case H03
@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_without_any_graphviz_one_error_says_what_to_do(path, no_wheel, tmp_path, suffix):
    with pytest.raises(MissingExtraError) as caught:
        render(ticket(), tmp_path / f"m.{suffix}")
    for words in ("`dot`", "graphviz.org", "pip install 'orkeon-transitions[diagrams]'", "Mermaid"):
        assert words in str(caught.value)
    assert caught.value.extra == "diagrams"
    assert [entry.name for entry in tmp_path.iterdir()] == ["bin"]


def test_without_any_graphviz_text_is_drawn(path, no_wheel, tmp_path):
    assert render(ticket(), tmp_path / "m.dot").exists()
    assert render(ticket(), tmp_path / "m.mmd").exists()
    assert mimebundle(ticket()) == {
        "text/markdown": f"```mermaid\n{to_mermaid(ticket())}\n```\n",
        "text/plain": repr(ticket()),
    }


def test_a_pdf_needs_the_systems_dot(path, tmp_path):
    with pytest.raises(OrkeonError, match="PDF needs the program `dot`"):
        render(ticket(), tmp_path / "m.pdf")
    assert not (tmp_path / "m.pdf").exists()
    install(path, "printf '%%PDF-1.7'")
    assert render(ticket(), tmp_path / "m.pdf").read_bytes() == b"%PDF-1.7"


def test_a_wheel_whose_files_are_gone_is_looked_for_on_the_path(path, monkeypatch):
    class Broken:
        files = None

    monkeypatch.setattr(graphviz_binary, "distribution", lambda name: Broken)
    assert not list(graphviz_binary.programs())
    install(path, MINE, name="graphviz-pure")
    assert to_png(ticket()).endswith(b"mine")


def test_threads_draw_at_once_and_leave_no_setting_behind(path):
    before = graphviz.backend.dot_command.DOT_BINARY
    with ThreadPoolExecutor(6) as pool:
        drawn = set(pool.map(lambda _: to_svg(ticket()), range(12)))
    assert len(drawn) == 1
    assert before == graphviz.backend.dot_command.DOT_BINARY
