"""What the tests of the journal share."""

import pytest


@pytest.fixture
def path(tmp_path):
    """Where a journal may be."""
    return tmp_path / "run.jsonl"


@pytest.fixture(params=["memory", "file", "postgres"])
def store(request, tmp_path):
    """An empty store, in each kind of place."""
    pytest.importorskip("sqlalchemy")
    from orkeon_transitions.store import MachineStore

    match request.param:
        case "memory":
            url = "sqlite://"
        case "file":
            url = f"sqlite:///{tmp_path / 'machines.db'}"
        case "postgres":
            url = request.getfixturevalue("postgres_url")
    with MachineStore(url) as store:
        yield store
