"""`orkeon docs`: the guides, plain in a pipe and set in a terminal."""

import re

import click
import pytest

from orkeon_transitions.cli import docs
from orkeon_transitions.docs import TOPICS, guide, summary


def test_without_a_topic_each_is_listed_with_one_line(orkeon):
    done = orkeon("docs")
    assert done.code == 0
    assert [line.split()[0] for line in done.out.splitlines()[1:]] == list(TOPICS)
    assert all(summary(topic) in done.out for topic in TOPICS)


def test_a_pipe_gets_the_markdown_as_it_is(orkeon):
    for topic in TOPICS:
        assert orkeon("docs", topic).out == guide(topic)


@pytest.mark.parametrize("written", ["yaml_keys", "YAML-KEYS", "yaml-keys.md"])
def test_a_topic_may_be_spelled_in_several_ways(orkeon, written):
    assert orkeon("docs", written).out == guide("yaml-keys")


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("guard", "no guide 'guard'; did you mean 'guards'?"),
        ("zzz", "no guide 'zzz'; there are: machine-files, guards, "),
        ("../README", "no guide '../README'; there are: "),
    ],
)
def test_a_typo_is_told_with_the_nearest_topic(orkeon, written, told):
    done = orkeon("docs", written)
    assert (done.code, done.out) == (2, "")
    assert f"error: {told}" in done.err


def test_the_path_of_a_guide_and_of_all_of_them(orkeon):
    from pathlib import Path

    folder = Path(orkeon("docs", "--path").out.strip())
    assert (folder / "schemas" / "machine.schema.json").is_file()
    assert Path(orkeon("docs", "breaker", "--path").out.strip()) == folder / "breaker.md"


@pytest.fixture
def paged(monkeypatch):
    """What was given to a pager."""
    texts = []
    monkeypatch.setattr(docs.click, "echo_via_pager", lambda text, color: texts.append((text, color)))
    return texts


def plain(text):
    return re.sub(r"\x1b\[[\d;]*m", "", text)


@pytest.mark.parametrize("columns", [40, 80, 200])
@pytest.mark.parametrize("topic", TOPICS)
def test_a_terminal_gets_it_set_within_its_width(on_terminal, paged, topic, columns):
    assert on_terminal("docs", topic, columns=columns).code == 0
    [(text, color)] = paged
    assert color is None
    lines = plain(text).splitlines()
    assert max(map(len, lines)) <= min(columns, 100)
    assert not any(line.startswith(("#", "```", "|--")) for line in lines)
    assert guide(topic).startswith(f"# {lines[0].strip()}")


def test_there_is_no_ground_behind_the_words_and_no_color_that_one_ground_hides(on_terminal, paged):
    """Green and magenta are seen on both; nothing goes beyond the terminal's own colors."""
    on_terminal("docs", "machine-files")
    styles = {
        int(code)
        for found in re.findall(r"\x1b\[([\d;]*)m", paged[0][0])
        for code in found.split(";")
        if code
    }
    assert styles <= {0, 1, 2, 3, 4, 32, 35}


def test_what_fits_the_screen_needs_no_pager(on_terminal, paged, monkeypatch):
    monkeypatch.setenv("LINES", "5000")
    assert "Guards and contexts" in on_terminal("docs", "guards").out
    assert not paged


def test_without_colors_there_are_none(on_terminal, paged):
    on_terminal("docs", "guards", "--no-color")
    [(_, color)] = paged
    assert color is False


def test_it_is_a_command_that_is_listed(orkeon):
    assert re.search(r"^  docs +List the guides", orkeon("--help").out, re.MULTILINE)
    assert isinstance(docs.command, click.Command)
