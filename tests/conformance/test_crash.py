"""Processes that are killed at any moment, again and again, on one database and on one file.

After each, what is kept is what was acknowledged, plus at most the one transition that was in flight.
"""

import random
import time

import pytest

from orkeon_transitions.runtime import StateMachine
from orkeon_transitions.store import JsonlJournal, MachineStore, recorded_machines, replay_each
from orkeon_transitions.store.fold import fold
from tests.conformance.contenders import (
    RING,
    SHARED,
    append_until_killed,
    fire_until_killed,
)

KILLS = 50
PATIENCE = 60
# Seconds: long enough for some dozens of transitions.
LONGEST_LIFE = 0.015


def killed_at_some_moment(forked, chance, work, *args):
    """Starts a process, kills it, and gives what it had acknowledged."""
    reader, writer = forked.Pipe(duplex=False)
    child = forked.Process(target=work, args=(*args, writer))
    child.start()
    writer.close()
    told = []
    with reader:
        if chance.random() < 0.9:  # else it may be killed while it opens the place
            assert reader.poll(PATIENCE), "it never began"
        time.sleep(chance.uniform(0, LONGEST_LIFE))
        assert child.is_alive(), "it ended by itself"
        child.kill()
        child.join(PATIENCE)
        try:
            while True:
                told.append(reader.recv())
        except EOFError:
            pass
    assert child.exitcode == -9
    child.close()
    return told


def settled(request, url):
    """Waits until the server has noticed that its client is gone."""
    if not url.startswith("postgresql"):
        return
    server, database = request.getfixturevalue("postgres"), url.rpartition("/")[2]
    deadline = time.monotonic() + PATIENCE
    question = f"SELECT count(*) FROM pg_stat_activity WHERE datname = '{database}'"
    while server.execute(question) != [(0,)]:
        assert time.monotonic() < deadline, "the server keeps a client that is gone"
        time.sleep(0.005)


@pytest.mark.slow
def test_no_acknowledged_transition_is_lost_in_a_store(request, forked, database_url):
    chance = random.Random(9)
    with MachineStore(database_url) as store:
        store.create(StateMachine, RING, machine_id=SHARED)
    kept = in_flight = 0
    for _ in range(KILLS):
        told = killed_at_some_moment(forked, chance, fire_until_killed, database_url)
        assert told == list(range(kept + 1, kept + 1 + len(told)))
        settled(request, database_url)
        with MachineStore(database_url) as store:
            records = store.journal(SHARED)
            snapshot = store.load(StateMachine, RING, SHARED).snapshot()
            (row,) = store.machines()
        acknowledged = kept + len(told)
        kept = len(records)
        assert acknowledged <= kept <= acknowledged + 1
        in_flight += kept - acknowledged
        assert [record.ordinal for record in records] == list(range(1, kept + 1))
        back = fold(records, RING)
        assert back.anomalies == []
        assert (back.final_state, back.transition_count) == (snapshot.state, snapshot.transition_count)
        assert back.histogram == snapshot.visits
        assert row.version == snapshot.ordinal == kept
    assert kept > KILLS, "they hardly moved"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*the last line is torn")
@pytest.mark.parametrize("number", range(5))
def test_no_acknowledged_transition_is_lost_in_a_journal_of_lines(forked, tmp_path, number):
    chance = random.Random(number)
    path = tmp_path / "run.jsonl"
    known = {}
    for kill in range(KILLS // 5):
        told = killed_at_some_moment(forked, chance, append_until_killed, path, kill * 1000)
        # The next process goes on in the same file, and repairs it first.
        JsonlJournal(path).close()
        names = [name for name, _ in recorded_machines(path)]
        replays = replay_each(path, [(name, RING) for name in names])
        assert [back.anomalies for back in replays if back.anomalies] == []
        kept = {name: len(back.steps) for name, back in zip(names, replays, strict=True)}
        acknowledged = known | dict(told)
        assert all(kept[name] >= times for name, times in acknowledged.items())
        assert 0 <= sum(kept.values()) - sum(acknowledged.values()) <= 1
        known = kept
    assert sum(known.values()) > KILLS, "they hardly moved"
