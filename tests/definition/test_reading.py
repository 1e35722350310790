"""From a source to a definition: all problems at once, each with its place."""

import time
from datetime import timedelta
from pathlib import Path
from typing import ClassVar

import pytest

from orkeon_transitions.breaker import CircuitBreakerPolicy
from orkeon_transitions.definition import MachineDefinition, load_definition
from orkeon_transitions.errors import DefinitionError
from tests.definition.problems import machine, only_problem, problems_of


class TestWhatIsLoaded:
    def test_a_file_by_path_and_by_name(self, tmp_path):
        file = tmp_path / "machine.yaml"
        file.write_text(machine())
        assert load_definition(file) == load_definition(str(file)) == load_definition(machine())

    def test_a_definition_is_given_back(self):
        definition = load_definition(machine())
        assert load_definition(definition) is definition

    @pytest.mark.parametrize("what", [None, 5, b"a: 1\n", ["a"]])
    def test_anything_else_is_a_type_error(self, what):
        with pytest.raises(TypeError, match="a path, a YAML text, a mapping"):
            load_definition(what)

    @pytest.mark.parametrize(
        ("text", "what"), [("- a\n", "a list"), ("just words\n", "the text"), ("\n5\n", "the number 5")]
    )
    def test_what_is_no_mapping(self, text, what):
        problem = only_problem(text)
        assert what in problem.message
        assert problem.line

    def test_every_key_in_snake_case_and_in_camel_case(self):
        snake = """
name: all
description: Everything
initial: a
degraded: z
circuit_breaker: {max_transitions: 3, use_degraded_mode: true}
guards: {ok: It is fine}
states:
  - {name: a, description: First, timeout: 5, on_timeout: go, on_enter: note,
     on_exit: [note, count], tags: [x, y]}
  - {name: z, final: true}
transitions:
  - {trigger: go, source: [a], dest: z, conditions: ok, unless: [ok], before: note, after: [count],
     always: true, repeatable: false, description: Goes}
"""
        camel = snake
        for key in (
            "circuit_breaker",
            "max_transitions",
            "use_degraded_mode",
            "on_timeout",
            "on_enter",
            "on_exit",
        ):
            first, *rest = key.split("_")
            camel = camel.replace(key, first + "".join(map(str.capitalize, rest)))
        definition = load_definition(snake)
        assert load_definition(camel) == definition
        assert definition.description == "Everything"
        assert definition.degraded == "z"
        assert definition.circuit_breaker == CircuitBreakerPolicy(max_transitions=3, use_degraded_mode=True)
        assert definition.guards == {"ok": "It is fine"}
        first, last = definition.states
        assert (first.timeout, first.on_timeout, first.on_enter, first.on_exit) == (
            5,
            "go",
            ("note",),
            ("note", "count"),
        )
        assert (first.description, first.tags, first.final, last.final) == ("First", ("x", "y"), False, True)
        (row,) = definition.transitions
        assert (row.trigger, row.source, row.dest, row.description) == ("go", ("a",), "z", "Goes")
        assert (row.conditions, row.unless, row.before, row.after) == (
            ("ok",),
            ("ok",),
            ("note",),
            ("count",),
        )
        assert row.always
        assert not row.repeatable

    def test_null_where_absent_is_fine(self):
        nothing = (
            "name: null\ndescription: ~\ndegraded:\ncircuit_breaker: null\nguards: null\ntransitions: null\n"
        )
        row_keys = "conditions: null, unless: null, before: null, after: null, always: null, repeatable: null"
        assert load_definition("initial: a\nstates: [a]\n" + nothing) == load_definition(
            "initial: a\nstates: [a]\n"
        )
        rows = f"[{{trigger: go, source: a, dest: b, {row_keys}, description: null}}, [end, b, z]]"
        state = "{name: a, final: null, timeout: null, on_timeout: null, on_enter: null, tags: null}"
        states = f"[{state}, b, {{name: z, final: true}}]"
        assert load_definition(machine(states=states, rows=rows)) == load_definition(machine())

    def test_switch_words_are_names_everywhere(self):  # case A01
        text = "initial: off\nstates: [off, on]\ntransitions: [{trigger: no, source: off, dest: on}]\n"
        row = "{'trigger': 'no', source: 'off', dest: 'on'}"
        quoted = f"initial: 'off'\nstates: ['off', \"on\"]\ntransitions: [{row}]\n"
        definition = load_definition(text)
        assert [state.name for state in definition.states] == ["off", "on"]
        assert definition.triggers == ("no",)
        assert load_definition(quoted) == definition


