"""Words for people: wrapped between words, at the terminal's edge only."""

import re

import pytest

from orkeon_transitions.cli.words import wrapped


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("one two three", 13, ["one two three"]),
        ("one two three", 12, ["one two", "three"]),
        ("one two three", 3, ["one", "two", "three"]),
        ("a  b   c", 8, ["a  b   c"]),
        ("  in it goes", 8, ["  in it", "  goes"]),
        ("- an item of a list", 10, ["- an item", "  of a", "  list"]),
        ("* an item", 5, ["* an", "  item"]),
        ("* (each of 7)", 40, ["* (each of 7)"]),
        ("- - - -", 3, ["- -", "  -", "  -"]),
        ("averylongword b", 4, ["averylongword", "b"]),
        ("first line\n\n  second line\n", 8, ["first", "line", "", "  second", "  line", ""]),
        ("", 5, [""]),
        ("      ", 3, [""]),
        ("-- -- --", 3, ["--", "--", "--"]),
        ("\x1b[31mred\x1b[0m as can be", 7, ["\x1b[31mred\x1b[0m as", "can be"]),
    ],
)
def test_lines_are_broken_between_words(text, width, lines):
    assert [line.rstrip(" ") for line in wrapped(text, width).split("\n")] == lines


def test_wide_characters_take_two_cells():
    from rich.cells import cell_len

    assert wrapped("日本 日本", 5) == "日本 日本"
    assert wrapped("日本 日本", 5, cell_len) == "日本\n日本"


MESSAGE = "there is no agent 'file_reader' in this crew, which has three others (did you mean 'file_read'?)"


@pytest.mark.parametrize("columns", [40, 80])
def test_a_terminal_gets_whole_words(on_terminal, columns, monkeypatch):
    from orkeon_transitions.cli import machines as command
    from orkeon_transitions.errors import OrkeonError

    def fail(**_):
        raise OrkeonError(MESSAGE)

    monkeypatch.setattr(command, "_list", fail)
    told = on_terminal("--no-color", "machines", columns=columns).err
    assert told.split() == ["error:", *MESSAGE.split()]
    assert 1 < len(told.splitlines()) == len([line for line in told.splitlines() if len(line) <= columns])


def test_a_pipe_gets_its_lines_unwrapped(orkeon, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    done = orkeon("machines", "x" * 30 + ".yaml")
    assert len(done.err.splitlines()) == 1
    assert len(done.err) > 80


@pytest.mark.parametrize("columns", [60, 80, 100, 120])
@pytest.mark.parametrize("name", ["", "run", "check", "render", "replay", "machines", "schema"])
def test_the_help_fits_the_terminal(on_terminal, name, columns):
    done = on_terminal(*filter(None, [name]), "--help", columns=columns)
    assert max(map(len, done.out.splitlines())) <= columns
    if columns >= 80:
        for line in done.out.partition("Examples:")[2].splitlines():
            assert not line.strip() or re.match(r"    orkeon |  Exit codes", line), "examples stay on a line"
