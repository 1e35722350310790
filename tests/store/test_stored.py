"""The store itself: what it lists, deletes and prunes, how it is closed, copied and forked."""

import copy
import gc
import multiprocessing
import os
import pickle
import weakref
from datetime import UTC, datetime, timedelta

import pytest

from orkeon_transitions.errors import JournalError, OrkeonError, StaleMachineError
from orkeon_transitions.machines import HermesAgentFSM, TaskExecution, TaskState
from orkeon_transitions.store import MachineStore, StoredMachine
from tests.store.stored_machines import Lamp


@pytest.fixture
def url(tmp_path):
    return f"sqlite:///{tmp_path / 'machines.db'}"


def triggers(store, machine_id):
    return [record.trigger for record in store.journal(machine_id)]


# ------------------------------------------------------------------------------------------------- looking
def test_machines_are_listed_the_last_written_first(store):
    before = datetime.now(UTC)
    for number in range(3):
        store.create(Lamp, machine_id=f"l{number}")
    store.load(Lamp, "l0").fire("drop")
    rows = store.machines()
    assert [row.machine_id for row in rows] == ["l0", "l2", "l1"]
    first = rows[0]
    assert first == StoredMachine(
        machine_id="l0",
        machine="lamp",
        definition_hash=Lamp().definition.content_hash,
        state="broken",
        version=1,
        ordinal=1,
        is_terminal=True,
        is_broken=False,
        created_at=first.created_at,
        updated_at=first.updated_at,
    )
    assert before <= first.created_at < first.updated_at <= datetime.now(UTC)


def test_machines_are_searched(store):
    store.create(Lamp, machine_id="l1").fire("switch_on")
    store.create(Lamp, machine_id="l2")
    store.create(Lamp, machine_id="l3").fire("drop")
    store.create(TaskExecution, machine_id="t1")

    def found(**wanted):
        return sorted(row.machine_id for row in store.machines(**wanted))

    assert found(state="on") == ["l1"]
    assert found(state=TaskState.ASSIGNED) == ["t1"]
    assert found(machine="lamp") == ["l1", "l2", "l3"]
    assert found(machine="lamp", is_terminal=False) == ["l1", "l2"]
    assert found(is_terminal=True) == ["l3"]
    assert found(idle_for=60) == []
    assert len(found(idle_for=timedelta(0))) == 4
    assert len(found(limit=2)) == 2
    assert found(limit=0) == []


@pytest.mark.parametrize("limit", ["x", 1.5, True])
def test_a_limit_is_a_whole_number(tmp_path, limit):
    with MachineStore(f"sqlite:///{tmp_path / 'm.db'}") as store:
        for listing in (store.machines, store.runs.listed):
            with pytest.raises(TypeError, match="limit must be a whole number, not"):
                listing(limit=limit)


@pytest.mark.parametrize("wanted", [{"idle_for": -1}, {"idle_for": float("nan")}, {"limit": -1}])
def test_a_search_that_makes_no_sense_is_refused(store, wanted):
    with pytest.raises(ValueError, match="must not be negative"):
        store.machines(**wanted)


def aged(store, *names):
    with store._database.writing("test") as connection:
        for name in names:
            connection.exec_driver_sql(
                f"UPDATE orkeon_machines SET updated_at = updated_at - 86400 WHERE machine_id = '{name}'"
            )


def test_pruning_takes_what_has_ended_long_ago(store):
    for name in ("old", "new", "waiting"):
        store.create(Lamp, machine_id=name)
    for name in ("old", "new"):
        store.load(Lamp, name).fire("drop")
    aged(store, "old", "waiting")
    assert store.prune(idle_for=timedelta(hours=1)) == 1
    assert sorted(row.machine_id for row in store.machines()) == ["new", "waiting"]
    with pytest.raises(JournalError, match="no machine 'old'"):
        store.journal("old")
    assert store.prune(idle_for=3600, ended_only=False, machine="other") == 0
    assert store.prune(idle_for=3600, ended_only=False, state="off") == 1
    assert [row.machine_id for row in store.machines()] == ["new"]
    assert store.prune(idle_for=0) == 1