class TestProblems:
    def test_all_at_once_in_the_order_of_the_file(self, tmp_path):
        file = tmp_path / "bad.yaml"
        file.write_text(
            "name: [bad]\n"
            "inital: a\n"
            "states: [a, {name: b, finall: true, timeout: soon}, 7]\n"
            "transitions:\n"
            "  - {trigger: go, source: [a, c], dest: bb, conditions: os.getcwd}\n"
            "  - go there\n"
            "name: again\n"
        )
        problems = problems_of(str(file))
        assert all(problem.file == str(file) and problem.column for problem in problems)
        assert [(problem.line, problem.path) for problem in problems] == [
            (1, ""),
            (1, "name"),
            (2, "inital"),
            (3, "states[1].finall"),
            (3, "states[1].timeout"),
            (3, "states[2]"),
            (5, "transitions[0].source[1]"),
            (5, "transitions[0].dest"),
            (5, "transitions[0].conditions"),
            (6, "transitions[1]"),
            (7, "name"),
        ]
        hints = {problem.path: problem.hint for problem in problems}
        assert hints["inital"] == "initial"
        assert hints["states[1].finall"] == "final"
        assert hints["transitions[0].dest"] == "b"
        assert f"{file}:3:" in str(DefinitionError(problems))

    @pytest.mark.parametrize("key", ["initial", "states"])
    def test_what_must_be_there(self, key):
        text = "".join(line for line in machine().splitlines(keepends=True) if not line.startswith(key))
        assert f"'{key}' is missing" in only_problem(text).message

    @pytest.mark.parametrize("key", ["initial", "degraded"])
    def test_states_that_are_not_there(self, key):
        text = machine(more="degraded: z\n").replace(f"{key}: ", f"{key}: z")
        problem = only_problem(text)
        assert problem.path == key
        assert "unknown state" in problem.message

    def test_a_child_as_the_initial_state(self):  # case A03
        states = "[a, {name: C, children: ['1', '2']}]"
        for initial in ("C_1", "C.1"):
            text = machine(states=states, rows="[]").replace("initial: a", f"initial: {initial}")
            first, second = problems_of(text)
            assert "unknown state" in first.message
            assert "nested and parallel states are not supported yet" in second.message
            assert "already exists" not in first.message + second.message

    @pytest.mark.parametrize("key", ["children", "parallel"])
    def test_nested_machines_are_refused_by_name(self, key):
        problem = only_problem(machine(more=f"{key}: [a]\n"))
        assert problem.line == 5
        assert key in problem.message
        assert "not supported yet" in problem.message

    def test_both_spellings(self):
        assert load_definition(
            machine(more="circuitBreaker: {preset: strict}\ncircuit_breaker: {preset: strict}\n")
        )
        problem = only_problem(machine(more="circuitBreaker: {preset: strict}\ncircuit_breaker: {}\n"))
        assert problem.line == 6
        assert "'circuitBreaker'" in problem.message
        assert "'circuit_breaker'" in problem.message

    @pytest.mark.parametrize(
        "value", ["''", '"  "', '"a\\nb"', '"a\\x1bb"', '"a\\u2028b"', "5", "true", "[a]", "{a: b}"]
    )
    def test_what_is_no_name(self, value):
        assert only_problem(f"name: {value}\ninitial: a\nstates: [a]\n").path == "name"

    @pytest.mark.parametrize("value", ["5", "[a]", '"a\\x1b[31mb"'])
    def test_what_is_no_description(self, value):
        assert only_problem(machine(more=f"description: {value}\n")).path == "description"

    def test_a_description_may_have_several_lines(self):
        assert load_definition(machine(more="description: |\n  One\n  \tTwo\n")).description == "One\n\tTwo\n"

    def test_a_problem_of_a_mapping_has_no_place(self):
        problem = only_problem({"initial": "b", "states": ["a"]})
        assert (problem.file, problem.line, problem.column, problem.path) == (None, None, None, "initial")
        assert str(problem) == "initial: unknown state 'b'"


