"""Tasks and other boxes as pictures."""

import pytest

from orkeon_transitions import load_crew
from orkeon_transitions.diagrams import Plan, PlanArrow, PlanBox, mimebundle, plan, render, to_mermaid, to_svg
from tests.diagrams.pictures import PNG_BEGINS, Drawn

BOXES = [PlanBox("collect", "collector", "Read the feed"), PlanBox("a b"), PlanBox("report", "writer")]
ARROWS = [
    PlanArrow("collect", "report"),
    PlanArrow("collect", "a b", "parsed"),
    PlanArrow("a b", "report", order=True),
]

CREW = """
name: team
process: {process}
managerAgent: {manager}
agents:
  ann: {{role: r, goal: g}}
  bob: {{role: r, goal: g}}
  eve: {{role: r, goal: g}}
tasks:
  one: {{description: First, agent: ann}}
  two: {{description: Second, agent: bob}}
  three: {{description: Third, dependencies: [one]}}
"""


def crew(process):
    return load_crew(CREW.format(process=process, manager="eve" if process == "hierarchical" else "null"))


def test_a_plan_knows_where_its_boxes_and_arrows_are():
    drawn = plan(BOXES, ARROWS, "news", caption="process graph", prefix="p-")
    picture = Drawn(drawn.svg)
    assert drawn.states == {"collect": "p-state-collect", "a b": "p-state-a_b", "report": "p-state-report"}
    assert picture.words("p-state-collect") == ["collect", "collector"]
    assert picture.title("p-state-collect") == "collect: Read the feed: collector"
    assert [(arrow.source, arrow.dest, arrow.kind, arrow.triggers) for arrow in drawn.arrows] == [
        ("collect", "report", "row", ()),
        ("collect", "a b", "row", ("parsed",)),
        ("a b", "report", "order", ()),
    ]
    assert picture.title(drawn.arrows[0].element) == "collect to report"
    assert picture.line(drawn.arrows[1].element) == "parsed"
    assert "order" in picture.classes(drawn.arrows[2].element)
    assert "p-initial" not in picture.ids
    assert "Plan news, process graph" in drawn.svg


@pytest.mark.parametrize(
    ("boxes", "arrows", "words"),
    [(BOXES, [PlanArrow("collect", "nowhere")], "'nowhere'"), ([BOXES[0], BOXES[0]], [], "one key")],
)
def test_a_plan_that_does_not_hold_together_is_refused(boxes, arrows, words):
    with pytest.raises(ValueError, match=words):
        plan(boxes, arrows, "news")
    with pytest.raises(ValueError, match="prefix"):
        plan(BOXES, ARROWS, "news", prefix="<")


def test_a_plan_in_every_format(tmp_path):
    news = Plan(tuple(BOXES), tuple(ARROWS), "news", "process graph")
    assert render(news, tmp_path / "news.png").read_bytes().startswith(PNG_BEGINS)
    text = to_mermaid(news)
    assert "s_collect --> s_report\n" in text
    assert "s_collect --> s_a_b : parsed" in text
    assert "[*]" not in text


def test_a_crew_shows_itself():
    shown = crew("sequential")._repr_mimebundle_()
    picture = Drawn(shown["image/svg+xml"])
    assert {"state-one", "state-two", "state-three", "arrow-one-three"} <= picture.ids
    assert shown["text/plain"] == "<Crew 'team': 3 agents, 3 tasks>"
    assert "Plan team, process sequential" in shown["image/svg+xml"]


def test_a_crew_is_mermaid_where_there_is_no_graphviz(monkeypatch):
    monkeypatch.setattr("orkeon_transitions.diagrams.graphviz_binary.programs", lambda: iter(()))
    shown = mimebundle(crew("parallel"))
    assert shown["text/markdown"].startswith("```mermaid\n")


@pytest.mark.parametrize(
    ("process", "who", "dashed"),
    [
        ("sequential", "an agent that is free", {("one", "two"), ("two", "three")}),
        ("parallel", "an agent that is free", set()),
        ("graph", "an agent that is free", set()),
        ("hierarchical", "whom the manager picks", {("one", "two"), ("two", "three")}),
        ("consensual", "every agent", {("one", "two"), ("two", "three")}),
        ("autonomous", "who claims it", set()),
    ],
)
def test_what_a_crew_s_plan_says_under_each_process(process, who, dashed):
    drawn = crew(process).task_plan()
    assert {(arrow.source, arrow.dest) for arrow in drawn.arrows if arrow.order} == dashed
    assert {(arrow.source, arrow.dest) for arrow in drawn.arrows if not arrow.order} == {("one", "three")}
    assert drawn.boxes[2].detail == who
    assert drawn.caption == f"process {process}" + (", manager eve" if process == "hierarchical" else "")
    assert to_svg(drawn)
