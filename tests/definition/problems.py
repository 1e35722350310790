"""What the tests of this room ask of a refused definition."""

from typing import Any

import pytest

from orkeon_transitions.definition import load_definition
from orkeon_transitions.errors import DefinitionError, Problem


def problems_of(what: Any) -> list[Problem]:
    """The problems of a definition that does not load."""
    with pytest.raises(DefinitionError) as caught:
        load_definition(what)
    return caught.value.problems


def only_problem(what: Any) -> Problem:
    """The one problem of a definition that does not load."""
    (problem,) = problems_of(what)
    return problem


def machine(
    *, states: str = "[a, b, {name: z, final: true}]", rows: str = "[[go, a, b], [end, b, z]]", more: str = ""
) -> str:
    """A small machine as text; states are on line 3, rows on line 4, more from line 5."""
    return f"name: small\ninitial: a\nstates: {states}\ntransitions: {rows}\n{more}"
