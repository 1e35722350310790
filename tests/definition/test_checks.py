"""What is probably a mistake in a definition that loads."""

import time

import pytest

from orkeon_transitions.definition import (
    Finding,
    MachineDefinition,
    TransitionDefinition,
    check_definition,
    load_definition,
)
from orkeon_transitions.definition.checks import MACHINE_MEMBERS
from orkeon_transitions.runtime import AsyncStateMachine, StateMachine
from tests.definition.problems import machine


def found(text):
    return [(finding.code, finding.path) for finding in check_definition(load_definition(text))]


def of_rows(rows, states="[a, b, {name: z, final: true}]"):
    return found(machine(states=states, rows=rows))


def test_a_sound_machine_has_no_findings():
    assert found(machine()) == []


def test_findings_have_severity_code_path_line_and_message():
    text = "initial: a\nstates:\n  - a\n  - lost\ntransitions:\n  - [go, a, a]\n  - [go, a, a]\n"
    findings = check_definition(load_definition(text))
    assert findings == [
        Finding("warning", "dead-end", "states[0]", 3, "the state 'a' has no way out and is not final"),
        Finding("warning", "unreachable", "states[1]", 4, "the state 'lost' can never be reached"),
        Finding("warning", "dead-end", "states[1]", 4, "the state 'lost' has no way out and is not final"),
        Finding("warning", "duplicate", "transitions[1]", 7, "the same transition as transitions[0]"),
    ]
    assert (
        str(findings[0])
        == "line 3: warning: states[0]: the state 'a' has no way out and is not final [dead-end]"
    )


def test_without_a_text_there_are_no_lines():
    findings = check_definition(load_definition({"initial": "a", "states": ["a"]}))
    assert [(finding.code, finding.line) for finding in findings] == [("dead-end", None)]
    assert str(findings[0]).startswith("warning: states[0]: ")


def test_lines_follow_the_file_even_if_transitions_come_first():
    text = "initial: a\ntransitions:\n  - [go, a, a]\n  - [go, a, a]\nstates:\n  - a\n"
    assert [finding.line for finding in check_definition(load_definition(text))] == [4, 6]


class TestStates:
    def test_unreachable(self):
        assert of_rows("[[go, a, z], [go, b, z]]") == [("unreachable", "states[1]")]

    def test_reached_through_every_state(self):
        assert of_rows("[[go, '*', b], [end, b, z]]") == []

    def test_every_state_is_none_of_the_final_ones(self):
        states = "[{name: a, final: true}, b, {name: z, final: true}]"
        assert ("unreachable", "states[1]") in of_rows("[[go, '*', b], [end, b, z]]", states)

    def test_the_degraded_state_is_reached_by_tripping(self):
        states = "[a, {name: d, final: true}, {name: z, final: true}]"
        assert found(machine(states=states, rows="[[go, a, z]]")) == [("unreachable", "states[1]")]
        assert found(machine(states=states, rows="[[go, a, z]]", more="degraded: d\n")) == []

    @pytest.mark.parametrize("row", ["[t, b, null]", "[t, b, '=']", "[t, b, b]", "[t, '*', b]", "[t, z, b]"])
    def test_dead_end(self, row):
        assert ("dead-end", "states[1]") in of_rows(f"[[go, a, b], [end, a, z], {row}]")

    def test_a_way_out_through_every_state(self):
        assert of_rows("[[go, a, b], [end, '*', z]]") == []

    def test_no_final(self):
        states = "[a, b, c, {name: z, final: true}]"
        assert of_rows("[[go, a, b], [x, b, c], [y, c, b], [end, a, z]]", states) == [
            ("no-final", "states[1]"),
            ("no-final", "states[2]"),
        ]

    def test_no_final_says_nothing_where_nothing_is_final(self):
        assert of_rows("[[go, a, b], [back, b, a]]", "[a, b]") == []

    def test_no_final_sees_ways_through_every_state(self):
        states = "[a, b, c, {name: z, final: true}]"
        assert of_rows("[[go, a, b], [x, b, c], [stop, '*', c], [end, c, z]]", states) == []

    def test_the_degraded_state_is_no_way_to_an_end(self):
        states = "[a, b, {name: z, final: true}]"
        assert ("no-final", "states[0]") in found(
            machine(states=states, rows="[[go, a, b], [back, b, a]]", more="degraded: z\n")
        )

    def test_degraded_not_final(self):
        assert found(machine(more="degraded: b\n")) == [("degraded-not-final", "states[1]")]
        assert found(machine(more="degraded: z\n")) == []


