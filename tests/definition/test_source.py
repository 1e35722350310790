"""YAML text with the place of everything in it, and each file that is refused."""

import os
import time
from pathlib import Path

import pytest
import yaml

from orkeon_transitions.definition import load_definition, read_source
from orkeon_transitions.definition.source import is_text
from orkeon_transitions.errors import CrewDefinitionError, DefinitionError


def only_problem(what, **options):
    with pytest.raises(DefinitionError) as caught:
        read_source(what, **options)
    (problem,) = caught.value.problems
    return problem


def only_place(text):
    problem = only_problem(text)
    return problem.line, problem.column, problem.message


def laughs(levels=9):
    lines = ["a0: &a0 [ha, ha, ha, ha, ha, ha, ha, ha, ha, ha]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, levels)]
    return "\n".join(lines) + "\n"


class TestPlaces:
    TEXT = "name: demo\nstates:\n  - off\n  - {name: end, final: true}\n'a b':\n    c: &x [1, 2]\nd: *x\n"

    def test_values_keys_and_items_have_places(self):
        source = read_source(self.TEXT)
        assert source.place(("name",)) == (1, 7)
        assert source.key_place(("name",)) == (1, 1)
        assert source.place(("states",)) == (3, 3)
        assert source.place(("states", 0)) == (3, 5)
        assert source.place(("states", 1, "final")) == (4, 24)
        assert source.key_place(("states", 1, "final")) == (4, 17)
        assert source.key_place(("a b", "c")) == (6, 5)
        assert source.place(("a b", "c", 1)) == (6, 15)

    def test_an_alias_has_its_own_place_and_its_parts_have_those_of_the_anchor(self):
        source = read_source(self.TEXT)
        assert source.data["d"] == [1, 2]
        assert source.place(("d",)) == (7, 4)
        assert source.place(("d", 1)) == (6, 15)

    def test_what_has_no_place_has_that_of_what_is_around_it(self):
        source = read_source(self.TEXT)
        assert source.place(("states", 1, "timeout")) == (4, 5)
        assert source.place(("states", 7)) == (3, 3)
        assert source.key_place(("states", 0)) == (3, 5)

    def test_columns_count_characters_and_a_byte_order_mark_is_none(self, tmp_path):
        file = tmp_path / "bom.yaml"
        file.write_bytes("é🙂: [a, bad]\r\nb: 2\r\n".encode("utf-8-sig"))
        source = read_source(file)
        assert source.data == {"é🙂": ["a", "bad"], "b": 2}
        assert source.place(("é🙂", 1)) == (1, 9)
        assert source.key_place(("b",)) == (2, 1)


class TestWords:
    @pytest.mark.parametrize("word", ["on", "off", "yes", "no", "Yes", "NO", "On", "OFF", "y", "n"])
    def test_switch_words_are_text_as_values_and_as_keys(self, word):  # case A01
        for spelled in (word, f"'{word}'", f'"{word}"'):
            assert read_source(f"{spelled}: {spelled}\n").data == {word: word}

    @pytest.mark.parametrize(
        ("word", "value"),
        [
            ("true", True),
            ("False", False),
            ("~", None),
            ("", None),
            ("NULL", None),
            ("-7", -7),
            ("007", 7),
            ("50_000", 50_000),
            ("0x1F", 31),
            ("0o17", 15),
            ("1.5", 1.5),
            (".5", 0.5),
            ("-1e3", -1000.0),
            ("-.inf", float("-inf")),
            ("1:30", "1:30"),
            ("2024-01-01", "2024-01-01"),
            ("2024-01-01 10:00:00", "2024-01-01 10:00:00"),
            ("=", "="),
            ("+", "+"),
            ("1__0", "1__0"),
            ("9" * 5000, "9" * 5000),
            ("!!str 5", "5"),
            ("! 5", "5"),
            ("'5'", "5"),
        ],
    )
    def test_plain_words(self, word, value):
        read = read_source(f"a: {word}\n").data["a"]
        assert read == value
        assert type(read) is type(value)

    def test_keys_are_the_text_as_written(self):
        assert read_source("1: a\nnull: b\ntrue: c\n1.50: d\n").data == {
            "1": "a",
            "null": "b",
            "true": "c",
            "1.50": "d",
        }


class TestKeysGivenTwice:
    def test_both_lines_are_named(self):
        source = read_source("name: a\ninitial: x\n\nname: b\n")
        (problem,) = source.problems
        assert (problem.line, problem.column, problem.path) == (4, 1, "name")
        assert "lines 1 and 4" in problem.message
        assert source.data["name"] == "a"

    @pytest.mark.parametrize(
        "text", ["{a: 1, 'a': 2}", 'a: 1\n"a": 2\n', "1: x\n'1': y\n", "&k a: 1\n*k : 2\n"]
    )
    def test_however_they_are_written(self, text):
        assert len(read_source(text).problems) == 1

    def test_in_every_depth_and_each_time(self):
        text = "a:\n  b: 1\n  b: 2\n  b: 3\nc:\n  - {d: 1, d: 1}\n"
        assert [(p.line, p.path) for p in read_source(text).problems] == [
            (3, "a.b"),
            (4, "a.b"),
            (6, "c[0].d"),
        ]


class TestMerges:
    def test_own_keys_win_and_earlier_mappings_win(self):
        text = "x: &x {a: 1, b: 1}\ny: &y {b: 2, c: 2}\nz: {<<: [*x, *y], a: 0}\n"
        source = read_source(text)
        assert source.data["z"] == {"a": 0, "b": 1, "c": 2}
        assert source.key_place(("z", "a")) == (3, 19)
        assert source.key_place(("z", "c")) == (2, 14)
        assert not source.problems

    def test_merges_within_merges(self):
        text = "x: &x {a: 1}\ny: &y {<<: *x, b: 2}\nz: {<<: *y, <<: {d: 4}, c: 3}\nw: {<<: [{<<: [*x]}]}\n"
        data = read_source(text).data
        assert data["z"] == {"a": 1, "b": 2, "c": 3, "d": 4}
        assert data["w"] == {"a": 1}

    def test_an_alias_of_a_list_merges_all_of_it(self):
        text = "x: &x [{a: 1}, {b: 2}]\ny: {<<: *x, c: 3}\n"
        assert read_source(text).data["y"] == {"a": 1, "b": 2, "c": 3}

    def test_a_quoted_sign_is_a_key(self):
        assert read_source("'<<': 1\n").data == {"<<": 1}

    @pytest.mark.parametrize("merged", ["5", "[1]", "abc"])
    def test_only_mappings_are_merged(self, merged):
        assert "merges mappings" in only_problem(f"a: 1\n<<: {merged}\n").message


class TestRefused:
    @pytest.fixture(autouse=True, params=["fast parser", "plain parser"])
    def parser(self, request, monkeypatch):
        if request.param == "plain parser":
            monkeypatch.setattr("orkeon_transitions.definition.source._PARSER", yaml.SafeLoader)

    @pytest.mark.parametrize(
        ("text", "line", "column", "words"),
        [
            ("a: *x\n", 1, 4, "unknown anchor 'x'"),
            ("a: &a\n  - *a\n", 2, 5, "contains itself"),
            ("a: &a {b: *a}\n", 1, 11, "contains itself"),
            ("a: &a\n  <<: *a\n", 2, 7, "contains itself"),
            ("a: 1\n---\nb: 2\n", 2, 1, "second document"),
            ("? [a, b]\n: c\n", 1, 3, "a key must be text"),
            ("x: {{a: 1}: b}\n", 1, 5, "a key must be text"),
            ("a: &a [1]\n*a : 2\n", 2, 1, "a key must be text"),
            ("\n", 1, 1, "nothing in it"),
            ("# only this\n", 1, 1, "nothing in it"),
            ("a: b\n c: d: e\n", 2, 3, "not valid YAML"),
            ("a: [1\nb: 2\n", None, None, "that begins on line 1"),
            ("a: 'x\n", None, None, "not valid YAML"),
            ("a:\n\t- b\n", 2, 1, "tab"),
            ("a: @x\n", 1, 4, "put quotes around it"),
            ("a: !e!x 1\n", 1, 4, "not valid YAML"),
            ("a: b\n# \x07\n", 2, 3, "U+0007"),
            ("a: \x00\n", 1, 4, "binary"),
            ("a: \ud800\n", 1, 4, "U+D800"),
            ("a: b\ufeff\n", 1, 5, "U+FEFF"),
        ],
    )
    def test_with_one_problem_at_its_place(self, text, line, column, words):
        problem = only_problem(text)
        assert words in problem.message
        assert problem.file == "<text>"
        assert problem.line
        if line:
            assert (problem.line, problem.column) == (line, column)

    @pytest.mark.parametrize(
        "tag",
        [
            "!!python/object/apply:os.system [ls]",
            "!!python/object:os.x {}",
            "!!python/name:os.getcwd ''",
            "!!python/tuple [a]",
            "!!binary aGk=",
            "!!set {a, b}",
            "!!timestamp 2024-01-01",
            "!mine {a: 1}",
            "!!int 5",
        ],
    )
    def test_no_tag_constructs_anything(self, tag):
        line, column, message = only_place(f"a: 1\nb: {tag}\n")
        assert (line, column) == (2, 4)
        assert tag.split()[0] in message

    def test_all_tags_at_once(self):
        with pytest.raises(DefinitionError) as caught:
            read_source("a: !x 1\nb: !y 2\n")
        assert [problem.line for problem in caught.value.problems] == [1, 2]

    def test_an_unknown_anchor_has_a_hint(self):
        assert only_problem("a: &first 1\nb: *frist\n").hint == "first"

    @pytest.mark.parametrize("opening", ["[", "{a: ", "- "])
    def test_deep_nesting(self, opening):
        for depth in (100, 900, 5000):
            message = only_problem(opening * depth + "\n").message
            assert "nest" in message

    def test_deep_nesting_in_block_style(self):
        text = "".join("  " * depth + "a:\n" for depth in range(200))
        assert only_place(text) == (61, 121, "nested more than 60 deep")

    def test_deep_nesting_by_aliases(self):
        parts = ["[" * 40 + "1" + "]" * 40]
        parts += ["[" * 40 + f"*a{n}" + "]" * 40 for n in range(2)]
        text = "".join(f"- &a{n} {part}\n" for n, part in enumerate(parts))
        assert "nested more than" in only_problem(text).message
        merges = "a0: &a0 {x: 1}\n" + "".join(f"a{n}: &a{n} {{<<: *a{n - 1}}}\n" for n in range(1, 100))
        assert "nested more than" in only_problem(merges).message
        assert "nested more than" in only_problem(merges.replace("{<<", "{x: 2, <<")).message


class TestLimits:
    def test_aliases_that_multiply(self):
        start = time.process_time()
        assert "more than 10,000 alias expansions" in only_problem(laughs()).message
        assert time.process_time() - start < 5

    def test_as_many_aliases_as_are_allowed(self):
        aliases = "- *a\n" * 10_000
        assert len(read_source("- &a x\n" + aliases).data) == 10_001
        problem = only_problem("- &a x\n" + aliases + "- *a\n")
        assert (problem.line, problem.column) == (10_002, 3)

    def test_as_many_merges_as_are_allowed(self):
        merges = "- {<<: *a}\n" * 10_000
        assert len(read_source("- &a {x: 1}\n" + merges).data) == 10_001
        assert "alias expansions" in only_problem("- &a {x: 1}\n" + merges + "- {<<: *a}\n").message

    def test_few_aliases_of_much(self):
        text = f"- &a [{','.join('x' * 5000)}]\n" + "- *a\n" * 100
        assert "aliases expand to more than" in only_problem(text).message

    @pytest.mark.parametrize("extra", [0, 1])
    def test_one_megabyte(self, tmp_path, extra):
        text = "a: 1\n#" + "x" * (1_000_000 - 6 + extra)
        file = tmp_path / "large.yaml"
        file.write_text(text)
        for what in (text, file):
            if extra:
                assert "larger than 1 MB" in only_problem(what).message
            else:
                assert read_source(what).data == {"a": 1}

    def test_bytes_count(self):
        assert "larger than 1 MB" in only_problem("a: 1\n#" + "é" * 600_000).message


class TestFiles:
    def test_a_missing_file(self, tmp_path):
        problem = only_problem(tmp_path / "none.yaml")
        assert problem.file == str(tmp_path / "none.yaml")
        assert (problem.line, problem.column) == (None, None)
        assert "there is no such file" in str(problem)

    def test_a_missing_file_that_may_be_meant_for_a_machine_that_ships(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        told = only_problem("task_execution").message
        assert "there is no such file" in told
        assert "machine_definition('task_execution') of orkeon_transitions.machines" in told
        for name in ("task_execution.yaml", "machines/task_execution", "task execution"):
            assert "machine_definition" not in only_problem(name).message

    def test_names_of_no_file(self, tmp_path):
        (tmp_path / "file").write_text("a: 1\n")
        for what in ("a\0b", "x" * 5000, str(tmp_path / "file" / "inner.yaml")):
            assert "cannot be read" in only_problem(what).message

    def test_a_directory(self, tmp_path):
        assert only_problem(str(tmp_path)).message == "is a directory, not a file"
        assert "directory" in only_problem("").message

    @pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
    def test_a_file_without_permission(self, tmp_path):
        file = tmp_path / "closed.yaml"
        file.write_text("a: 1\n")
        file.chmod(0)
        assert "Permission denied" in only_problem(file).message

    @pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs a file that fails when it is read")
    def test_a_file_that_fails_when_it_is_read(self):
        assert "cannot be read" in only_problem("/proc/self/mem").message

    @pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs an endless file")
    def test_an_endless_file(self):
        assert "larger than 1 MB" in only_problem("/dev/zero").message

    @pytest.mark.parametrize(
        ("content", "place", "words"),
        [
            (b"", (1, 1), "nothing in it"),
            (b"\xef\xbb\xbf", (1, 1), "nothing in it"),
            (b"a: 1\nb: \xe9\n", (2, 4), "not UTF-8: the byte 0xE9"),
            (b"a: \xc3\xa9\xff", (1, 5), "not UTF-8"),
            (b"\xff\xfea\0:\0", (1, 1), "UTF-16"),
            (b"\x89PNG\r\n\x1a\n\0\0", (1, 1), "not UTF-8"),
            (b"\x7fELF\x02\x01", (1, 1), "binary"),
        ],
    )
    def test_a_file_that_is_no_text(self, tmp_path, content, place, words):
        file = tmp_path / "odd.yaml"
        file.write_bytes(content)
        problem = only_problem(file)
        assert (problem.line, problem.column) == place
        assert words in problem.message

    def test_the_error_can_be_another_class(self, tmp_path):
        for what in ("a: *x\n", tmp_path):
            with pytest.raises(CrewDefinitionError):
                read_source(what, error=CrewDefinitionError)
        source = read_source("a: 1\n", error=CrewDefinitionError)
        source.problem(("a",), "is wrong")
        with pytest.raises(CrewDefinitionError, match="<text>:1:4: a: is wrong"):
            source.raise_problems()

    def test_what_is_text(self):
        assert is_text("a: 1\n")
        assert is_text('{"a": 1}')
        assert is_text('\ufeff {"a": 1}')
        assert not is_text("machine.yaml")

    def test_json_is_read(self):
        text = '{"initial": "a", "states": ["a"], "transitions": [["go", "a", null]]}'
        assert load_definition(text).transitions[0].dest is None
