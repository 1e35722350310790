"""YAML text that reads back as it was, here and in other readers."""

import pytest
import yaml

from orkeon_transitions.definition import load_definition
from tests.definition.problems import machine
from tests.strategies import TRICKY_NAMES


@pytest.mark.parametrize("name", TRICKY_NAMES)
def test_names_that_readers_trip_over(name):  # case H01
    definition = load_definition(
        {
            "name": name,
            "initial": name,
            "states": [name, {"name": "z", "tags": [name]}],
            "transitions": [[name, [name, "z"], name]],
        }
    )
    text = definition.to_yaml()
    assert load_definition(text) == definition
    plain = yaml.safe_load(text)
    assert plain["states"][0] == plain["transitions"][0]["trigger"] == plain["initial"] == name


@pytest.mark.parametrize(
    "text",
    [
        "two\nlines",
        "ends\n",
        " \n x \n",
        "tab\there",
        "a" * 300,
        "word " * 60,
        "\n",
        "#\n---\n...\n",
        ": \n- a",
        "é\r\nb",
    ],
)
def test_descriptions(text):
    definition = load_definition({"description": text, "initial": "a", "states": ["a"]})
    assert load_definition(definition.to_yaml()) == definition
    assert yaml.safe_load(definition.to_yaml())["description"] == text


def test_it_is_written_for_people():
    text = machine(
        states="[a, {name: b, timeout: 30, on_enter: [note]}, {name: z, final: true}]",
        rows="[[go, a, b, ok], {trigger: end, source: [a, b], dest: z, always: true}, [tick, '*', null]]",
        more="degraded: z\nguards: {ok: It is fine}\n",
    )
    assert load_definition(text).to_yaml() == (
        "name: small\n"
        "initial: a\n"
        "degraded: z\n"
        "guards:\n"
        "  ok: It is fine\n"
        "states:\n"
        "- a\n"
        "- {name: b, timeout: 30, on_enter: note}\n"
        "- {name: z, final: true}\n"
        "transitions:\n"
        "- {trigger: go, source: a, dest: b, conditions: ok}\n"
        "- {trigger: end, source: [a, b], dest: z, always: true}\n"
        '- {trigger: tick, source: "*", dest: null}\n'
    )


@pytest.mark.parametrize("seconds", ["0", "0.1", "1.5e-7", "1e13", "2.5", "86400"])
def test_numbers(seconds):
    definition = load_definition(machine(states=f"[a, b, {{name: z, timeout: {seconds}}}]"))
    assert load_definition(definition.to_yaml()) == definition