def test_many_machines_are_pruned_with_their_journals(store):
    for number in range(3):
        store.create(Lamp, machine_id=f"l{number}").fire("drop")
    assert store.prune(idle_for=0) == 3
    store.create(Lamp, machine_id="l1")
    assert store.journal("l1") == []


def test_a_machine_can_be_made_anew_after_it_was_deleted(store):
    store.create(Lamp, machine_id="l1").fire("switch_on")
    store.delete("l1")
    store.create(Lamp, machine_id="l1")
    assert store.journal("l1") == []


# ------------------------------------------------------------------------------------------ the store itself
def test_a_closed_store_says_so(store):
    lamp = store.create(Lamp, machine_id="l1")
    assert (store.closed, repr(store)) == (False, f"MachineStore('{store.url}')")
    store.close()
    store.close()
    assert (store.closed, repr(store)) == (True, f"MachineStore('{store.url}', closed)")
    for ask in (
        store.machines,
        lambda: store.create(Lamp),
        lambda: store.load(Lamp, "l1"),
        lambda: store.save(lamp),
        lambda: store.prune(idle_for=0),
        lambda: lamp.fire("switch_on"),
    ):
        with pytest.raises(JournalError, match=r"is closed: open it again"):
            ask()
    assert lamp.state == "off"


def test_a_store_is_neither_copied_nor_pickled(store):
    for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match=r"open another one with MachineStore\(url\)"):
            attempt(store)


def test_neither_store_nor_hook_keeps_a_machine_alive(store):
    lamp = store.create(Lamp, machine_id="l1")
    seen = weakref.ref(lamp)
    del lamp
    gc.collect()
    assert seen() is None


def test_two_stores_share_a_file(url):
    with MachineStore(url) as one, MachineStore(url, synchronous="FULL") as two:
        one.create(Lamp, machine_id="l1").fire("switch_on")
        two.load(Lamp, "l1").fire("switch_off")
        assert triggers(one, "l1") == ["switch_on", "switch_off"]


def test_stores_in_memory_know_nothing_of_each_other():
    with MachineStore("sqlite://") as one, MachineStore("sqlite:///:memory:") as two:
        one.create(Lamp, machine_id="l1")
        assert two.machines() == []


def test_a_hermes_session_comes_back_whole(store):
    agent = store.create(HermesAgentFSM, "s1", machine_id="m1")
    agent.receive_task(task="compare")
    agent.plan_steps = ["one", "two"]
    agent.register_tool("search")
    store.save(agent)
    back = store.load(HermesAgentFSM, "m1")
    assert (back.session_id, back.plan_steps, back.registered_tools) == ("s1", ["one", "two"], {"search"})
    with pytest.raises(OrkeonError, match="not saved in"):
        store.save(HermesAgentFSM("s2"))


# -------------------------------------------------------------------------------------------------- forking
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system does not fork")
def test_a_forked_process_goes_on_with_connections_of_its_own(url):
    with MachineStore(url) as store:
        lamp = store.create(Lamp, machine_id="l1")
        lamp.fire("switch_on")
        assert in_child(lambda: lamp.fire("switch_off")) == "None"
        with pytest.raises(StaleMachineError):
            lamp.fire("switch_off")
        assert in_child(lambda: store.load(Lamp, "l1").fire("switch_on")) == "None"
        assert triggers(store, "l1") == ["switch_on", "switch_off", "switch_on"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system does not fork")
def test_a_forked_process_has_no_share_in_a_memory():
    with MachineStore("sqlite://") as store:
        lamp = store.create(Lamp, machine_id="l1")
        told = in_child(lambda: lamp.fire("switch_on"))
        assert "is the memory of the process that opened it" in told
        lamp.fire("switch_on")


def in_child(work):
    """What a forked process says of its work: its error, or None."""
    context = multiprocessing.get_context("fork")
    said = context.SimpleQueue()

    def tell():
        error = None
        try:
            work()
        except Exception as raised:
            error = raised
        said.put(str(error))

    child = context.Process(target=tell)
    child.start()
    answer = said.get()
    child.join(20)
    assert child.exitcode == 0
    return answer
