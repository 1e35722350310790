"""Several processes, threads and tasks on one machine: of the writers of a transition exactly one wins."""

import asyncio
import contextlib
import queue
import threading
import time
from collections import Counter

import pytest

from orkeon_transitions.breaker import CircuitBreakerPolicy
from orkeon_transitions.errors import StaleMachineError
from orkeon_transitions.runtime import AsyncStateMachine, StateMachine
from orkeon_transitions.store import MachineStore
from tests.conformance.contenders import (
    RING,
    SHARED,
    contend,
    open_and_create,
    work_alone,
)

PROCESSES = 8
ATTEMPTS = 200
PATIENCE = 100


@pytest.fixture(scope="module")
def in_processes(forked):
    """Starts the same work in several processes at one moment; gives what each has to say."""

    def started(work, url, attempts):
        barrier, results = forked.Barrier(PROCESSES), forked.Queue()
        workers = [
            forked.Process(target=work, args=(url, barrier, results, attempts)) for _ in range(PROCESSES)
        ]
        for worker in workers:
            worker.start()
        told, deadline = [], time.monotonic() + PATIENCE
        while len(told) < PROCESSES:
            with contextlib.suppress(queue.Empty):
                told.append(results.get(timeout=0.5))
                continue
            assert not any(worker.exitcode for worker in workers), "one of them died"
            assert time.monotonic() < deadline
        for worker in workers:
            worker.join(PATIENCE)
        return told

    return started


def assert_one_order(url, ordinals):
    """Who won, what is kept and what is counted agree, and no link of the chain is broken."""
    with MachineStore(url) as store:
        (kept,) = [machine for machine in store.machines() if machine.machine_id == SHARED]
        records = store.journal(SHARED)
        again = store.load(StateMachine, RING, SHARED)
    assert [number for number, times in Counter(ordinals).items() if times > 1] == []
    assert len(ordinals) == kept.version == len(records) == again.snapshot().ordinal
    assert [record.ordinal for record in records] == list(range(1, len(records) + 1))
    state = RING.initial
    for record in records:
        assert record.from_state == state
        state = record.to_state
    assert kept.state == again.state == state


@pytest.mark.slow
def test_of_many_processes_one_wins_each_transition(in_processes, database_url):
    with MachineStore(database_url) as store:
        store.create(StateMachine, RING, machine_id=SHARED)
    told = in_processes(contend, database_url, ATTEMPTS)
    assert [others for _, _, others in told if others] == []
    won = [ordinal for wins, _, _ in told for ordinal in wins]
    lost = sum(losses for _, losses, _ in told)
    assert len(won) + lost == PROCESSES * ATTEMPTS
    assert lost > 0, "nobody contended"
    assert_one_order(database_url, won)


@pytest.mark.slow
def test_processes_that_open_an_empty_database_at_once_all_get_it(in_processes, database_url):
    told = in_processes(open_and_create, database_url, 5)
    assert [others for _, _, others in told if others] == []
    assert sum(made for made, _, _ in told) == 5
    assert sum(there for _, there, _ in told) == 5 * (PROCESSES - 1)


@pytest.mark.slow
def test_machines_of_their_own_do_not_get_into_each_others_way(in_processes, database_url):
    with MachineStore(database_url):
        pass
    told = in_processes(work_alone, database_url, 50)
    assert [others for _, _, others in told if others] == []
    with MachineStore(database_url) as store:
        for machine_id, ordinal, _ in told:
            assert len(store.journal(machine_id)) == ordinal == 50


def test_of_many_threads_one_wins_each_transition(database_url):
    with MachineStore(database_url) as store:
        store.create(StateMachine, RING, machine_id=SHARED)
        won, others, start = [], [], threading.Barrier(4)

        def work():
            fsm = store.load(StateMachine, RING, SHARED)
            start.wait()
            for _ in range(25):
                try:
                    won.append(fsm.fire("next").ordinal)
                except StaleMachineError:
                    fsm = store.load(StateMachine, RING, SHARED)
                except Exception as error:
                    others.append(error)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert others == []
    assert_one_order(database_url, won)


def test_of_many_tasks_one_wins_each_transition(database_url):
    async def main():
        won = []
        with MachineStore(database_url) as store:
            store.create(StateMachine, RING, machine_id=SHARED)

            async def work():
                fsm = store.load(AsyncStateMachine, RING, SHARED)
                for _ in range(10):
                    try:
                        won.append((await fsm.fire("next")).ordinal)
                    except StaleMachineError:
                        fsm = store.load(AsyncStateMachine, RING, SHARED)

            await asyncio.gather(*(work() for _ in range(8)))
        return won

    assert_one_order(database_url, asyncio.run(main()))


def test_a_loser_keeps_its_state_and_its_fields(database_url):
    with MachineStore(database_url) as store:
        store.create(StateMachine, RING, machine_id=SHARED)
        one, two = (store.load(StateMachine, RING, SHARED) for _ in range(2))
        told = []
        two.on_transition(told.append)
        one.fire("next")
        one.fire("next")
        for _ in range(2):
            with pytest.raises(StaleMachineError, match=SHARED):
                two.fire("next")
            with pytest.raises(StaleMachineError, match="load"):
                two.try_fire("next")
        assert (two.state, two.transition_count, told) == ("a", 0, [])
        two = store.load(StateMachine, RING, SHARED)
        two.fire("next")
        with pytest.raises(StaleMachineError):
            one.fire("next")
    assert_one_order(database_url, [1, 2, 3])


def test_the_clock_of_a_loser_writes_nothing(database_url, caplog):
    async def main():
        # Long enough for the other's move, which comes first.
        policy = CircuitBreakerPolicy(state_timeout=0.5)
        with MachineStore(database_url) as store:
            one = store.create(AsyncStateMachine, RING, machine_id=SHARED)
            await one.fire("next")
            two = store.load(AsyncStateMachine, RING, SHARED, policy=policy)
            told = []
            two.on_circuit_broken(told.append)
            two.on_transition(told.append)
            await one.fire("next")
            deadline = time.monotonic() + PATIENCE
            while not caplog.records and time.monotonic() < deadline:
                await asyncio.sleep(0.01)
            assert "moved on by another writer" in caplog.text
            assert (two.state, two.is_circuit_broken, told) == ("b", False, [])
            assert [record.fact for record in store.journal(SHARED)] == ["transition", "transition"]
            with pytest.raises(StaleMachineError):
                await two.fire("next")

    asyncio.run(main())


def test_two_stores_of_one_process_are_two_writers(database_url):
    with MachineStore(database_url) as here, MachineStore(database_url) as there:
        here.create(StateMachine, RING, machine_id=SHARED)
        one, two = here.load(StateMachine, RING, SHARED), there.load(StateMachine, RING, SHARED)
        one.fire("next")
        with pytest.raises(StaleMachineError):
            two.fire("next")
        two = there.load(StateMachine, RING, SHARED)
        two.fire("next")
        assert [record.ordinal for record in here.journal(SHARED)] == [1, 2]
