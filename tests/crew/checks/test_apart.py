"""What may take forever, in a process of its own."""

import sys
import time

import pytest

from orkeon_transitions.crew.checks.apart import MOST_PROBLEMS, TookTooLongError, asked_apart

EVIL = {"pattern": "(a+)+$", "text": "a" * 60 + "!"}


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [("b", "abc", ["found"]), ("^b", "abc", []), ("(?i)ÄH", "äh \ud800", ["found"])],
)
def test_a_pattern_is_looked_for(pattern, text, found):
    assert asked_apart({"pattern": pattern, "text": text}, 30) == found


def test_a_pattern_that_never_ends_is_ended():
    begun = time.monotonic()
    with pytest.raises(TookTooLongError, match=r"took longer than 0\.5 seconds"):
        asked_apart(EVIL, 0.5)
    assert time.monotonic() - begun < 10


def test_what_does_not_fit_a_schema_is_said_with_its_place_and_not_endlessly():
    schema = {"type": "array", "items": {"type": "integer"}}
    assert asked_apart({"schema": schema, "text": "[1]"}, 30) == []
    assert asked_apart({"schema": schema, "text": '[1, "x"]'}, 30) == [
        "at $[1]: 'x' is not of type 'integer'"
    ]
    many = asked_apart({"schema": schema, "text": '["' + "x" * 999 + '"' + ', "y"' * 50 + "]"}, 30)
    assert len(many) == MOST_PROBLEMS
    assert len(many[0]) < 300


def test_nothing_is_fetched():
    schema = {"$ref": "http://127.0.0.1:9/schema.json"}
    with pytest.raises(RuntimeError, match="Unresolvable"):
        asked_apart({"schema": schema, "text": "1"}, 30)


def test_a_process_that_only_ends_is_said(monkeypatch, tmp_path):
    silent = tmp_path / "python"
    silent.write_text("#!/bin/sh\nexit 3\n")
    silent.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(silent))
    with pytest.raises(RuntimeError, match="the process ended with 3"):
        asked_apart({"pattern": "a", "text": "a"}, 30)
