"""Facts as lines, and lines as records."""

import json
from datetime import UTC, datetime, timedelta, timezone
from enum import Enum

import pytest

from orkeon_transitions.errors import JournalError
from orkeon_transitions.facts import TransitionFailed, TransitionResult
from orkeon_transitions.machines import TaskExecution
from orkeon_transitions.store.records import fact_line, read_record

SNAPSHOT = TaskExecution(machine_id="t").snapshot()


class Colour(Enum):
    RED = 1
    BLUE = "blue"


def test_enum_members_are_known_by_text_value_or_name():
    fact = TransitionResult(Colour.RED, Colour.BLUE, Colour.RED, 1, datetime.now(UTC))
    data = json.loads(fact_line(fact, SNAPSHOT))
    assert (data["trigger"], data["from_state"], data["to_state"]) == ("RED", "RED", "blue")


def test_a_move_by_the_clock_has_no_trigger():
    fact = TransitionResult("a", "b", None, 1, datetime.now(UTC), accepted=False, degraded=True)
    assert json.loads(fact_line(fact, SNAPSHOT))["trigger"] is None


# case D02
@pytest.mark.parametrize(
    ("stamp", "text"),
    [
        (datetime(2024, 1, 1), "2024-01-01T00:00:00+00:00"),
        (datetime(2024, 1, 1, tzinfo=UTC), "2024-01-01T00:00:00+00:00"),
        (datetime(2024, 1, 1, tzinfo=timezone(timedelta(hours=2))), "2024-01-01T00:00:00+02:00"),
    ],
)
def test_written_stamps_always_have_an_offset(stamp, text):
    line = fact_line(TransitionResult("a", "b", "go", 1, stamp), SNAPSHOT)
    assert json.loads(line)["timestamp"] == text


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError("no"), "ValueError: no"),
        (KeyboardInterrupt(), "KeyboardInterrupt"),
        (OSError("x" * 2000), "OSError: " + "x" * 491 + "..."),
    ],
)
def test_errors_are_short_texts(error, text):
    line = fact_line(TransitionFailed(3, error, datetime.now(UTC)), SNAPSHOT)
    record = read_record(json.loads(line), "run.jsonl", 4)
    assert (record.error, record.ordinal, record.line, record.fact) == (text, 3, 4, "transition_failed")


def test_an_error_that_cannot_be_told_is_still_recorded():
    class Mute(Exception):
        def __str__(self):
            raise RuntimeError("not even that")

    line = fact_line(TransitionFailed(1, Mute(), datetime.now(UTC)), SNAPSHOT)
    assert json.loads(line)["error"] == "Mute"


def test_a_place_is_named():
    with pytest.raises(JournalError, match=r"^run\.jsonl:9: no 'timestamp'"):
        read_record({"session_id": "s", "trigger": "t"}, "run.jsonl", 9)


HEAD = {
    "timestamp": "2026-01-01T00:00:00+02:00",
    "session_id": "s",
    "trigger": "go",
    "from_state": "a",
    "to_state": "b",
}
LOGGED = HEAD | {"v": 1, "fact": "transition", "machine": "m", "ordinal": 3, "transition_count": 2}
FLAGS = {"broken": True, "accepted": True, "degraded": False, "internal": False}
JOURNALED = LOGGED | FLAGS | {"definition": "0" * 64}


def told(data):
    try:
        return read_record(data, "run.jsonl", 9)
    except JournalError as error:
        return str(error)


@pytest.mark.parametrize("data", [HEAD, LOGGED, JOURNALED], ids=["seed", "log", "journal"])
@pytest.mark.parametrize("key", [*JOURNALED, "state_when_error", "other"])
@pytest.mark.parametrize(
    "value", [None, "x", "", 0, -1, 1, 2, True, 1.5, [], {}, "circuit_broken", "2026-01-01"]
)
def test_a_usual_line_is_read_as_any_other(data, key, value):
    """Lines of a usual shape are read in one go; one key more, and each field is looked at."""
    for odd in (data, data | {key: value}, {name: data[name] for name in data if name != key}):
        assert told(odd) == told(odd | {"unknown 1": 1, "unknown 2": 2})
