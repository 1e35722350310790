"""What the tests of troubled databases look for, whatever the trouble is."""

from tests.conformance.worker import WORK, Work


def assert_plain(error):
    """The sentence is for a person, and the error of the library below does not come along."""
    text = str(error.value)
    assert "sqlalche" not in text
    assert "psycopg.errors" not in text
    assert "Traceback" not in text
    assert "\n" not in text
    assert error.value.__cause__ is None
    assert error.value.__suppress_context__ or error.value.__context__ is None


def assert_whole(store, machine_id="w"):
    """Snapshot and journal tell the same, and the chain has no gap; gives how long it is."""
    records = store.journal(machine_id)
    again = store.load(Work, WORK, machine_id)
    assert [record.ordinal for record in records] == list(range(1, len(records) + 1))
    assert again.snapshot().ordinal == len(records)
    if records:
        assert again.state == records[-1].to_state
    return len(records)
