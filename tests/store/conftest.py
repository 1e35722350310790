"""What the tests of the journal share."""

import pytest


@pytest.fixture
def path(tmp_path):
    """Where a journal may be."""
    return tmp_path / "run.jsonl"
