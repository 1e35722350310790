"""`*name` in a crew's texts, and the stars that are none."""

import json

import pytest

from orkeon_transitions.crew import load_crew
from orkeon_transitions.errors import CrewDefinitionError

ANCHORS = (
    "anchors: {tone: Be brief, house-style: No jargon, year: 2026, both: '*tone in *year', box: {a: 1}}\n"
)
REST = "agents:\n  cook: {role: Cook}\n"


def crew_with(text, anchors=ANCHORS, key="description"):
    other = "" if key == "description" else "description: d, "
    return load_crew(f"{anchors}{REST}tasks:\n  t: {{{other}{key}: {json.dumps(text)}}}\n")


@pytest.mark.parametrize(
    ("text", "expanded"),
    [
        ("*tone", "Be brief"),
        ("Write it. *tone.", "Write it. Be brief."),
        ('(*tone) "*house-style", since *year', '(Be brief) "No jargon", since 2026'),
        ("*both, *both", "Be brief in 2026, Be brief in 2026"),
        ("*tone/file-*.csv", "Be brief/file-*.csv"),
        (
            "2 * 3, 2*tone, a*tone, **tone**, *tone*, * tone",
            "2 * 3, 2*tone, a*tone, **tone**, *tone*, * tone",
        ),
        (r"\*tone and \*x", r"*tone and \*x"),
        ("a *very important* word, *loud*", "a *very important* word, *loud*"),
        ("{topic}: *tone", "{topic}: Be brief"),
    ],
)
def test_an_anchor_is_put_in_and_other_stars_survive(text, expanded):
    crew = crew_with(text)
    assert crew.tasks["t"].description == expanded
    assert crew.findings == ()


def test_all_texts_have_anchors():
    crew = load_crew(
        "goal: '*x'\nanchors: {x: y, out: /out}\nmounts: ['./later:/out:rw']\n"
        "agents:\n  cook: {role: '*x', goal: '*x', backstory: '*x'}\n"
        "tasks:\n  t: {description: '*x', expectedOutput: '*x', deliverable: '*out/a.md'}\n"
    )
    cook, task = crew.agents["cook"], crew.tasks["t"]
    texts = [crew.config.goal, cook.role, cook.goal, cook.backstory, task.description, task.expected_output]
    assert texts == ["y"] * 6
    assert task.deliverable == "/out/a.md"


@pytest.mark.parametrize("anchors", ["", "anchors: null\n", "anchors: {}\n", "anchors: []\n"])
def test_without_anchors_nothing_is_looked_for(anchors):
    crew = crew_with("*tone", anchors)
    assert crew.tasks["t"].description == "*tone"
    assert crew.findings == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("*tune it", "'*tune' is no anchor (did you mean '*tone'?): it stays as it is"),
        ("*zzzz", "'*zzzz' is no anchor: it stays as it is"),
        ("*box", "'*box' is no text: it stays as it is"),
    ],
)
def test_what_is_no_anchor_is_a_warning_with_the_nearest(text, message):
    crew = crew_with(text, key="expectedOutput")
    (finding,) = crew.findings
    assert (finding.code, finding.message) == ("unknown-anchor", message)
    assert (finding.severity, finding.path, finding.line) == ("warning", "tasks.t.expectedOutput", 5)
    assert crew.tasks["t"].expected_output == text


def test_an_anchor_that_calls_an_unknown_one_is_a_warning_at_the_anchor():
    (finding,) = crew_with("x", "anchors: {a: '*bb', bbb: y}\n").findings
    assert (finding.path, finding.line) == ("anchors.a", 1)
    assert "did you mean '*bbb'?" in finding.message


def test_yaml_s_own_anchors_stand_in_the_same_block():
    crew = load_crew(
        "anchors:\n  - &tone Be brief\n  - &cook {role: Cook}\n"
        "agents:\n  a: *cook\n  b: {<<: *cook, goal: *tone}\ntasks:\n  t: {description: '*tone'}\n"
    )
    assert (crew.agents["a"].role, crew.agents["b"].goal) == ("Cook", "Be brief")
    assert crew.tasks["t"].description == "*tone"


@pytest.mark.parametrize(
    ("anchors", "needle"),
    [
        ("text", "anchors: must be a mapping of names to texts, not the text 'text'"),
        ("{a b: x}", "'a b' cannot be called as an anchor"),
        ("{a: '*b', b: 'x *c', c: '*a'}", "anchors call each other: a -> b -> c -> a"),
        ("{a: '*a'}", "anchors call each other: a -> a"),
    ],
)
def test_wrong_anchors_are_said(anchors, needle):
    with pytest.raises(CrewDefinitionError) as raised:
        crew_with("*a", f"anchors: {anchors}\n")
    (problem,) = raised.value.problems
    assert needle in str(problem)
    assert problem.line == 1


def test_anchors_that_grow_without_end_are_stopped():
    doubled = ", ".join(f"a{n}: '*a{n - 1} *a{n - 1}'" for n in range(1, 40))
    with pytest.raises(CrewDefinitionError) as raised:
        crew_with("*a39", f"anchors: {{a0: xxxxxxxxxx, {doubled}}}\n")
    assert "longer than 1,000,000 characters" in str(raised.value)
    with pytest.raises(CrewDefinitionError, match=r"tasks\.t\.description: .*longer than"):
        crew_with("*a " * 200, f"anchors: {{a: {'x' * 9_000}}}\n")


def test_anchors_of_the_crew_are_known_in_its_other_files(tmp_path):
    (tmp_path / "crew.yaml").write_text("anchors: {tone: Be brief}\n")
    (tmp_path / "agents.yaml").write_text("cook: {role: '*tone'}\n")
    (tmp_path / "tasks.yaml").write_text("t:\n  description: '*tune'\n")
    crew = load_crew(tmp_path)
    assert crew.agents["cook"].role == "Be brief"
    (finding,) = crew.findings
    assert (finding.file, finding.line) == (str(tmp_path / "tasks.yaml"), 2)
