"""`orkeon machines` and `orkeon schema`."""

import re

import pytest

from orkeon_transitions.definition import load_definition
from orkeon_transitions.machines import machine_definition, machine_names


def test_the_catalog_has_every_machine_with_its_description(orkeon):
    done = orkeon("machines")
    assert done.code == 0
    head, *lines = done.out.splitlines()
    assert head.split()[:3] == ["NAME", "STATES", "TRIGGERS"]
    for name, line in zip(machine_names(), lines, strict=True):
        definition = machine_definition(name)
        assert line.split()[:3] == [name, str(len(definition.states)), str(len(definition.triggers))]
        assert line.endswith(definition.description)


def test_the_catalog_for_programs(orkeon):
    listed = {machine["name"]: machine for machine in orkeon("machines", "--json").json["machines"]}
    assert list(listed) == list(machine_names())
    assert listed["task_execution"]["states"][0] == "assigned"
    assert "cancel" in listed["task_execution"]["triggers"]
    assert listed["task_execution"]["description"]


@pytest.mark.parametrize("name", machine_names())
def test_one_machine_shows_every_state_and_row(orkeon, name):
    done = orkeon("machines", name)
    definition = machine_definition(name)
    words = done.out.split()
    assert done.code == 0
    assert set(definition.states_by_name) <= set(words)
    assert set(definition.triggers) <= set(words)
    for description in definition.guards.values():
        assert description in done.out


def test_one_machine_for_programs_is_its_definition(orkeon):
    done = orkeon("machines", "task_execution", "--json")
    assert load_definition(done.json).content_hash == machine_definition("task_execution").content_hash


def test_what_is_special_about_states_and_rows_is_said(orkeon, folder):
    (folder / "m.yaml").write_text(
        "initial: a\n"
        "degraded: low\n"
        "states:\n"
        "  - a\n"
        "  - {name: b, timeout: 30, on_timeout: late}\n"
        "  - {name: p, timeout: 0}\n"
        "  - {name: low, final: true}\n"
        "transitions:\n"
        "  - {trigger: go, source: a, dest: b, unless: busy}\n"
        "  - {trigger: late, source: '*', dest: '=', always: true}\n"
        "  - {trigger: tick, source: [a, b], dest: null}\n"
        "  - [rest, b, p]\n"
    )
    out = orkeon("machines", "m.yaml").out
    for words in ("30 s at most, then late", "patient", "final, degraded", "not: busy", "late (always)"):
        assert words in out
    for words in ("* (each of 3)", "(the same, re-entered)", "a, b", "(stays)"):
        assert words in out


@pytest.mark.parametrize(
    ("name", "hint"), [("task_exection", "task_execution"), ("m.yaml", "orkeon machines")]
)
def test_an_unknown_machine_is_told_with_a_hint(orkeon, name, hint):
    done = orkeon("machines", name)
    assert done.code == 2
    assert name in done.err
    assert hint in done.err


@pytest.mark.parametrize("kind", ["machine", "crew"])
def test_the_schemas(orkeon, kind):
    schema = orkeon("schema", kind).json
    assert schema["type"] == "object"
    assert {"machine": "states", "crew": "agents"}[kind] in schema["properties"]


def test_tables_are_drawn_for_a_terminal(on_terminal):
    done = on_terminal("machines", columns=80)
    assert done.code == 0
    assert "╭" in done.out
    assert max(map(len, re.sub(r"\x1b\[[\d;]*m", "", done.out).splitlines())) <= 80
    assert "\x1b[" in done.out


def test_no_color_is_respected(on_terminal, monkeypatch):
    assert "\x1b[3" not in on_terminal("machines", "--no-color").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[3" not in on_terminal("machines").out + on_terminal("machines", "nope").err
    monkeypatch.delenv("NO_COLOR")
    assert "\x1b[31m" in on_terminal("machines", "nope").err


def test_a_dumb_terminal_gets_plain_lines(on_terminal, monkeypatch):
    monkeypatch.setenv("TERM", "dumb")
    assert on_terminal("machines").out.startswith("NAME")
