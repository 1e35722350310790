"""Reading one mapping, as the crew's reader does, too."""

import pytest

from orkeon_transitions.definition import read_source
from orkeon_transitions.definition.fields import read_block, read_names, read_prose, shown


def block_of(text, **options):
    source = read_source(text)
    return source, read_block(source, source.data, (), {"max_items", "name"}, **options)


def test_keys_are_known_by_their_snake_case_and_keep_their_place():
    source, block = block_of("maxItems: 5\nname: x\n")
    assert "max_items" in block
    assert "maxItems" not in block
    assert block.get("max_items") == 5
    assert block.at("max_items") == ("maxItems",)
    assert block.get("other") is None
    assert block.at("other") == ("other",)
    block.problem("max_items", "is wrong")
    assert (source.problems[0].line, source.problems[0].column, source.problems[0].path) == (
        1,
        11,
        "maxItems",
    )


def test_aliases_unused_and_refused_keys():
    text = "mostItems: 5\nold: 1\nlater: 2\nnmae: 3\n"
    source, block = block_of(
        text,
        aliases={"most_items": "max_items"},
        unused={"old"},
        refused={"later": "'later' is not there yet"},
    )
    assert block.values == {"max_items": 5}
    assert [(note.path, note.line) for note in source.notes] == [("old", 2)]
    assert [(problem.path, problem.message, problem.hint) for problem in source.problems] == [
        ("later", "'later' is not there yet", None),
        ("nmae", "unknown key 'nmae'", "name"),
    ]


def test_what_must_be_there():
    source, block = block_of("name: x\n")
    assert block.require("name")
    assert not block.require("max_items", " (how many)")
    assert source.problems[0].message == "'max_items' is missing (how many)"


def test_one_name_several_or_none():
    source = read_source("[a, b]\n")
    assert read_names(source, ["a", "b"], (), read_prose) == ("a", "b")
    assert read_names(source, [], (), read_prose) == read_names(source, None, (), read_prose) == ()
    assert read_names(source, ["a", 5], (), read_prose) == ("a",)
    assert source.problems[0].path == "[1]"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "null"),
        (True, "true"),
        (False, "false"),
        (1.5, "the number 1.5"),
        (10**400, "the number one too long to show"),
        ("x", "the text 'x'"),
        ("x" * 41, "a text"),
        ([], "a list"),
        ({}, "a mapping"),
        (object(), "an object of type object"),
    ],
)
def test_values_in_a_few_words(value, words):
    assert shown(value) == words


def test_hints_are_looked_for_only_so_often():
    source = read_source("a: 1\n")
    names = frozenset(f"name{number}" for number in range(200))
    hints = [source.hint(f"nam{number}", names) for number in range(400)]
    assert all(hints[:200])
    assert not any(hints[200:])
    assert source.hint("nam1", names) == hints[1]


def test_many_valid_names_are_looked_through_the_less_often():
    source = read_source("a: 1\n")
    names = frozenset(f"name{number}" for number in range(20_000))
    assert [bool(source.hint(name, names)) for name in ("nam1", "nam2", "nam3")] == [True, True, False]
