"""Where random worlds begin."""

import os
import random

import pytest


@pytest.fixture(scope="session")
def begin():
    """Where a change is judged, the worlds are always the same ones; on a desk each run looks at others."""
    return 0 if os.environ.get("CI") else random.SystemRandom().randrange(10**9)
