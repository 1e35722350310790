"""A way: rows, the steps among them, and how things stood after so many."""

import pytest

from orkeon_transitions.explorer.way import Row, Way


def step(source, dest, kind="made", trigger="go"):
    return Row(kind, trigger, source, dest)


@pytest.fixture
def way():
    way = Way("a")
    way.add(step("a", "b"))
    way.add(Row("refused", "fly", "b", "b"))
    way.add(step("b", "b", "internal"))
    way.add(step("b", "a"))
    way.add(Row("broken", None, "a", "a"))
    way.add(step("a", "z", "degraded", None))
    return way


def test_states_and_visits_at_each_step(way):
    assert [way.state(at) for at in range(way.last + 1)] == ["a", "b", "b", "a", "z"]
    assert way.visits(0) == {"a": 1}
    assert way.visits(2) == {"a": 1, "b": 1}, "an internal step enters nothing"
    assert way.visits(4) == {"a": 2, "b": 1, "z": 1}


def test_rows_know_how_many_steps_were_made(way):
    assert [row["position"] for row in way.window()["rows"]] == [1, 1, 2, 3, 3, 4]
    assert [row["n"] for row in way.window()["rows"]] == [1, 2, 3, 4, 5, 6]


def test_what_is_taken_next(way):
    assert [way.taken_next(at) for at in range(5)] == ["go", "go", "go", None, None]


def test_visits_from_before_are_kept():
    way = Way("b", {"a": 2, "b": 3})
    way.add(step("b", "a"))
    assert way.visits(1) == {"a": 3, "b": 3}


@pytest.mark.parametrize(
    ("first", "count", "shown"),
    [(None, 2, [5, 6]), (0, 2, [1, 2]), (4, 9, [5, 6]), (99, 5, []), (None, 99, [*range(1, 7)])],
)
def test_a_window_of_the_log(way, first, count, shown):
    window = way.window(first, count)
    assert [row["n"] for row in window["rows"]] == shown
    assert window["total"] == 6


def test_the_window_follows_the_slider():
    way = Way("a")
    for _ in range(100):
        way.add(step("a", "a"))
    assert way.window_at(100, 10)["first"] == 90
    assert way.window_at(95, 10)["first"] == 90
    assert way.window_at(50, 10)["first"] == 44
    assert way.window_at(0, 10)["first"] == 0


def test_cutting_forgets_the_step_and_what_came_after_it(way):
    way.cut(2)
    assert way.last == 2
    assert [row.kind for row in way.rows] == ["made", "refused", "internal"]
    way.cut(7)
    assert way.last == 2
    way.cut(0)
    assert way.rows == []


def test_the_last_row_is_dropped_only_if_it_is_of_that_kind(way):
    assert not way.drop_last("broken")
    way.cut(3)
    assert way.drop_last("broken")
    assert not way.drop_last("broken")
    assert not way.drop_last("made"), "a step is never dropped alone"
    assert not Way("a").drop_last("broken")


def test_forgetting_the_oldest_keeps_the_numbers_of_the_rest(way):
    visits = way.visits(4)
    way.forget(2)
    assert (way.last, way.initial, way.state(0)) == (2, "b", "b")
    assert [row["n"] for row in way.window()["rows"]] == [4, 5, 6]
    assert [row["position"] for row in way.window()["rows"]] == [1, 1, 2]
    assert way.visits(2) == visits
