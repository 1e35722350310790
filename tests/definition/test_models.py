"""The neutral model: frozen, equal by content, and what stock `transitions` makes of it."""

import copy
import pickle
import re

import pytest
from pydantic import ValidationError
from transitions import Machine
from transitions.extensions import GraphMachine

from orkeon_transitions.breaker import CircuitBreakerPolicy
from orkeon_transitions.definition import (
    MachineDefinition,
    StateDefinition,
    TransitionDefinition,
    load_definition,
)
from tests.definition.problems import machine

ROWS = (
    "[[go, a, b, ok, null, note], [tick, '*', null], [again, [a, b], =], [back, z, a], [end, [b, z, b], z]]"
)


@pytest.fixture
def definition():
    return load_definition(
        machine(rows=ROWS, more="guards: {ok: Fine}\ncircuit_breaker: {meters: {tokens: 5}}\n")
    )


def test_it_is_immutable(definition):
    with pytest.raises(ValidationError):
        definition.initial = "b"
    with pytest.raises(TypeError):
        definition.guards["ok"] = "changed"
    with pytest.raises(ValidationError):
        definition.states[0].final = True


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"initial": "x"}, "there is no state 'x'"),
        ({"degraded": "x"}, "there is no state 'x'"),
        ({"transitions": [{"trigger": "go", "source": ["x"], "dest": "a"}]}, "there is no state 'x'"),
        ({"transitions": [{"trigger": "go", "source": ["a"], "dest": "x"}]}, "there is no state 'x'"),
        ({"transitions": [{"trigger": "go", "source": ["a", "*"], "dest": "a"}]}, "there is no state '*'"),
        ({"states": [{"name": "a"}, {"name": "a"}]}, "two states have the same name"),
        ({"states": []}, "there is no state 'a'"),
    ],
)
def test_a_program_cannot_make_one_that_names_what_is_not_there(change, words):
    content = {"initial": "a", "states": [{"name": "a"}]}
    assert MachineDefinition(**content).initial == "a"
    with pytest.raises(ValidationError, match=re.escape(words)):
        MachineDefinition(**content | change)


def test_it_is_equal_and_hashed_by_content(definition):
    same = load_definition(definition.to_dict())
    assert same == definition
    assert len({same, definition}) == 1
    assert definition != "something else"
    for change in ("initial: b", "name: other", "degraded: z"):
        key = change.split(":")[0]
        assert load_definition(definition.to_dict() | {key: change.split(": ")[1]}) != definition


def test_the_hash_is_the_same_everywhere():
    known = "name: r\ninitial: a\nstates: [a, {name: b, final: true}]\ntransitions: [[go, a, b]]\n"
    assert load_definition(known).content_hash == (
        "41ece6cb358e1c8159f99bf84211d9b637aad22453a6b0ef1d91fd5db50ff613"
    )


def test_the_place_where_it_was_written_is_no_content(definition):
    indented = load_definition("\n\n# moved\n" + definition.to_yaml())
    assert indented == definition
    assert indented.origin.place(("states", 0)) != definition.origin.place(("states", 0))


def test_copies(definition):
    assert definition.rows_by_state
    assert definition.content_hash
    for again in (copy.copy(definition), copy.deepcopy(definition), pickle.loads(pickle.dumps(definition))):
        assert again == definition
        assert hash(again) == hash(definition)
        assert again.guards == {"ok": "Fine"}
        assert again.origin.file is None
    changed = definition.model_copy(update={"initial": "b"})
    assert changed.initial == "b"
    assert changed != definition
    assert changed.content_hash != definition.content_hash


def test_built_by_hand():
    made = MachineDefinition(
        initial="a",
        states=(StateDefinition(name="a"),),
        transitions=(TransitionDefinition(trigger="t", source=("a",), dest=None, conditions=("ok", "fine")),),
        guards={"ok": "Fine"},
    )
    assert made.name == "machine"
    assert made.to_dict()["guards"] == {"ok": "Fine", "fine": None}
    assert load_definition(made.to_yaml()) == made
    assert load_definition(made) is made
    with pytest.raises(ValidationError):
        StateDefinition(name="a", final="yes")
    with pytest.raises(ValidationError):
        MachineDefinition(initial="a", states=(), typo=1)


def test_what_it_knows(definition):
    assert definition.final_states == {"z"}
    assert definition.triggers == ("go", "tick", "again", "back", "end")
    assert list(definition.states_by_name) == ["a", "b", "z"]
    assert definition.triggers_from("b") == ("tick", "again", "end")
    assert definition.rows_by_state["z"] == ()
    assert definition.sources_of(definition.transitions[1]) == ("a", "b")
    assert definition.sources_of(definition.transitions[4]) == ("b",)
    assert definition.clocks["a"].timeout is None


class Model:
    def __init__(self):
        self.noted = []

    def ok(self, event):
        return True

    def note(self, event):
        self.noted.append(event.event.name)


class TestStockMachines:
    def test_a_stock_machine_runs_it(self, definition):
        model = Model()
        stock = Machine(model, **definition.to_transitions())
        assert model.go()
        assert model.noted == ["go"]
        assert model.tick()
        assert model.state == "b"
        assert model.end()
        assert stock.get_state("z").final
        assert stock.get_triggers("z") == []

    def test_our_own_keys_are_left_out(self, definition):
        keywords = definition.to_transitions()
        assert set(keywords) == {"name", "states", "transitions", "initial", "auto_transitions", "send_event"}
        assert [row["trigger"] for row in keywords["transitions"]] == ["go", "tick", "again", "end"]
        assert keywords["transitions"][1]["source"] == ["a", "b"]
        assert all(set(state) == {"name", "final", "on_enter", "on_exit"} for state in keywords["states"])

    def test_each_call_gives_fresh_data(self, definition):
        keywords = definition.to_transitions()
        keywords["states"].clear()
        keywords["transitions"][0]["conditions"].append("other")
        assert definition.to_transitions()["states"]
        assert definition.to_transitions()["transitions"][0]["conditions"] == ["ok"]

    def test_a_graph_machine_draws_it(self, definition):
        drawn = GraphMachine(
            Model(), graph_engine="mermaid", show_conditions=True, **definition.to_transitions()
        )
        assert "ok" in drawn.get_combined_graph().source


def test_a_policy_is_written_in_seconds(definition):
    written = definition.to_dict()["circuit_breaker"]
    assert definition.model_dump(mode="json")["circuit_breaker"] == written
    assert load_definition(machine()).model_dump()["circuit_breaker"] is None
    assert written["state_timeout"] == 300
    assert written["meters"] == {"tokens": 5}
    assert definition.circuit_breaker == CircuitBreakerPolicy(meters={"tokens": 5})


def test_it_is_told_in_one_line(definition):
    told = repr(definition)
    rows = f"{len(definition.states)} states, {len(definition.transitions)} transitions"
    assert told == f"<MachineDefinition '{definition.name}': {rows}, {definition.content_hash[:8]}>"
    assert str(definition) == f"{definition}" == told
    one = load_definition({"name": "m", "initial": "a", "states": ["a"], "transitions": [["go", "a", "="]]})
    assert repr(one).startswith("<MachineDefinition 'm': 1 state, 1 transition, ")
