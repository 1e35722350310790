"""`orkeon check`: everything that is wrong with a file, with its place."""

import re

import pytest

from orkeon_transitions.machines import machine_names

GOOD = "name: m\ninitial: a\nstates: [a, {name: b, final: true}]\ntransitions: [[go, a, b]]\n"
WARNED = "name: w\ninitial: a\nstates: [a, b, c]\ntransitions: [[go, a, b]]\nsend_event: true\n"
BAD = """\
name: b
initial: a
states: [a]
transitions:
  - [go, a, nowhere]
  - {trigger: go, source: x, dest: a}
"""
LINE = re.compile(
    r"(?P<file>[^:]+)(:(?P<line>\d+)(:(?P<column>\d+))?)?: (error|warning|note): .+ \[[a-z-]+\]"
)


@pytest.fixture
def files(folder, little_crew):
    for name, text in {"good": GOOD, "warned": WARNED, "bad": BAD}.items():
        (folder / f"{name}.yaml").write_text(text)
    (folder / "crew-warned.yaml").write_text(
        little_crew.read_text().replace("role: Scout", "role: Scout, colour: red")
    )
    (folder / "crew-bad.yaml").write_text(little_crew.read_text().replace("agent: writer", "agent: writter"))


def test_good_files_are_told_what_they_are(orkeon, files):
    done = orkeon("check", "good.yaml", "little.yaml")
    assert done.code == 0
    assert done.out.splitlines() == [
        "good.yaml: ok (machine m, 2 states, 1 trigger)",
        "little.yaml: ok (crew little, 2 agents, 2 tasks)",
    ]


def test_every_problem_has_its_place(orkeon, files):
    done = orkeon("check", "bad.yaml")
    assert done.code == 2
    assert done.err == ""
    lines = done.out.splitlines()
    assert [LINE.fullmatch(line)["line"] for line in lines] == ["5", "6"]
    assert lines[0].startswith("bad.yaml:5:13: error: ")
    assert "'nowhere'" in lines[0]
    assert "'x'" in lines[1]


def test_a_crew_s_problems_come_with_the_nearest_name(orkeon, files):
    done = orkeon("check", "crew-bad.yaml")
    assert done.code == 2
    assert re.match(r"crew-bad\.yaml:8:\d+: error: .*'writter'.*'writer'.* \[invalid\]", done.out)


@pytest.mark.parametrize(
    ("file", "line", "code"), [("warned", 3, "unreachable"), ("crew-warned", 3, "unknown-key")]
)
def test_warnings_refuse_a_file_only_under_strict(orkeon, files, file, line, code):
    done = orkeon("check", f"{file}.yaml")
    assert done.code == 0
    found = [text for text in done.out.splitlines() if text.endswith(f"[{code}]")]
    assert [LINE.fullmatch(text)["line"] for text in found] == [str(line)]
    assert "warning: " in found[0]
    assert int(LINE.fullmatch(found[0])["column"]) > 1
    assert done.out.splitlines()[-1].startswith(f"{file}.yaml: ok")
    strict = orkeon("check", "--strict", f"{file}.yaml")
    assert strict.code == 2
    assert "warning: " not in strict.out
    assert f"{file}.yaml: ok" not in strict.out


def test_notes_never_refuse_and_are_left_out_when_quiet(orkeon, folder):
    (folder / "noted.yaml").write_text(GOOD + "send_event: true\n")
    done = orkeon("check", "--strict", "noted.yaml")
    assert done.code == 0
    assert "noted.yaml:5:" in done.out
    assert "note: " in done.out
    assert orkeon("check", "--quiet", "noted.yaml").out == ""


def test_all_files_are_reported_whatever_the_first_one_is(orkeon, files):
    done = orkeon("check", "bad.yaml", "missing.yaml", "good.yaml", "crew-bad.yaml")
    assert done.code == 2
    assert list(dict.fromkeys(line.split(":")[0] for line in done.out.splitlines())) == [
        "bad.yaml", "missing.yaml", "good.yaml", "crew-bad.yaml",
    ]  # fmt: skip


def test_for_programs(orkeon, files):
    done = orkeon("check", "--json", "good.yaml", "warned.yaml", "bad.yaml", "little.yaml")
    assert done.code == 2
    assert done.json["ok"] is False
    good, warned, bad, crew = done.json["files"]
    assert (good["ok"], good["kind"], good["remarks"]) == (True, "machine", [])
    assert (crew["ok"], crew["kind"]) == (True, "crew")
    assert (warned["ok"], bad["ok"]) == (True, False)
    assert {remark["code"] for remark in warned["remarks"]} == {"unreachable", "dead-end", "unused-key"}
    assert bad["remarks"][0]["line"] == 5
    assert bad["remarks"][0]["path"] == "transitions[0][2]"
    assert orkeon("check", "--json", "--strict", "warned.yaml").json["ok"] is False


@pytest.mark.parametrize(
    ("content", "looks"),
    [
        ("- 1\n- 2\n", "it is a list"),
        ("just words\n", "it is plain text"),
        ("42\n", "the value 42"),
        ("{}\n", "an empty mapping"),
        ("hello: 1\nworld: 2\n", "its keys are hello, world"),
    ],
)
def test_a_file_that_is_neither_is_told_what_it_looks_like(orkeon, folder, content, looks):
    (folder / "other.yaml").write_text(content)
    done = orkeon("check", "other.yaml")
    assert done.code == 2
    assert "neither a machine nor a crew" in done.out
    assert looks in done.out


def test_a_crew_wrapped_in_a_key_is_still_a_crew(orkeon, folder):
    (folder / "wrapped.yaml").write_text("crew:\n  agents: {}\n")
    done = orkeon("check", "wrapped.yaml")
    assert done.code == 2
    assert "'crew'" in done.out
    assert "neither" not in done.out


@pytest.mark.parametrize("name", machine_names())
def test_what_ships_passes_its_own_check(orkeon, name):
    from importlib.resources import files

    path = files("orkeon_transitions").joinpath("machines", "yaml", f"{name}.yaml")
    assert orkeon("check", "--strict", path).code == 0


def test_the_packaged_crew_passes_its_own_check(orkeon):
    from importlib.resources import files

    path = files("orkeon_transitions").joinpath("examples", "103-ts-codebase-with-fsm", "crew.yaml")
    done = orkeon("check", "--strict", path)
    assert done.code == 0, done.out


def test_control_characters_of_a_file_do_not_reach_the_terminal(on_terminal, folder):
    (folder / "evil.yaml").write_text('initial: a\nstates: [a]\ntransitions: [[go, a, "\\e[2J"]]\n')
    done = on_terminal("check", "--no-color", "evil.yaml")
    assert done.code == 2
    assert "\x1b" not in done.out
