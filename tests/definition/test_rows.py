"""Reading transitions."""

import pytest

from orkeon_transitions.definition import load_definition
from tests.definition.problems import machine, only_problem, problems_of


def row(**changes):
    parts = {"trigger": "go", "source": "a", "dest": "b"} | changes
    inner = ", ".join(f"{key}: {value}" for key, value in parts.items() if value is not None)
    return machine(rows=f"[{{{inner}}}]")


def first(text):
    return load_definition(text).transitions[0]


class TestForms:
    def test_the_list_form_is_the_same_as_the_mapping(self):
        short = machine(rows="[[go, [a, b], z, ok, [late], note, [count]]]")
        long = row(source="[a, b]", dest="z", conditions="ok", unless="late", before="note", after="count")
        assert load_definition(short) == load_definition(long)

    def test_problems_in_the_list_form_are_at_the_item(self):
        problems = problems_of("initial: a\nstates: [a]\ntransitions:\n  - [5, b,\n     [c], os.x]\n")
        assert [(problem.line, problem.path) for problem in problems] == [
            (4, "transitions[0][0]"),
            (4, "transitions[0][1]"),
            (5, "transitions[0][2]"),
            (5, "transitions[0][3]"),
        ]

    @pytest.mark.parametrize(
        "item", ["[]", "[go]", "[go, a]", "[go, a, b, c, d, e, f, g, h]", "go", "5", "null", "true"]
    )
    def test_what_is_no_transition(self, item):
        assert only_problem(machine(rows=f"[{item}]")).path == "transitions[0]"

    @pytest.mark.parametrize("rows", ["5", "go", "{a: b}", "true"])
    def test_what_is_no_list_of_transitions(self, rows):
        assert only_problem(machine(rows=rows)).path == "transitions"

    @pytest.mark.parametrize("key", ["trigger", "source", "dest"])
    def test_what_must_be_there(self, key):
        problem = only_problem(row(**{key: None}))
        assert f"'{key}' is missing" in problem.message
        assert problem.path == "transitions[0]"

    @pytest.mark.parametrize("key", ["trigger", "source"])
    def test_what_must_not_be_null(self, key):
        assert "not null: put quotes around it" in only_problem(row(**{key: "null"})).message

    def test_unknown_keys(self):
        problem = only_problem(row(condition="ok"))
        assert (problem.path, problem.hint) == ("transitions[0].condition", "conditions")
        assert only_problem(row(qqq=1)).hint is None


class TestSources:
    def test_one_several_and_every(self):
        assert first(row(source="a")).source == ("a",)
        assert first(row(source="[b, a]")).source == ("b", "a")
        assert first(row(source="'*'")).source == first(row(source="['*']")).source == ("*",)

    def test_every_state_spares_the_final_ones(self):
        definition = load_definition(row(source="'*'"))
        assert definition.sources_of(definition.transitions[0]) == ("a", "b")

    @pytest.mark.parametrize(
        ("source", "words"),
        [
            ("c", "unknown state 'c'"),
            ("[a, c]", "unknown state 'c'"),
            ("'='", "unknown state '='"),
            ("[]", "an empty list"),
            ("[a, '*']", "stands alone"),
            ("['*', '*']", "stands alone"),
            ("5", "the number 5"),
            ("[5]", "the number 5"),
            ("{a: b}", "a mapping"),
            ("[[a]]", "a list"),
        ],
    )
    def test_what_is_no_source(self, source, words):
        assert any(words in problem.message for problem in problems_of(row(source=source)))


class TestDestinations:
    def test_internal_and_reflexive_are_two_things(self):  # case A07
        assert first(row(dest="null")).dest is None
        assert first(row(dest="~")).dest is None
        assert first(row(dest="'='")).dest == "="
        assert first(row(dest="=")).dest == "="

    @pytest.mark.parametrize(
        ("dest", "words"),
        [
            ("c", "unknown state 'c'"),
            ("'*'", "a source only"),
            ("[b]", "a list"),
            ("1", "put quotes around it"),
            ("true", "true"),
        ],
    )
    def test_what_is_no_destination(self, dest, words):
        assert words in only_problem(row(dest=dest)).message


class TestCallbacksAndFlags:
    @pytest.mark.parametrize("key", ["conditions", "unless", "before", "after"])
    @pytest.mark.parametrize("value", ["os.getcwd", "'a b'", "''", "5", "[ok, 5]", "{a: b}"])
    def test_callbacks_are_identifiers(self, key, value):
        assert only_problem(row(**{key: value})).path.startswith(f"transitions[0].{key}")

    @pytest.mark.parametrize("key", ["always", "repeatable"])
    @pytest.mark.parametrize("value", ["yes", "no", "0", "[]"])
    def test_flags_are_real_booleans(self, key, value):
        assert "must be true or false" in only_problem(row(**{key: value})).message


class TestOrder:
    def test_rows_stay_in_file_order(self):  # case A05
        rows = "[[go, '*', b], [go, a, z]]"
        definition = load_definition(machine(rows=rows))
        assert [made.dest for made in definition.rows_by_state["a"]] == ["b", "z"]
        turned = load_definition(machine(rows="[[go, a, z], [go, '*', b]]"))
        assert [made.dest for made in turned.rows_by_state["a"]] == ["z", "b"]
        assert turned != definition

    def test_rows_with_different_guards_are_kept(self):  # case A09
        rows = "[[go, a, b, first], [go, a, b, second], [go, a, b, second]]"
        assert [made.conditions for made in load_definition(machine(rows=rows)).transitions] == [
            ("first",),
            ("second",),
            ("second",),
        ]

    def test_the_lists_are_read_as_one_when_merged(self):
        rows = "[&go {trigger: go, source: a, dest: b}, {<<: *go, trigger: gone, dest: c}]"
        problem = only_problem(machine(rows=rows))
        assert problem.path == "transitions[1].dest"