class TestGuards:
    ROWS = "[{trigger: go, source: a, dest: z, conditions: is_ready, unless: [is_late, is_ready]}]"

    def test_without_a_block_any_identifier_is_a_guard(self):
        assert load_definition(machine(rows=self.ROWS)).guards == {}
        assert load_definition(machine(rows=self.ROWS, more="guards: {}\n")).guards == {}

    def test_a_guard_may_be_listed_without_a_description(self):
        definition = load_definition(machine(rows=self.ROWS, more="guards: {is_ready: Ready, is_late: }\n"))
        assert definition.guards == {"is_ready": "Ready"}

    def test_a_guard_that_is_not_listed(self):  # case B06
        rows = self.ROWS.replace("conditions: is_ready", "conditions: is_redy")
        problem = only_problem(machine(rows=rows, more="guards: {is_ready: Ready, is_late: Late}\n"))
        assert (problem.line, problem.path, problem.hint) == (4, "transitions[0].conditions", "is_ready")

    def test_a_misspelled_description_is_one_problem_where_the_guard_is_named(self):
        problem = only_problem(machine(rows=self.ROWS, more="guards: {is_redy: Ready, is_late: Late}\n"))
        assert problem.hint == "is_redy"

    def test_a_description_of_no_guard(self):
        guards = "guards:\n  is_ready: Ready\n  is_late: Late\n  other: Nobody asks\n"
        problem = only_problem(machine(rows=self.ROWS, more=guards))
        assert (problem.line, problem.column, problem.path) == (8, 3, "guards.other")

    def test_rows_that_cannot_be_read_cause_no_further_problems(self):
        rows = self.ROWS.replace("is_ready, unless", "7, unless").replace(", is_ready]", "]")
        problem = only_problem(machine(rows=rows, more="guards: {is_ready: Ready, is_late: Late}\n"))
        assert problem.path == "transitions[0].conditions"

    @pytest.mark.parametrize("guards", ["[is_ready]", "5", "is_ready", "{is_ready: 5, is_late: Late}"])
    def test_wrong_types(self, guards):
        assert problems_of(machine(rows=self.ROWS, more=f"guards: {guards}\n"))[0].line == 5


class TestTransitionsConfigs:
    CONFIG: ClassVar = {
        "states": ["solid", {"name": "gas", "on_enter": "puff", "ignore_invalid_triggers": True}],
        "initial": "solid",
        "transitions": [
            ["melt", "solid", "gas", "is_hot", None, ["note"], "count", "get_ready"],
            {"trigger": "cool", "source": "*", "dest": "=", "prepare": "get_ready"},
        ],
        "model": object(),
        "send_event": True,
        "auto_transitions": False,
        "queued": "model",
        "before_state_change": print,
        "ignore_invalid_triggers": True,
        "title": "Water",
        "show_conditions": True,
    }

    def test_they_load_with_notes(self):
        definition = load_definition(self.CONFIG)
        assert definition.transitions[0].conditions == ("is_hot",)
        assert definition.transitions[0].after == ("count",)
        noted = {note.path for note in definition.notes}
        assert noted == {
            *(
                "model",
                "send_event",
                "auto_transitions",
                "queued",
                "before_state_change",
                "ignore_invalid_triggers",
            ),
            *(
                "title",
                "show_conditions",
                "states[1].ignore_invalid_triggers",
                "transitions[0][7]",
                "transitions[1].prepare",
            ),
        }
        assert {note.severity for note in definition.notes} == {"note"}

    def test_notes_have_lines_and_are_no_content(self):
        definition = load_definition(machine(more="queued: true\n"))
        (note,) = definition.notes
        assert (note.line, note.path, note.code) == (5, "queued", "unused-key")
        assert "'queued' has no effect here" in str(note)
        assert definition == load_definition(machine())
        assert load_definition(machine()).notes == ()

    def test_callbacks_that_are_functions_are_refused_with_advice(self):
        problem = only_problem({**self.CONFIG, "transitions": [["melt", "solid", "gas", print]]})
        assert "guards= or actions=" in problem.message


class TestLargeMachines:
    STATES, ROWS = 1000, 10_000

    def text(self, wrong=""):
        lines = [
            "initial: s0",
            "states:",
            *(f"  - s{number}" for number in range(self.STATES)),
            "transitions:",
        ]
        for number in range(self.ROWS):
            source, dest = number % self.STATES, number * 7 % self.STATES
            ending = f"{wrong}{number}" if wrong else ""
            lines.append(
                f"  - {{trigger: t{number % 50}, source: s{source}, dest: s{dest}{ending}, conditions: ok}}"
            )
        return "\n".join(lines) + "\n"

    def test_reading_takes_no_longer_than_it_must(self):
        start = time.process_time()
        assert len(load_definition(self.text()).transitions) == self.ROWS
        assert len(problems_of(self.text(wrong="x"))) == self.ROWS
        assert time.process_time() - start < 10


def test_durations_of_programs():
    config = {"initial": "a", "states": [{"name": "a", "timeout": timedelta(minutes=1)}]}
    assert load_definition(config).states[0].timeout == 60
    policy = CircuitBreakerPolicy.strict()
    assert load_definition(config | {"circuit_breaker": policy}).circuit_breaker is policy


def test_the_type_of_what_is_loaded(tmp_path: Path):
    assert type(load_definition(machine())) is MachineDefinition
