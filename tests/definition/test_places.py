"""A source of several files: each part, problem and finding knows its own."""

import pytest

from orkeon_transitions.definition import Finding, Source, read_source
from orkeon_transitions.errors import DefinitionError


@pytest.fixture
def source():
    """Three files put together: `main` with `inner` at `a`, and what is below `x` in `other` at `a.b`."""
    main = read_source("a: null\nz: 1\n")
    main.file = "main"
    inner = read_source("c: 1\nd: 2\n")
    inner.file = "inner"
    other = read_source("w: 0\nx:\n  y: 3\n")
    other.file = "other"
    main.graft(inner, ("a",))
    main.graft(other, ("a", "b"), below=("x",))
    return main


@pytest.mark.parametrize(
    ("path", "file", "place"),
    [
        (("z",), "main", (2, 4)),
        (("a", "d"), "inner", (2, 4)),
        (("a", "unknown"), "inner", (1, 1)),
        (("a", "b", "y"), "other", (3, 6)),
        ((), "main", (1, 1)),
    ],
)
def test_each_part_knows_its_file_and_place(source, path, file, place):
    assert source.file_of(path) == file
    assert source.place(path) == place
    source.problem(path, "wrong")
    (problem,) = source.problems
    assert (problem.file, problem.line, problem.column) == (file, *place)


def test_problems_come_file_by_file(source):
    for path in (("a", "b", "y"), ("a", "d"), ("z",), ("a", "c")):
        source.problem(path, "wrong")
    with pytest.raises(DefinitionError) as raised:
        source.raise_problems()
    assert [problem.path for problem in raised.value.problems] == ["z", "a.c", "a.d", "a.b.y"]


def test_a_source_of_one_file_has_it_for_every_part():
    assert Source({"a": 1}, file="one").file_of(("a",)) == "one"
    assert Source({"a": 1}).file_of(("a",)) is None


@pytest.mark.parametrize(
    ("line", "file", "begins"),
    [
        (3, "f.yaml", "f.yaml:3: note: a"),
        (None, "f.yaml", "f.yaml: note: a"),
        (3, None, "line 3: note: a"),
        (None, None, "note: a"),
    ],
)
def test_a_finding_says_its_place_as_far_as_it_is_known(line, file, begins):
    assert str(Finding("note", "code", "a", line, "words", file=file)) == f"{begins}: words [code]"
