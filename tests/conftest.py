"""Settings that hold for all tests."""

import os

from hypothesis import settings

# A deadline would measure how busy the computer is. On a desk each run looks at new examples; where a change
# is judged (CI is set), the same ones are looked at every time, so that the verdict is the change's own.
settings.register_profile("house", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("house")
