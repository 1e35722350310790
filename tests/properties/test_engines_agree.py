"""Random worlds of machines are lived through on the engine in use and on the reference: no difference.

`pytest tests/properties/test_engines_agree.py --worlds 20000` looks at many more than a change is judged by.
"""

import os
import random

import pytest

from tests.properties.differential.comparing import first_difference

# Where a change is judged, the worlds are always the same ones; on a desk each run looks at others.
BEGIN = 0 if os.environ.get("CI") else random.SystemRandom().randrange(10**9)
PARTS = 8


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("part", range(PARTS))
def test_no_world_tells_the_engines_apart(part, pytestconfig):
    worlds = pytestconfig.getoption("worlds")
    begin = BEGIN + part * (worlds // PARTS + 1)
    found = first_difference(range(begin, begin + worlds // PARTS))
    assert found is None, str(found)
