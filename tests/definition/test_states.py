"""Reading states."""

import pytest

from orkeon_transitions.definition import load_definition
from tests.definition.problems import machine, only_problem, problems_of


def with_state(state):
    return machine(states=f"[a, b, {{name: z, final: true}}, {state}]")


class TestNames:
    @pytest.mark.parametrize(
        "name",
        [
            "state A",
            "state-B",
            "a:b",
            'q"x',
            "end",
            "<b>",
            "back\\slash",
            "状態",
            "é",
            "🙂",
            "on",
            "null",
            "7",
            "**",
            "==",
        ],
    )
    def test_any_text_is_a_name(self, name):  # case H01
        definition = load_definition({"initial": name, "states": [name], "transitions": [[name, name, None]]})
        assert definition.initial == definition.states[0].name == definition.triggers[0] == name

    @pytest.mark.parametrize(
        ("state", "words"),
        [
            ("'*'", "no name for a state"),
            ("{name: '='}", "no name for a state"),
            ("''", "empty"),
            ('" "', "empty"),
            ('"x\\ty"', "U+0009"),
            ('"x\\0"', "U+0000"),
            ('"x\\u2029"', "U+2029"),
            ("7", "the number 7: put quotes around it"),
            ("{name: 1.5}", "the number 1.5: put quotes around it"),
            ("true", "true: put quotes around it"),
            ("null", "null: put quotes around it"),
            ("{name: null}", "null: put quotes around it"),
            ("[x]", "not a list"),
            ("{name: [x]}", "not a list"),
            ("{final: true}", "'name' is missing"),
        ],
    )
    def test_what_is_no_name(self, state, words):
        problem = only_problem(with_state(state))
        assert words in problem.message
        assert problem.line == 3

    def test_lone_surrogates(self):
        assert "U+D800" in only_problem({"initial": "a", "states": ["a", "\ud800"]}).message

    def test_a_state_declared_twice(self):
        text = "initial: a\nstates:\n  - a\n  - b\n  - {name: a}\n"
        problem = only_problem(text)
        assert (problem.line, problem.path) == (5, "states[2].name")
        assert "declared twice, on lines 3 and 5" in problem.message
        assert (
            only_problem({"initial": "a", "states": ["a", "a"]}).message == "the state 'a' is declared twice"
        )

    @pytest.mark.parametrize("states", ["[]", "5", "a", "null", "{a: b}"])
    def test_what_is_no_list_of_states(self, states):
        problem = only_problem(machine(states=states))
        assert problem.path == "states"
        assert problem.line == 3


class TestKeys:
    @pytest.mark.parametrize("key", ["children", "parallel", "initial", "transitions", "states", "remap"])
    def test_nested_states_are_refused_by_name(self, key):
        problem = only_problem(with_state(f"{{name: x, {key}: [y]}}"))
        assert key in problem.message
        assert "not supported yet" in problem.message

    @pytest.mark.parametrize("value", ["yes", "on", "'true'", "1", "[true]"])
    def test_final_is_a_real_boolean(self, value):  # case A01
        problem = only_problem(with_state(f"{{name: x, final: {value}}}"))
        assert "must be true or false" in problem.message

    @pytest.mark.parametrize(
        "value", ["-1", "soon", "'5'", "true", ".nan", ".inf", "[5]", "1e300", "9" * 299]
    )
    def test_what_is_no_timeout(self, value):
        assert only_problem(with_state(f"{{name: x, timeout: {value}}}")).path == "states[3].timeout"

    def test_numbers_that_python_does_not_write_out(self):
        for number in (10**5000, -(10**5000)):
            config = {"initial": "a", "states": [{"name": "a", "timeout": number}]}
            assert only_problem(config).path == "states[0].timeout"
            assert "number" in only_problem({"initial": number, "states": ["a"]}).message

    @pytest.mark.parametrize("value", ["0", "0.5", "60", "86_400"])
    def test_timeouts(self, value):
        assert load_definition(with_state(f"{{name: x, timeout: {value}}}")).states[3].timeout == float(value)

    @pytest.mark.parametrize("key", ["on_enter", "on_exit"])
    @pytest.mark.parametrize(
        "value", ["os.getcwd", "a-b", "1a", "''", "class", "5", "[ok, 'not ok']", "{a: b}", "[[a]]"]
    )
    def test_callbacks_are_identifiers(self, key, value):
        problem = only_problem(with_state(f"{{name: x, {key}: {value}}}"))
        assert problem.path.startswith(f"states[3].{key}")

    def test_callbacks_in_any_script(self):
        assert load_definition(with_state("{name: x, on_enter: [приём, _note]}")).states[3].on_enter == (
            "приём",
            "_note",
        )

    @pytest.mark.parametrize("value", ["5", "[a, 5]", "{a: b}", "''"])
    def test_tags_are_names(self, value):
        assert only_problem(with_state(f"{{name: x, tags: {value}}}")).path.startswith("states[3].tags")


class TestOnTimeout:
    def of(self, state, rows="[[go, a, b], [end, b, z], [stop, [a, x], z]]"):
        return machine(states=f"[a, b, {{name: z, final: true}}, {state}]", rows=rows)

    def test_a_trigger_with_a_row_out_of_the_state(self):
        definition = load_definition(self.of("{name: x, timeout: 5, on_timeout: stop}"))
        assert definition.states[3].on_timeout == "stop"
        assert load_definition(self.of("{name: x, on_timeout: stop}", rows="[[stop, '*', z]]"))

    def test_an_unknown_trigger(self):
        problem = only_problem(self.of("{name: x, on_timeout: stopp}"))
        assert "unknown trigger 'stopp'" in problem.message
        assert problem.hint == "stop"

    def test_a_trigger_of_other_states(self):
        assert "no transition out of 'x'" in only_problem(self.of("{name: x, on_timeout: go}")).message

    def test_a_final_state_has_no_way_out(self):
        rows = "[[stop, '*', z], [end, [y], z]]"
        for trigger in ("stop", "end"):
            problem = only_problem(self.of(f"{{name: y, final: true, on_timeout: {trigger}}}", rows=rows))
            assert "no transition out of 'y'" in problem.message

    def test_rows_that_cannot_be_read_cause_no_further_problems(self):
        for rows in ("[[stop, y, z]]", "[[7, x, z]]", "[stop]", "5"):
            problems = problems_of(self.of("{name: x, on_timeout: stop}", rows=rows))
            assert [problem.line for problem in problems] == [4]


def test_a_zero_is_a_zero_whatever_its_sign():
    plain, odd = (
        load_definition(f"initial: a\nstates: [{{name: a, timeout: {zero}}}]\n") for zero in ("0", "-0.0")
    )
    assert plain.content_hash == odd.content_hash == load_definition(odd.to_yaml()).content_hash
