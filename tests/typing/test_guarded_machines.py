"""The mixin goes before the classes of `transitions` without a word from mypy."""

from pathlib import Path

import pytest
from mypy import api

HERE = Path(__file__).parent


@pytest.mark.slow
def test_guarded_machines_are_typed():
    said, failed, status = api.run(["--strict", "--warn-unused-ignores", str(HERE / "guarded_machines.py")])
    assert status == 0, said + failed
