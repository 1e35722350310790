"""The comparison itself works: every row measures something, absent peers are named, bounds are judged."""

import sys

import pytest

from tests.benchmarks import compare
from tests.benchmarks.pairs import TINY, AbsentError, Figures, Pairs, Row

PEERS = ("statemachine", "langgraph", "burr", "pydantic_graph")


def row(name="a", ratio=0.5, at_most=1.0, aim=0.1):
    return Row(
        name, "`ours`", "theirs", lambda effort: Figures(ratio, (ratio, ratio), 1e-6, 2e-6), at_most, aim
    )


@pytest.mark.parametrize("each", compare.TABLE, ids=lambda each: each.name)
def test_a_row_measures(each):
    try:
        figures = each.run(TINY)
    except AbsentError as absent:
        pytest.skip(f"{absent} is not installed")
    assert figures.ratio > 0
    assert figures.ours > 0
    assert figures.theirs > 0


def test_absent_peers_are_left_out_by_name(monkeypatch):
    for peer in PEERS:
        monkeypatch.setitem(sys.modules, peer, None)
        monkeypatch.setitem(sys.modules, f"{peer}.graph", None)
        monkeypatch.setitem(sys.modules, f"{peer}.core", None)
    names = ["fire-python-statemachine", "graph-langgraph", "graph-burr", "graph-pydantic-graph", "by-name"]
    results, left_out = compare.measured(compare.chosen(names), TINY)
    assert [each.name for each, _ in results] == ["by-name"]
    table = compare.markdown(results, left_out, TINY)
    for peer in ("python-statemachine", "LangGraph", "Burr", "pydantic-graph"):
        assert f"({peer} is not installed)" in table


def test_rows_are_chosen_by_name_or_by_how_it_begins():
    assert [each.name for each in compare.chosen(["fire"])] == ["fire"]
    assert all(each.name.startswith("graph-") for each in compare.chosen(["graph"]))
    assert len(compare.chosen(["graph"])) > 2
    assert compare.chosen([]) == compare.TABLE


def test_an_unknown_row_is_refused_with_those_that_there_are(capsys):
    with pytest.raises(SystemExit) as stopped:
        compare.main(["--only", "fires"])
    assert stopped.value.code == 2
    assert "no row 'fires': there are fire, by-name" in capsys.readouterr().err


def test_the_readme_shows_rows_that_there_are(monkeypatch, capsys):
    assert set(compare.README) <= {each.name for each in compare.TABLE}
    monkeypatch.setattr(compare, "TABLE", [row("fire"), row("mixin")])
    assert compare.main(["--quick", "--readme"]) == 0
    assert "fire" in (told := capsys.readouterr().err)
    assert "mixin" not in told


def test_names_are_told_without_measuring(capsys):
    assert compare.main(["--list"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(compare.TABLE)


@pytest.mark.parametrize(("ratio", "code"), [(1.0, 0), (1.01, 1)])
def test_the_exit_code_says_whether_all_bounds_hold(monkeypatch, capsys, ratio, code):
    monkeypatch.setattr(compare, "TABLE", [row("a", ratio), row("b", 100, None, None)])
    assert compare.main(["--quick"]) == code
    told = capsys.readouterr()
    assert f"a: {ratio:.2f} ({ratio:.2f} to {ratio:.2f}), at most 1" in told.err
    assert ("(BROKEN)" in told.err) is bool(code)
    assert "b: 100.0" in told.err
    assert "| `ours` | theirs | **100.0** | 1 µs | 2 µs |" in told.out


def test_a_terminal_gets_the_same_rows(monkeypatch, capsys):
    compare.show([(row("a"), row("a").run(TINY)), (row("b", 3), row("b", 3).run(TINY))], ["c (d)"], TINY)
    out = capsys.readouterr().out
    assert "0.50" in out
    assert "3.00" in out
    assert "Left out: c (d)." in out


def test_the_median_is_that_of_the_ratios_of_pairs():
    pairs = Pairs()
    for ours, theirs in ((1, 2), (10, 20), (3, 1)):  # a busy moment slows both sides of its pair
        pairs.add(ours, theirs)
    figures = pairs.figures()
    assert figures.ratio == 0.5
    assert figures.theirs == 2
