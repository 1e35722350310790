"""Small crews as text, and what is wrong with one."""

import pytest

from orkeon_transitions.crew import load_crew
from orkeon_transitions.errors import CrewDefinitionError

HEAD = "agents:\n  cook: {role: Cook}\n  chef: {role: Chef}\n"
TASKS = "tasks:\n  boil: {description: d}\n"


def problems_of(text, **options):
    with pytest.raises(CrewDefinitionError) as raised:
        load_crew(text, **options)
    return raised.value.problems