class TestRows:
    @pytest.mark.parametrize(
        ("rows", "shadowed"),
        [
            ("[[go, a, b], [go, a, z]]", [1]),
            ("[[go, a, b, ok], [go, a, z]]", []),
            ("[[go, a, b, null, ok], [go, a, z]]", []),
            ("[[go, a, b], [go, a, z, ok]]", [1]),
            ("[[go, a, b], [gone, a, z]]", []),
            ("[[go, a, null], [go, a, z]]", [1]),
            ("[[go, a, b], [go, [a, b], z]]", []),
            ("[[go, a, b], [go, b, z], [go, [a, b], z]]", [2]),
            ("[[go, '*', b], [go, a, z]]", [1]),
            ("[[go, a, z], [go, '*', b]]", []),
            ("[[go, '*', b], [go, '*', z]]", [1]),
            ("[[go, a, b], [go, b, z], [go, '*', z]]", [2]),
            ("[[go, [a, b, z], b], [go, '*', z]]", [1]),
            ("[[go, a, b], [go, [a, z], z]]", [1]),
        ],
    )
    def test_shadowed(self, rows, shadowed):  # case A05
        assert [path for code, path in of_rows(rows) if code == "shadowed"] == [
            f"transitions[{i}]" for i in shadowed
        ]

    def test_the_winner_is_named(self):
        findings = check_definition(load_definition(machine(rows="[[end, b, z], [go, '*', b], [go, a, z]]")))
        assert [f.message for f in findings if f.code == "shadowed"] == [
            "never tried: transitions[1] comes first and has no guard"
        ]

    def test_a_row_that_passes_limits_is_hidden_only_by_one_that_does(self):
        always = "{trigger: go, source: a, dest: z, always: true}"
        normal = "{trigger: go, source: a, dest: b}"
        other = "{trigger: go, source: a, dest: a, always: true}"
        assert ("shadowed", "transitions[1]") not in of_rows(f"[{normal}, {always}]")
        assert ("shadowed", "transitions[1]") in of_rows(f"[{always}, {normal}]")
        assert ("shadowed", "transitions[2]") in of_rows(f"[{normal}, {always}, {other}]")

    def test_duplicate_is_not_also_shadowed(self):  # case A09
        assert of_rows("[[go, a, b], [end, b, z], [go, a, b], [go, [a], b]]") == [
            ("duplicate", "transitions[2]"),
            ("duplicate", "transitions[3]"),
        ]

    def test_what_people_read_makes_no_difference(self):
        row = "trigger: go, source: [a, b], dest: z, conditions: ok"
        other = row.replace("[a, b]", "[b, a]")
        assert ("duplicate", "transitions[1]") in of_rows(f"[{{{row}}}, {{{other}, description: Again}}]")

    @pytest.mark.parametrize("change", ["conditions: fine", "before: note", "unless: late", "always: true"])
    def test_rows_that_differ_are_no_duplicates(self, change):
        row = "trigger: go, source: a, dest: b"
        codes = [code for code, _ in of_rows(f"[{{{row}}}, {{{row}, {change}}}]")]
        assert "duplicate" not in codes

    def test_leaves_final(self):
        assert of_rows("[[go, a, b], [end, b, z], [back, [b, z], a], [again, z, a]]") == [
            ("leaves-final", "transitions[2]"),
            ("leaves-final", "transitions[3]"),
        ]

    def test_every_state_does_not_leave_final_ones(self):
        assert of_rows("[[go, a, b], [end, '*', z]]") == []


class TestNameClashes:
    @pytest.mark.parametrize(
        "name", ["state", "fire", "snapshot", "policy", "STATES", "__class__", "__init__"]
    )
    def test_triggers_named_like_attributes(self, name):
        findings = check_definition(
            load_definition(machine(rows=f"[[go, a, b], [{name}, b, z], [{name}, a, z]]"))
        )
        assert [(f.code, f.path) for f in findings] == [("name-clash", "transitions[1]")]
        assert f"fire('{name}')" in findings[0].message

    @pytest.mark.parametrize("name", ["start", "states", "_state", "Fire", "fire it"])
    def test_other_triggers(self, name):
        assert of_rows(f"[[go, a, b], ['{name}', b, z]]") == []

    def test_the_names_of_the_documented_interface_are_known(self):
        documented = (
            "state is_terminal transition_count is_circuit_broken circuit_status definition fire try_fire "
        )
        documented += (
            "can_fire why_not permitted_triggers fire_later during check_circuit spend on_transition "
        )
        documented += "on_refused on_circuit_broken reset_circuit_breaker snapshot restore"
        assert set(documented.split()) <= MACHINE_MEMBERS


@pytest.mark.parametrize("kind", [StateMachine, AsyncStateMachine])
def test_the_names_are_those_of_a_machine(kind):
    made = kind(load_definition({"initial": "a", "states": ["a"]}))
    attributes = {name for name in [*dir(kind), *vars(made)] if not name.startswith("_")}
    assert attributes <= MACHINE_MEMBERS
    missing = {name for name in MACHINE_MEMBERS if not hasattr(made, name)}
    assert missing == ({"during"} if kind is StateMachine else set())


def test_a_large_machine_takes_no_longer_than_it_must():
    states = [f"s{number}" for number in range(1000)]
    rows = [[f"t{number}", "*", states[number % 1000]] for number in range(5000)]
    rows += [
        ["go", states[number % 1000], states[(number * 7 + number // 1000) % 1000]] for number in range(5000)
    ]
    definition = load_definition(
        {"initial": "s0", "states": [*states, {"name": "z", "final": True}], "transitions": rows}
    )
    start = time.process_time()
    codes = {finding.code for finding in check_definition(definition)}
    assert time.process_time() - start < 3
    assert codes == {"unreachable", "no-final", "shadowed"}


def test_a_definition_made_by_hand_is_checked_too():
    row = TransitionDefinition(trigger="go", source=("a",), dest="a")
    states = load_definition({"initial": "a", "states": ["a"]}).states
    made = MachineDefinition(initial="a", states=states, transitions=(row, row))
    assert [finding.code for finding in check_definition(made)] == ["dead-end", "duplicate"]
