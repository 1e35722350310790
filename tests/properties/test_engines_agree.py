"""Random worlds of machines are lived through on the engine in use and on the reference: no difference.

`pytest tests/properties/test_engines_agree.py --worlds 20000` looks at many more than a change is judged by.
"""

import pytest

from tests.properties.differential.comparing import first_difference

PARTS = 8


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("part", range(PARTS))
def test_no_world_tells_the_engines_apart(part, begin, pytestconfig):
    worlds = pytestconfig.getoption("worlds")
    first = begin + part * worlds // PARTS
    found = first_difference(range(first, begin + (part + 1) * worlds // PARTS))
    assert found is None, str(found)
