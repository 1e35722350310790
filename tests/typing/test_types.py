"""The types that users see, as mypy sees them: `StateMachine[S, E]`, results, the machines that ship."""

import re
import sys
from pathlib import Path

import pytest

from tests.typing.checking import mypy

HERE = Path(__file__).parent
RIGHT = ["plain_machines.py", "async_machines.py", "shipped_machines.py", "graphs.py", "stored_machines.py"]


@pytest.fixture(scope="module")
def found():
    """What mypy says of all files here, by file."""
    output = mypy(*(HERE / name for name in (*RIGHT, "mistakes.py")))
    errors = {}
    for line in output.splitlines():
        place = re.match(r"(?:.*/)?(\w+\.py):(\d+): error: .*\[([\w-]+)\]$", line)
        if place:
            errors.setdefault(place[1], []).append((int(place[2]), place[3], line))
    return errors


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_has_no_errors(found, name):
    assert found.get(name, []) == []


def test_every_mistake_is_found_and_nothing_else(found):
    lines = (HERE / "mistakes.py").read_text(encoding="utf-8").splitlines()
    expected = [
        (number + 1, mark[1])
        for number, line in enumerate(lines, 1)
        if (mark := re.search(r"# mistake: ([\w-]+)", line))
    ]
    assert [(line, code) for line, code, _ in found["mistakes.py"]] == expected


def test_the_package_says_that_it_is_typed():
    import orkeon_transitions

    assert (Path(orkeon_transitions.__file__).parent / "py.typed").exists()
    assert sys.version_info >= (3, 11)
