"""The one write of a transition: raced, refused, cut off, tried again."""

import threading

import pytest

from orkeon_transitions.errors import JournalError, StaleMachineError
from orkeon_transitions.store import MachineStore
from orkeon_transitions.store.database import swap as room
from orkeon_transitions.store.database.engine import ConnectionLostError
from tests.store.stored_machines import Lamp


@pytest.fixture
def store(postgres_url):
    with MachineStore(postgres_url) as store:
        yield store


class ServerError(Exception):
    """What psycopg raises, as far as it is looked at."""

    def __init__(self, sqlstate):
        self.sqlstate = sqlstate
        super().__init__(f"error {sqlstate}")


def failing(monkeypatch, errors, *, after=False):
    """Makes the first writes fail: before, or after they were made."""
    moves, pending = room._moves, list(errors)

    def move(*args):
        if not pending:
            return moves(*args)
        if after:
            moves(*args)
        raise pending.pop(0)

    monkeypatch.setattr(room, "_moves", move)
    monkeypatch.setattr(room, "_JITTER", 0)


@pytest.mark.parametrize("sqlstate", ["40001", "40P01"])
def test_what_may_succeed_a_moment_later_is_tried_again(store, monkeypatch, sqlstate):
    lamp = store.create(Lamp, machine_id="l1")
    failing(monkeypatch, [ServerError(sqlstate)] * 3)
    lamp.fire("switch_on")
    assert store.machines()[0].version == 1


def test_it_is_not_tried_for_ever(store, monkeypatch):
    lamp = store.create(Lamp, machine_id="l1")
    failing(monkeypatch, [ServerError("40001")] * 100)
    with pytest.raises(JournalError, match=r"cannot save machine 'l1' in .*error 40001"):
        lamp.fire("switch_on")
    assert lamp.state == "off"


def test_what_will_not_succeed_is_told_at_once(store, monkeypatch):
    lamp = store.create(Lamp, machine_id="l1")
    failing(monkeypatch, [ServerError("53100")])
    with pytest.raises(JournalError, match="the server's disk is full: make room"):
        lamp.fire("switch_on")
    lamp.fire("switch_on")


def test_a_connection_that_is_lost_before_the_write_is_replaced(store, monkeypatch):
    lamp = store.create(Lamp, machine_id="l1")
    failing(monkeypatch, [ConnectionLostError()] * 2)
    lamp.fire("switch_on")
    assert len(store.journal("l1")) == 1


def test_a_write_whose_answer_was_lost_is_recognised_and_made_once(store, monkeypatch):
    lamp = store.create(Lamp, machine_id="l1")
    failing(monkeypatch, [ConnectionLostError()], after=True)
    lamp.fire("switch_on")
    lamp.fire("switch_off")
    store.save(lamp)
    assert [record.trigger for record in store.journal("l1")] == ["switch_on", "switch_off"]
    assert store.machines()[0].version == 3


def test_a_save_whose_answer_was_lost_is_recognised(store, monkeypatch):
    lamp = store.create(Lamp, machine_id="l1")
    failing(monkeypatch, [ConnectionLostError()], after=True)
    store.save(lamp)
    lamp.fire("switch_on")
    assert store.machines()[0].version == 2


def test_another_writer_in_between_is_not_taken_for_oneself(store, monkeypatch):
    lamp, other = store.create(Lamp, machine_id="l1"), store.load(Lamp, "l1")
    moves, calls = room._moves, []

    def move(*args):
        calls.append(args)
        if len(calls) == 1:
            other.fire("switch_on")
            raise ConnectionLostError
        return moves(*args)

    monkeypatch.setattr(room, "_JITTER", 0)
    monkeypatch.setattr(room, "_moves", move)
    with pytest.raises(StaleMachineError):
        lamp.fire("switch_on")
    assert len(store.journal("l1")) == 1


def test_a_server_that_stays_away_is_told(store, monkeypatch):
    lamp = store.create(Lamp, machine_id="l1")
    failing(monkeypatch, [ConnectionLostError()] * 100)
    with pytest.raises(JournalError, match=r"cannot save machine 'l1'"):
        lamp.fire("switch_on")
    assert lamp.state == "off"


def test_sessions_that_the_server_ends_are_not_noticed_by_a_machine(store, postgres, postgres_url):
    lamp = store.create(Lamp, machine_id="l1")
    lamp.fire("switch_on")
    name = postgres_url.rpartition("/")[2]
    postgres.execute(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
        "WHERE datname = current_database() AND pid <> pg_backend_pid()",
        name,
    )
    lamp.fire("switch_off")
    assert store.load(Lamp, "l1").state == "off"


def test_threads_that_race_for_one_machine_have_one_winner_each_time(store):
    store.create(Lamp, machine_id="l1")
    outcomes, barrier = [], threading.Barrier(4)

    def race():
        lamp = store.load(Lamp, "l1")
        barrier.wait(10)
        try:
            lamp.fire("switch_on")
            outcomes.append("won")
        except StaleMachineError:
            outcomes.append("lost")

    threads = [threading.Thread(target=race) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["lost", "lost", "lost", "won"]
