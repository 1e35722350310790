"""What the tests of sessions share: sessions that are closed, and waiting for what a session will tell."""

import threading
from contextlib import contextmanager

from orkeon_transitions import load_definition
from orkeon_transitions.explorer import open_session

PATIENCE = 10.0

DOOR = {
    "name": "door",
    "initial": "closed",
    "degraded": "jammed",
    "guards": {"has_key": "The key is there", "is_alarmed": "The alarm is on"},
    "states": [
        "closed",
        {"name": "open", "description": "One can go through"},
        {"name": "gone", "final": True},
        {"name": "jammed", "final": True},
    ],
    "transitions": [
        {
            "trigger": "unlock",
            "source": "closed",
            "dest": "open",
            "conditions": "has_key",
            "unless": "is_alarmed",
        },
        {"trigger": "shut", "source": "open", "dest": "closed", "before": "squeak"},
        {"trigger": "look", "source": "open", "dest": None},
        {"trigger": "remove", "source": "*", "dest": "gone"},
    ],
}


def door(**changes):
    return load_definition({**DOOR, **changes})


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


@contextmanager
def opened(subject, **options):
    """A session of the subject, closed afterwards."""
    session = open_session(subject, **options)
    try:
        yield session
    finally:
        session.close()


def fired(session, *triggers):
    """Fires triggers, one after another; none may be answered with an error."""
    for trigger in triggers:
        assert session.act({"do": "fire", "trigger": trigger}) is None


def trigger_of(session, name):
    return next(trigger for trigger in session.view()["triggers"] if trigger["name"] == name)


def field_of(session, name):
    return next(field for field in session.view()["form"]["fields"] if field["name"] == name)


def gauge_of(session, limit):
    return next(gauge for gauge in session.view()["gauges"] if gauge["limit"] == limit)


def rows_of(session):
    return session.view()["log"]["rows"]


def until(session, is_so):
    """Waits until the view is as wanted, which another thread may make it; gives the view."""
    told = threading.Event()
    unsubscribe = session.subscribe(lambda changed: told.set())
    try:
        for _ in range(1000):
            told.clear()
            view = session.view()
            if is_so(view):
                return view
            assert told.wait(PATIENCE), "nothing more was told"
    finally:
        unsubscribe()
    raise AssertionError("much was told, but not that")
